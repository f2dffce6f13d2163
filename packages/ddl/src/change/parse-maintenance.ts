/*! Parses TRUNCATE, VACUUM, REFRESH, COMPILE, statements that write rows, and ALTER of partitions. */
import { type Cursor, isWord } from '../grammar/cursor.js';
import { type KnownObject, type NameLookup, readName, requireObject } from '../grammar/lookup.js';
import { unquoteToken } from '../grammar/names.js';
import { missingError, RejectionError } from '../grammar/rejection-error.js';
import type { ChangeStatement, PartitionChange } from './change.js';

export function parseTruncate(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const what = cursor.next();
  if (!isWord(what, 'table'))
    throw new RejectionError(what === undefined ? cursor.readOffset : cursor.at, 'TABLE expected');
  let token = cursor.next();
  const ifExists = isWord(token, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw cursor.error('expected EXISTS table-name');
    token = cursor.next();
  }
  if (isWord(token, 'only')) token = cursor.next();
  if (isWord(token, 'with')) throw cursor.error('table name expected');
  const names: string[] = [];
  for (;;) {
    if (token === undefined || token === ',') throw new RejectionError(cursor.readOffset, 'table name expected');
    const name = unquoteToken(readName(cursor, lookup, token));
    const at = { missing: cursor.at, wrong: cursor.at };
    if (!ifExists || lookup.find(name, 'table')) requireObject(lookup, 'table', name, at);
    names.push(name);
    token = cursor.next();
    if (token === undefined || token === ';' || isWord(token, 'keep')) break;
    if (token !== ',') throw new RejectionError(cursor.readOffset, "',' or 'keep' expected");
    token = cursor.next();
    if (isWord(token, 'keep')) throw new RejectionError(cursor.readOffset, 'table name expected');
  }
  if (isWord(token, 'keep')) {
    if (!isWord(cursor.next(), 'symbol')) throw cursor.error('SYMBOL expected');
    if (!isWord(cursor.next(), 'maps')) throw cursor.error('MAPS expected');
    cursor.expectEnd();
  }
  return { verb: 'truncate', names };
}

export function parseVacuum(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const what = cursor.requireNoSemicolon("'table'");
  if (!isWord(what, 'table') && !isWord(what, 'partitions')) throw cursor.error("'partitions' expected");
  const name = unquoteToken(readName(cursor, lookup, cursor.requireNoSemicolon('table name')));
  const rest = cursor.next();
  if (rest !== undefined && rest !== ';') throw cursor.error("end of line or ';' expected");
  requireObject(lookup, 'table', name, { missing: cursor.at, wrong: cursor.at });
  return { verb: 'vacuum', name };
}

/**
 * After REFRESH. Which range is refreshed is not parsed. STATS computes again what the server knows of the intervals that
 * are to be refreshed; it refreshes no rows.
 */
export function parseRefreshStatement(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.expect('materialized', 'view');
  const name = unquoteToken(readName(cursor, lookup, cursor.requireNoSemicolon('view name')));
  requireObject(lookup, 'materialized view', name, { missing: cursor.at, wrong: cursor.at });
  const mode = cursor.requireNoSemicolon("'full' or 'incremental' or 'range'").toLowerCase();
  if (mode === 'range') {
    skipRest(cursor);
    return { verb: 'refresh range', name };
  }
  if (lookup.has('refresh stats') && mode === 'stats') {
    cursor.expectEnd();
    return { verb: 'refresh stats', name };
  }
  if (mode !== 'full' && mode !== 'incremental') throw cursor.error("'full' or 'incremental' or 'range' expected");
  cursor.expectEnd();
  return { verb: 'refresh', name, isFull: mode === 'full' };
}

export function parseCompile(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.expectToken(cursor.requireNoSemicolon("'view'"), 'view');
  const name = unquoteToken(readName(cursor, lookup, cursor.requireNoSemicolon('view name')));
  const position = cursor.at;
  cursor.expectEnd();
  const view = lookup.find(name, 'view');
  if (!view) throw missingError(position, name, 'view');
  if (view.kind !== 'view') throw new RejectionError(position, 'view expected, got table');
  return { verb: 'compile', name, position };
}

/** After UPDATE. What is written is not parsed. */
export function parseUpdate(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const name = unquoteToken(readName(cursor, lookup, cursor.require('table name')));
  requireObject(lookup, 'table', name, { missing: 0, wrong: 0 });
  skipRest(cursor);
  return { verb: 'update', name };
}

/** After INSERT. What is written is not parsed. */
export function parseInsert(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.accept('atomic');
  cursor.expect('into');
  const name = unquoteToken(readName(cursor, lookup, cursor.require('table name')));
  requireObject(lookup, 'table', name, { missing: cursor.at, wrong: cursor.at });
  skipRest(cursor);
  return { verb: 'insert', name };
}

/** After PARTITION in an ALTER of an object that is stored. Which partitions are meant is not parsed. */
export function parsePartitions(
  cursor: Cursor,
  { partitionBy }: KnownObject,
  verb: PartitionChange['verb'],
): Omit<PartitionChange, 'name'> {
  const position = cursor.at;
  if (verb === 'convert partition') {
    cursor.expect('to');
    cursor.requireWord('parquet', 'native');
  }
  if (partitionBy === 'NONE' && verb !== 'force drop partition') throw cursor.error('table is not partitioned');
  if (cursor.requireWord('list', 'where') === 'list' && cursor.next() === ',')
    throw cursor.error('partition name missing');
  skipRest(cursor);
  return { verb, position };
}

function skipRest(cursor: Cursor): void {
  while (cursor.next() !== undefined);
}
