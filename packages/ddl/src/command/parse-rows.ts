/*! Parses INSERT and UPDATE: their table, the columns of UPDATE, and the query of INSERT. Values and conditions are skipped. */
import { type CheckQuery, parseViewBody, readCode } from '../parser/body.js';
import { Cursor, isWord, tokenError } from '../parser/cursor.js';
import { type NameLookup, requireObject } from '../parser/lookup.js';
import { rejectReserved, stripPublic, unquoteToken } from '../parser/names.js';
import { parseBatch } from '../properties/storage.js';
import type { Command } from './command.js';

/** Parses the text after INSERT. Like the server, it looks for the table last. */
export function parseInsert(cursor: Cursor, lookup: NameLookup): Command {
  const checkQuery = withQueriesBefore(cursor, lookup.checkQuery);
  cursor.require('atomic or into or batch');
  cursor.unread();
  const isAtomic = cursor.accept('atomic');
  if (cursor.accept('batch')) parseBatch(cursor, 'into');
  cursor.expectToken(cursor.require('into'), 'into');
  const name = parseTable(cursor, 'table name');
  const position = cursor.at;
  const first = cursor.require("'(' or 'select'");
  const token = first === '(' ? skipColumns(cursor) : first;
  if (isWord(token, 'select')) {
    cursor.unread();
    parseViewBody(cursor, checkQuery);
    cursor.expectEnd();
  } else if (isAtomic) throw cursor.error("'atomic' keyword can only be used in INSERT INTO SELECT statements.");
  else if (!isWord(token, 'values')) throw tokenError(cursor.at, token, "'select' or 'values' expected");
  requireObject(lookup, 'table', name, position);
  cursor.skipRest();
  return { verb: 'insert', name };
}

/** Checks a query together with the queries of a WITH before the INSERT. */
function withQueriesBefore({ text, at }: Cursor, check: CheckQuery): CheckQuery {
  const queries = readCode(new Cursor(text.slice(0, at)), 0, false);
  if (queries.trim() === '') return check;
  return body => check({ ...body, code: queries.padEnd(body.position) + body.code, position: 0 });
}

function parseTable(cursor: Cursor, expected: string): string {
  const token = stripPublic(cursor, cursor.require(expected));
  rejectReserved(token, cursor.at);
  return unquoteToken(token);
}

/** Skips a list of columns, after its parenthesis. Returns the token after the list. */
function skipColumns(cursor: Cursor): string {
  let separator: string | undefined;
  do {
    const column = cursor.require('column');
    if (column === ')') throw tokenError(cursor.at, column, 'missing column name');
    rejectReserved(column, cursor.at);
    separator = cursor.require("','");
  } while (separator === ',');
  cursor.expectToken(separator, ')');
  return cursor.require("'select' or 'values'");
}

/** Parses the text after UPDATE. Like the server, it looks for the table last. */
export function parseUpdate(cursor: Cursor, lookup: NameLookup): Command {
  const name = parseTable(cursor, 'table name or alias');
  let token = cursor.require('AS, SET or table alias expected');
  if (isWord(token, 'as')) {
    token = cursor.require('table alias expected');
    if (isWord(token, 'set')) throw cursor.error('table alias expected');
  }
  if (!isWord(token, 'set') && !isWord(cursor.require('SET expected'), 'set')) throw cursor.error('SET expected');
  const columns: string[] = [];
  do {
    columns.push(unquoteToken(cursor.require('column name')));
    cursor.expectToken(cursor.require("'='"), '=');
  } while (skipValue(cursor) === ',');
  cursor.skipRest();
  requireObject(lookup, 'table', name, 0);
  return { verb: 'update', name, columns };
}

/** Skips a value of UPDATE. Returns the token after it; undefined at the end of the statement. */
function skipValue(cursor: Cursor): string | undefined {
  let depth = 0;
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (depth === 0 && [',', ';', 'from', 'where'].includes(token.toLowerCase())) return token;
    if (token === '(' || token === '[') depth++;
    if (token === ')' || token === ']') depth--;
  }
  return undefined;
}
