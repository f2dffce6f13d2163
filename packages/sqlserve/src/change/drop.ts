/*! DROP, RENAME, TRUNCATE and VACUUM. */
import {
  type Cursor,
  isValidTableName,
  isWord,
  RejectionError,
  rejectReserved,
  stripPublic,
  unquote,
} from '@sqlpipe/ddl/grammar';
import type { CatalogObject } from '../objects.js';
import type { Session } from '../session.js';
import { GONE_TABLE, invalidate } from '../validity.js';

/**
 * For each kind: two ways in which error messages say that its name is missing, the error for the name of another
 * kind, and the permission to drop it.
 */
const kinds = {
  table: {
    name: 'table name',
    short: 'table-name',
    not: 'table name expected, got view or materialized view name',
    permission: 'DROP TABLE',
  },
  view: {
    name: 'view name',
    short: 'view-name',
    not: 'view name expected, got table or materialized view name',
    permission: 'DROP VIEW',
  },
  'materialized view': {
    name: 'materialized view name',
    short: 'mat-view-name',
    not: 'materialized view name expected, got table or view name',
    permission: 'DROP MATERIALIZED VIEW',
  },
  'live view': {
    name: 'live view name',
    short: 'live-view-name',
    not: 'live view name expected, got table or view name',
    permission: 'DROP LIVE VIEW',
  },
} as const;

/** After DROP. */
export function drop(cursor: Cursor, session: Session): void {
  const token = cursor.next();
  if (isWord(token, 'table')) dropOne(cursor, session, 'table');
  else if (isWord(token, 'view')) dropOne(cursor, session, 'view');
  else if (isWord(token, 'materialized')) {
    if (!isWord(cursor.next(), 'view')) throw new RejectionError(cursor.at, 'expected VIEW');
    dropOne(cursor, session, 'materialized view');
  } else if (session.enterprise && isWord(token, 'live')) {
    cursor.expect('view');
    dropOne(cursor, session, 'live view');
  } else if (isWord(token, 'all')) dropAll(cursor, session);
  else
    throw new RejectionError(
      token === undefined ? cursor.readOffset : cursor.at,
      "'table' or 'view' or 'materialized view' or 'all' expected",
    );
}

function dropOne(cursor: Cursor, session: Session, kind: CatalogObject['kind']): void {
  const { name: expected, short, not, permission } = kinds[kind];
  const first = cursor.next();
  if (first === undefined)
    throw new RejectionError(kind === 'view' ? cursor.readOffset : cursor.at, `expected [IF EXISTS] ${short}`);
  let position = cursor.at;
  const ifExists = isWord(first, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw new RejectionError(cursor.at, `expected EXISTS ${short}`);
    position = cursor.readOffset;
  } else cursor.unread();
  const token = cursor.requireNoSemicolon(expected);
  rejectReserved(token, cursor.at);
  const name = unquote(token);
  const object = session.catalog.find(name);
  if (object && object.kind !== kind) throw new RejectionError(cursor.at, not);
  cursor.expectEnd();
  if (object) {
    session.authorize(permission, object.name);
    session.catalog.drop(object.name);
    invalidate(session.catalog, object.name, GONE_TABLE);
  } else if (!ifExists) {
    throw new RejectionError(position, `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`);
  }
}

function dropAll(cursor: Cursor, session: Session): void {
  if (!isWord(cursor.next(), 'tables')) cursor.unread();
  cursor.expectEnd();
  session.authorize('DATABASE ADMIN');
  session.catalog.clear();
}

/** After RENAME. */
export function rename(cursor: Cursor, session: Session): void {
  cursor.expect('table');
  const from = parseTableName(cursor, 'from table name');
  if (cursor.require('to') === '(') throw new RejectionError(cursor.at, 'function call is not allowed here');
  cursor.unread();
  cursor.expect('to');
  const to = parseTableName(cursor, 'to table name');
  const rest = cursor.next();
  if (rest === '(') throw new RejectionError(cursor.at, 'function call is not allowed here');
  if (rest !== undefined && rest !== ';') throw new RejectionError(cursor.at, 'debris?');
  renameTable(session, from, to);
}

function parseTableName(cursor: Cursor, expected: string): { name: string; position: number } {
  const token = stripPublic(cursor, cursor.require(expected));
  rejectReserved(token, cursor.at);
  return { name: unquote(token), position: cursor.at };
}

function renameTable(
  { catalog, authorize }: Session,
  from: { name: string; position: number },
  to: { name: string },
): void {
  const table = catalog.find(from.name);
  if (!table) throw new RejectionError(0, `table does not exist [table=${from.name}]`);
  if (table.kind !== 'table')
    throw new RejectionError(from.position, `cannot modify ${table.kind} [view=${from.name}]`);
  authorize('RENAME TABLE', table.name);
  if (!isValidTableName(to.name)) throw new RejectionError(0, `invalid table name [table=${to.name}]`);
  const taken = catalog.find(to.name);
  if (taken && taken !== table)
    throw new RejectionError(
      0,
      `cannot rename table, new name is already in use [table=${from.name}, toTableName=${to.name}]`,
    );
  catalog.drop(table.name);
  catalog.put({ ...table, name: to.name });
  invalidate(catalog, table.name, GONE_TABLE);
}

/** After TRUNCATE: there are no rows, but the tables must exist. */
export function truncate(cursor: Cursor, { catalog, authorize }: Session): void {
  const what = cursor.next();
  if (!isWord(what, 'table'))
    throw new RejectionError(what === undefined ? cursor.readOffset : cursor.at, 'TABLE expected');
  let token = cursor.next();
  const ifExists = isWord(token, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw new RejectionError(cursor.at, 'expected EXISTS table-name');
    token = cursor.next();
  }
  if (isWord(token, 'only')) token = cursor.next();
  if (isWord(token, 'with')) throw new RejectionError(cursor.at, 'table name expected');
  for (;;) {
    if (token === undefined || token === ',') throw new RejectionError(cursor.readOffset, 'table name expected');
    truncateOne(cursor, { catalog, authorize }, unquote(token), ifExists);
    token = cursor.next();
    if (token === undefined || token === ';' || isWord(token, 'keep')) break;
    if (token !== ',') throw new RejectionError(cursor.readOffset, "',' or 'keep' expected");
    token = cursor.next();
    if (isWord(token, 'keep')) throw new RejectionError(cursor.readOffset, 'table name expected');
  }
  if (isWord(token, 'keep')) {
    if (!isWord(cursor.next(), 'symbol')) throw new RejectionError(cursor.at, 'SYMBOL expected');
    if (!isWord(cursor.next(), 'maps')) throw new RejectionError(cursor.at, 'MAPS expected');
    cursor.expectEnd();
  }
}

function truncateOne(
  cursor: Cursor,
  { catalog, authorize }: Pick<Session, 'catalog' | 'authorize'>,
  name: string,
  ifExists: boolean,
): void {
  const table = catalog.find(name);
  if (!table && !ifExists) throw new RejectionError(cursor.at, `table does not exist [table=${name}]`);
  if (table && table.kind !== 'table')
    throw new RejectionError(cursor.at, `cannot modify ${table.kind} [view=${table.name}]`);
  if (!table) return;
  authorize('TRUNCATE TABLE', table.name);
  invalidate(catalog, table.name, 'truncate operation');
}

/** After VACUUM: there is nothing to clean up, but the table must exist. */
export function vacuum(cursor: Cursor, { catalog, authorize }: Session): void {
  const what = cursor.requireNoSemicolon("'table'");
  if (!isWord(what, 'table') && !isWord(what, 'partitions'))
    throw new RejectionError(cursor.at, "'partitions' expected");
  const name = unquote(cursor.requireNoSemicolon('table name'));
  const rest = cursor.next();
  if (rest !== undefined && rest !== ';') throw new RejectionError(cursor.at, "end of line or ';' expected");
  const table = catalog.find(name);
  if (!table) throw new RejectionError(cursor.at, `table does not exist [table=${name}]`);
  if (table.kind !== 'table') throw new RejectionError(cursor.at, `cannot modify ${table.kind} [view=${table.name}]`);
  authorize('VACUUM TABLE', table.name);
}
