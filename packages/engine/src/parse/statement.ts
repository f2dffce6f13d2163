/*! Classifies a statement by its first words, and parses CREATE, SHOW and EXPLAIN. Queries and commands are parsed later. */
import {
  AFTER_CREATE,
  type CreateContext,
  type CreateStatement,
  Cursor,
  expectOnlySemicolons,
  isWord,
  parseCreate,
  RejectionError,
  rejectDotsAndSlashes,
  rejectReserved,
  type ServerTraits,
  stripPublic,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import { CATEGORIES, type Kind, type LocatedName, type ObjectKind } from '@sqlpipe/sql';

export type Statement =
  | CreateStatement
  | Show
  /** Parsed against the catalogue when it is executed. `verb` is the first word in lower case, and `cursor` is after it. */
  | { readonly type: 'command'; readonly verb: string; readonly cursor: Cursor }
  | { readonly type: 'explain show create database' }
  | { readonly type: 'query'; readonly text: string };

export interface Dialect extends CreateContext {
  readonly verbs: { has(word: string): boolean };
}

export function parseStatement(text: string, dialect: Dialect): Statement | undefined {
  const cursor = new Cursor(text);
  const token = cursor.next();
  if (token === undefined) return;
  const verb = token.toLowerCase();
  if (verb === 'create') return parseCreateOrCommand(cursor, dialect);
  if (verb === 'show') return expectEnd(cursor, parseShow(cursor, dialect));
  if (verb === 'explain') return parseExplain(cursor, dialect);
  if (dialect.verbs.has(verb)) {
    // The parser of ALTER checks the text after a semicolon: in QuestDB, not every ALTER rejects such text.
    if (verb !== 'alter') rejectMore(text);
    return { type: 'command', verb, cursor };
  }
  if (!['select', 'with', 'declare', '('].includes(verb)) requireImplicitSelect(cursor, token);
  return { type: 'query', text };
}

const PRINCIPAL_WORDS = new Set(['user', 'group', 'service']);

function parseCreateOrCommand(cursor: Cursor, dialect: Dialect): Statement {
  const token = cursor.require(AFTER_CREATE);
  if (!dialect.isEnterprise || !PRINCIPAL_WORDS.has(token.toLowerCase())) return parseCreate(cursor, token, dialect);
  cursor.unread();
  rejectMore(cursor.text);
  return { type: 'command', verb: 'create', cursor };
}

/** Only SHOW CREATE DATABASE is accepted: other query plans may depend on rows. */
function parseExplain(cursor: Cursor, dialect: Dialect): Statement {
  cursor.expect('show');
  const shown = parseShow(cursor, dialect);
  if (expectEnd(cursor, shown).type === 'show create database') return { type: 'explain show create database' };
  throw new RejectionError(0, 'sqlserve keeps no rows, so only SHOW CREATE DATABASE can be explained');
}

/** Rejects any token after the first semicolon that is not a semicolon too. */
function rejectMore(text: string): void {
  const cursor = new Cursor(text);
  for (let token = cursor.next(); token !== undefined && token !== ';'; ) token = cursor.next();
  expectOnlySemicolons(cursor);
}

function expectEnd<T>(cursor: Cursor, statement: T): T {
  expectOnlySemicolons(cursor);
  return statement;
}

/** Tokens that may follow a table or its alias, and are no alias themselves (from QuestDB's SqlParser). */
const AFTER_ALIAS = new Set(
  (
    'where latest join inner left outer asof splice lt cross sample order on timestamp limit ) ; union group except ' +
    'intersect from pivot tolerance right full range window horizon , ( .'
  ).split(' '),
);

/** QuestDB reads any other first word as a table or a function, in a query without SELECT. An alias may follow. @throws RejectionError */
function requireImplicitSelect(cursor: Cursor, first: string): void {
  rejectReserved(first, cursor.at);
  const endsAlias = (token: string | undefined) => token === undefined || AFTER_ALIAS.has(token.toLowerCase());
  let token = cursor.next();
  if (endsAlias(token)) return;
  if (isWord(token, 'as')) token = cursor.require('alias');
  rejectReserved(token ?? '', cursor.at);
  token = cursor.next();
  if (token !== undefined && !endsAlias(token)) throw unexpectedTokenError(cursor.at, token);
}

/** An object that SHOW CREATE names. */
export interface ShownObject extends LocatedName {
  readonly kind: ObjectKind;
}

/** What a SHOW statement asks for. */
export type Show =
  | { readonly type: 'show create'; readonly parts: readonly ShownObject[] }
  | { readonly type: 'show create database'; readonly kinds: ReadonlySet<Kind> }
  | { readonly type: 'show tables' }
  | { readonly type: 'show columns'; readonly name: string; readonly position: number }
  | { readonly type: 'show parameters' }
  | { readonly type: 'show setting'; readonly setting: Setting }
  | { readonly type: 'show acl'; readonly list: AclList; readonly entity?: string | undefined };

const ACL_LISTS = ['users', 'groups', 'service accounts', 'user', 'service account', 'permissions'] as const;

/** A list of access control, as SHOW of the enterprise edition names it. */
export type AclList = (typeof ACL_LISTS)[number];

type ShowDialect = Pick<ServerTraits, 'isEnterprise' | 'has'>;

const SETTINGS = [
  'transaction_isolation',
  'default_transaction_read_only',
  'max_identifier_length',
  'standard_conforming_strings',
  'search_path',
  'DateStyle',
  'server_version',
  'server_version_num',
] as const;

/** A setting that drivers query with SHOW, spelled as the column of the reply. `TimeZone` is queried with SHOW TIME ZONE. */
export type Setting = (typeof SETTINGS)[number] | 'TimeZone';

function parseShow(cursor: Cursor, dialect: ShowDialect): Show {
  const token = cursor.next();
  if (isWord(token, 'create')) return parseShowCreate(cursor, dialect);
  if (isWord(token, 'tables')) return { type: 'show tables' };
  if (isWord(token, 'columns')) {
    if (!cursor.accept('from')) throw cursor.error("expected 'from'");
    return { type: 'show columns', ...parseShownTable(cursor) };
  }
  if (isWord(token, 'parameters')) return { type: 'show parameters' };
  if (isWord(token, 'transaction')) {
    for (const word of ['isolation', 'level'])
      if (!isWord(cursor.next(), word)) throw new RejectionError(cursor.readPosition, `expected '${word}'`);
    return { type: 'show setting', setting: 'transaction_isolation' };
  }
  if (isWord(token, 'time') && cursor.accept('zone')) return { type: 'show setting', setting: 'TimeZone' };
  const setting = SETTINGS.find(each => each.toLowerCase() === token?.toLowerCase());
  if (setting) return { type: 'show setting', setting };
  const list = dialect.isEnterprise ? parseAclList(cursor, token) : undefined;
  if (list === 'users') return { type: 'show acl', list };
  if (list !== undefined) return { type: 'show acl', list, entity: parseEntity(cursor) };
  throw new RejectionError(
    cursor.readPosition,
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
  rejectDotsAndSlashes(name, cursor.at);
  return { name, position: cursor.at };
}

function parseShowCreate(cursor: Cursor, dialect: ShowDialect): Show {
  const token = cursor.next();
  if (dialect.has('dump') && isWord(token, 'database'))
    return { type: 'show create database', kinds: parseCategories(cursor, dialect) };
  const parts = [parseShowCreateOne(cursor, token, dialect)];
  while (cursor.accept('union')) {
    if (!isWord(cursor.require('all or select'), 'all')) throw unexpectedTokenError(cursor.at, 'union');
    cursor.expect('show', 'create');
    parts.push(parseShowCreateOne(cursor, cursor.next(), dialect));
  }
  return { type: 'show create', parts };
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

function parseCategories(cursor: Cursor, { has }: ShowDialect): Set<Kind> {
  const categories = new Map([...CATEGORIES].filter(([name]) => name !== 'LIVE_VIEWS' || has('live views')));
  const all = new Set(categories.get('ALL'));
  const includes = cursor.accept('include');
  if (!includes && !cursor.accept('exclude')) return all;
  const named = parseCategoryList(cursor, categories);
  return includes ? named : new Set([...all].filter(kind => !named.has(kind)));
}

function parseCategoryList(cursor: Cursor, categories: typeof CATEGORIES): Set<Kind> {
  const token = cursor.next();
  if (isWord(token, 'all')) return new Set(categories.get('ALL'));
  if (token !== '(')
    throw new RejectionError(token === undefined ? cursor.readPosition : cursor.at, "'ALL' or '(' expected");
  const named = new Set<Kind>();
  for (let separator: string | undefined = ','; separator !== ')'; separator = cursor.next()) {
    if (separator !== ',')
      throw new RejectionError(separator === undefined ? cursor.readPosition : cursor.at, "',' or ')' expected");
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
