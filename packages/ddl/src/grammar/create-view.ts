/*! CREATE [OR REPLACE] VIEW, check by check in the order of the service's own parser. */
import { type Body, endBody, viewBody } from './body.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import type { Dialect } from './dialect.js';
import { ifNotExists, objectName } from './names.js';
import { Rejection } from './rejection.js';

export interface CreateView {
  readonly statement: 'create view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  readonly orReplace: boolean;
  readonly body: Body;
  readonly owner?: string | undefined;
}

/** After CREATE [OR REPLACE] VIEW. */
export function createView(cursor: Cursor, orReplace: boolean, { owner, checkQuery }: Dialect): CreateView {
  const named = ifNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = objectName(cursor, named.token);
  if (!is(cursor.require("'as'"), 'as')) throw new Rejection(cursor.at, "'as' expected");
  const body = viewBody(cursor, checkQuery);
  endBody(cursor, body);
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
