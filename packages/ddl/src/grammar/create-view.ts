/*! CREATE [OR REPLACE] VIEW, check by check in the order of the server's own parser. */
import { type Body, expectEndOfBody, parseViewBody } from './body.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
import { parseIfNotExists, parseObjectName } from './names.js';
import { RejectionError } from './rejection-error.js';

export interface CreateView {
  readonly statement: 'create view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  readonly orReplace: boolean;
  readonly body: Body;
  readonly owner?: string | undefined;
}

/** Parses the rest of a statement after CREATE [OR REPLACE] VIEW. */
export function parseCreateView(cursor: Cursor, orReplace: boolean, { owner, checkQuery }: Dialect): CreateView {
  const named = parseIfNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = parseObjectName(cursor, named.token);
  if (!isWord(cursor.require("'as'"), 'as')) throw new RejectionError(cursor.at, "'as' expected");
  const body = parseViewBody(cursor, checkQuery);
  expectEndOfBody(cursor, body);
  return {
    statement: 'create view',
    name,
    position,
    ifNotExists: named.ifNotExists,
    orReplace,
    body,
    owner: body.enclosed ? owner(cursor, cursor.next()) : undefined,
  };
}
