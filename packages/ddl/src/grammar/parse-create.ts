/*! CREATE of an object: the words after it decide which parser reads the rest. */
import { type CreateLiveView, parseCreateLiveView } from './create-live-view.js';
import { type CreateMaterializedView, parseCreateMaterializedView } from './create-materialized-view.js';
import { type CreateTable, parseCreateTable } from './create-table.js';
import { type CreateView, parseCreateView } from './create-view.js';
import { type Cursor, isWord } from './cursor.js';
import type { Dialect } from './dialect.js';

export type CreateStatement = CreateTable | CreateView | CreateMaterializedView | CreateLiveView;

/** What must follow CREATE, in the wording of the server's message. */
export const AFTER_CREATE = "'atomic' or 'table' or 'batch' or 'materialized' or 'view' or 'or replace'";

/**
 * Parses the rest of a statement after CREATE; the next token has been read.
 * @throws RejectionError with the server's message
 */
export function parseCreate(cursor: Cursor, first: string, dialect: Dialect): CreateStatement {
  let token = first;
  const orReplace = isWord(token, 'or');
  if (orReplace) {
    cursor.expect('replace');
    token = cursor.require("'view'");
    cursor.expectToken(token, 'view');
  }
  if (isWord(token, 'view')) return parseCreateView(cursor, orReplace, dialect);
  if (isWord(token, 'materialized')) return parseCreateMaterializedView(cursor, dialect);
  if (dialect.has('live views') && isWord(token, 'live')) return parseCreateLiveView(cursor, dialect);
  return parseCreateTable(cursor, token, dialect);
}
