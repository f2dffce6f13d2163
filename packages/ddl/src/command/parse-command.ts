import { isSameName, type ObjectKind, type PrincipalKind } from '@sqlpipe/sql';
import { type Defaults, SERVER_DEFAULTS } from '../definition.js';
import { Cursor, isWord, missingError, RejectionError, tryParse, unexpectedTokenError } from '../parser/cursor.js';
import {
  createPermissiveTraits,
  findKind,
  type NameLookup,
  requireObject,
  stripPublicIfAccepted,
} from '../parser/lookup.js';
import { isValidTableName, parseEntityName, parseTableName, rejectReserved, unquoteToken } from '../parser/names.js';
import type { Alter } from './alteration.js';
import type { Command } from './command.js';
import { parseAlter } from './parse-alter.js';
import { parseInsert, parseUpdate } from './parse-rows.js';

/** Parses a statement that changes existing objects, without looking them up. Undefined for any other statement or an unknown syntax. */
export function parseCommand(statement: string, defaults: Defaults = SERVER_DEFAULTS): Command | undefined {
  const cursor = new Cursor(statement);
  const find: NameLookup['find'] = (name, kind) => kind && { kind, name };
  const lookup = { ...createPermissiveTraits(defaults), find, acceptsPublic: true };
  return tryParse(() => parseCommandAfter(cursor, readMainVerb(cursor) ?? '', lookup));
}

/**
 * Reads the first word, in lower case. After WITH and its queries, this is SELECT, INSERT or UPDATE (observed on 9.3.4). For a SELECT,
 * `identify` returns WITH.
 */
export function readMainVerb(cursor: Cursor): string | undefined {
  const first = cursor.next()?.toLowerCase();
  if (first !== 'with') return first;
  const isVerb = (token: string) => ['select', 'insert', 'update'].includes(token.toLowerCase());
  return cursor.skipTo(isVerb)?.toLowerCase() ?? first;
}

/** Parses the alterations in an ALTER. Empty for an ALTER without alterations (RESUME WAL), any other statement or an unknown syntax. */
export function parseAlters(statement: string): readonly Alter[] {
  const command = parseCommand(statement);
  return command?.action === 'alter' ? command.alters : [];
}

/** Parses the text after `verb`, a word in lower case, and checks it against the objects of `lookup`. @throws RejectionError */
export function parseCommandAfter(cursor: Cursor, verb: string, lookup: NameLookup): Command {
  const parse = PARSERS.get(verb);
  if (!parse) throw unexpectedTokenError(cursor.start, verb);
  return parse(cursor, lookup);
}

const PARSERS: ReadonlyMap<string, (cursor: Cursor, lookup: NameLookup) => Command> = new Map([
  ['alter', parseAlter],
  ['compile', parseCompile],
  ['drop', parseDrop],
  ['insert', parseInsert],
  ['refresh', parseRefreshStatement],
  ['rename', parseRename],
  ['truncate', parseTruncate],
  ['update', parseUpdate],
  ['vacuum', parseVacuum],
]);

/** By the kind that a statement requires: the server's words for an object of another kind. */
export const OTHER_KIND_MESSAGES: Readonly<Record<ObjectKind, string>> = {
  table: 'view or materialized view',
  view: 'table or materialized view',
  'materialized view': 'table or view',
  'live view': 'table or view',
};

function parseDrop(cursor: Cursor, lookup: NameLookup): Command {
  const token = cursor.next();
  const objectKind = findKind(token, lookup);
  if (objectKind === 'materialized view' && !isWord(cursor.next(), 'view')) throw cursor.error('expected VIEW');
  if (objectKind === 'live view') cursor.expect('view');
  if (objectKind) return parseDropObject(cursor, lookup, objectKind);
  if (isWord(token, 'all')) {
    cursor.accept('tables');
    cursor.expectEnd();
    return { action: 'drop all' };
  }
  cursor.unread();
  const kind = lookup.hasFeature('principals') ? parsePrincipalKind(cursor) : undefined;
  if (kind) {
    const { name } = parsePrincipalName(cursor, kind, 'exists');
    cursor.expectEnd();
    return { action: 'drop', kind, name };
  }
  throw cursor.errorAt(token, "'table' or 'view' or 'materialized view' or 'all' expected");
}

function parseDropObject(cursor: Cursor, lookup: NameLookup, kind: ObjectKind): Command {
  const short = `${kind.replace('materialized', 'mat').replace(' ', '-')}-name`;
  const first = cursor.next();
  if (first === undefined)
    throw new RejectionError(kind === 'view' ? cursor.reach : cursor.start, `expected [IF EXISTS] ${short}`);
  let position = cursor.start;
  const ifExists = isWord(first, 'if');
  if (ifExists) {
    if (!isWord(cursor.next(), 'exists')) throw cursor.error(`expected EXISTS ${short}`);
    position = cursor.reach;
  } else cursor.unread();
  const token = stripPublicIfAccepted(cursor, lookup, cursor.requireNoSemicolon(`${kind} name`));
  rejectReserved(token, cursor.start);
  const name = unquoteToken(token);
  const object = lookup.find(name, kind);
  if (object && object.kind !== kind) {
    if (kind === 'live view') throw cursor.error(`live view name expected [name=${object.name}]`);
    const found = object.kind === 'live view' ? object.kind : OTHER_KIND_MESSAGES[kind];
    const suffix = object.kind === 'live view' && kind === 'table' ? `: ${object.name}` : '';
    throw cursor.error(`${kind} name expected, got ${found} name${suffix}`);
  }
  cursor.expectEnd();
  if (!object && !ifExists) throw missingError(position, name, kind);
  return { action: 'drop', kind, name };
}

export function parsePrincipalKind(cursor: Cursor): PrincipalKind | undefined {
  if (cursor.accept('user')) return 'user';
  if (cursor.accept('group')) return 'group';
  if (!cursor.accept('service')) return undefined;
  cursor.expect('account');
  return 'service account';
}

/** Parses the name of a principal without looking it up. `hasIfClause`: whether IF and `words` precede the name, as in IF EXISTS. */
export function parsePrincipalName(cursor: Cursor, kind: PrincipalKind, ...words: string[]) {
  const hasIfClause = isWord(cursor.requireNoSemicolon(`${kind} name or 'if'`), 'if');
  if (hasIfClause) cursor.expect(...words);
  else cursor.unread();
  return { hasIfClause, ...parseEntityName(cursor, `${kind} name`) };
}

function parseRename(cursor: Cursor, lookup: NameLookup): Command {
  cursor.expect('table');
  const { name, start } = parseTableName(cursor, 'from table name');
  if (cursor.require('to') === '(') throw cursor.error('function call is not allowed here');
  cursor.unread();
  cursor.expect('to');
  const { name: to } = parseTableName(cursor, 'to table name');
  const rest = cursor.next();
  if (rest === '(') throw cursor.error('function call is not allowed here');
  if (rest !== undefined && rest !== ';') throw cursor.error('debris?');
  for (const each of [name, to])
    if (!isValidTableName(each)) throw new RejectionError(0, `invalid table name [table=${each}]`);
  const table = lookup.find(name, 'table');
  if (!table) throw missingError(0, name);
  if (table.kind !== 'table') throw new RejectionError(start, `cannot modify ${table.kind} [view=${name}]`);
  const existing = lookup.find(to);
  if (!existing || existing.name === table.name) return { action: 'rename', name, to };
  if (table.wal === false) throw new RejectionError(0, 'Rename target exists');
  throw new RejectionError(0, `cannot rename table, new name is already in use [table=${name}, toTableName=${to}]`);
}

function parseTruncate(cursor: Cursor, lookup: NameLookup): Command {
  const what = cursor.next();
  if (!isWord(what, 'table')) throw cursor.errorAt(what, 'TABLE expected');
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
    if (token === undefined || token === ',') throw new RejectionError(cursor.reach, 'table name expected');
    const name = unquoteToken(stripPublicIfAccepted(cursor, lookup, token));
    if (!ifExists || lookup.find(name, 'table')) requireObject(lookup, 'table', name, cursor.start);
    // A server locks each table without WAL before it truncates any.
    if (lookup.find(name, 'table')?.wal === false && names.some(each => isSameName(each, name)))
      throw cursor.error(`table '${name}' could not be truncated: [-1]: table busy [reason=truncateTables]`);
    names.push(name);
    token = cursor.next();
    if (token !== ',') break;
    token = cursor.next();
    if (isWord(token, 'keep')) throw new RejectionError(cursor.reach, 'table name expected');
  }
  if (token === undefined || token === ';') return { action: 'truncate', names };
  if (!isWord(token, 'keep')) throw new RejectionError(cursor.reach, "',' or 'keep' expected");
  if (!isWord(cursor.next(), 'symbol')) throw cursor.error('SYMBOL expected');
  if (!isWord(cursor.next(), 'maps')) throw cursor.error('MAPS expected');
  cursor.expectEnd();
  return { action: 'truncate', names };
}

function parseVacuum(cursor: Cursor, lookup: NameLookup): Command {
  const what = cursor.requireNoSemicolon("'table'");
  if (!isWord(what, 'table') && !isWord(what, 'partitions')) throw cursor.error("'partitions' expected");
  const name = unquoteToken(stripPublicIfAccepted(cursor, lookup, cursor.requireNoSemicolon('table name')));
  const rest = cursor.next();
  if (rest !== undefined && rest !== ';') throw cursor.error("end of line or ';' expected");
  requireObject(lookup, 'table', name, cursor.start);
  return { action: 'vacuum', name };
}

/** The limits of RANGE are skipped. STATS is an action of its own, because it refreshes no rows. */
function parseRefreshStatement(cursor: Cursor, lookup: NameLookup): Command {
  cursor.expect('materialized', 'view');
  const name = unquoteToken(stripPublicIfAccepted(cursor, lookup, cursor.requireNoSemicolon('view name')));
  const object = lookup.find(name, 'materialized view');
  if (!object) throw missingError(cursor.start, name, 'materialized view');
  // For any other kind, the server's message says `table`, even for a view.
  if (object.kind !== 'materialized view') throw cursor.error('materialized view name expected, got table name');
  const mode = cursor.requireNoSemicolon("'full' or 'incremental' or 'range'").toLowerCase();
  const isStats = mode === 'stats' && lookup.hasFeature('refresh stats');
  if (!isStats && mode !== 'range' && mode !== 'full' && mode !== 'incremental')
    throw cursor.error("'full' or 'incremental' or 'range' expected");
  if (mode === 'range') cursor.skipRest();
  cursor.expectEnd();
  if (mode === 'range' || isStats) return { action: isStats ? 'refresh stats' : 'refresh range', name };
  return { action: 'refresh', name, isFull: mode === 'full' };
}

function parseCompile(cursor: Cursor, lookup: NameLookup): Command {
  cursor.expectToken(cursor.requireNoSemicolon("'view'"), 'view');
  const token = stripPublicIfAccepted(cursor, lookup, cursor.requireNoSemicolon('view name'));
  const [name, position] = [unquoteToken(token), cursor.start];
  cursor.expectEnd();
  const view = lookup.find(name, 'view');
  if (!view) throw missingError(position, token, 'view');
  if (view.kind !== 'view') throw new RejectionError(position, 'view expected, got table');
  return { action: 'compile', name, position };
}
