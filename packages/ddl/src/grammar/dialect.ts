/*! The differences between servers in the grammar of CREATE. */
import type { LocatedName } from '@sqlpipe/sql';
import type { Defaults } from '../definition.js';
import type { Body, CheckQuery } from './body.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { HasFeature } from './features.js';
import { parseEntityName } from './names.js';
import { unexpectedTokenError } from './rejection-error.js';

/** One server's grammar of CREATE. */
export interface Dialect {
  /** Whether the server has storage policies. */
  readonly enterprise: boolean;
  readonly has: HasFeature;
  /** Parses the end of a CREATE statement. */
  readonly owner: OwnerClause;
  readonly defaults: Defaults;
  /** The longest time IN MEMORY of a live view, in microseconds; any if it is undefined. */
  readonly maxInMemory?: number;
  readonly checkQuery: CheckQuery;
  /** Finds the base table of a query. It throws what the server's parser rejects before it continues. */
  readonly findBase?: (body: Body, given: LocatedName | undefined) => LocatedName;
}

/**
 * Parses what an edition allows at the end of a CREATE statement, up to its end.
 * @param token the next token, already read
 */
export type OwnerClause = (cursor: Cursor, token: string | undefined) => string | undefined;

/** Accepts only the end of the statement, because the open source edition has no owners. */
export const rejectOwner: OwnerClause = (cursor, token) => {
  if (token !== undefined && token !== ';') throw unexpectedTokenError(cursor.at, token);
  if (token === ';') expectOnlySemicolons(cursor);
  return undefined;
};

/** Accepts `OWNED BY name`, as the enterprise edition does. */
export const parseOwner: OwnerClause = (cursor, token) => {
  if (!isWord(token, 'owned')) return rejectOwner(cursor, token);
  cursor.expect('by');
  const { name } = parseEntityName(cursor, 'owner name');
  rejectOwner(cursor, cursor.next());
  return name;
};

/** Rejects anything after a statement except semicolons. */
export function expectOnlySemicolons(cursor: Cursor): void {
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpectedTokenError(cursor.at, token);
  }
}
