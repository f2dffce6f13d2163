/*! The enterprise edition: every caller has a name, and every statement is held against what that name may do. */
import { ownedBy, Rejection } from '@sqlpipe/ddl/grammar';
import { Acl, isSameName, type Principal, type PrincipalKind } from './acl/acl.js';
import { permissionRows, principalRows } from './acl/dump.js';
import { logins } from './acl/login.js';
import { showAcl, showKinds } from './acl/show.js';
import {
  type AclSession,
  alterPrincipal,
  changeGrants,
  changeMembership,
  createPrincipal,
  dropPrincipal,
  principalKind,
} from './acl/statements.js';
import type { Catalogue } from './catalogue.js';
import { type Change, type Changes, changes } from './change/index.js';
import type { Edition } from './edition.js';
import type { Credentials } from './oss.js';
import { Denial, type Session } from './session.js';

/** Somebody has the name of the administrator, if not in the same case, and so would have all rights. */
export class AdminNameError extends Error {
  readonly code = 'CONFIG';

  constructor({ kind, name }: Principal) {
    super(`QDB_ACL_ADMIN_USER: the folder of --data has a ${kind} called '${name}'; choose another name`);
  }
}

export function enterprise(admin: Credentials): Edition {
  const acl = new Acl(admin.user);
  const login = logins(acl, admin);
  return {
    release: 'EE',
    dialect: { owner: ownedBy, enterprise: true, show: showKinds },
    changes: withAcl,
    authenticate: login,
    session: (catalogue, caller) => sessionOf(catalogue, acl, caller),
    dump(categories, session) {
      for (const category of ['USERS', 'GROUPS', 'SERVICE_ACCOUNTS'])
        if (categories.has(category)) session.allow('LIST USERS');
      if (categories.has('PERMISSIONS')) session.allow('USER DETAILS');
      return { before: principalRows(acl, categories), after: permissionRows(acl, categories) };
    },
    show: (show, session) => showAcl(show, session as AclSession),
    takeChanges: () => acl.takeChanges(),
    replay(change) {
      acl.replay(change);
    },
    checkPrincipals() {
      const taken = acl.find(admin.user);
      if (taken) throw new AdminNameError(taken);
    },
    all: () => acl.all(),
  };
}

function sessionOf(catalogue: Catalogue, acl: Acl, caller: string): AclSession {
  const owns = (name: string) => isSameName(catalogue.find(name)?.owner, caller);
  const may = (permission: string, table?: string, columns?: readonly string[]) =>
    (table !== undefined && owns(table)) ||
    acl.has(caller, permission, { table }) ||
    (columns !== undefined &&
      columns.length > 0 &&
      columns.every(column => acl.has(caller, permission, { table, column })));
  return {
    catalogue,
    acl,
    caller,
    enterprise: true,
    owner: caller,
    maySee: name => owns(name) || acl.maySee(caller, name),
    ownColumn(table, column, owner = caller) {
      if (isSameName(owner, acl.admin) || isSameName(catalogue.find(table)?.owner, owner)) return;
      acl.grant({ entity: owner, permission: 'ALL', option: true, table, column });
    },
    allow(permission, table, columns) {
      if (may(permission, table, columns)) return;
      const on = table === undefined ? '' : ` on ${table}`;
      throw new Denial(0, `Access denied for ${caller} [${permission}${on}]`);
    },
  };
}

/** A change that needs users: every session here has them. */
const acl =
  (change: (cursor: Parameters<Change>[0], session: AclSession) => ReturnType<Change>): Change =>
  (cursor, session) =>
    change(cursor, session as AclSession);

const orElse =
  (
    change: (cursor: Parameters<Change>[0], session: AclSession, kind: PrincipalKind) => ReturnType<Change>,
    other: Change | undefined,
  ): Change =>
  (cursor, session: Session) => {
    const kind = principalKind(cursor, cursor.next());
    if (kind) return change(cursor, session as AclSession, kind);
    cursor.back();
    return other?.(cursor, session);
  };

const withAcl: Changes = {
  ...changes,
  create: orElse(createPrincipal, undefined),
  drop: orElse(dropPrincipal, changes.drop),
  alter: orElse(alterPrincipal, changes.alter),
  add: acl((cursor, session) => changeMembership(cursor, session, true)),
  remove: acl((cursor, session) => changeMembership(cursor, session, false)),
  grant: acl((cursor, session) => changeGrants(cursor, session, true)),
  revoke: acl((cursor, session) => changeGrants(cursor, session, false)),
  assume: noAssumption,
  exit: noAssumption,
};

/** It lasts as long as a connection of the PostgreSQL protocol does; each request here stands alone. */
function noAssumption(): never {
  throw new Rejection(0, 'service accounts are not assumed over HTTP: log in as the account');
}
