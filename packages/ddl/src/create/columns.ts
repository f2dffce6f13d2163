/*! Parses the column list of CREATE TABLE. */
import { foldCase, type LocatedName } from '@sqlpipe/sql';
import { parseIndexOptions } from '../columns/indexes.js';
import { parseParquet } from '../columns/parquet.js';
import { parseSymbolOptions, rejectCachedCapacity } from '../columns/symbol.js';
import { newColumn, unmatchedBracketError } from '../columns/type.js';
import type { Column } from '../definition.js';
import type { ClauseReader } from '../grammar/clause-reader.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { isValidColumnName, rejectReserved, unquoteToken } from '../grammar/names.js';
import { RejectionError, tokenError } from '../grammar/rejection-error.js';
import { parseColumnType } from '../grammar/types.js';
import { columnProperty } from '../property-name.js';

/** Parses `ts TIMESTAMP, s SYMBOL …)`, with the closing parenthesis. */
export function parseColumnList(reader: ClauseReader): void {
  while (parseColumn(reader) === ',');
}

/** Parses one column and returns the token after it: a comma or the closing parenthesis. */
function parseColumn(reader: ClauseReader): string {
  const { cursor, columns, context } = reader;
  const nameToken = readColumnToken(cursor);
  rejectReserved(nameToken, cursor.at);
  const name = unquoteToken(nameToken);
  const position = cursor.at;
  const type = parseColumnType(cursor, readColumnToken(cursor));
  if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
  const column = columns.add(newColumn(name, type, context), position);

  let token = type === 'SYMBOL' ? parseSymbol(reader, { name, position }, column) : undefined;
  token ??= readAfterColumn(cursor, { name, position });
  if (isWord(token, 'parquet')) {
    const start = cursor.previousEnd;
    column.parquet = parseParquet(cursor, type);
    token = cursor.require("',' or ')'");
    reader.addSpan(columnProperty(name, ' Parquet settings'), start);
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

function readAfterColumn(cursor: Cursor, { name, position }: LocatedName): string {
  if (cursor.accept(']')) throw unmatchedBracketError(name, position);
  return cursor.require("',' or ')'");
}

/** Parses `CAPACITY n NOCACHE INDEX …` after SYMBOL. Returns the token after it. */
function parseSymbol(reader: ClauseReader, named: LocatedName, column: Column): string {
  const { cursor, context } = reader;
  parseSymbolOptions(cursor, column, ", 'index' or ')'");
  rejectCachedCapacity(column, cursor.at);
  const endsHere = (token: string) => token === ')' || token === ',' || isWord(token, 'parquet');
  const token = cursor.require("')', 'index' or 'parquet'");
  if (endsHere(token)) return token;
  cursor.expectToken(token, 'index');
  const start = cursor.previousEnd;
  const next = cursor.require(') | , expected');
  const isPlain = endsHere(next);
  const covered: LocatedName[] = [];
  column.index = parseIndexOptions(cursor, next, context, { covered, expected: isPlain ? undefined : "'capacity'" });
  reader.positions.covered.set(foldCase(column.name), covered);
  const after = isPlain ? cursor.require("')'") : readAfterColumn(cursor, named);
  reader.addSpan(columnProperty(column.name, ' index'), start);
  return after;
}
