/*! Why a schema can not be translated. */
import { displayName, type Identity, truncate } from '@sqlpipe/sql';

/** A schema that has no translation as it is asked for. Nothing of it is written. */
export class TranslationError extends Error {
  override readonly name = 'TranslationError';
  readonly code = 'REFUSED';
}

/** A statement, and which one of the input it is. */
export interface Numbered {
  readonly n: number;
  readonly statement: string;
}

/** A statement in a message is called no longer than this, in UTF-16 code units. */
const LENGTH = 200;

/** Which statement of the input it is: `statement 3 (table 'fx_trades')`. */
export const place = (n: number, identity: Identity): string =>
  `statement ${n} (${truncate(displayName(identity), LENGTH)})`;
