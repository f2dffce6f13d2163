/*! In what the grammar of CREATE differs from server to server. */
import type { Defaults } from '../definition.js';
import type { Body, CheckQuery } from './body.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { type LocatedName, unquote } from './names.js';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';

/** One server's grammar of CREATE. */
export interface Dialect {
  /** Whether there are storage policies and live views. */
  readonly enterprise: boolean;
  /** What may stand at the end of a CREATE statement. */
  readonly owner: OwnerClause;
  readonly defaults: Defaults;
  readonly checkQuery: CheckQuery;
  /** Finds the base table of a query, and rejects what the server's parser rejects before it reads on. */
  readonly findBase?: (body: Body, given: LocatedName | undefined) => LocatedName;
}

/** What an edition allows at the end of a CREATE statement. Called with the token that follows; reads to the end. */
export type OwnerClause = (cursor: Cursor, token: string | undefined) => string | undefined;

/** The open source edition has no owners: a statement ends where its clauses do. */
export const rejectOwner: OwnerClause = (cursor, token) => {
  if (token !== undefined && token !== ';') throw unexpectedTokenError(cursor.at, token);
  if (token === ';') expectOnlySemicolons(cursor);
  return undefined;
};

/** `OWNED BY name`, which the enterprise edition has. */
export const parseOwner: OwnerClause = (cursor, token) => {
  if (!isWord(token, 'owned')) return rejectOwner(cursor, token);
  cursor.expect('by');
  const name = unquote(cursor.requireNoSemicolon('owner name'));
  if (name === '' || /['"]/.test(name)) throw new RejectionError(cursor.at, `invalid owner name [name=${name}]`);
  rejectOwner(cursor, cursor.next());
  return name;
};

/** Rejects anything that follows a statement but semicolons. */
export function expectOnlySemicolons(cursor: Cursor): void {
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpectedTokenError(cursor.at, token);
  }
}
