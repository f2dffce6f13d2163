/*! SHOW: what it asks for, and the whole INCLUDE / EXCLUDE grammar of SHOW CREATE DATABASE. */
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import { refuseDotsAndSlashes, sansPublic, unquote } from './names.js';
import { Refusal, unexpected } from './refusal.js';

export type Kind = 'table' | 'view' | 'materialized view';

export type Show =
  | { readonly statement: 'show create'; readonly parts: readonly { kind: Kind; name: string; position: number }[] }
  | { readonly statement: 'show create database'; readonly categories: ReadonlySet<string> }
  | { readonly statement: 'show tables' }
  | { readonly statement: 'show columns'; readonly name: string; readonly position: number }
  | { readonly statement: 'show setting'; readonly setting: string }
  | { readonly statement: 'show acl'; readonly what: string; readonly entity?: string | undefined };

const schema = ['TABLES', 'VIEWS', 'MATERIALIZED_VIEWS'];
const acl = ['USERS', 'GROUPS', 'SERVICE_ACCOUNTS', 'PERMISSIONS'];
const umbrellas: Readonly<Record<string, readonly string[]>> = { SCHEMA: schema, ACL: acl, ALL: [...schema, ...acl] };
const expectedCategories = [...schema, ...acl, ...Object.keys(umbrellas)].join(', ');

/** Settings that PostgreSQL's drivers ask for. */
const settings = new Set([
  ...['transaction_isolation', 'default_transaction_read_only', 'max_identifier_length', 'standard_conforming_strings'],
  ...['search_path', 'datestyle', 'server_version', 'server_version_num', 'parameters'],
]);

/** Behind SHOW. `acl` answers for the words of an edition that has users. */
export function show(cursor: Cursor, acl: (cursor: Cursor, token: string) => Show | undefined): Show {
  const token = cursor.next();
  if (is(token, 'create')) return showCreate(cursor);
  if (is(token, 'tables')) return { statement: 'show tables' };
  if (is(token, 'columns')) return { statement: 'show columns', ...fromTable(cursor) };
  if (token !== undefined && settings.has(token.toLowerCase())) {
    return { statement: 'show setting', setting: token.toLowerCase() };
  }
  const edition = token === undefined ? undefined : acl(cursor, token);
  if (edition) return edition;
  throw new Refusal(
    cursor.reach,
    "expected 'TABLES', 'COLUMNS FROM <tab>', 'PARTITIONS FROM <tab>', 'TRANSACTION ISOLATION LEVEL', " +
      "'transaction_isolation', 'max_identifier_length', 'standard_conforming_strings', 'parameters', " +
      "'server_version', 'server_version_num', 'search_path', 'datestyle', or 'time zone'",
  );
}

function fromTable(cursor: Cursor): { name: string; position: number } {
  if (!is(cursor.next(), 'from')) throw new Refusal(cursor.reach, "expected 'from'");
  return tableName(cursor);
}

function tableName(cursor: Cursor): { name: string; position: number } {
  const name = unquote(sansPublic(cursor, cursor.require('expected a table name')));
  refuseDotsAndSlashes(name, cursor.at);
  return { name, position: cursor.at };
}

/** Behind SHOW CREATE. Several may be joined by UNION ALL, but for the whole database. */
function showCreate(cursor: Cursor): Show {
  const token = cursor.next();
  if (is(token, 'database')) return { statement: 'show create database', categories: selection(cursor) };
  const parts = [showCreateOne(cursor, token)];
  while (is(cursor.next(), 'union')) {
    if (!is(cursor.require('all or select'), 'all')) throw unexpected(cursor.at, 'union');
    cursor.expect('show');
    cursor.expect('create');
    parts.push(showCreateOne(cursor, cursor.next()));
  }
  cursor.back();
  return { statement: 'show create', parts };
}

function showCreateOne(cursor: Cursor, token: string | undefined): { kind: Kind; name: string; position: number } {
  if (is(token, 'table')) return { kind: 'table', ...tableName(cursor) };
  if (is(token, 'view')) return { kind: 'view', ...tableName(cursor) };
  if (is(token, 'materialized')) {
    cursor.expect('view');
    return { kind: 'materialized view', ...tableName(cursor) };
  }
  throw new Refusal(cursor.at, "expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW' or 'DATABASE'");
}

/** `[INCLUDE|EXCLUDE {ALL | (category, …)}]`: the categories chosen. */
function selection(cursor: Cursor): Set<string> {
  const all = new Set(umbrellas['ALL']);
  const clause = cursor.next();
  if (!is(clause, 'include') && !is(clause, 'exclude')) {
    cursor.back();
    return all;
  }
  const named = categoryList(cursor);
  return is(clause, 'include') ? named : new Set([...all].filter(category => !named.has(category)));
}

function categoryList(cursor: Cursor): Set<string> {
  const token = cursor.next();
  if (is(token, 'all')) return new Set(umbrellas['ALL']);
  if (token !== '(') throw new Refusal(token === undefined ? cursor.reach : cursor.at, "'ALL' or '(' expected");
  const named = new Set<string>();
  for (;;) {
    for (const category of oneCategory(cursor)) named.add(category);
    const separator = cursor.next();
    if (separator === ')') return named;
    if (separator !== ',') {
      throw new Refusal(separator === undefined ? cursor.reach : cursor.at, "',' or ')' expected");
    }
  }
}

/** A bare word: quoted it is none. */
function oneCategory(cursor: Cursor): readonly string[] {
  const token = cursor.require('category');
  const name = token.toUpperCase();
  const categories = umbrellas[name] ?? [...schema, ...acl].filter(category => category === name);
  if (categories.length > 0) return categories;
  throw new Refusal(cursor.at, `unexpected category [category=${token}], expected one of ${expectedCategories}`);
}
