/*!
 * The statements of access control, as documented for the enterprise edition: its server's source is closed, so
 * positions and wording of rejections are our own.
 */
import {
  type Cursor,
  isValidColumnName,
  isValidTableName,
  isWord,
  type LocatedName,
  RejectionError,
  unexpectedTokenError,
  unquote,
} from '@sqlpipe/ddl/grammar';
import type { ExecutionResult } from '../reply.js';
import { DenialError, type Session } from '../session.js';
import { type Acl, isSameName, type Principal, type PrincipalKind, type Scope } from './acl.js';
import { digest, generateToken, hashPassword, isExpired } from './credentials.js';
import { parseEntityName } from './names.js';
import { isPermission } from './permissions.js';

/** A session of the enterprise edition. */
export interface AclSession extends Session {
  readonly acl: Acl;
  readonly caller: string;
}

/** Parses USER, GROUP or SERVICE ACCOUNT; undefined if the token is not the start of one. */
export function parsePrincipalKind(cursor: Cursor, token: string | undefined): PrincipalKind | undefined {
  if (isWord(token, 'user')) return 'user';
  if (isWord(token, 'group')) return 'group';
  if (!isWord(token, 'service')) return;
  cursor.expect('account');
  return 'service account';
}

/** Parses a name, before which `IF` and the words may stand. */
function parseOptionalName(
  cursor: Cursor,
  kind: PrincipalKind,
  ...words: string[]
): LocatedName & { optional: boolean } {
  const optional = isWord(cursor.requireNoSemicolon(`${kind} name or 'if'`), 'if');
  if (optional) for (const word of words) cursor.expect(word);
  else cursor.unread();
  return { optional, ...parseEntityName(cursor, `${kind} name`) };
}

/** After CREATE USER, GROUP or SERVICE ACCOUNT. */
export async function createPrincipal(cursor: Cursor, session: AclSession, kind: PrincipalKind): Promise<void> {
  const { acl } = session;
  const { optional, name, position } = parseOptionalName(cursor, kind, 'not', 'exists');
  const { owner = session.caller, password, alias } = parseOptions(cursor, kind);
  session.authorize(`CREATE ${kind.toUpperCase()}`);
  const namesake = acl.find(name);
  if (namesake?.kind === kind && optional) return;
  if (namesake || isSameName(name, acl.admin)) {
    throw new RejectionError(position, `${namesake?.kind ?? 'user'} already exists [name=${name}]`);
  }
  const hash = password && (await hashPassword(password));
  acl.put({ kind, name, groups: [], tokens: [], password: hash, alias });
  if (kind === 'service account' && !isSameName(owner, acl.admin)) {
    acl.assume({ account: name, entity: owner, option: true });
  }
}

interface Options {
  password?: string | undefined;
  alias?: string;
  /** Service accounts only: the principal that may assume it and may let others assume it. */
  owner?: string;
}

/** Parses the options after the name to the end of the statement. Each may occur once. */
function parseOptions(cursor: Cursor, kind: PrincipalKind): Options {
  const options: Options = {};
  for (let token = cursor.next(); token !== undefined && token !== ';'; token = cursor.next()) {
    if (isWord(token, 'owned') && kind === 'service account' && !('owner' in options)) {
      cursor.expect('by');
      options.owner = parseEntityName(cursor, 'owner name').name;
    } else if (!isWord(token, 'with') || 'alias' in options || 'password' in options)
      throw unexpectedTokenError(cursor.at, token);
    else if (kind === 'group') {
      cursor.expect('external');
      cursor.expect('alias');
      options.alias = parseText(cursor, 'alias');
    } else options.password = parsePassword(cursor);
  }
  return options;
}

/** The next token as a string, which may be in quotes. */
const parseText = (cursor: Cursor, expected: string): string =>
  unquote(cursor.requireNoSemicolon(expected)).replaceAll("''", "'");

/** `PASSWORD 'p'` or `NO PASSWORD`. */
function parsePassword(cursor: Cursor): string | undefined {
  const token = cursor.requireNoSemicolon("'password' or 'no password'");
  if (isWord(token, 'no')) {
    cursor.expect('password');
    return;
  }
  cursor.expectToken(token, 'password');
  const password = parseText(cursor, 'password');
  if (password === '') throw new RejectionError(cursor.at, 'password is empty');
  return password;
}

/**
 * After DROP USER, GROUP or SERVICE ACCOUNT. The administrator becomes the owner of its objects, so that a later
 * principal of the same name does not own them.
 */
export function dropPrincipal(cursor: Cursor, session: AclSession, kind: PrincipalKind): void {
  const { acl, catalog } = session;
  const { optional, name, position } = parseOptionalName(cursor, kind, 'exists');
  cursor.expectEnd();
  session.authorize(`DROP ${kind.toUpperCase()}`);
  if (acl.find(name)?.kind !== kind) {
    if (optional) return;
    throw new RejectionError(position, `${kind} does not exist [name=${name}]`);
  }
  acl.remove(name);
  for (const object of catalog.ownedBy(name)) catalog.put({ ...object, owner: acl.admin });
}

/** After ALTER USER, GROUP or SERVICE ACCOUNT. Returns a new token, if one was created. */
export async function alterPrincipal(
  cursor: Cursor,
  session: AclSession,
  kind: PrincipalKind,
): Promise<ExecutionResult | undefined> {
  const { acl } = session;
  const named = parseEntityName(cursor, `${kind} name`);
  if (kind === 'group') {
    changeAlias(cursor, session, named);
    return;
  }
  const verb = cursor.requireNoSemicolon("'enable', 'disable', 'with', 'create' or 'drop'").toLowerCase();
  switch (verb) {
    case 'enable':
    case 'disable':
      cursor.expectEnd();
      session.authorize(`${verb.toUpperCase()} USER`);
      acl.put({ ...requirePrincipal(acl, kind, named), disabled: verb === 'disable' });
      return;
    case 'with':
      await setPassword(cursor, session, kind, named);
      return;
    case 'create':
      return createToken(cursor, session, kind, named);
    case 'drop':
      dropTokens(cursor, session, kind, named);
      return;
    default:
      throw unexpectedTokenError(cursor.at, verb);
  }
}

/**
 * `WITH EXTERNAL ALIAS 'a'` or `DROP EXTERNAL ALIAS 'a'`: nothing else of a group can be changed, because it never logs
 * in.
 */
function changeAlias(cursor: Cursor, session: AclSession, named: LocatedName): void {
  const { acl } = session;
  const adds = isWord(cursor.requireNoSemicolon("'with' or 'drop'"), 'with');
  if (!adds) cursor.expectToken(cursor.text.slice(cursor.at, cursor.end), 'drop');
  cursor.expect('external');
  cursor.expect('alias');
  const alias = parseText(cursor, 'alias');
  const position = cursor.at;
  cursor.expectEnd();
  session.authorize(`${adds ? 'ADD' : 'REMOVE'} EXTERNAL ALIAS`);
  const group = requirePrincipal(acl, 'group', named);
  if (!adds && group.alias !== alias)
    throw new RejectionError(position, `external alias does not exist [name=${alias}]`);
  acl.put({ ...group, alias: adds ? alias : undefined });
}

async function setPassword(
  cursor: Cursor,
  session: AclSession,
  kind: PrincipalKind,
  named: LocatedName,
): Promise<void> {
  const { acl, caller } = session;
  const password = parsePassword(cursor);
  cursor.expectEnd();
  if (!isSameName(caller, named.name)) session.authorize(`${password === undefined ? 'REMOVE' : 'ADD'} PASSWORD`);
  requirePrincipal(acl, kind, named);
  const hash = password && (await hashPassword(password));
  // Read again: a login in the meantime may have renewed a token.
  acl.put({ ...requirePrincipal(acl, kind, named), password: hash });
}

/** TOKEN TYPE REST: sqlserve has no tokens for other protocols. */
function expectRestToken(cursor: Cursor): void {
  cursor.expect('token');
  cursor.expect('type');
  cursor.expect('rest');
}

function createToken(cursor: Cursor, session: AclSession, kind: PrincipalKind, named: LocatedName): ExecutionResult {
  expectRestToken(cursor);
  const { ttl, refresh } = parseTokenLifetime(cursor);
  cursor.expectEnd();
  session.authorize('CREATE REST TOKEN');
  const principal = requirePrincipal(session.acl, kind, named);
  const { token, stored } = generateToken(ttl, refresh);
  session.acl.put({ ...principal, tokens: [...principal.tokens.filter(old => !isExpired(old)), stored] });
  return {
    kind: 'rows',
    columns: [
      { name: 'name', type: 'STRING' },
      { name: 'token', type: 'STRING' },
      { name: 'expires_at', type: 'TIMESTAMP' },
      { name: 'refresh', type: 'BOOLEAN' },
    ],
    rows: [[principal.name, token, new Date(stored.expires).toISOString().replace('Z', '000Z'), refresh]],
  };
}

/** After `DROP TOKEN TYPE REST`: `[token]`. Drops that token or, if none is named, all. */
function dropTokens(cursor: Cursor, session: AclSession, kind: PrincipalKind, named: LocatedName): void {
  expectRestToken(cursor);
  const token = cursor.next();
  const position = cursor.at;
  const droppedDigest = token === undefined || token === ';' ? undefined : digest(unquote(token));
  if (droppedDigest !== undefined) cursor.expectEnd();
  session.authorize('DROP REST TOKEN');
  const principal = requirePrincipal(session.acl, kind, named);
  const tokens = principal.tokens.filter(old => droppedDigest !== undefined && old.digest !== droppedDigest);
  if (droppedDigest !== undefined && tokens.length === principal.tokens.length) {
    throw new RejectionError(position, 'token does not exist');
  }
  session.acl.put({ ...principal, tokens });
}

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `WITH TTL '30d' [REFRESH]`, from a minute to ten years; in milliseconds. */
function parseTokenLifetime(cursor: Cursor): { ttl: number; refresh: boolean } {
  cursor.expect('with');
  cursor.expect('ttl');
  const [, count, unit = ''] = /^(\d+)([smhd])$/i.exec(unquote(cursor.requireNoSemicolon('TTL'))) ?? [];
  const seconds = Number(count) * (secondsIn[unit.toLowerCase()] ?? 0);
  if (!(seconds >= 60 && seconds <= 3650 * 86_400)) {
    throw new RejectionError(cursor.at, "TTL is a number and a unit (s, m, h, d), from '1m' to '3650d'");
  }
  const refresh = isWord(cursor.next(), 'refresh');
  if (!refresh) cursor.unread();
  return { ttl: seconds * 1000, refresh };
}

function requirePrincipal(acl: Acl, kind: PrincipalKind, { name, position }: LocatedName): Principal {
  const principal = acl.find(name);
  if (principal?.kind === kind) return principal;
  throw new RejectionError(position, `${kind} does not exist [name=${name}]`);
}

/** After ADD or REMOVE: a user and groups. */
export function changeMembership(cursor: Cursor, session: AclSession, add: boolean): void {
  const { acl } = session;
  cursor.expect('user');
  const named = parseEntityName(cursor, 'user name');
  cursor.expect(add ? 'to' : 'from');
  const listed: LocatedName[] = [];
  do listed.push(parseEntityName(cursor, 'group name'));
  while (cursor.next() === ',');
  cursor.unread();
  cursor.expectEnd();
  session.authorize(add ? 'ADD USER' : 'REMOVE USER');
  const user = requirePrincipal(acl, 'user', named);
  const names = listed.map(group => requirePrincipal(acl, 'group', group).name);
  const others = user.groups.filter(group => !names.includes(group));
  acl.put({ ...user, groups: add ? [...new Set([...user.groups, ...names])] : others });
}

/** After GRANT or REVOKE. */
export function changeGrants(cursor: Cursor, session: AclSession, grant: boolean): void {
  const { acl } = session;
  const first = cursor.requireNoSemicolon('permission');
  if (isWord(first, 'assume')) {
    changeAssumption(cursor, session, grant);
    return;
  }
  const permissions = parsePermissions(cursor, first);
  const scopes = parseScopes(cursor, session);
  cursor.expect(grant ? 'to' : 'from');
  const named = parseEntityName(cursor, 'entity name');
  const { option, verified } = grant ? parseGrantOptions(cursor) : noOptions;
  cursor.expectEnd();
  for (const permission of permissions) for (const { scope } of scopes) requireGrantRight(session, permission, scope);
  if (verified) {
    for (const { scope, position } of scopes) rejectMissing(session, scope, position);
    rejectUnknownPrincipal(session, named);
  }
  const entity = acl.find(named.name)?.name ?? named.name;
  for (const permission of permissions) {
    for (const { scope } of scopes) {
      if (grant) acl.grant({ entity, permission, option, ...scope });
      else acl.revoke({ entity, permission, ...scope });
    }
  }
}

/** Parses permissions: the words up to ON, TO, FROM or a comma are one permission. */
function parsePermissions(cursor: Cursor, first: string): string[] {
  const permissions: string[] = [];
  let words = [first];
  let position = cursor.at;
  for (let token = cursor.next(); ; token = cursor.next()) {
    if (words.length === 0) position = cursor.at;
    const isEnd = token === undefined || ['on', 'to', 'from', ','].includes(token.toLowerCase());
    if (!isEnd) {
      words.push(token ?? '');
      continue;
    }
    const permission = words.join(' ').toUpperCase();
    if (!isPermission(permission)) throw new RejectionError(position, `unknown permission [${words.join(' ')}]`);
    permissions.push(permission);
    if (token !== ',') break;
    words = [];
  }
  cursor.unread();
  return permissions;
}

/** A scope, and the position of its table's name. */
interface LocatedScope {
  readonly scope: Scope;
  readonly position: number;
}

/**
 * Parses `ON`, and after it `ALL TABLES` or tables with or without columns; without ON the scope is the database. `(*)`
 * and EXCLUDE are resolved to the current columns, as QuestDB does.
 */
function parseScopes(cursor: Cursor, session: AclSession): LocatedScope[] {
  if (!isWord(cursor.next(), 'on')) {
    cursor.unread();
    return [{ scope: {}, position: cursor.at }];
  }
  let token = cursor.requireNoSemicolon('table name');
  if (isWord(token, 'all')) {
    cursor.expect('tables');
    return [{ scope: { table: '*' }, position: cursor.at }];
  }
  const scopes: LocatedScope[] = [];
  for (;;) {
    const table = unquote(token);
    const position = cursor.at;
    if (!isValidTableName(table)) throw new RejectionError(position, `invalid table name [table=${table}]`);
    const next = cursor.next();
    if (next === '(')
      scopes.push(...parseColumns(cursor, session, table).map(column => ({ scope: { table, column }, position })));
    else {
      cursor.unread();
      scopes.push({ scope: { table }, position });
    }
    if (cursor.next() !== ',') break;
    token = cursor.requireNoSemicolon('table name');
  }
  cursor.unread();
  return scopes;
}

/** In parentheses after a table's name: columns, or `*` for all its current columns, with EXCLUDE all but some. */
function parseColumns(cursor: Cursor, { catalog }: AclSession, table: string): string[] {
  if (cursor.requireNoSemicolon('column name') !== '*') {
    cursor.unread();
    const listed = parseColumnNames(cursor).map(({ name }) => name);
    cursor.expect(')');
    return listed;
  }
  const { at } = cursor;
  const excluded = parseExcludedColumns(cursor);
  cursor.expect(')');
  const object = catalog.find(table);
  if (!object) throw new RejectionError(at, `table does not exist [table=${table}]`);
  const all = object.columns.map(({ name }) => name);
  for (const { name, position } of excluded) {
    if (all.some(column => isSameName(column, name))) continue;
    throw new RejectionError(position, `column does not exist [table=${table}, column=${name}]`);
  }
  const columns = all.filter(column => !excluded.some(({ name }) => isSameName(column, name)));
  if (columns.length === 0) throw new RejectionError(at, `no column is left [table=${table}]`);
  return columns;
}

/** `EXCLUDE (a, b)`, if it is there. */
function parseExcludedColumns(cursor: Cursor): LocatedName[] {
  if (!isWord(cursor.next(), 'exclude')) {
    cursor.unread();
    return [];
  }
  cursor.expect('(');
  const excluded = parseColumnNames(cursor);
  cursor.expect(')');
  return excluded;
}

/** Names between commas. */
function parseColumnNames(cursor: Cursor): LocatedName[] {
  const listed: LocatedName[] = [];
  do {
    const name = unquote(cursor.requireNoSemicolon('column name'));
    if (!isValidColumnName(name)) throw new RejectionError(cursor.at, `invalid column name [column=${name}]`);
    listed.push({ name, position: cursor.at });
  } while (cursor.next() === ',');
  cursor.unread();
  return listed;
}

interface GrantOptions {
  readonly option: boolean;
  /** Whether the objects and the principal must exist; if not, they may be created later. */
  readonly verified: boolean;
}

const noOptions: GrantOptions = { option: false, verified: false };

/** `WITH GRANT OPTION` and `WITH VERIFICATION`. */
function parseGrantOptions(cursor: Cursor): GrantOptions {
  let options = noOptions;
  for (let token = cursor.next(); isWord(token, 'with'); token = cursor.next()) {
    const word = cursor.requireNoSemicolon("'grant option' or 'verification'");
    if (isWord(word, 'verification')) {
      options = { ...options, verified: true };
      continue;
    }
    cursor.expectToken(word, 'grant');
    cursor.expect('option');
    options = { ...options, option: true };
  }
  cursor.unread();
  return options;
}

function rejectMissing({ catalog }: AclSession, { table, column }: Scope, position: number): void {
  if (table === undefined || table === '*') return;
  const object = catalog.find(table);
  if (!object) throw new RejectionError(position, `table does not exist [table=${table}]`);
  if (column === undefined || object.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase())) return;
  throw new RejectionError(position, `column does not exist [table=${table}, column=${column}]`);
}

function rejectUnknownPrincipal({ acl }: AclSession, { name, position }: LocatedName): void {
  if (acl.find(name) || isSameName(name, acl.admin)) return;
  throw new RejectionError(position, `entity does not exist [name=${name}]`);
}

/** Requires the permission with grant option; owners have all permissions on their objects. @throws DenialError */
function requireGrantRight({ acl, caller, catalog }: AclSession, permission: string, scope: Scope): void {
  if (acl.has(caller, permission, scope, true)) return;
  if (scope.table !== undefined && isSameName(catalog.find(scope.table)?.owner, caller)) return;
  const on = scope.table === undefined || scope.table === '*' ? '' : ` on ${scope.table}`;
  throw new DenialError(0, `Access denied for ${caller} [${permission} WITH GRANT OPTION${on}]`);
}

function changeAssumption(cursor: Cursor, session: AclSession, grant: boolean): void {
  const { acl, caller } = session;
  cursor.expect('service');
  cursor.expect('account');
  const named = parseEntityName(cursor, 'service account name');
  cursor.expect(grant ? 'to' : 'from');
  const assuming = parseEntityName(cursor, 'entity name');
  const { option, verified } = grant ? parseGrantOptions(cursor) : noOptions;
  cursor.expectEnd();
  const own = acl.assumptions.some(
    assumption =>
      assumption.option &&
      isSameName(assumption.account, named.name) &&
      acl.namesWithGroups(caller).some(name => isSameName(name, assumption.entity)),
  );
  if (!own) requireGrantRight(session, 'ASSUME SERVICE ACCOUNT', {});
  const account = requirePrincipal(acl, 'service account', named).name;
  if (verified) rejectUnknownPrincipal(session, assuming);
  const entity = acl.find(assuming.name)?.name ?? assuming.name;
  if (grant) acl.assume({ account, entity, option });
  else acl.unassume({ account, entity });
}
