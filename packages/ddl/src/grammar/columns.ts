/*! The column list of CREATE TABLE, and the options of a column: capacity, cache, index, parquet. */
import { foldCase } from '@sqlpipe/sql';
import type { Column, Defaults, Index } from '../definition.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { isValidColumnName, parseLiteral, rejectReserved, unquote } from './names.js';
import { ceilPow2, expectInt } from './numbers.js';
import { parseParquet } from './parquet.js';
import { RejectionError, tokenError } from './rejection-error.js';
import { parseColumnType } from './types.js';

const symbolCapacity = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };
const indexCapacity = { min: 2, max: 2 ** 23 };

/** Columns in the order of the statement. They can be found by name in any case. */
export class Columns extends Map<string, Column> {
  find(name: string): Column | undefined {
    return this.get(foldCase(name));
  }

  add(column: Column, position: number): Column {
    if (this.find(column.name)) throw duplicateColumnError(column.name, position);
    this.set(foldCase(column.name), column);
    return column;
  }
}

export const duplicateColumnError = (name: string, position: number) =>
  new RejectionError(position, `Duplicate column [name=${name}]`);

/** Parses `ts TIMESTAMP, s SYMBOL …)`, with the closing parenthesis. */
export function parseColumnList(cursor: Cursor, defaults: Defaults): Columns {
  const columns = new Columns();
  while (parseColumn(cursor, columns, defaults) === ',');
  return columns;
}

/** Parses one column and returns the token after it: a comma or the closing parenthesis. */
function parseColumn(cursor: Cursor, columns: Columns, defaults: Defaults): string {
  const nameToken = readColumnToken(cursor);
  rejectReserved(nameToken, cursor.at);
  const name = unquote(nameToken);
  const position = cursor.at;
  const type = parseColumnType(cursor, readColumnToken(cursor));
  if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
  const column = columns.add(
    { name, type, cached: type !== 'SYMBOL' || defaults.symbolCached, dedup: false },
    position,
  );

  let token = type === 'SYMBOL' ? parseSymbolOptions(cursor, column, defaults) : undefined;
  if (token === undefined) {
    if (cursor.next() === ']') {
      throw new RejectionError(position, `${name} has an unmatched \`]\` - were you trying to define an array?`);
    }
    cursor.unread();
    token = cursor.require("',' or ')'");
  }
  if (isWord(token, 'parquet')) {
    column.parquet = parseParquet(cursor, type);
    token = cursor.require("',' or ')'");
  }
  // PRECISION, NULL and NOT NULL have no effect.
  if (isWord(token, 'precision')) token = cursor.require("'NOT' or 'NULL' or ',' or ')'");
  if (isWord(token, 'not')) token = cursor.require("'NULL'");
  if (isWord(token, 'null')) token = cursor.require("','");
  if (token !== ')' && token !== ',') throw tokenError(cursor.at, token, "',' or ')' expected");
  return token;
}

function readColumnToken(cursor: Cursor): string {
  const token = cursor.require("')' or ','");
  if (token === ')' || token === ',') throw tokenError(cursor.at, token, 'missing column definition');
  return token;
}

/** Parses `CAPACITY n NOCACHE INDEX …` after SYMBOL. Returns the next token if it had to be read. */
function parseSymbolOptions(cursor: Cursor, column: Column, defaults: Defaults): string | undefined {
  let token = cursor.require("'capacity', 'nocache', 'cache', 'index' or ')'");
  if (isWord(token, 'capacity')) {
    column.capacity = parseSymbolCapacity(cursor);
    token = cursor.require("'nocache', 'cache', 'index' or ')'");
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) column.cached = isWord(token, 'cache');
  else cursor.unread();
  if (column.cached && column.capacity !== undefined) rejectCachedCapacity(column.capacity, cursor.at);
  return parseInlineIndex(cursor, column, defaults);
}

/** Parses the number after CAPACITY of a symbol. */
export function parseSymbolCapacity(cursor: Cursor): number {
  const position = cursor.readOffset;
  return toValidCapacity(expectInt(cursor), position);
}

/** The capacity of a symbol as the server stores it: a power of two. @throws RejectionError if it is out of bounds */
export function toValidCapacity(capacity: number, position: number): number {
  if (capacity < symbolCapacity.min) throw new RejectionError(position, `min symbol capacity is ${symbolCapacity.min}`);
  if (capacity > symbolCapacity.max) throw new RejectionError(position, `max symbol capacity is ${symbolCapacity.max}`);
  return ceilPow2(capacity);
}

export function rejectCachedCapacity(capacity: number, position: number): void {
  if (capacity <= symbolCapacity.maxCached) return;
  throw new RejectionError(position, `max cached symbol capacity is ${symbolCapacity.maxCached}`);
}

function parseInlineIndex(cursor: Cursor, column: Column, defaults: Defaults): string | undefined {
  const endsHere = (token: string) => token === ')' || token === ',' || isWord(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectToken(token, 'index');
  const next = cursor.require(') | , expected');
  if (endsHere(next)) {
    column.index = { type: 'BITMAP', capacity: defaults.indexCapacity };
    return next;
  }
  if (isWord(next, 'include')) {
    column.index = { type: 'POSTING', covered: parseCoveredColumns(cursor) };
    return;
  }
  if (isWord(next, 'type')) {
    column.index = parseIndexType(cursor, defaults);
    return;
  }
  cursor.expectToken(next, 'capacity');
  column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
  return;
}

/** Parses the number after CAPACITY of an index. */
export function parseIndexCapacity(cursor: Cursor): number {
  const position = cursor.readOffset;
  const capacity = expectInt(cursor);
  if (capacity < indexCapacity.min)
    throw new RejectionError(position, `min index block capacity is ${indexCapacity.min}`);
  if (capacity > indexCapacity.max)
    throw new RejectionError(position, `max index block capacity is ${indexCapacity.max}`);
  return ceilPow2(capacity);
}

/** Parses `BITMAP CAPACITY n` or `POSTING [DELTA|EF] [INCLUDE (…)]` after INDEX TYPE (only in versions after 9.3.4). */
export function parseIndexType(cursor: Cursor, defaults: Defaults): Index {
  const type = cursor.require('index type');
  if (isWord(type, 'bitmap')) {
    if (isWord(cursor.next(), 'capacity')) return { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
    cursor.unread();
    return { type: 'BITMAP', capacity: defaults.indexCapacity };
  }
  if (!isWord(type, 'posting')) throw new RejectionError(cursor.at, `unknown index type: ${type}`);
  let token = cursor.next();
  const flavour = isWord(token, 'delta') || isWord(token, 'ef') ? ` ${token?.toUpperCase()}` : '';
  if (flavour) token = cursor.next();
  if (isWord(token, 'capacity'))
    throw new RejectionError(cursor.at, 'CAPACITY is only supported for BITMAP index type');
  const covered = isWord(token, 'include') ? parseCoveredColumns(cursor) : [];
  if (!isWord(token, 'include')) cursor.unread();
  return { type: `POSTING${flavour}`, covered };
}

function parseCoveredColumns(cursor: Cursor): string[] {
  cursor.expect('(');
  const names: string[] = [];
  let token = cursor.require("column name or ')'");
  if (token === ')') throw new RejectionError(cursor.at, 'at least one column name expected in INCLUDE');
  for (;;) {
    cursor.unread();
    names.push(parseLiteral(cursor).name);
    token = cursor.require("',' or ')'");
    if (token === ')') return names;
    cursor.expectToken(token, ',');
    token = cursor.require('column name');
  }
}
