/*! The enterprise edition: every caller has a name, and every statement is checked against the rights of that name. */
import { parseOwner, RejectionError } from '@sqlpipe/ddl/grammar';
import { Acl, isSameName, type Principal, type PrincipalKind } from './acl/acl.js';
import { formatPermissions, formatPrincipals } from './acl/dump.js';
import { createAuthenticator } from './acl/login.js';
import { answerAclShow, parseAclShow } from './acl/show.js';
import {
  type AclSession,
  alterPrincipal,
  changeGrants,
  changeMembership,
  createPrincipal,
  dropPrincipal,
  parsePrincipalKind,
} from './acl/statements.js';
import { type StatementHandler, type StatementHandlers, statementHandlers } from './change/index.js';
import type { Edition } from './edition.js';
import type { LoginCredentials } from './open-source.js';
import type { ServerCatalog } from './server-catalog.js';
import { DenialError, type Session } from './session.js';

/** A stored principal has the administrator's name, in any case, and so would have all rights. */
export class AdminNameError extends Error {
  override name = 'AdminNameError';
  readonly code = 'CONFIG';

  constructor({ kind, name }: Principal) {
    super(`QDB_ACL_ADMIN_USER: the folder of --data has a ${kind} called '${name}'; choose another name`);
  }
}

export function createEnterprise(admin: LoginCredentials): Edition {
  const acl = new Acl(admin.user);
  const login = createAuthenticator(acl, admin);
  return {
    release: 'EE',
    dialect: { owner: parseOwner, enterprise: true, show: parseAclShow },
    handlers: aclHandlers,
    authenticate: login,
    session: (catalog, caller) => createSession(catalog, acl, caller),
    dump(categories, session) {
      for (const category of ['USERS', 'GROUPS', 'SERVICE_ACCOUNTS'])
        if (categories.has(category)) session.authorize('LIST USERS');
      if (categories.has('PERMISSIONS')) session.authorize('USER DETAILS');
      return { before: formatPrincipals(acl, categories), after: formatPermissions(acl, categories) };
    },
    show: (show, session) => answerAclShow(show, session as AclSession),
    takeChanges: () => acl.takeChanges(),
    replay(change) {
      acl.replay(change);
    },
    checkPrincipals() {
      const principal = acl.find(admin.user);
      if (principal) throw new AdminNameError(principal);
    },
    snapshotChanges: () => acl.snapshotChanges(),
  };
}

function createSession(catalog: ServerCatalog, acl: Acl, caller: string): AclSession {
  const owns = (name: string) => isSameName(catalog.find(name)?.owner, caller);
  const isAllowed = (permission: string, table?: string, columns?: readonly string[]) =>
    (table !== undefined && owns(table)) ||
    acl.has(caller, permission, { table }) ||
    (columns !== undefined &&
      columns.length > 0 &&
      columns.every(column => acl.has(caller, permission, { table, column })));
  return {
    catalog,
    acl,
    caller,
    enterprise: true,
    owner: caller,
    canRead: name => owns(name) || acl.canRead(caller, name),
    assignColumnOwner(table, column, owner = caller) {
      if (isSameName(owner, acl.admin) || isSameName(catalog.find(table)?.owner, owner)) return;
      acl.grant({ entity: owner, permission: 'ALL', option: true, table, column });
    },
    authorize(permission, table, columns) {
      if (isAllowed(permission, table, columns)) return;
      const on = table === undefined ? '' : ` on ${table}`;
      throw new DenialError(0, `Access denied for ${caller} [${permission}${on}]`);
    },
  };
}

/** Adapts a handler that needs access control: in this edition every session has it. */
const forAclSession =
  (
    handler: (cursor: Parameters<StatementHandler>[0], session: AclSession) => ReturnType<StatementHandler>,
  ): StatementHandler =>
  (cursor, session) =>
    handler(cursor, session as AclSession);

/** Calls `handlePrincipal` if the next word is USER, GROUP or SERVICE ACCOUNT, and `other` if not. */
const handlePrincipalOr =
  (
    handlePrincipal: (
      cursor: Parameters<StatementHandler>[0],
      session: AclSession,
      kind: PrincipalKind,
    ) => ReturnType<StatementHandler>,
    other: StatementHandler | undefined,
  ): StatementHandler =>
  (cursor, session: Session) => {
    const kind = parsePrincipalKind(cursor, cursor.next());
    if (kind) return handlePrincipal(cursor, session as AclSession, kind);
    cursor.unread();
    return other?.(cursor, session);
  };

const aclHandlers: StatementHandlers = {
  ...statementHandlers,
  create: handlePrincipalOr(createPrincipal, undefined),
  drop: handlePrincipalOr(dropPrincipal, statementHandlers['drop']),
  alter: handlePrincipalOr(alterPrincipal, statementHandlers['alter']),
  add: forAclSession((cursor, session) => changeMembership(cursor, session, true)),
  remove: forAclSession((cursor, session) => changeMembership(cursor, session, false)),
  grant: forAclSession((cursor, session) => changeGrants(cursor, session, true)),
  revoke: forAclSession((cursor, session) => changeGrants(cursor, session, false)),
  assume: rejectAssumption,
  exit: rejectAssumption,
};

/** An assumption lasts as long as a connection of the PostgreSQL protocol; over HTTP each request stands alone. */
function rejectAssumption(): never {
  throw new RejectionError(0, 'service accounts are not assumed over HTTP: log in as the account');
}
