/*! The column list of CREATE TABLE, and the options of a column: capacity, cache, index, parquet. */
import { isSameName, type LocatedName } from '@sqlpipe/sql';
import type { Column, Defaults, Index } from '../definition.js';
import type { Cursor } from '../grammar/cursor.js';
import { isWord } from '../grammar/cursor.js';
import { isValidColumnName, parseLiteral, rejectReserved, unquote } from '../grammar/names.js';
import { ceilPow2, expectInt } from '../grammar/numbers.js';
import { parseParquet } from '../grammar/parquet.js';
import { RejectionError, tokenError } from '../grammar/rejection-error.js';
import { parseColumnType } from '../grammar/types.js';
import type { ClauseReader, CreateContext } from './clause-reader.js';

const symbolCapacity = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };
const indexCapacity = { min: 2, max: 2 ** 23 };

/** Parses `ts TIMESTAMP, s SYMBOL …)`, with the closing parenthesis. */
export function parseColumnList(reader: ClauseReader): void {
  while (parseColumn(reader) === ',');
}

/** Parses one column and returns the token after it: a comma or the closing parenthesis. */
function parseColumn(reader: ClauseReader): string {
  const { cursor, columns, context } = reader;
  const nameToken = readColumnToken(cursor);
  rejectReserved(nameToken, cursor.at);
  const name = unquote(nameToken);
  const position = cursor.at;
  const type = parseColumnType(cursor, readColumnToken(cursor));
  if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
  const column = columns.add(
    { name, type, cached: type !== 'SYMBOL' || context.defaults.symbolCached, dedup: false },
    position,
  );

  let token = type === 'SYMBOL' ? parseSymbolOptions(reader, { name, position }, column) : undefined;
  token ??= readAfterColumn(cursor, { name, position });
  if (isWord(token, 'parquet')) {
    const start = cursor.previousEnd;
    column.parquet = parseParquet(cursor, type);
    token = cursor.require("',' or ')'");
    reader.addSpan(`column '${name}' Parquet settings`, start);
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

/** Reads the token after a type or an index. */
function readAfterColumn(cursor: Cursor, { name, position }: LocatedName): string {
  if (cursor.next() === ']') {
    throw new RejectionError(position, `${name} has an unmatched \`]\` - were you trying to define an array?`);
  }
  cursor.unread();
  return cursor.require("',' or ')'");
}

/** Parses `CAPACITY n NOCACHE INDEX …` after SYMBOL. Returns the token after it. */
function parseSymbolOptions(reader: ClauseReader, named: LocatedName, column: Column): string {
  const { cursor } = reader;
  let token = cursor.require("'capacity', 'nocache', 'cache', 'index' or ')'");
  if (isWord(token, 'capacity')) {
    column.capacity = parseSymbolCapacity(cursor);
    token = cursor.require("'nocache', 'cache', 'index' or ')'");
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) column.cached = isWord(token, 'cache');
  else cursor.unread();
  if (column.cached && column.capacity !== undefined) rejectCachedCapacity(column.capacity, cursor.at);
  return parseInlineIndex(reader, named, column);
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

/** Parses `INDEX …`. Returns the token after it, or the token in its place. */
function parseInlineIndex(reader: ClauseReader, named: LocatedName, column: Column): string {
  const { cursor, context } = reader;
  const endsHere = (token: string) => token === ')' || token === ',' || isWord(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectToken(token, 'index');
  const start = cursor.previousEnd;
  const next = cursor.require(') | , expected');
  const isPlain = endsHere(next);
  const typed = isPlain ? undefined : parseTypedIndex(cursor, next, context);
  if (!isPlain && !typed) cursor.expectToken(next, 'capacity');
  const capacity = isPlain || typed ? context.defaults.indexCapacity : parseIndexCapacity(cursor);
  column.index = typed ?? { type: 'BITMAP', capacity };
  const after = isPlain ? next : readAfterColumn(cursor, named);
  reader.addSpan(`column '${column.name}' index`, start);
  return after;
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
export type IndexContext = Pick<CreateContext, 'defaults' | 'has'>;

/**
 * Parses `TYPE BITMAP CAPACITY n`, `TYPE POSTING [DELTA|EF] [INCLUDE (…)]` or `INCLUDE (…)` after INDEX.
 * @param token the next token, already read
 * @returns undefined if something else follows, as always on a server without types of indexes
 */
export function parseTypedIndex(
  cursor: Cursor,
  token: string | undefined,
  { defaults, has }: IndexContext,
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
