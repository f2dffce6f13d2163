/*! A column as ALTER TABLE adds it or changes its type: with fewer options than in CREATE TABLE, and other errors. */

import { type IndexContext, parseTypedIndex, rejectCachedCapacity, toValidCapacity } from '../create/columns.js';
import type { Column } from '../definition.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { ceilPow2, parseInt32 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { parseColumnType } from '../grammar/types.js';

/** Parses the type and options after a column's name. */
export function parseAddedColumn(
  cursor: Cursor,
  name: string,
  context: IndexContext,
): { column: Column; typePosition: number } {
  const token = cursor.requireNoSemicolon('column type');
  const typePosition = cursor.at;
  const type = parseColumnType(cursor, token);
  const column: Column = { name, type, cached: type !== 'SYMBOL' || context.defaults.symbolCached, dedup: false };
  const next = cursor.next();
  if (next === ']') {
    throw new RejectionError(typePosition, `${name} has an unmatched \`]\` - were you trying to define an array?`);
  }
  cursor.unread();
  if (type === 'SYMBOL' && next !== undefined && next !== ',' && next !== ';')
    parseSymbolOptions(cursor, column, context);
  else skipNullability(cursor);
  return { column, typePosition };
}

function parseSymbolOptions(cursor: Cursor, column: Column, context: IndexContext): void {
  let token = cursor.next();
  if (isWord(token, 'capacity')) {
    column.capacity = parseSymbolCapacity(cursor, 'symbol capacity');
    token = cursor.next();
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) {
    column.cached = isWord(token, 'cache');
    token = cursor.next();
  }
  if (column.cached) rejectCachedCapacity(column.capacity ?? 0, cursor.at);
  const indexed = isWord(token, 'index');
  if (indexed) {
    column.index = { type: 'BITMAP', capacity: context.defaults.indexCapacity };
    token = cursor.next();
  }
  const typed = indexed ? parseTypedIndex(cursor, token, context) : undefined;
  if (typed) {
    column.index = typed;
    return;
  }
  // The CAPACITY of an index is accepted even without INDEX (observed on 9.3.4).
  if (isWord(token, 'capacity')) {
    const value = parseInt32(cursor.requireNoSemicolon('symbol index capacity'));
    if (value === undefined) throw new RejectionError(cursor.at, 'numeric capacity expected');
    if (indexed) column.index = { type: 'BITMAP', capacity: ceilPow2(value) };
    cursor.next();
  }
  cursor.unread();
}

/** NULL and NOT NULL have no effect. */
function skipNullability(cursor: Cursor): void {
  let token = cursor.next();
  if (isWord(token, 'not')) token = cursor.next();
  if (!isWord(token, 'null')) cursor.unread();
}

/** Parses and checks the number after the CAPACITY of a symbol. */
export function parseSymbolCapacity(cursor: Cursor, expected: string): number {
  const token = cursor.requireNoSemicolon(expected);
  const position = cursor.at;
  const digits = token === '-' ? cursor.requireNoSemicolon(expected) : token;
  const value = parseInt32(digits);
  if (value === undefined) throw new RejectionError(cursor.at, 'numeric capacity expected');
  return toValidCapacity(token === '-' ? -value : value, position);
}
