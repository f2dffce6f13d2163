/*! Classifies a statement by its first words, and parses CREATE, SHOW and EXPLAIN. Queries and commands are parsed later. */
import {
  AFTER_CREATE,
  type CreateContext,
  type CreateStatement,
  Cursor,
  expectOnlySemicolons,
  isWord,
  parseAfterCreate,
  RejectionError,
  readMainVerb,
  rejectDotsAndSlashes,
  rejectReserved,
  type ServerTraits,
  stripPublic,
  unexpectedTokenError,
  unquoteToken,
  wordsWith,
} from '@sqlpipe/ddl/parser';
import { CATEGORY_KINDS, type Kind, type LocatedName, type ObjectKind } from '@sqlpipe/sql';

export type ParsedStatement =
  | CreateStatement
  | ShowStatement
  /** Parsed against the catalogue when it is executed. `verb` is its first word in lower case, and `cursor` is after it. */
  | { readonly type: 'command'; readonly verb: string; readonly cursor: Cursor }
  | { readonly type: 'query'; readonly text: string };

/** @param commands the first words of commands */
export function parseStatement(
  text: string,
  commands: ReadonlyMap<string, unknown>,
  context: CreateContext,
): ParsedStatement | undefined {
  const cursor = new Cursor(text);
  const verb = readMainVerb(cursor);
  if (verb === undefined) return;
  if (verb === 'create') {
    const token = cursor.require(AFTER_CREATE);
    const isOfPrincipal = context.hasFeature('principals') && /^(?:user|group|service)$/i.test(token);
    if (!isOfPrincipal) return parseAfterCreate(cursor, token, context);
    cursor.unread();
  }
  if (verb === 'show' || verb === 'explain') {
    if (verb === 'explain') cursor.expect('show');
    const statement = parseShow(cursor, context);
    expectOnlySemicolons(cursor);
    if (verb === 'show') return statement;
    if (statement.type === 'show create database') return { type: 'explain show create database' };
    // Other query plans may depend on rows.
    throw new RejectionError(0, 'this server keeps no rows, so only SHOW CREATE DATABASE can be explained');
  }
  if (commands.has(verb)) {
    // The parser of ALTER checks the text after a semicolon: in QuestDB, not every ALTER rejects such text.
    if (verb !== 'alter') rejectSecondStatement(text);
    return { type: 'command', verb, cursor };
  }
  if (!['select', 'with', 'declare', '('].includes(verb)) requireImplicitSelect(cursor);
  return { type: 'query', text };
}

/** Rejects any token after the first semicolon that is not a semicolon too. */
function rejectSecondStatement(text: string): void {
  const cursor = new Cursor(text);
  for (let token = cursor.next(); token !== undefined && token !== ';'; ) token = cursor.next();
  expectOnlySemicolons(cursor);
}

/** What may follow a table or its alias, and is no alias itself. */
const AFTER_ALIAS = new Set([...wordsWith('ends alias'), ...').;,(']);

/** `trades t` is a query without SELECT: QuestDB reads an unknown first word as a table or a function. @throws RejectionError */
function requireImplicitSelect(cursor: Cursor): void {
  rejectReserved(cursor.text.slice(cursor.start, cursor.end), cursor.start);
  const endsAlias = (token: string | undefined) => token === undefined || AFTER_ALIAS.has(token.toLowerCase());
  let token = cursor.next();
  if (endsAlias(token)) return;
  if (isWord(token, 'as')) token = cursor.require('alias');
  rejectReserved(token ?? '', cursor.start);
  token = cursor.next();
  if (token !== undefined && !endsAlias(token)) throw unexpectedTokenError(cursor.start, token);
}

/** An object that SHOW CREATE names. */
export type ShownObject = LocatedName & { readonly kind: ObjectKind };

type Traits = Pick<ServerTraits, 'hasFeature'>;

/** What a SHOW statement asks for. */
export type ShowStatement =
  | { readonly type: 'show create'; readonly parts: readonly ShownObject[] }
  | { readonly type: 'show create database'; readonly kinds: ReadonlySet<Kind> }
  | { readonly type: 'show columns'; readonly name: string; readonly start: number }
  | { readonly type: 'show tables' | 'show parameters' | 'explain show create database' }
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

function parseShow(cursor: Cursor, traits: Traits): ShowStatement {
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
  if (traits.hasFeature('principals')) {
    const isService = isWord(token, 'service');
    const words = isService ? `service ${cursor.requireNoSemicolon("'account' or 'accounts'")}` : token;
    const list = ACL_LISTS.find(each => each === words?.toLowerCase());
    const entity = list && list !== 'users' ? cursor.next() : undefined;
    if (entity === ';') cursor.unread();
    if (list) return { type: 'show acl', list, entity: entity && entity !== ';' ? unquoteToken(entity) : undefined };
  }
  throw new RejectionError(
    cursor.reach,
    "expected 'TABLES', 'COLUMNS FROM <tab>', 'PARTITIONS FROM <tab>', 'TRANSACTION ISOLATION LEVEL', " +
      "'transaction_isolation', 'max_identifier_length', 'standard_conforming_strings', 'parameters', " +
      "'server_version', 'server_version_num', 'search_path', 'datestyle', or 'time zone'",
  );
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
  const first = cursor.next();
  const named = new Set(isWord(first, 'all') ? all : []);
  if (named.size === 0 && first !== '(') throw cursor.errorAt(first, "'ALL' or '(' expected");
  let separator: string | undefined = named.size === 0 ? ',' : ')';
  for (; separator !== ')'; separator = cursor.next()) {
    if (separator !== ',') throw cursor.errorAt(separator, "',' or ')' expected");
    const category = cursor.require('category');
    const kinds = categories.get(category.toUpperCase());
    if (!kinds) {
      const expected = [...categories.keys()].join(', ');
      throw cursor.error(`unexpected category [category=${category}], expected one of ${expected}`);
    }
    for (const kind of kinds) named.add(kind);
  }
  return includes ? named : new Set([...all].filter(kind => !named.has(kind)));
}
