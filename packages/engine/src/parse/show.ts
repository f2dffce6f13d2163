/*! SHOW: what is requested, and the complete INCLUDE / EXCLUDE grammar of SHOW CREATE DATABASE. */
import {
  type Cursor,
  isWord,
  type LocatedName,
  RejectionError,
  rejectDotsAndSlashes,
  type ServerTraits,
  stripPublic,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/grammar';
import { CATEGORIES, type Kind, type ObjectKind } from '@sqlpipe/sql';

/** An object that SHOW CREATE names. */
export interface ShownObject extends LocatedName {
  readonly kind: ObjectKind;
}

/** What a SHOW statement asks for. */
export type Show =
  | { readonly statement: 'show create'; readonly parts: readonly ShownObject[] }
  | { readonly statement: 'show create database'; readonly kinds: ReadonlySet<Kind> }
  | { readonly statement: 'show tables' }
  | { readonly statement: 'show columns'; readonly name: string; readonly position: number }
  | { readonly statement: 'show parameters' }
  | { readonly statement: 'show setting'; readonly setting: string }
  | { readonly statement: 'show acl'; readonly list: AclList; readonly entity?: string | undefined };

/** The lists of access control, which only the enterprise edition has. */
const ACL_LISTS = ['users', 'groups', 'service accounts', 'user', 'service account', 'permissions'] as const;

/** A list of access control, as SHOW names it. */
export type AclList = (typeof ACL_LISTS)[number];

type ShowDialect = Pick<ServerTraits, 'isEnterprise' | 'has'>;

/** Settings that PostgreSQL's drivers ask for. */
const settings = new Set([
  ...['transaction_isolation', 'default_transaction_read_only', 'max_identifier_length', 'standard_conforming_strings'],
  ...['search_path', 'datestyle', 'server_version', 'server_version_num'],
]);

export function parseShow(cursor: Cursor, dialect: ShowDialect): Show {
  const token = cursor.next();
  if (isWord(token, 'create')) return parseShowCreate(cursor, dialect);
  if (isWord(token, 'tables')) return { statement: 'show tables' };
  if (isWord(token, 'columns')) {
    if (!cursor.accept('from')) throw cursor.error("expected 'from'");
    return { statement: 'show columns', ...parseShownTable(cursor) };
  }
  if (isWord(token, 'parameters')) return { statement: 'show parameters' };
  if (isWord(token, 'transaction')) {
    for (const word of ['isolation', 'level'])
      if (!isWord(cursor.next(), word)) throw new RejectionError(cursor.readOffset, `expected '${word}'`);
    return { statement: 'show setting', setting: 'transaction_isolation' };
  }
  if (isWord(token, 'time') && cursor.accept('zone')) return { statement: 'show setting', setting: 'timezone' };
  if (token !== undefined && settings.has(token.toLowerCase()))
    return { statement: 'show setting', setting: token.toLowerCase() };
  const list = dialect.isEnterprise ? parseAclList(cursor, token) : undefined;
  if (list === 'users') return { statement: 'show acl', list };
  if (list !== undefined) return { statement: 'show acl', list, entity: parseEntity(cursor) };
  throw new RejectionError(
    cursor.readOffset,
    "expected 'TABLES', 'COLUMNS FROM <tab>', 'PARTITIONS FROM <tab>', 'TRANSACTION ISOLATION LEVEL', " +
      "'transaction_isolation', 'max_identifier_length', 'standard_conforming_strings', 'parameters', " +
      "'server_version', 'server_version_num', 'search_path', 'datestyle', or 'time zone'",
  );
}

function parseAclList(cursor: Cursor, token: string | undefined): AclList | undefined {
  const isService = isWord(token, 'service');
  const words = isService ? `service ${cursor.requireNoSemicolon("'account' or 'accounts'")}` : token;
  return ACL_LISTS.find(list => list === words?.toLowerCase());
}

function parseEntity(cursor: Cursor): string | undefined {
  const entity = cursor.next();
  if (entity !== undefined && entity !== ';') return unquoteToken(entity);
  cursor.unread();
  return undefined;
}

function parseShownTable(cursor: Cursor): LocatedName {
  const name = unquoteToken(stripPublic(cursor, cursor.require('expected a table name')));
  rejectDotsAndSlashes(name, cursor.at);
  return { name, position: cursor.at };
}

/** After SHOW CREATE. Several may be joined by UNION ALL, except for DATABASE. */
function parseShowCreate(cursor: Cursor, dialect: ShowDialect): Show {
  const token = cursor.next();
  if (dialect.has('dump') && isWord(token, 'database'))
    return { statement: 'show create database', kinds: parseCategories(cursor, dialect) };
  const parts = [parseShowCreateOne(cursor, token, dialect)];
  while (cursor.accept('union')) {
    if (!isWord(cursor.require('all or select'), 'all')) throw unexpectedTokenError(cursor.at, 'union');
    cursor.expect('show', 'create');
    parts.push(parseShowCreateOne(cursor, cursor.next(), dialect));
  }
  return { statement: 'show create', parts };
}

function parseShowCreateOne(cursor: Cursor, token: string | undefined, { has }: ShowDialect): ShownObject {
  if (isWord(token, 'table')) return { kind: 'table', ...parseShownTable(cursor) };
  if (isWord(token, 'view')) return { kind: 'view', ...parseShownTable(cursor) };
  const isLive = has('live views') && isWord(token, 'live');
  if (isLive || isWord(token, 'materialized')) {
    cursor.expect('view');
    return { kind: isLive ? 'live view' : 'materialized view', ...parseShownTable(cursor) };
  }
  const live = has('live views') ? " or 'LIVE VIEW'" : '';
  const dump = has('dump') ? " or 'DATABASE'" : '';
  throw cursor.error(`expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'${live}${dump}`);
}

/** `[INCLUDE|EXCLUDE {ALL | (category, …)}]`: the selected kinds. */
function parseCategories(cursor: Cursor, { has }: ShowDialect): Set<Kind> {
  const categories = new Map([...CATEGORIES].filter(([name]) => name !== 'LIVE_VIEWS' || has('live views')));
  const all = new Set(categories.get('ALL'));
  const includes = cursor.accept('include');
  if (!includes && !cursor.accept('exclude')) return all;
  const named = parseCategoryList(cursor, categories);
  return includes ? named : new Set([...all].filter(kind => !named.has(kind)));
}

/** Parses ALL, or a list of categories: words without quotes. */
function parseCategoryList(cursor: Cursor, categories: typeof CATEGORIES): Set<Kind> {
  const token = cursor.next();
  if (isWord(token, 'all')) return new Set(categories.get('ALL'));
  if (token !== '(')
    throw new RejectionError(token === undefined ? cursor.readOffset : cursor.at, "'ALL' or '(' expected");
  const named = new Set<Kind>();
  for (let separator: string | undefined = ','; separator !== ')'; separator = cursor.next()) {
    if (separator !== ',')
      throw new RejectionError(separator === undefined ? cursor.readOffset : cursor.at, "',' or ')' expected");
    const category = cursor.require('category');
    const kinds = categories.get(category.toUpperCase());
    if (!kinds) {
      const expected = [...categories.keys()].join(', ');
      throw cursor.error(`unexpected category [category=${category}], expected one of ${expected}`);
    }
    for (const kind of kinds) named.add(kind);
  }
  return named;
}
