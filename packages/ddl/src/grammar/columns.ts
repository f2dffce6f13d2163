/*! The column list of CREATE TABLE, and what may stand after a column: capacity, cache, index, parquet. */
import { foldCase } from '@sqlpipe/sql';
import type { Column, Defaults, Index } from '../definition.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import { isValidColumnName, literal, rejectReserved, unquote } from './names.js';
import { ceilPow2, expectInt } from './numbers.js';
import { parquet } from './parquet.js';
import { found, Rejection } from './rejection.js';
import { columnType } from './types.js';

const symbolCapacity = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };
const indexCapacity = { min: 2, max: 2 ** 23 };

/** Columns by name in any case, in the order they were given. */
export class Columns extends Map<string, Column> {
  find(name: string): Column | undefined {
    return this.get(foldCase(name));
  }

  add(column: Column, position: number): Column {
    if (this.find(column.name)) throw duplicateColumn(column.name, position);
    this.set(foldCase(column.name), column);
    return column;
  }
}

export const duplicateColumn = (name: string, position: number) =>
  new Rejection(position, `Duplicate column [name=${name}]`);

/** `ts TIMESTAMP, s SYMBOL …)`, to the closing parenthesis. */
export function columnList(cursor: Cursor, defaults: Defaults): Columns {
  const columns = new Columns();
  while (columnDefinition(cursor, columns, defaults) === ',');
  return columns;
}

/** One column; what ended it is the answer. */
function columnDefinition(cursor: Cursor, columns: Columns, defaults: Defaults): string {
  const nameToken = columnToken(cursor);
  rejectReserved(nameToken, cursor.at);
  const name = unquote(nameToken);
  const position = cursor.at;
  const type = columnType(cursor, columnToken(cursor));
  if (!isValidColumnName(name)) throw new Rejection(position, ' new column name contains invalid characters');
  const column = columns.add(
    { name, type, cached: type !== 'SYMBOL' || defaults.symbolCached, dedup: false },
    position,
  );

  let token = type === 'SYMBOL' ? symbolOptions(cursor, column, defaults) : undefined;
  if (token === undefined) {
    if (cursor.next() === ']') {
      throw new Rejection(position, `${name} has an unmatched \`]\` - were you trying to define an array?`);
    }
    cursor.back();
    token = cursor.require("',' or ')'");
  }
  if (is(token, 'parquet')) {
    column.parquet = parquet(cursor, type);
    token = cursor.require("',' or ')'");
  }
  // PRECISION, NULL and NOT NULL say nothing.
  if (is(token, 'precision')) token = cursor.require("'NOT' or 'NULL' or ',' or ')'");
  if (is(token, 'not')) token = cursor.require("'NULL'");
  if (is(token, 'null')) token = cursor.require("','");
  if (token !== ')' && token !== ',') throw found(cursor.at, token, "',' or ')' expected");
  return token;
}

function columnToken(cursor: Cursor): string {
  const token = cursor.require("')' or ','");
  if (token === ')' || token === ',') throw found(cursor.at, token, 'missing column definition');
  return token;
}

/** `CAPACITY n NOCACHE INDEX …` behind SYMBOL. The token after is the answer, where one had to be read. */
function symbolOptions(cursor: Cursor, column: Column, defaults: Defaults): string | undefined {
  let token = cursor.require("'capacity', 'nocache', 'cache', 'index' or ')'");
  if (is(token, 'capacity')) {
    column.capacity = parseSymbolCapacity(cursor);
    token = cursor.require("'nocache', 'cache', 'index' or ')'");
  }
  if (is(token, 'nocache') || is(token, 'cache')) column.cached = is(token, 'cache');
  else cursor.back();
  if (column.cached && column.capacity !== undefined) rejectCachedCapacity(column.capacity, cursor.at);
  return inlineIndex(cursor, column, defaults);
}

/** The number after CAPACITY of a symbol. */
export function parseSymbolCapacity(cursor: Cursor): number {
  const position = cursor.reach;
  return rejectOddCapacity(expectInt(cursor), position);
}

/** A capacity of a symbol as it is kept: a power of two. @throws Rejection where it is out of bounds */
export function rejectOddCapacity(capacity: number, position: number): number {
  if (capacity < symbolCapacity.min) throw new Rejection(position, `min symbol capacity is ${symbolCapacity.min}`);
  if (capacity > symbolCapacity.max) throw new Rejection(position, `max symbol capacity is ${symbolCapacity.max}`);
  return ceilPow2(capacity);
}

export function rejectCachedCapacity(capacity: number, position: number): void {
  if (capacity <= symbolCapacity.maxCached) return;
  throw new Rejection(position, `max cached symbol capacity is ${symbolCapacity.maxCached}`);
}

function inlineIndex(cursor: Cursor, column: Column, defaults: Defaults): string | undefined {
  const endsHere = (token: string) => token === ')' || token === ',' || is(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectThis(token, 'index');
  const next = cursor.require(') | , expected');
  if (endsHere(next)) {
    column.index = { type: 'BITMAP', capacity: defaults.indexCapacity };
    return next;
  }
  if (is(next, 'include')) {
    column.index = { type: 'POSTING', covered: coveredColumns(cursor) };
    return;
  }
  if (is(next, 'type')) {
    column.index = indexType(cursor, defaults);
    return;
  }
  cursor.expectThis(next, 'capacity');
  column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
  return;
}

/** The number after CAPACITY of an index. */
export function parseIndexCapacity(cursor: Cursor): number {
  const position = cursor.reach;
  const capacity = expectInt(cursor);
  if (capacity < indexCapacity.min) throw new Rejection(position, `min index block capacity is ${indexCapacity.min}`);
  if (capacity > indexCapacity.max) throw new Rejection(position, `max index block capacity is ${indexCapacity.max}`);
  return ceilPow2(capacity);
}

/** `BITMAP CAPACITY n` or `POSTING [DELTA|EF] [INCLUDE (…)]` after INDEX TYPE (the later build only). */
export function indexType(cursor: Cursor, defaults: Defaults): Index {
  const type = cursor.require('index type');
  if (is(type, 'bitmap')) {
    if (is(cursor.next(), 'capacity')) return { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
    cursor.back();
    return { type: 'BITMAP', capacity: defaults.indexCapacity };
  }
  if (!is(type, 'posting')) throw new Rejection(cursor.at, `unknown index type: ${type}`);
  let token = cursor.next();
  const flavour = is(token, 'delta') || is(token, 'ef') ? ` ${token?.toUpperCase()}` : '';
  if (flavour) token = cursor.next();
  if (is(token, 'capacity')) throw new Rejection(cursor.at, 'CAPACITY is only supported for BITMAP index type');
  const covered = is(token, 'include') ? coveredColumns(cursor) : [];
  if (!is(token, 'include')) cursor.back();
  return { type: `POSTING${flavour}`, covered };
}

function coveredColumns(cursor: Cursor): string[] {
  cursor.expect('(');
  const names: string[] = [];
  let token = cursor.require("column name or ')'");
  if (token === ')') throw new Rejection(cursor.at, 'at least one column name expected in INCLUDE');
  for (;;) {
    cursor.back();
    names.push(literal(cursor).name);
    token = cursor.require("',' or ')'");
    if (token === ')') return names;
    cursor.expectThis(token, ',');
    token = cursor.require('column name');
  }
}
