/*! Parses DROP and RENAME. */
import type { LocatedName, ObjectKind, PrincipalKind } from '@sqlpipe/sql';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { type NameLookup, readName } from '../grammar/lookup.js';
import { isValidTableName, parseEntityName, rejectReserved, stripPublic, unquoteToken } from '../grammar/names.js';
import { missingError, RejectionError } from '../grammar/rejection-error.js';
import type { ChangeStatement } from './change.js';

/** The server's words in the place of the name of an object. */
const SHORT_NAMES = {
  table: 'table-name',
  view: 'view-name',
  'materialized view': 'mat-view-name',
  'live view': 'live-view-name',
};

/** What the server calls an object of another kind. */
export const OTHER_KINDS: Readonly<Record<ObjectKind, string>> = {
  table: 'view or materialized view',
  view: 'table or materialized view',
  'materialized view': 'table or view',
  'live view': 'table or view',
};

export function parseDrop(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const token = cursor.next();
  if (isWord(token, 'table')) return parseDropObject(cursor, lookup, 'table');
  if (isWord(token, 'view')) return parseDropObject(cursor, lookup, 'view');
  if (isWord(token, 'materialized')) {
    if (!isWord(cursor.next(), 'view')) throw cursor.error('expected VIEW');
    return parseDropObject(cursor, lookup, 'materialized view');
  }
  if (isWord(token, 'all')) {
    cursor.accept('tables');
    cursor.expectEnd();
    return { verb: 'drop all' };
  }
  if (lookup.has('live views') && isWord(token, 'live')) {
    cursor.expect('view');
    return parseDropObject(cursor, lookup, 'live view');
  }
  cursor.unread();
  const kind = lookup.isEnterprise === false ? undefined : parsePrincipalKind(cursor);
  if (kind) {
    const { name } = parsePrincipalName(cursor, kind, 'exists');
    cursor.expectEnd();
    return { verb: 'drop', kind, name };
  }
  throw new RejectionError(
    token === undefined ? cursor.readOffset : cursor.at,
    "'table' or 'view' or 'materialized view' or 'all' expected",
  );
}

function parseDropObject(cursor: Cursor, lookup: NameLookup, kind: ObjectKind): ChangeStatement {
  const short = SHORT_NAMES[kind];
  const first = cursor.next();
  if (first === undefined)
    throw new RejectionError(kind === 'view' ? cursor.readOffset : cursor.at, `expected [IF EXISTS] ${short}`);
  let position = cursor.at;
  const ifExists = isWord(first, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw cursor.error(`expected EXISTS ${short}`);
    position = cursor.readOffset;
  } else cursor.unread();
  const token = readName(cursor, lookup, cursor.requireNoSemicolon(`${kind} name`));
  rejectReserved(token, cursor.at);
  const name = unquoteToken(token);
  const object = lookup.find(name, kind);
  if (object && object.kind !== kind)
    throw cursor.error(wrongKind(kind, object) ?? `${kind} name expected, got ${OTHER_KINDS[kind]} name`);
  cursor.expectEnd();
  if (!object && !ifExists) throw missingError(position, name, kind);
  return { verb: 'drop', kind, name };
}

/** The message about a live view or in its place. */
function wrongKind(kind: ObjectKind, found: { kind: string; name: string }): string | undefined {
  if (kind === 'live view') return `live view name expected [name=${found.name}]`;
  if (found.kind !== 'live view') return undefined;
  return `${kind} name expected, got live view name${kind === 'table' ? `: ${found.name}` : ''}`;
}

/** Parses USER, GROUP or SERVICE ACCOUNT; undefined if something else follows. */
export function parsePrincipalKind(cursor: Cursor): PrincipalKind | undefined {
  if (cursor.accept('user')) return 'user';
  if (cursor.accept('group')) return 'group';
  if (!cursor.accept('service')) return undefined;
  cursor.expect('account');
  return 'service account';
}

/** Parses the name of a principal, before which IF and these words may stand. Nothing looks the name up. */
export function parsePrincipalName(cursor: Cursor, kind: PrincipalKind, ...words: string[]) {
  const hasGuard = isWord(cursor.requireNoSemicolon(`${kind} name or 'if'`), 'if');
  if (hasGuard) cursor.expect(...words);
  else cursor.unread();
  return { hasGuard, ...parseEntityName(cursor, `${kind} name`) };
}

export function parseRename(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.expect('table');
  const from = parseTableName(cursor, 'from table name');
  if (cursor.require('to') === '(') throw cursor.error('function call is not allowed here');
  cursor.unread();
  cursor.expect('to');
  const { name: to } = parseTableName(cursor, 'to table name');
  const rest = cursor.next();
  if (rest === '(') throw cursor.error('function call is not allowed here');
  if (rest !== undefined && rest !== ';') throw cursor.error('debris?');
  rejectRename(lookup, from, to);
  return { verb: 'rename', name: from.name, to };
}

function parseTableName(cursor: Cursor, expected: string): LocatedName {
  const token = stripPublic(cursor, cursor.require(expected));
  rejectReserved(token, cursor.at);
  return { name: unquoteToken(token), position: cursor.at };
}

function rejectRename(lookup: NameLookup, { name, position }: LocatedName, to: string): void {
  for (const each of [name, to])
    if (!isValidTableName(each)) throw new RejectionError(0, `invalid table name [table=${each}]`);
  const table = lookup.find(name, 'table');
  if (!table) throw missingError(0, name);
  if (table.kind !== 'table') throw new RejectionError(position, `cannot modify ${table.kind} [view=${name}]`);
  const taken = lookup.find(to);
  if (!taken || taken.name === table.name) return;
  throw new RejectionError(0, `cannot rename table, new name is already in use [table=${name}, toTableName=${to}]`);
}
