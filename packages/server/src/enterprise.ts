/*! The enterprise edition: every caller has a name and a password or a token. */
import { type AclSession, Engine, formatPermissions, formatPrincipals, type Principal } from '@sqlpipe/engine';
import { isPrincipal } from '@sqlpipe/sql';
import { createAuthenticator } from './login.js';
import type { LoginCredentials } from './open-source.js';
import { createSecrets } from './secrets.js';
import type { Edition, EmulatedServer } from './server-edition.js';
import { answerAclShow, parseAclShow } from './show-access.js';

/** A stored principal has the administrator's name, in any case, and so would have all rights. */
export class AdminNameError extends Error {
  override name = 'AdminNameError';
  readonly code = 'CONFIG';

  constructor({ kind, name }: Principal) {
    super(`QDB_ACL_ADMIN_USER: the folder of --data has a ${kind} called '${name}'; choose another name`);
  }
}

export function createEnterprise(admin: LoginCredentials, { naming, version }: EmulatedServer): Edition {
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
