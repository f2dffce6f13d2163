/*! Parses CREATE TABLE. The checks are in the order of the server's parser, because only the first error is reported. */
import type { LocatedName } from '@sqlpipe/sql';
import { addTimestampToIndex, parseIndexOptions } from '../columns/indexes.js';
import { parseParquet } from '../columns/parquet.js';
import { newColumn, parseSymbolOptions, rejectCachedCapacity, unmatchedBracketError } from '../columns/type.js';
import type { Column, TableDefinition } from '../definition.js';
import { expectEndOfBody, parseEnclosedBody } from '../parser/body.js';
import { ClauseReader, type CreateContext, type CreateOf } from '../parser/clause-reader.js';
import { type Cursor, isWord, RejectionError, tokenError, unexpectedTokenError } from '../parser/cursor.js';
import {
  type CreatedName,
  isValidColumnName,
  parseCreatedName,
  parseLiteral,
  parseObjectName,
  rejectReserved,
  unquoteToken,
} from '../parser/names.js';
import { parseColumnType } from '../parser/types.js';
import { DEDUP_KEYS } from '../properties/dedup-keys.js';
import { OWNER } from '../properties/owner.js';
import { MAX_UNCOMMITTED_ROWS, parseBatch } from '../properties/parameters.js';
import { NO_RETENTION, RETENTION } from '../properties/retention.js';
import { FORMAT, PARTITIONING, TIMESTAMP, VOLUME, WAL } from '../properties/storage.js';
import { columnPropertyName } from '../property.js';

/** Parses the text after CREATE. @param first the token after CREATE, already read @throws RejectionError */
export function parseCreateTable(cursor: Cursor, first: string, context: CreateContext): CreateOf<TableDefinition> {
  const isBatch = !isWord(first, 'table');
  if (isWord(first, 'atomic')) cursor.expect('table');
  else if (isBatch) {
    if (!isWord(first, 'batch')) throw cursor.error("'atomic' or 'table' or 'batch' expected");
    if (parseBatch(cursor, 'table')) cursor.expect('table');
    else cursor.next(); // any word (observed on 9.3.4)
  }
  const created = parseCreatedName(cursor, 'table name');
  const token = cursor.require("'(' or 'as'");
  if (token === '(') {
    if (isWord(cursor.require('like'), 'like')) {
      const like = parseObjectName(cursor, cursor.require('table name'), { reserved: true });
      const end = cursor.require(')');
      if (end !== ')') throw unexpectedTokenError(cursor.start, end);
      const reader = new ClauseReader(cursor, context, 'table');
      reader.advance();
      return { ...toTableStatement(reader, created, { like: like.name }), like };
    }
    cursor.unread();
    const reader = new ClauseReader(cursor, context, 'table');
    while (parseColumn(reader) === ',');
    if (isBatch)
      throw cursor.error("'atomic' or 'batch' keywords can only be used in CREATE ... AS SELECT statements.");
    readClauses(reader);
    return toTableStatement(reader, created);
  }
  if (!isWord(token, 'as')) throw unexpectedTokenError(cursor.start, token);
  cursor.expect('(');
  const body = parseEnclosedBody(cursor, context.checkQuery);
  expectEndOfBody(cursor, body);
  const reader = new ClauseReader(cursor, context, 'table', true);
  readClauses(reader);
  return { ...toTableStatement(reader, created, { query: body.text }), body };
}

/** Reads the clauses in the server's order. FORMAT may be in one of four places. Retention and WAL need PARTITION BY. */
function readClauses(reader: ClauseReader): void {
  const readFormat = () => reader.accept(FORMAT, 'duplicate FORMAT clause');
  reader.definition = { ...reader.definition, partitionBy: 'NONE', wal: false };
  reader.advance();
  for (; reader.token === ','; reader.advance()) {
    const token = reader.cursor.require("'index' or 'cast'");
    if (isWord(token, 'index')) parseIndexClause(reader);
    else if (isWord(token, 'cast')) parseCast(reader);
    else throw unexpectedTokenError(reader.cursor.start, token);
  }
  reader.accept(TIMESTAMP);
  if (reader.accept(PARTITIONING)) {
    for (const property of RETENTION) reader.accept(property);
    readFormat();
    reader.accept(WAL);
  }
  readFormat();
  for (const property of [MAX_UNCOMMITTED_ROWS, VOLUME]) reader.accept(property);
  readFormat();
  reader.accept(DEDUP_KEYS);
  readFormat();
  reader.check(FORMAT);
}

function toTableStatement(reader: ClauseReader, created: CreatedName, rest: Partial<TableDefinition> = {}) {
  reader.accept(OWNER);
  reader.expectEnd();
  const { columns, definition } = reader;
  const timestamp = definition.timestamp && (columns.get(definition.timestamp)?.name ?? definition.timestamp);
  const stated = {
    ...{ partitionBy: 'NONE' as const, ...NO_RETENTION, wal: false, isParquet: false },
    ...{ ...definition, timestamp },
    columns: [...columns.values()].map(column => addTimestampToIndex(column, timestamp)),
    ...rest,
  };
  return { ...reader.toStatement('table', created, stated), body: undefined };
}

function parseIndexClause({ cursor, context, columns, clauseNames, isQuery }: ClauseReader): void {
  cursor.expect('(');
  const named = parseLiteral(cursor);
  const { name } = named;
  const reject = (problem: string) => new RejectionError(named.start, problem);
  const known = columns.get(name);
  if (isQuery) clauseNames.index.push(named);
  else if (!known) throw reject(`Invalid column: ${name}`);
  if (known?.index) throw reject('duplicate index clause');
  if (known && !isQuery && known.type !== 'SYMBOL')
    throw reject(`indexes are supported only for SYMBOL columns [columnName=${name}, columnType=${known.type}]`);
  const column = known ?? columns.addOfQuery(name);
  const covered: LocatedName[] = [];
  column.index = parseIndexOptions(cursor, cursor.require("'capacity'"), context, { covered });
  clauseNames.covered.set(column.name, covered);
  cursor.expect(')');
}

function parseCast({ cursor, columns, clauseNames, isQuery }: ClauseReader): void {
  if (!isQuery) throw cursor.error("cast is only supported in 'create table as ...' context");
  cursor.expect('(');
  const named = parseLiteral(cursor);
  const column = columns.get(named.name) ?? columns.addOfQuery(named.name);
  if (column.type) throw cursor.error('duplicate cast');
  cursor.expect('as');
  const type = parseLiteral(cursor);
  column.type = parseColumnType(cursor, type.name);
  clauseNames.cast.push(named);
  if (column.type === 'SYMBOL') {
    column.cached = true;
    rejectCachedCapacity(column, parseSymbolOptions(cursor, column, " or ')'"));
  }
  cursor.expect(')');
}

function parseColumn(reader: ClauseReader): string {
  const { cursor, columns, context } = reader;
  const nameToken = readColumnToken(cursor);
  rejectReserved(nameToken, cursor.start);
  const name = unquoteToken(nameToken);
  const start = cursor.start;
  const type = parseColumnType(cursor, readColumnToken(cursor));
  if (!isValidColumnName(name)) throw new RejectionError(start, ' new column name contains invalid characters');
  const column = columns.add(newColumn(name, type, context), start);

  let token = type === 'SYMBOL' ? parseSymbol(reader, { name, start }, column) : undefined;
  token ??= readAfterColumn(cursor, { name, start });
  if (isWord(token, 'parquet')) {
    const clauseStart = cursor.previousEnd;
    column.parquet = parseParquet(cursor, type, reader.context.hasFeature);
    token = cursor.require("',' or ')'");
    reader.addSpan(columnPropertyName(name, ' Parquet settings'), clauseStart);
  }
  // PRECISION, NULL and NOT NULL have no effect.
  if (isWord(token, 'precision')) token = cursor.require("'NOT' or 'NULL' or ',' or ')'");
  if (isWord(token, 'not')) token = cursor.require("'NULL'");
  if (isWord(token, 'null')) token = cursor.require("','");
  if (token !== ')' && token !== ',') throw tokenError(cursor.start, token, "',' or ')' expected");
  return token;
}

function readColumnToken(cursor: Cursor): string {
  const token = cursor.require("')' or ','");
  if (token === ')' || token === ',') throw tokenError(cursor.start, token, 'missing column definition');
  return token;
}

function readAfterColumn(cursor: Cursor, { name, start }: LocatedName): string {
  if (cursor.accept(']')) throw unmatchedBracketError(name, start);
  return cursor.require("',' or ')'");
}

function parseSymbol(reader: ClauseReader, named: LocatedName, column: Column): string {
  const { cursor, context } = reader;
  parseSymbolOptions(cursor, column, ", 'index' or ')'");
  rejectCachedCapacity(column, cursor.start);
  const endsHere = (each: string) => each === ')' || each === ',' || isWord(each, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectToken(token, 'index');
  const start = cursor.previousEnd;
  const next = cursor.require(') | , expected');
  const isPlain = endsHere(next);
  const covered: LocatedName[] = [];
  column.index = parseIndexOptions(cursor, next, context, { covered, expected: isPlain ? undefined : "'capacity'" });
  reader.clauseNames.covered.set(column.name, covered);
  const after = isPlain ? cursor.require("')'") : readAfterColumn(cursor, named);
  reader.addSpan(columnPropertyName(column.name, ' index'), start);
  return after;
}
