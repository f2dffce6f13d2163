/*! The differences between the two editions: who may do what, and additional statements. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { isSameName, type PrincipalKind } from '@sqlpipe/sql';
import type { Acl } from './acl/acl.js';
import {
  type AclSession,
  alterPrincipal,
  changeGrants,
  changeMembership,
  createPrincipal,
  dropPrincipal,
  parsePrincipalKind,
  type Secrets,
} from './acl/statements.js';
import type { Catalogue } from './catalogue.js';
import { type StatementHandler, type StatementHandlers, statementHandlers } from './change/index.js';
import { DenialError, type Session } from './session.js';

/** What an edition adds to the statements of both. */
export interface Edition {
  /** Whether it has storage policies, owners and access control. */
  readonly enterprise: boolean;
  readonly handlers: StatementHandlers;
  session(catalogue: Catalogue, caller: string): Omit<Session, 'version' | 'has' | 'defaults'>;
}

/** The open source edition: no owners, no permissions. */
export const openSource: Edition = {
  enterprise: false,
  handlers: statementHandlers,
  session: catalogue => ({
    catalogue,
    enterprise: false,
    authorize: () => {},
    canRead: () => true,
    assignColumnOwner: () => {},
  }),
};

/** The enterprise edition: every caller has a name, and every statement is checked against the rights of that name. */
export const createEnterprise = (acl: Acl, secrets: Secrets): Edition => ({
  enterprise: true,
  handlers: aclHandlers,
  session: (catalogue, caller) => createSession(catalogue, acl, caller, secrets),
});

function createSession(
  catalogue: Catalogue,
  acl: Acl,
  caller: string,
  secrets: Secrets,
): Omit<AclSession, 'version' | 'has' | 'defaults'> {
  const owns = (name: string) => isSameName(catalogue.find(name)?.owner, caller);
  const isAllowed = (permission: string, table?: string, columns?: readonly string[]) =>
    (table !== undefined && owns(table)) ||
    acl.has(caller, permission, { table }) ||
    (columns !== undefined &&
      columns.length > 0 &&
      columns.every(column => acl.has(caller, permission, { table, column })));
  return {
    catalogue,
    acl,
    caller,
    secrets,
    enterprise: true,
    owner: caller,
    canRead: name => owns(name) || acl.canRead(caller, name),
    assignColumnOwner(table, column, owner = caller) {
      if (isSameName(owner, acl.admin) || isSameName(catalogue.find(table)?.owner, owner)) return;
      acl.grant({ kind: 'grant', entity: owner, permission: 'ALL', option: true, table, column });
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
