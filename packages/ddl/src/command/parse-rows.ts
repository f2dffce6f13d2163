/*! Parses INSERT and UPDATE: their table and columns, and the query of INSERT. Values and conditions are skipped. */
import { type LocatedName, NameMap, NameSet } from '@sqlpipe/sql';
import { type Body, parseViewBody, readCode } from '../parser/body.js';
import { Cursor, isWord, RejectionError, tokenError } from '../parser/cursor.js';
import { type KnownObject, type NameLookup, requireObject } from '../parser/lookup.js';
import { parseTableName, rejectReserved, unquoteToken } from '../parser/names.js';
import { parseBatch } from '../properties/parameters.js';
import type { Command } from './command.js';

/** Parses the text after INSERT. Like the server, it looks for the table and its columns last. */
export function parseInsert(cursor: Cursor, lookup: NameLookup): Command {
  // The query is checked together with those of a WITH before the INSERT.
  const queriesBefore = readCode(new Cursor(cursor.text.slice(0, cursor.start)), 0);
  cursor.require('atomic or into or batch');
  cursor.unread();
  const isAtomic = cursor.accept('atomic');
  if (cursor.accept('batch')) parseBatch(cursor, 'into');
  cursor.expectToken(cursor.require('into'), 'into');
  const { name, start } = parseTableName(cursor, 'table name');
  const first = cursor.require("'(' or 'select'");
  const columns = first === '(' ? parseColumns(cursor) : new NameMap<LocatedName>();
  const token = first === '(' ? cursor.require("'select' or 'values'") : first;
  if (isWord(token, 'select')) {
    cursor.unread();
    const addQueries = (body: Body) => ({ ...body, code: queriesBefore.padEnd(body.start) + body.code, start: 0 });
    parseViewBody(cursor, body => lookup.checkQuery(queriesBefore.trim() === '' ? body : addQueries(body)));
    cursor.expectEnd();
  } else if (isAtomic) throw cursor.error("'atomic' keyword can only be used in INSERT INTO SELECT statements.");
  else if (!isWord(token, 'values')) throw tokenError(cursor.start, token, "'select' or 'values' expected");
  requireColumns(requireObject(lookup, 'table', name, start), columns);
  cursor.skipRest();
  return { action: 'insert', name };
}

type LocatedColumns = NameMap<LocatedName>;

function addColumn(columns: LocatedColumns, column: LocatedName, where = ''): void {
  if (columns.has(column.name))
    throw new RejectionError(column.start, `Duplicate column [name=${column.name}]${where}`);
  columns.set(column.name, column);
}

function requireColumns({ columns: known }: KnownObject, columns: LocatedColumns): void {
  if (!known) return;
  const names = new NameSet(known.map(({ name }) => name));
  for (const { name, start } of columns.values())
    if (!names.has(name)) throw new RejectionError(start, `Invalid column: ${name}`);
}

/** Parses a list of columns, after its parenthesis. */
function parseColumns(cursor: Cursor): LocatedColumns {
  const columns: LocatedColumns = new NameMap();
  let separator: string | undefined;
  do {
    const column = cursor.require('column');
    if (column === ')') throw tokenError(cursor.start, column, 'missing column name');
    rejectReserved(column, cursor.start);
    addColumn(columns, { name: unquoteToken(column), start: cursor.start });
    separator = cursor.require("','");
  } while (separator === ',');
  cursor.expectToken(separator, ')');
  return columns;
}

/** Parses the text after UPDATE. Like the server, it looks for the table and its columns last. */
export function parseUpdate(cursor: Cursor, lookup: NameLookup): Command {
  const { name } = parseTableName(cursor, 'table name or alias');
  let token = cursor.require('AS, SET or table alias expected');
  if (isWord(token, 'as')) {
    token = cursor.require('table alias expected');
    if (isWord(token, 'set')) throw cursor.error('table alias expected');
  }
  if (!isWord(token, 'set') && !isWord(cursor.require('SET expected'), 'set')) throw cursor.error('SET expected');
  const columns: LocatedColumns = new NameMap();
  const endsValue = (each: string) => [',', ';', 'from', 'where'].includes(each.toLowerCase());
  do {
    const column = { name: unquoteToken(cursor.require('column name')), start: cursor.start };
    cursor.expectToken(cursor.require("'='"), '=');
    addColumn(columns, column, ' in SET clause');
  } while (cursor.skipTo(endsValue, ['([', ')]']) === ',');
  cursor.skipRest();
  requireColumns(requireObject(lookup, 'table', name, 0), columns);
  return { action: 'update', name, columns: [...columns.values()].map(column => column.name) };
}
