import {
  type Cursor,
  isWord,
  RejectionError,
  rejectDotsAndSlashes,
  type ServerTraits,
  stripPublic,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import { CATEGORY_KINDS, type Kind, type LocatedName, type ObjectKind } from '@sqlpipe/sql';

/** An object that SHOW CREATE names. */
export type ShownObject = LocatedName & { readonly kind: ObjectKind };

type Traits = Pick<ServerTraits, 'hasFeature'>;

/** What a SHOW statement asks for. */
export type ShowStatement =
  | { readonly type: 'show create'; readonly parts: readonly ShownObject[] }
  | { readonly type: 'show create database'; readonly kinds: ReadonlySet<Kind> }
  | { readonly type: 'show tables' }
  | { readonly type: 'show columns'; readonly name: string; readonly start: number }
  | { readonly type: 'show parameters' }
  | { readonly type: 'show setting'; readonly name: string; readonly value: string | number }
  | { readonly type: 'show acl'; readonly list: AclList; readonly entity?: string | undefined };

const ACL_LISTS = ['users', 'groups', 'service accounts', 'user', 'service account', 'permissions'] as const;

/** A list of access control, as SHOW of the enterprise edition names it. */
export type AclList = (typeof ACL_LISTS)[number];

/** The settings that drivers query with SHOW, spelled as the column of the reply, with QuestDB's values. */
const DRIVER_SETTINGS = {
  transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  max_identifier_length: 63,
  standard_conforming_strings: 'on',
  search_path: '"$user", public',
  DateStyle: 'ISO,YMD',
  server_version: '12.3 (questdb)',
  server_version_num: '123000',
};

export function parseShow(cursor: Cursor, traits: Traits): ShowStatement {
  const token = cursor.next();
  if (isWord(token, 'create')) return parseShowCreate(cursor, traits);
  if (isWord(token, 'tables')) return { type: 'show tables' };
  if (isWord(token, 'columns')) {
    if (!cursor.accept('from')) throw cursor.error("expected 'from'");
    return { type: 'show columns', ...parseShownTable(cursor) };
  }
  if (isWord(token, 'parameters')) return { type: 'show parameters' };
  if (isWord(token, 'transaction')) {
    for (const word of ['isolation', 'level'])
      if (!isWord(cursor.next(), word)) throw new RejectionError(cursor.reach, `expected '${word}'`);
    return { type: 'show setting', name: 'transaction_isolation', value: DRIVER_SETTINGS.transaction_isolation };
  }
  if (isWord(token, 'time') && cursor.accept('zone')) return { type: 'show setting', name: 'TimeZone', value: 'UTC' };
  const setting = Object.entries(DRIVER_SETTINGS).find(([name]) => isWord(token, name.toLowerCase()));
  if (setting) return { type: 'show setting', name: setting[0], value: setting[1] };
  const list = traits.hasFeature('principals') ? parseAclList(cursor, token) : undefined;
  if (list === 'users') return { type: 'show acl', list };
  if (list !== undefined) return { type: 'show acl', list, entity: parseEntity(cursor) };
  throw new RejectionError(
    cursor.reach,
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
  // `require` adds `expected`, and so does the server: `expected a table name expected`.
  const name = unquoteToken(stripPublic(cursor, cursor.require('expected a table name')));
  rejectDotsAndSlashes(name, cursor.start);
  return { name, start: cursor.start };
}

function parseShowCreate(cursor: Cursor, traits: Traits): ShowStatement {
  const token = cursor.next();
  if (traits.hasFeature('dump') && isWord(token, 'database'))
    return { type: 'show create database', kinds: parseCategories(cursor, traits) };
  const parts = [parseShowCreateOne(cursor, token, traits)];
  while (cursor.accept('union')) {
    if (!isWord(cursor.require('all or select'), 'all')) throw unexpectedTokenError(cursor.start, 'union');
    cursor.expect('show', 'create');
    parts.push(parseShowCreateOne(cursor, cursor.next(), traits));
  }
  return { type: 'show create', parts };
}

function parseShowCreateOne(cursor: Cursor, token: string | undefined, { hasFeature }: Traits): ShownObject {
  if (isWord(token, 'table')) return { kind: 'table', ...parseShownTable(cursor) };
  if (isWord(token, 'view')) return { kind: 'view', ...parseShownTable(cursor) };
  const isLive = hasFeature('live views') && isWord(token, 'live');
  if (isLive || isWord(token, 'materialized')) {
    cursor.expect('view');
    return { kind: isLive ? 'live view' : 'materialized view', ...parseShownTable(cursor) };
  }
  const live = hasFeature('live views') ? " or 'LIVE VIEW'" : '';
  const dump = hasFeature('dump') ? " or 'DATABASE'" : '';
  throw cursor.error(`expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'${live}${dump}`);
}

function parseCategories(cursor: Cursor, { hasFeature }: Traits): Set<Kind> {
  const categories = new Map([...CATEGORY_KINDS].filter(([name]) => name !== 'LIVE_VIEWS' || hasFeature('live views')));
  const all = new Set(categories.get('ALL'));
  const includes = cursor.accept('include');
  if (!includes && !cursor.accept('exclude')) return all;
  const named = parseCategoryList(cursor, categories);
  return includes ? named : new Set([...all].filter(kind => !named.has(kind)));
}

function parseCategoryList(cursor: Cursor, categories: typeof CATEGORY_KINDS): Set<Kind> {
  const token = cursor.next();
  if (isWord(token, 'all')) return new Set(categories.get('ALL'));
  if (token !== '(') throw cursor.errorAt(token, "'ALL' or '(' expected");
  const named = new Set<Kind>();
  for (let separator: string | undefined = ','; separator !== ')'; separator = cursor.next()) {
    if (separator !== ',') throw cursor.errorAt(separator, "',' or ')' expected");
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
