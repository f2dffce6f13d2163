/*! CREATE of an object: the words after it tell which parser reads the rest. */
import { type CreateLiveView, createLiveView } from './create-live-view.js';
import { type CreateMaterializedView, createMaterializedView } from './create-matview.js';
import { type CreateTable, createTable } from './create-table.js';
import { type CreateView, createView } from './create-view.js';
import { type Cursor, is } from './cursor.js';
import type { Dialect } from './dialect.js';

export type Create = CreateTable | CreateView | CreateMaterializedView | CreateLiveView;

/** What must follow CREATE, in the service's words. */
export const AFTER_CREATE = "'atomic' or 'table' or 'batch' or 'materialized' or 'view' or 'or replace'";

/** After CREATE, whose next token was read already. @throws Rejection as the service rejects it */
export function create(cursor: Cursor, first: string, dialect: Dialect): Create {
  let token = first;
  const orReplace = is(token, 'or');
  if (orReplace) {
    cursor.expect('replace');
    token = cursor.require("'view'");
    cursor.expectThis(token, 'view');
  }
  if (is(token, 'view')) return createView(cursor, orReplace, dialect);
  if (is(token, 'materialized')) return createMaterializedView(cursor, dialect);
  if (dialect.enterprise && is(token, 'live')) return createLiveView(cursor, dialect);
  return createTable(cursor, token, dialect);
}
