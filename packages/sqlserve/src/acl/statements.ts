/*!
 * The statements of access control, as documented for the enterprise edition: its server's source is closed, so
 * positions and words of refusals are this service's own.
 */
import { type Cursor, is, Rejection, unexpected, unquote } from '@sqlpipe/ddl/grammar';
import type { Session } from '../session.js';
import type { Acl, Principal, PrincipalKind, Scope } from './acl.js';
import { hashPassword, keptOf, newToken } from './credentials.js';
import { isPermission } from './permissions.js';

/** A session of the enterprise edition. */
export interface AclSession extends Session {
  readonly acl: Acl;
  readonly caller: string;
}

/** The next token as a name. */
const nameOf = (cursor: Cursor, expected: string): string => unquote(cursor.need(expected));

/** USER, GROUP or SERVICE ACCOUNT, where the token starts one. */
export function principalKind(cursor: Cursor, token: string | undefined): PrincipalKind | undefined {
  if (is(token, 'user')) return 'user';
  if (is(token, 'group')) return 'group';
  if (!is(token, 'service')) return;
  cursor.expect('account');
  return 'service account';
}

/** Behind CREATE USER, GROUP or SERVICE ACCOUNT. */
export async function createPrincipal(cursor: Cursor, session: AclSession, kind: PrincipalKind): Promise<void> {
  const { acl } = session;
  let token = cursor.need(`${kind} name or 'if'`);
  const optional = is(token, 'if');
  if (optional) {
    cursor.expect('not');
    cursor.expect('exists');
    token = cursor.need(`${kind} name`);
  }
  const name = unquote(token);
  const position = cursor.at;
  const { owner = session.caller, ...chosen } = await options(cursor, kind);
  const principal: Principal = { kind, name, groups: [], tokens: [], ...chosen };
  session.allow(`CREATE ${kind.toUpperCase()}`);
  if (name === '' || /['"]/.test(name)) throw new Rejection(position, `invalid ${kind} name [name=${name}]`);
  const existing = acl.find(name);
  if (existing?.kind === kind && optional) return;
  if (existing || name.toLowerCase() === acl.admin.toLowerCase()) {
    throw new Rejection(position, `${existing?.kind ?? 'user'} already exists [name=${name}]`);
  }
  acl.add(principal);
  if (kind === 'service account' && owner !== acl.admin) acl.assume({ account: name, entity: owner, option: true });
}

interface Options {
  password?: string;
  alias?: string;
  /** Of a service account: who may assume it, and let others. */
  owner?: string;
}

/** What may stand behind the name, to the end. */
async function options(cursor: Cursor, kind: PrincipalKind): Promise<Options> {
  const chosen: Options = {};
  for (let token = cursor.next(); token !== undefined && token !== ';'; token = cursor.next()) {
    if (is(token, 'owned') && kind === 'service account') {
      cursor.expect('by');
      chosen.owner = nameOf(cursor, 'owner name');
    } else if (!is(token, 'with')) throw unexpected(cursor.at, token);
    else if (kind === 'group') {
      cursor.expect('external');
      cursor.expect('alias');
      chosen.alias = nameOf(cursor, 'alias');
    } else {
      const password = passwordOf(cursor);
      if (password !== undefined) chosen.password = await hashPassword(password);
    }
  }
  return chosen;
}

/** `PASSWORD 'p'` or `NO PASSWORD`. */
function passwordOf(cursor: Cursor): string | undefined {
  const token = cursor.need("'password' or 'no password'");
  if (is(token, 'no')) {
    cursor.expect('password');
    return;
  }
  cursor.expectThis(token, 'password');
  const password = nameOf(cursor, 'password').replaceAll("''", "'");
  if (password === '') throw new Rejection(cursor.at, 'password is empty');
  return password;
}

/** Behind DROP USER, GROUP or SERVICE ACCOUNT. */
export function dropPrincipal(cursor: Cursor, session: AclSession, kind: PrincipalKind): void {
  let token = cursor.need(`${kind} name or 'if'`);
  const optional = is(token, 'if');
  if (optional) {
    cursor.expect('exists');
    token = cursor.need(`${kind} name`);
  }
  const position = cursor.at;
  cursor.expectEnd();
  session.allow(`DROP ${kind.toUpperCase()}`);
  if (session.acl.find(unquote(token))?.kind === kind) session.acl.remove(unquote(token));
  else if (!optional) throw new Rejection(position, `${kind} does not exist [name=${unquote(token)}]`);
}

/**
 * Behind ALTER USER or SERVICE ACCOUNT.
 * @returns the new token, where one was asked for
 */
export async function alterPrincipal(
  cursor: Cursor,
  session: AclSession,
  kind: PrincipalKind,
): Promise<string | undefined> {
  const principal = existing(cursor, session.acl, kind);
  session.acl.touch();
  const verb = cursor.need("'enable', 'disable', 'with', 'create' or 'drop'").toLowerCase();
  if (verb === 'enable' || verb === 'disable') {
    cursor.expectEnd();
    session.allow(`${verb.toUpperCase()} USER`);
    principal.disabled = verb === 'disable';
    return;
  }
  if (verb === 'with') {
    const password = passwordOf(cursor);
    cursor.expectEnd();
    if (session.caller !== principal.name) session.allow(`${password === undefined ? 'REMOVE' : 'ADD'} PASSWORD`);
    principal.password = password === undefined ? undefined : await hashPassword(password);
    return;
  }
  if (verb !== 'create' && verb !== 'drop') throw unexpected(cursor.at, verb);
  cursor.expect('token');
  cursor.expect('type');
  cursor.expect('rest');
  if (verb === 'drop') {
    dropTokens(cursor, session, principal);
    return;
  }
  tokenLife(cursor);
  cursor.expectEnd();
  session.allow('CREATE REST TOKEN');
  const { token, kept } = newToken();
  principal.tokens.push(kept);
  return token;
}

/** `[token]` and the end: one token or, where none is named, all. */
function dropTokens(cursor: Cursor, session: AclSession, principal: Principal): void {
  const token = cursor.next();
  const position = cursor.at;
  const one = token === undefined || token === ';' ? undefined : keptOf(unquote(token));
  if (one !== undefined) cursor.expectEnd();
  session.allow('DROP REST TOKEN');
  if (one !== undefined && !principal.tokens.includes(one)) throw new Rejection(position, 'token does not exist');
  principal.tokens = one === undefined ? [] : principal.tokens.filter(kept => kept !== one);
}

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `WITH TTL '30d' [REFRESH]`, from a minute to ten years. It is read only: tokens do not expire here. */
function tokenLife(cursor: Cursor): void {
  cursor.expect('with');
  cursor.expect('ttl');
  const [, count, unit = ''] = /^(\d+)([smhd])$/i.exec(nameOf(cursor, 'TTL')) ?? [];
  const seconds = Number(count) * (secondsIn[unit.toLowerCase()] ?? 0);
  if (!(seconds >= 60 && seconds <= 3650 * 86_400)) {
    throw new Rejection(cursor.at, "TTL is a number and a unit (s, m, h, d), from '1m' to '3650d'");
  }
  if (!is(cursor.next(), 'refresh')) cursor.back();
}

function existing(cursor: Cursor, acl: Acl, kind: PrincipalKind): Principal {
  const name = nameOf(cursor, `${kind} name`);
  const principal = acl.find(name);
  if (principal?.kind === kind) return principal;
  throw new Rejection(cursor.at, `${kind} does not exist [name=${name}]`);
}

/** Behind ADD or REMOVE: a user and the groups. */
export function changeMembership(cursor: Cursor, session: AclSession, add: boolean): void {
  cursor.expect('user');
  const user = existing(cursor, session.acl, 'user');
  cursor.expect(add ? 'to' : 'from');
  const groups: string[] = [];
  do groups.push(existing(cursor, session.acl, 'group').name);
  while (cursor.next() === ',');
  cursor.back();
  cursor.expectEnd();
  session.allow(add ? 'ADD USER' : 'REMOVE USER');
  session.acl.touch();
  for (const group of groups) {
    const index = user.groups.indexOf(group);
    if (add && index < 0) user.groups.push(group);
    if (!add && index >= 0) user.groups.splice(index, 1);
  }
}

/** Behind GRANT or REVOKE. */
export function changeGrants(cursor: Cursor, session: AclSession, grant: boolean): void {
  const first = cursor.need('permission');
  if (is(first, 'assume')) {
    changeAssumption(cursor, session, grant);
    return;
  }
  const permissions = permissionList(cursor, first);
  const scopes = locatedScopes(cursor, session);
  cursor.expect(grant ? 'to' : 'from');
  const entity = nameOf(cursor, 'entity name');
  const entityAt = cursor.at;
  const { option, verified } = grant ? grantOptions(cursor) : noOptions;
  cursor.expectEnd();
  if (verified) {
    for (const { scope, position } of scopes) rejectMissing(session, scope, position);
    rejectNobody(session, entity, entityAt);
  }
  for (const permission of permissions) {
    for (const { scope } of scopes) {
      mayGrant(session, permission, scope);
      if (grant) session.acl.grant({ entity, permission, option, ...scope });
      else session.acl.revoke({ entity, permission, ...scope });
    }
  }
}

/** Words up to ON, TO, FROM or a comma are one permission. */
function permissionList(cursor: Cursor, first: string): string[] {
  const permissions: string[] = [];
  let words = [first];
  let position = cursor.at;
  for (let token = cursor.next(); ; token = cursor.next()) {
    if (words.length === 0) position = cursor.at;
    const ends = token === undefined || ['on', 'to', 'from', ','].includes(token.toLowerCase());
    if (!ends) {
      words.push(token ?? '');
      continue;
    }
    const permission = words.join(' ').toUpperCase();
    if (!isPermission(permission)) throw new Rejection(position, `unknown permission [${words.join(' ')}]`);
    permissions.push(permission);
    if (token !== ',') break;
    words = [];
  }
  cursor.back();
  return permissions;
}

/** A scope, and where the name of its table stands. */
interface LocatedScope {
  readonly scope: Scope;
  readonly position: number;
}

/**
 * Behind ON, `ALL TABLES` or tables, each with columns or without; without ON the database. `(*)` and EXCLUDE are
 * resolved now, as the service does.
 */
function locatedScopes(cursor: Cursor, session: AclSession): LocatedScope[] {
  if (!is(cursor.next(), 'on')) {
    cursor.back();
    return [{ scope: {}, position: cursor.at }];
  }
  let token = cursor.need('table name');
  if (is(token, 'all')) {
    cursor.expect('tables');
    return [{ scope: { table: '*' }, position: cursor.at }];
  }
  const scopes: LocatedScope[] = [];
  for (;;) {
    const table = unquote(token);
    const position = cursor.at;
    const next = cursor.next();
    if (next === '(')
      scopes.push(...columnList(cursor, session, table).map(column => ({ scope: { table, column }, position })));
    else {
      cursor.back();
      scopes.push({ scope: { table }, position });
    }
    if (cursor.next() !== ',') break;
    token = cursor.need('table name');
  }
  cursor.back();
  return scopes;
}

function columnList(cursor: Cursor, { catalogue }: AclSession, table: string): string[] {
  const columns: string[] = [];
  let token = cursor.need('column name');
  if (token === '*') {
    const excluded = new Set<string>();
    token = cursor.need("')' or 'exclude'");
    if (is(token, 'exclude')) {
      cursor.expect('(');
      for (const name of columnList(cursor, { catalogue } as AclSession, table)) excluded.add(name.toLowerCase());
      token = cursor.need("')'");
    }
    cursor.expectThis(token, ')');
    const all = catalogue.find(table)?.columns.map(({ name }) => name) ?? [];
    return all.filter(name => !excluded.has(name.toLowerCase()));
  }
  for (;;) {
    columns.push(unquote(token));
    if (cursor.need("',' or ')'") === ')') return columns;
    token = cursor.need('column name');
  }
}

interface GrantOptions {
  readonly option: boolean;
  /** Whether what is granted on and to must exist: else it may come later. */
  readonly verified: boolean;
}

const noOptions: GrantOptions = { option: false, verified: false };

/** `WITH GRANT OPTION` and `WITH VERIFICATION`. */
function grantOptions(cursor: Cursor): GrantOptions {
  let options = noOptions;
  for (let token = cursor.next(); is(token, 'with'); token = cursor.next()) {
    const word = cursor.need("'grant option' or 'verification'");
    if (is(word, 'verification')) {
      options = { ...options, verified: true };
      continue;
    }
    cursor.expectThis(word, 'grant');
    cursor.expect('option');
    options = { ...options, option: true };
  }
  cursor.back();
  return options;
}

function rejectMissing({ catalogue }: AclSession, { table, column }: Scope, position: number): void {
  if (table === undefined || table === '*') return;
  const object = catalogue.find(table);
  if (!object) throw new Rejection(position, `table does not exist [table=${table}]`);
  if (column === undefined || object.columns.some(({ name }) => name.toLowerCase() === column.toLowerCase())) return;
  throw new Rejection(position, `column does not exist [table=${table}, column=${column}]`);
}

function rejectNobody({ acl }: AclSession, name: string, position: number): void {
  if (acl.find(name) || name.toLowerCase() === acl.admin.toLowerCase()) return;
  throw new Rejection(position, `entity does not exist [name=${name}]`);
}

/** Only who has a permission with the option to give it may do so. */
function mayGrant(session: AclSession, permission: string, scope: Scope): void {
  if (session.acl.has(session.caller, permission, scope, true)) return;
  const owner = scope.table === undefined ? undefined : session.catalogue.find(scope.table)?.owner;
  if (owner?.toLowerCase() !== session.caller.toLowerCase())
    session.allow(`${permission} WITH GRANT OPTION`, scope.table);
}

function changeAssumption(cursor: Cursor, session: AclSession, grant: boolean): void {
  cursor.expect('service');
  cursor.expect('account');
  const account = existing(cursor, session.acl, 'service account').name;
  cursor.expect(grant ? 'to' : 'from');
  const entity = nameOf(cursor, 'entity name');
  const position = cursor.at;
  const { option, verified } = grant ? grantOptions(cursor) : noOptions;
  cursor.expectEnd();
  if (verified) rejectNobody(session, entity, position);
  const own = session.acl.assumptions.some(
    assumption => assumption.account === account && assumption.entity === session.caller && assumption.option,
  );
  if (!own) session.allow('GRANT ASSUME SERVICE ACCOUNT');
  if (grant) session.acl.assume({ account, entity, option });
  else session.acl.unassume({ account, entity });
}
