/*! The enterprise edition: every caller has a name, and every statement is held against what that name may do. */
import { ownedBy, Rejection } from '@sqlpipe/ddl/grammar';
import { Acl, type AclState, type Principal } from './acl/acl.js';
import { keptOf, PasswordCheck } from './acl/credentials.js';
import { permissionRows, principalRows } from './acl/dump.js';
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

export function enterprise(admin: Credentials): Edition {
  const acl = new Acl(admin.user);
  const check = new PasswordCheck();
  let saved = acl.version;
  return {
    release: 'EE',
    dialect: { owner: ownedBy, enterprise: true, show: showKinds },
    changes: withAcl,
    authenticate: async authorization => (await principalOf(authorization, acl, check, admin)) ?? undefined,
    session: (catalogue, caller) => sessionOf(catalogue, acl, caller),
    dump(categories, session) {
      for (const category of ['USERS', 'GROUPS', 'SERVICE_ACCOUNTS'])
        if (categories.has(category)) session.allow('LIST USERS');
      if (categories.has('PERMISSIONS')) session.allow('USER DETAILS');
      return { before: principalRows(acl, categories), after: permissionRows(acl, categories) };
    },
    show: (show, session) => showAcl(acl, show, session),
    takeState() {
      if (acl.version === saved) return;
      saved = acl.version;
      return acl.state;
    },
    restore(state) {
      acl.state = state as AclState;
      saved = acl.version;
    },
    all: () => (acl.version === 0 ? [] : [{ state: acl.state }]),
  };
}

function sessionOf(catalogue: Catalogue, acl: Acl, caller: string): AclSession {
  const owns = (name: string) => catalogue.find(name)?.owner?.toLowerCase() === caller.toLowerCase();
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
    allow(permission, table, columns) {
      if (may(permission, table, columns)) return;
      const on = table === undefined ? '' : ` on ${table}`;
      throw new Denial(0, `Access denied for ${caller} [${permission}${on}]`);
    },
  };
}

/** `Basic user:password` or `Bearer token`. The administrator's password is the configured one. */
async function principalOf(
  authorization: string | undefined,
  acl: Acl,
  check: PasswordCheck,
  admin: Credentials,
): Promise<string | undefined> {
  const [scheme, value = ''] = authorization?.split(' ') ?? [];
  if (scheme === 'Bearer') {
    const kept = keptOf(value);
    return enabled(acl.everybody().find(({ tokens }) => tokens.includes(kept)));
  }
  if (scheme !== 'Basic') return;
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? [];
  if (user === admin.user) return keptOf(password) === keptOf(admin.password) ? user : undefined;
  const principal = acl.find(user);
  if (!principal?.password || !(await check.matches(password, principal.password))) return;
  return enabled(principal);
}

const enabled = (principal: Principal | undefined): string | undefined =>
  principal && !principal.disabled ? principal.name : undefined;

/** A change that needs users: every session here has them. */
const acl =
  (change: (cursor: Parameters<Change>[0], session: AclSession) => ReturnType<Change>): Change =>
  (cursor, session) =>
    change(cursor, session as AclSession);

const orElse =
  (
    change: (cursor: Parameters<Change>[0], session: AclSession, kind: Principal['kind']) => ReturnType<Change>,
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
  drop: orElse(dropPrincipal, changes['drop']),
  alter: orElse(async (cursor, session, kind) => {
    const token = await alterPrincipal(cursor, session, kind);
    if (token === undefined) return;
    return { kind: 'rows', columns: [{ name: 'token', type: 'STRING' }], rows: [[token]] };
  }, changes['alter']),
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
