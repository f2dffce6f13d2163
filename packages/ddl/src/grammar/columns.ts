/*! The column list of CREATE TABLE, and the options of a column: capacity, cache, index, parquet. */
import { foldCase, isSameName, type LocatedName } from '@sqlpipe/sql';
import type { Column, Defaults, Index } from '../definition.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
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
export function parseColumnList(cursor: Cursor, dialect: IndexDialect): Columns {
  const columns = new Columns();
  while (parseColumn(cursor, columns, dialect) === ',');
  return columns;
}

/** Parses one column and returns the token after it: a comma or the closing parenthesis. */
function parseColumn(cursor: Cursor, columns: Columns, dialect: IndexDialect): string {
  const nameToken = readColumnToken(cursor);
  rejectReserved(nameToken, cursor.at);
  const name = unquote(nameToken);
  const position = cursor.at;
  const type = parseColumnType(cursor, readColumnToken(cursor));
  if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
  const column = columns.add(
    { name, type, cached: type !== 'SYMBOL' || dialect.defaults.symbolCached, dedup: false },
    position,
  );

  let token = type === 'SYMBOL' ? parseSymbolOptions(cursor, column, dialect) : undefined;
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
function parseSymbolOptions(cursor: Cursor, column: Column, dialect: IndexDialect): string | undefined {
  let token = cursor.require("'capacity', 'nocache', 'cache', 'index' or ')'");
  if (isWord(token, 'capacity')) {
    column.capacity = parseSymbolCapacity(cursor);
    token = cursor.require("'nocache', 'cache', 'index' or ')'");
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) column.cached = isWord(token, 'cache');
  else cursor.unread();
  if (column.cached && column.capacity !== undefined) rejectCachedCapacity(column.capacity, cursor.at);
  return parseInlineIndex(cursor, column, dialect);
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

function parseInlineIndex(cursor: Cursor, column: Column, dialect: IndexDialect): string | undefined {
  const { defaults } = dialect;
  const endsHere = (token: string) => token === ')' || token === ',' || isWord(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectToken(token, 'index');
  const next = cursor.require(') | , expected');
  if (endsHere(next)) {
    column.index = { type: 'BITMAP', capacity: defaults.indexCapacity };
    return next;
  }
  const index = parseTypedIndex(cursor, next, dialect);
  if (index) {
    column.index = index;
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

/** What the grammar of an index depends on. */
export type IndexDialect = Pick<Dialect, 'defaults' | 'has'>;

/**
 * Parses `TYPE BITMAP CAPACITY n`, `TYPE POSTING [DELTA|EF] [INCLUDE (…)]` or `INCLUDE (…)` after INDEX.
 * @param token the next token, already read
 * @returns undefined if something else follows, as always on a server without types of indexes
 */
export function parseTypedIndex(
  cursor: Cursor,
  token: string | undefined,
  { defaults, has }: IndexDialect,
): Index | undefined {
  if (!has('index types')) return undefined;
  if (isWord(token, 'include')) return covering('POSTING', parseCoveredColumns(cursor));
  return isWord(token, 'type') ? parseIndexType(cursor, defaults) : undefined;
}

function parseIndexType(cursor: Cursor, defaults: Defaults): Index {
  const type = cursor.require('index type');
  if (isWord(type, 'bitmap')) {
    const sized = isWord(cursor.next(), 'capacity');
    if (!sized) cursor.unread();
    const capacity = sized ? parseIndexCapacity(cursor) : defaults.indexCapacity;
    if (isWord(cursor.next(), 'include'))
      throw new RejectionError(cursor.at, 'INCLUDE is only supported for POSTING index type');
    cursor.unread();
    return { type: 'BITMAP', capacity };
  }
  if (!isWord(type, 'posting')) throw new RejectionError(cursor.at, `unknown index type: ${type}`);
  let token = cursor.next();
  const flavour = isWord(token, 'delta') || isWord(token, 'ef') ? ` ${token?.toUpperCase()}` : '';
  if (flavour) token = cursor.next();
  if (isWord(token, 'capacity'))
    throw new RejectionError(cursor.at, 'CAPACITY is only supported for BITMAP index type');
  const covered = isWord(token, 'include') ? parseCoveredColumns(cursor) : [];
  if (!isWord(token, 'include')) cursor.unread();
  return covering(`POSTING${flavour}`, covered);
}

/** Where a statement names the columns that an index covers. */
const coveredPlaces = new WeakMap<Index, readonly LocatedName[]>();

function covering(type: string, covered: readonly LocatedName[]): Index {
  const index = { type, covered: covered.map(({ name }) => name) };
  coveredPlaces.set(index, covered);
  return index;
}

function parseCoveredColumns(cursor: Cursor): LocatedName[] {
  cursor.expect('(');
  const names: LocatedName[] = [];
  let token = cursor.require("column name or ')'");
  if (token === ')') throw new RejectionError(cursor.at, 'at least one column name expected in INCLUDE');
  for (;;) {
    cursor.unread();
    names.push(parseLiteral(cursor));
    token = cursor.require("',' or ')'");
    if (token === ')') return names;
    cursor.expectToken(token, ',');
    token = cursor.require('column name');
  }
}

/**
 * Requires that an index covers columns of its table, other than its own, each once.
 * @param missing how the statement says that there is no such column
 */
export function rejectBadCover(
  { name: indexed, index }: { readonly name: string; readonly index?: Index | undefined },
  columns: readonly Column[],
  missing: "doesn't exist" | 'does not exist',
): void {
  const covered = (index && coveredPlaces.get(index)) ?? [];
  for (const [i, { name, position }] of covered.entries()) {
    const reject = (problem: string): RejectionError => new RejectionError(position, `${problem} [column=${name}]`);
    if (!columns.some(column => isSameName(column.name, name))) throw reject(`INCLUDE column ${missing}`);
    if (isSameName(name, indexed)) throw reject('INCLUDE must not contain the indexed column');
    if (covered.slice(0, i).some(other => isSameName(other.name, name))) throw reject('duplicate column in INCLUDE');
  }
}
