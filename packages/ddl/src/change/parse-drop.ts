/*! DROP and RENAME. */

import type { LocatedName } from '@sqlpipe/sql';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { isValidTableName, rejectReserved, stripPublic, unquote } from '../grammar/names.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { ChangeStatement } from './change.js';
import { missingError, type NameLookup, readName } from './lookup.js';

/** The words of messages for each kind: for a missing name, and for the other kinds. */
const KINDS = {
  table: { short: 'table-name', others: 'view or materialized view' },
  view: { short: 'view-name', others: 'table or materialized view' },
  'materialized view': { short: 'mat-view-name', others: 'table or view' },
  'live view': { short: 'live-view-name', others: 'table or view' },
} as const;

/** After DROP. */
export function parseDrop(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const token = cursor.next();
  if (isWord(token, 'table')) return parseDropObject(cursor, lookup, 'table');
  if (isWord(token, 'view')) return parseDropObject(cursor, lookup, 'view');
  if (isWord(token, 'materialized')) {
    if (!isWord(cursor.next(), 'view')) throw cursor.rejection('expected VIEW');
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
  if (lookup.isEnterprise !== false) {
    if (isWord(token, 'user') || isWord(token, 'group'))
      return parseDropPrincipal(cursor, isWord(token, 'user') ? 'user' : 'group');
    if (isWord(token, 'service')) {
      cursor.expect('account');
      return parseDropPrincipal(cursor, 'service account');
    }
  }
  throw new RejectionError(
    token === undefined ? cursor.readOffset : cursor.at,
    "'table' or 'view' or 'materialized view' or 'all' expected",
  );
}

function parseDropObject(cursor: Cursor, lookup: NameLookup, kind: keyof typeof KINDS): ChangeStatement {
  const { short, others } = KINDS[kind];
  const first = cursor.next();
  if (first === undefined)
    throw new RejectionError(kind === 'view' ? cursor.readOffset : cursor.at, `expected [IF EXISTS] ${short}`);
  let position = cursor.at;
  const ifExists = isWord(first, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw cursor.rejection(`expected EXISTS ${short}`);
    position = cursor.readOffset;
  } else cursor.unread();
  const token = readName(cursor, lookup, cursor.requireNoSemicolon(`${kind} name`));
  rejectReserved(token, cursor.at);
  const name = unquote(token);
  const object = lookup.find(name, kind);
  if (object && object.kind !== kind)
    throw cursor.rejection(wrongKind(kind, object) ?? `${kind} name expected, got ${others} name`);
  cursor.expectEnd();
  if (!object && !ifExists) throw missingError(kind, name, position);
  return { verb: 'drop', kind, name };
}

/** The message about a live view or in its place. */
function wrongKind(kind: keyof typeof KINDS, found: { kind: string; name: string }): string | undefined {
  if (kind === 'live view') return `live view name expected [name=${found.name}]`;
  if (found.kind !== 'live view') return undefined;
  return `${kind} name expected, got live view name${kind === 'table' ? `: ${found.name}` : ''}`;
}

/** The names of principals are not looked up. */
function parseDropPrincipal(cursor: Cursor, kind: 'user' | 'group' | 'service account'): ChangeStatement {
  if (isWord(cursor.requireNoSemicolon(`${kind} name`), 'if')) cursor.expect('exists');
  else cursor.unread();
  const name = unquote(cursor.requireNoSemicolon(`${kind} name`));
  cursor.expectEnd();
  return { verb: 'drop', kind, name };
}

/** After RENAME. */
export function parseRename(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  cursor.expect('table');
  const from = parseTableName(cursor, 'from table name');
  if (cursor.require('to') === '(') throw cursor.rejection('function call is not allowed here');
  cursor.unread();
  cursor.expect('to');
  const { name: to } = parseTableName(cursor, 'to table name');
  const rest = cursor.next();
  if (rest === '(') throw cursor.rejection('function call is not allowed here');
  if (rest !== undefined && rest !== ';') throw cursor.rejection('debris?');
  rejectRename(lookup, from, to);
  return { verb: 'rename', name: from.name, to };
}

function parseTableName(cursor: Cursor, expected: string): LocatedName {
  const token = stripPublic(cursor, cursor.require(expected));
  rejectReserved(token, cursor.at);
  return { name: unquote(token), position: cursor.at };
}

function rejectRename(lookup: NameLookup, { name, position }: LocatedName, to: string): void {
  for (const each of [name, to])
    if (!isValidTableName(each)) throw new RejectionError(0, `invalid table name [table=${each}]`);
  const table = lookup.find(name, 'table');
  if (!table) throw missingError('table', name, 0);
  if (table.kind !== 'table') throw new RejectionError(position, `cannot modify ${table.kind} [view=${name}]`);
  const taken = lookup.find(to);
  if (!taken || taken.name === table.name) return;
  throw new RejectionError(0, `cannot rename table, new name is already in use [table=${name}, toTableName=${to}]`);
}
