/*! Executes the documented statements of access control. QuestDB Enterprise is closed source, so messages and positions may differ. */
import { ALL_NAMES, MICROS, MICROS_PER_DAY, MICROS_PER_MINUTE, OBJECT_PERMISSIONS, type Right } from '@sqlpipe/ddl';
import {
  type Cursor,
  isWord,
  missingError,
  parseEntityName,
  parsePrincipalKind,
  parsePrincipalName,
  parseRightsStatement,
  RejectionError,
  type RightsStatement,
  type Scope,
  unexpectedTokenError,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import { displayName, isSameName, kindKeywords, type LocatedName, type PrincipalKind } from '@sqlpipe/sql';
import type { Acl } from '../acl.js';
import { lossOf } from '../effects.js';
import type { Principal } from '../principal.js';
import { DenialError, type MutableSession, type ResultSet, type Session } from '../session.js';
import { forVerbs, type StatementHandler, type StatementHandlers, statementHandlers } from './commands.js';

export const enterpriseHandlers: StatementHandlers = new Map([
  ...statementHandlers,
  ...forVerbs(executeOnPrincipal, 'create', 'drop', 'alter'),
  ...forVerbs(changeRights, 'add', 'remove', 'grant', 'revoke'),
  ...forVerbs(rejectAssume, 'assume', 'exit'),
]);

/**
 * Executes DROP USER, but leaves DROP TABLE to the handler that both editions have. CREATE TABLE never gets here, because
 * `parseStatement` does not make CREATE of an object a command.
 */
function executeOnPrincipal(cursor: Cursor, session: MutableSession, verb: string): ReturnType<StatementHandler> {
  const kind = parsePrincipalKind(cursor);
  if (!kind) return statementHandlers.get(verb)?.(cursor, session, verb);
  if (verb === 'alter') return alterPrincipal(cursor, session, kind);
  return verb === 'create' ? createPrincipal(cursor, session, kind) : dropPrincipal(cursor, session, kind);
}

/** ASSUME and EXIT change a connection of the PostgreSQL protocol. Requests over HTTP share no such state. */
function rejectAssume(): never {
  throw new RejectionError(0, 'service accounts are not assumed over HTTP: log in as the account');
}

function createPrincipal(cursor: Cursor, session: MutableSession, kind: PrincipalKind): void {
  const { acl } = session;
  const { hasIfClause, name, start } = parsePrincipalName(cursor, kind, 'not', 'exists');
  const { owner = session.caller, password, alias } = parseOptions(cursor, kind);
  session.authorize(`CREATE ${kindKeywords(kind)}`);
  const existing = acl.find(name)?.kind ?? (isSameName(name, acl.admin) ? 'user' : undefined);
  if (existing === kind && hasIfClause) return;
  if (existing) throw new RejectionError(start, `${existing} already exists [name=${name}]`);
  const hash = password && session.secrets.hashPassword(password);
  acl.apply({ put: { kind, name, tokens: [], passwordHash: hash, alias } });
  if (kind === 'service account' && !isSameName(owner, acl.admin))
    acl.apply({ grant: { kind: 'assumption', account: name, entity: owner, hasGrantOption: true } });
}

function parseOptions(cursor: Cursor, kind: PrincipalKind) {
  const options: { password?: string | undefined; alias?: string; owner?: string } = {};
  for (let token = cursor.next(); token !== undefined && token !== ';'; token = cursor.next()) {
    if (isWord(token, 'owned') && kind === 'service account' && !('owner' in options)) {
      cursor.expect('by');
      options.owner = parseEntityName(cursor, 'owner name').name;
    } else if (!isWord(token, 'with') || 'alias' in options || 'password' in options)
      throw unexpectedTokenError(cursor.start, token);
    else if (kind === 'group') {
      cursor.expect('external', 'alias');
      options.alias = parseText(cursor, 'alias');
    } else options.password = parsePassword(cursor);
  }
  return options;
}

const parseText = (cursor: Cursor, expected: string): string =>
  unquoteToken(cursor.requireNoSemicolon(expected)).replaceAll("''", "'");

function parsePassword(cursor: Cursor): string | undefined {
  const token = cursor.requireNoSemicolon("'password' or 'no password'");
  if (isWord(token, 'no')) {
    cursor.expect('password');
    return;
  }
  cursor.expectToken(token, 'password');
  const password = parseText(cursor, 'password');
  if (password === '') throw cursor.error('password is empty');
  return password;
}

/** The administrator becomes the owner of the principal's objects. Otherwise, a later principal of the same name would own them. */
function dropPrincipal(cursor: Cursor, session: MutableSession, kind: PrincipalKind): void {
  const { acl, catalogue, directEffects } = session;
  const { hasIfClause, name, start } = parsePrincipalName(cursor, kind, 'exists');
  cursor.expectEnd();
  session.authorize(`DROP ${kindKeywords(kind)}`);
  if (hasIfClause && acl.find(name)?.kind !== kind) return;
  const principal = requirePrincipal(acl, kind, { name, start });
  directEffects.push(lossOf(principal, 'drop-user', `loses ${displayName(principal)} with its credentials and rights`));
  acl.apply({ remove: name });
  for (const object of catalogue.listWithSystemTables())
    if (isSameName(object.owner, name)) catalogue.put({ ...object, owner: acl.admin });
}

/** Reads the end of a statement, and returns the principal that it changes. @throws DenialError if the caller lacks the permission */
type TargetCheck = (permission: string | undefined) => Principal;

function alterPrincipal(cursor: Cursor, session: MutableSession, kind: PrincipalKind): ReturnType<StatementHandler> {
  const { acl, caller } = session;
  const located = parseEntityName(cursor, `${kind} name`);
  const requireTarget: TargetCheck = permission => {
    cursor.expectEnd();
    if (permission !== undefined) session.authorize(permission);
    return requirePrincipal(acl, kind, located);
  };
  if (kind === 'group') return changeAlias(cursor, acl, requireTarget);
  const verb = cursor.requireNoSemicolon("'enable', 'disable', 'with', 'create' or 'drop'").toLowerCase();
  if (verb === 'enable' || verb === 'disable')
    return acl.apply({ put: { ...requireTarget(`${verb.toUpperCase()} USER`), isDisabled: verb === 'disable' } });
  if (verb === 'with') {
    const password = parsePassword(cursor);
    const permission = `${password === undefined ? 'REMOVE' : 'ADD'} PASSWORD`;
    const principal = requireTarget(isSameName(caller, located.name) ? undefined : permission);
    return acl.apply({ put: { ...principal, passwordHash: password && session.secrets.hashPassword(password) } });
  }
  if (verb !== 'create' && verb !== 'drop') throw unexpectedTokenError(cursor.start, verb);
  cursor.expect('token', 'type', 'rest'); // the engine supports no other tokens
  return verb === 'create' ? createToken(cursor, session, requireTarget) : dropTokens(cursor, session, requireTarget);
}

/** Executes ALTER GROUP. A group never logs in, so only its external alias can be altered. */
function changeAlias(cursor: Cursor, acl: Acl, requireTarget: TargetCheck): void {
  const adds = cursor.requireWord('with', 'drop') === 'with';
  cursor.expect('external', 'alias');
  const alias = parseText(cursor, 'alias');
  const position = cursor.start;
  const group = requireTarget(`${adds ? 'ADD' : 'REMOVE'} EXTERNAL ALIAS`);
  if (!adds && group.alias !== alias)
    throw new RejectionError(position, `external alias does not exist [name=${alias}]`);
  acl.apply({ put: { ...group, alias: adds ? alias : undefined } });
}

/** Creates a token, and drops the principal's expired tokens. The engine stores only a digest, so only this reply has the token. */
function createToken(cursor: Cursor, { acl, secrets }: MutableSession, requireTarget: TargetCheck): ResultSet {
  cursor.expect('with', 'ttl');
  const [, count, unit = ''] = /^(\d+)([smhd])$/i.exec(unquoteToken(cursor.requireNoSemicolon('TTL'))) ?? [];
  const micros = Number(count) * (MICROS.get(unit.toLowerCase()) ?? 0);
  if (!(micros >= MICROS_PER_MINUTE && micros <= 3650 * MICROS_PER_DAY))
    throw cursor.error("TTL is a number and a unit (s, m, h, d), from '1m' to '3650d'");
  const refresh = cursor.accept('refresh');
  const principal = requireTarget('CREATE REST TOKEN');
  const { token, stored } = secrets.generateToken(micros / 1000, refresh);
  const tokens = [...principal.tokens.filter(old => old.expiresAt > Date.now()), stored];
  acl.apply({ put: { ...principal, tokens } });
  return {
    columns: [
      { name: 'name', type: 'STRING' },
      { name: 'token', type: 'STRING' },
      { name: 'expires_at', type: 'TIMESTAMP' },
      { name: 'refresh', type: 'BOOLEAN' },
    ],
    rows: [[principal.name, token, new Date(stored.expiresAt).toISOString().replace('Z', '000Z'), refresh]],
  };
}

/** If the statement names no token, all tokens of the principal are dropped. */
function dropTokens(cursor: Cursor, { acl, secrets }: MutableSession, requireTarget: TargetCheck): void {
  const token = cursor.next();
  const position = cursor.start;
  const droppedDigest = token === undefined || token === ';' ? undefined : secrets.digest(unquoteToken(token));
  const principal = requireTarget('DROP REST TOKEN');
  const tokens = principal.tokens.filter(old => droppedDigest !== undefined && old.digest !== droppedDigest);
  if (droppedDigest !== undefined && tokens.length === principal.tokens.length)
    throw new RejectionError(position, 'token does not exist');
  acl.apply({ put: { ...principal, tokens } });
}

function requirePrincipal(acl: Acl, kind: PrincipalKind, { name, start }: LocatedName): Principal {
  const principal = acl.find(name);
  if (principal?.kind === kind) return principal;
  throw new RejectionError(start, `${kind} does not exist [name=${name}]`);
}

function changeRights(cursor: Cursor, session: MutableSession, verb: string): void {
  const statement = parseRightsStatement(cursor, verb, {
    isPermission: name => PERMISSIONS.has(name),
    columnsOf: table => session.catalogue.find(table)?.columns.map(({ name }) => name),
  });
  cursor.expectEnd();
  if (!statement) return;
  for (const right of requireChangeableRights(statement, session))
    session.acl.apply(statement.gives ? { grant: right } : { revoke: right });
}

/**
 * Requires that the caller may change these rights.
 * @returns the rights; principals have their names in the case in which they were created
 * @throws DenialError; RejectionError if something is missing. An entity may be missing, unless the statement has WITH VERIFICATION
 */
function requireChangeableRights(statement: RightsStatement, session: MutableSession): Right[] {
  const { acl, caller } = session;
  if (statement.kind === 'membership') {
    session.authorize(statement.gives ? 'ADD USER' : 'REMOVE USER');
    const { name: user } = requirePrincipal(acl, 'user', statement.user);
    const groups = statement.groups.map(located => requirePrincipal(acl, 'group', located).name);
    return groups.map(group => ({ kind: 'membership', user, group }));
  }
  const { hasGrantOption, isVerified } = statement;
  const requireEntity = ({ name, start }: LocatedName) =>
    (isVerified ? acl.requireEntity(name, start) : acl.find(name))?.name ?? name;
  if (statement.kind === 'assumption') {
    const { name } = statement.account;
    if (!acl.canAssume(caller, name, { hasGrantOption: true }))
      requireGrantRight(session, 'ASSUME SERVICE ACCOUNT', {});
    const account = requirePrincipal(acl, 'service account', statement.account).name;
    return [{ kind: 'assumption', account, entity: requireEntity(statement.entity), hasGrantOption }];
  }
  const { permissions, scopes } = statement;
  const granted = permissions.flatMap(permission => scopes.map(({ scope }) => ({ permission, ...scope })));
  for (const { permission, ...scope } of granted) requireGrantRight(session, permission, scope);
  for (const { scope, table } of isVerified ? scopes : []) {
    const columns = table && session.catalogue.find(table.name)?.columns;
    if (table && !columns) throw missingError(table.start, table.name);
    const { column } = scope;
    if (!table || column === undefined || columns?.some(({ name }) => isSameName(name, column))) continue;
    throw new RejectionError(table.start, `column does not exist [table=${table.name}, column=${column}]`);
  }
  const entity = requireEntity(statement.entity);
  return granted.map(each => ({ kind: 'grant', entity, hasGrantOption, ...each }));
}

/** Requires the permission WITH GRANT OPTION, unless the caller owns the object. @throws DenialError */
function requireGrantRight({ acl, caller, catalogue }: Session, permission: string, scope: Scope): void {
  if (acl.hasPermission(caller, permission, scope, { hasGrantOption: true })) return;
  if (scope.table !== undefined && isSameName(catalogue.find(scope.table)?.owner, caller)) return;
  const on = scope.table === undefined || scope.table === ALL_NAMES ? '' : ` on ${scope.table}`;
  throw new DenialError(0, `Access denied for ${caller} [${permission} WITH GRANT OPTION${on}]`);
}

/** The permissions that statements on objects require, and the other documented ones. */
const PERMISSIONS = new Set([
  ...OBJECT_PERMISSIONS,
  ...['ALL', 'HTTP', 'ILP', 'PGWIRE', 'SELECT', 'SETTINGS', 'SNAPSHOT'],
  ...['SQL ENGINE ADMIN', 'BACKUP DATABASE', 'CANCEL ANY COPY', 'REINDEX'],
  ...['USER', 'GROUP', 'SERVICE ACCOUNT', 'JWK', 'REST TOKEN'].flatMap(what => [`CREATE ${what}`, `DROP ${what}`]),
  ...['USER', 'PASSWORD', 'EXTERNAL ALIAS'].flatMap(what => [`ADD ${what}`, `REMOVE ${what}`]),
  ...['ENABLE USER', 'DISABLE USER', 'LIST USERS', 'USER DETAILS'],
]);
