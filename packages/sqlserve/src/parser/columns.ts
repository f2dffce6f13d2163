/*! The column list of CREATE TABLE, and what may stand behind a column: capacity, cache, index, parquet. */
import type { Column, Index } from '../objects.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import { isValidColumnName, literal, refuseReserved, unquote } from './names.js';
import { ceilPow2, expectInt } from './numbers.js';
import { parquet } from './parquet.js';
import { found, Refusal } from './refusal.js';
import { columnType } from './types.js';

/** What an index takes where nothing is said. */
export const defaultIndexCapacity = 256;

const symbolCapacity = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };
const indexCapacity = { min: 2, max: 2 ** 23 };

/** Columns by name in any case, in the order they were given. */
export class Columns extends Map<string, Column> {
  find(name: string): Column | undefined {
    return this.get(name.toLowerCase());
  }

  add(column: Column, position: number): Column {
    if (this.find(column.name)) throw duplicateColumn(column.name, position);
    this.set(column.name.toLowerCase(), column);
    return column;
  }
}

export const duplicateColumn = (name: string, position: number) =>
  new Refusal(position, `Duplicate column [name=${name}]`);

/** `ts TIMESTAMP, s SYMBOL …)`, to the closing parenthesis. */
export function columnList(cursor: Cursor): Columns {
  const columns = new Columns();
  while (columnDefinition(cursor, columns) === ',');
  return columns;
}

/** One column; what ended it is the answer. */
function columnDefinition(cursor: Cursor, columns: Columns): string {
  const nameToken = columnToken(cursor);
  refuseReserved(nameToken, cursor.at);
  const name = unquote(nameToken);
  const position = cursor.at;
  const type = columnType(cursor, columnToken(cursor));
  if (!isValidColumnName(name)) throw new Refusal(position, ' new column name contains invalid characters');
  const column = columns.add({ name, type, cached: true, dedup: false }, position);

  let token = type === 'SYMBOL' ? symbolOptions(cursor, column) : undefined;
  if (token === undefined) {
    if (cursor.next() === ']') {
      throw new Refusal(position, `${name} has an unmatched \`]\` - were you trying to define an array?`);
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

/** `CAPACITY n NOCACHE INDEX …` behind SYMBOL. The token behind is the answer, where one had to be read. */
function symbolOptions(cursor: Cursor, column: Column): string | undefined {
  let token = cursor.require("'capacity', 'nocache', 'cache', 'index' or ')'");
  let capacity: number | undefined;
  if (is(token, 'capacity')) {
    capacity = parseSymbolCapacity(cursor);
    token = cursor.require("'nocache', 'cache', 'index' or ')'");
  }
  column.cached = !is(token, 'nocache');
  if (!is(token, 'nocache') && !is(token, 'cache')) cursor.back();
  if (column.cached && capacity !== undefined) refuseCachedCapacity(capacity, cursor.at);
  return inlineIndex(cursor, column);
}

/** The number behind CAPACITY of a symbol. It is checked and then forgotten: the service scales it by itself. */
export function parseSymbolCapacity(cursor: Cursor): number {
  const position = cursor.reach;
  return refuseOddCapacity(expectInt(cursor), position);
}

/** A capacity of a symbol as it is kept: a power of two. @throws Refusal where it is out of bounds */
export function refuseOddCapacity(capacity: number, position: number): number {
  if (capacity < symbolCapacity.min) throw new Refusal(position, `min symbol capacity is ${symbolCapacity.min}`);
  if (capacity > symbolCapacity.max) throw new Refusal(position, `max symbol capacity is ${symbolCapacity.max}`);
  return ceilPow2(capacity);
}

export function refuseCachedCapacity(capacity: number, position: number): void {
  if (capacity <= symbolCapacity.maxCached) return;
  throw new Refusal(position, `max cached symbol capacity is ${symbolCapacity.maxCached}`);
}

function inlineIndex(cursor: Cursor, column: Column): string | undefined {
  const endsHere = (token: string) => token === ')' || token === ',' || is(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectThis(token, 'index');
  const next = cursor.require(') | , expected');
  if (endsHere(next)) {
    column.index = { type: 'BITMAP', capacity: defaultIndexCapacity };
    return next;
  }
  if (is(next, 'include')) {
    column.index = { type: 'POSTING', covered: coveredColumns(cursor) };
    return;
  }
  if (is(next, 'type')) {
    column.index = indexType(cursor);
    return;
  }
  cursor.expectThis(next, 'capacity');
  column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
  return;
}

/** The number behind CAPACITY of an index. */
export function parseIndexCapacity(cursor: Cursor): number {
  const position = cursor.reach;
  const capacity = expectInt(cursor);
  if (capacity < indexCapacity.min) throw new Refusal(position, `min index block capacity is ${indexCapacity.min}`);
  if (capacity > indexCapacity.max) throw new Refusal(position, `max index block capacity is ${indexCapacity.max}`);
  return ceilPow2(capacity);
}

/** `BITMAP CAPACITY n` or `POSTING [DELTA|EF] [INCLUDE (…)]` behind INDEX TYPE (the later build only). */
export function indexType(cursor: Cursor): Index {
  const type = cursor.require('index type');
  if (is(type, 'bitmap')) {
    if (is(cursor.next(), 'capacity')) return { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
    cursor.back();
    return { type: 'BITMAP', capacity: defaultIndexCapacity };
  }
  if (!is(type, 'posting')) throw new Refusal(cursor.at, `unknown index type: ${type}`);
  let token = cursor.next();
  const flavour = is(token, 'delta') || is(token, 'ef') ? ` ${token?.toUpperCase()}` : '';
  if (flavour) token = cursor.next();
  if (is(token, 'capacity')) throw new Refusal(cursor.at, 'CAPACITY is only supported for BITMAP index type');
  const covered = is(token, 'include') ? coveredColumns(cursor) : [];
  if (!is(token, 'include')) cursor.back();
  return { type: `POSTING${flavour}`, covered };
}

function coveredColumns(cursor: Cursor): string[] {
  cursor.expect('(');
  const names: string[] = [];
  let token = cursor.require("column name or ')'");
  if (token === ')') throw new Refusal(cursor.at, 'at least one column name expected in INCLUDE');
  for (;;) {
    cursor.back();
    names.push(literal(cursor).name);
    token = cursor.require("',' or ')'");
    if (token === ')') return names;
    cursor.expectThis(token, ',');
    token = cursor.require('column name');
  }
}
