/*! Errors about schemas that cannot be translated. */
import { displayName, type Identity } from '@sqlpipe/sql';
import { truncate } from '@sqlpipe/text';

/** The schema has no such translation. Nothing is written. */
export class TranslationError extends Error {
  override readonly name = 'TranslationError';
  readonly code = 'REJECTED';
}

/** A statement, and its number in the input. */
export interface Numbered {
  readonly n: number;
  readonly statement: string;
}

/** Maximum length of a statement's name in messages, in UTF-16 code units. */
const LENGTH = 200;

/** The name of a statement in messages: `statement 3 (table 'fx_trades')`. */
export const place = (n: number, identity: Identity): string =>
  `statement ${n} (${truncate(displayName(identity), LENGTH)})`;
