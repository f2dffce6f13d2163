/*! The two editions of a server: who may log in, and what only one of them answers. */
import {
  type AclSession,
  Engine,
  formatPermissions,
  formatPrincipals,
  type Naming,
  type Principal,
  type Rows,
  type Session,
  type Show,
} from '@sqlpipe/engine';
import { isPrincipal, type Kind } from '@sqlpipe/sql';
import { createAuthenticator } from './login.js';
import { createSecrets, isSameSecret } from './secrets.js';
import { answerAclShow, parseAclShow } from './show-access.js';

/** What both editions of a server have in common. */
export interface EmulatedServer {
  /** How columns of queries are named that have no name. */
  readonly naming: Naming;
  readonly version: string;
}

/** An edition of a server. */
export interface ServerEdition {
  /** The release type that `/settings` reports. */
  readonly release: 'OSS' | 'EE';
  /** The version that it reports. */
  readonly version: string;
  /** Executes the statements. */
  readonly engine: Engine;
  /** The caller that an Authorization header identifies; undefined if access is denied. */
  authenticate(authorization: string | undefined): Promise<string | undefined>;
  /** The statements of a dump that precede and follow the objects. @throws DenialError */
  dump(kinds: ReadonlySet<Kind>, session: Session): { before: string[]; after: string[] };
  /** Answers a SHOW that only this edition has. */
  show(show: Extract<Show, { statement: 'show acl' }>, session: Session): Rows;
  /** Called after all recorded changes were applied. @throws AdminNameError */
  checkPrincipals(): void;
}

/** A user and a password. */
export interface LoginCredentials {
  readonly user: string;
  readonly password: string;
}

/** The open source edition: one optional login, no owners, no permissions. */
export function emulateOpenSource(
  credentials: LoginCredentials | undefined,
  { naming, version }: EmulatedServer,
): ServerEdition {
  const expected =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  return {
    release: 'OSS',
    version,
    engine: new Engine({ naming, version }),
    authenticate: async authorization =>
      expected === undefined || isSameSecret(authorization ?? '', expected) ? (credentials?.user ?? '') : undefined,
    dump: () => ({ before: [], after: [] }),
    show: () => ({ columns: [], rows: [] }),
    checkPrincipals: () => {},
  };
}

/** A stored principal has the administrator's name, in any case, and so would have all rights. */
export class AdminNameError extends Error {
  override name = 'AdminNameError';
  readonly code = 'CONFIG';

  constructor({ kind, name }: Principal) {
    super(`QDB_ACL_ADMIN_USER: the folder of --data has a ${kind} called '${name}'; choose another name`);
  }
}

/** The enterprise edition: every caller has a name and a password or a token. */
export function emulateEnterprise(admin: LoginCredentials, { naming, version }: EmulatedServer): ServerEdition {
  const engine = new Engine({
    edition: 'enterprise',
    naming,
    version,
    admin: admin.user,
    secrets: createSecrets(),
    parseShow: parseAclShow,
  });
  const { acl } = engine;
  return {
    release: 'EE',
    version,
    engine,
    authenticate: createAuthenticator(acl, admin),
    dump(kinds, session) {
      if ([...kinds].some(isPrincipal)) session.authorize('LIST USERS');
      if (kinds.has('grant')) session.authorize('USER DETAILS');
      return { before: formatPrincipals(acl, kinds), after: formatPermissions(acl, kinds) };
    },
    show: (show, session) => answerAclShow(show, session as AclSession),
    checkPrincipals() {
      const principal = acl.find(admin.user);
      if (principal) throw new AdminNameError(principal);
    },
  };
}
