/*! The enterprise edition: every caller has a name and a password or a token. */
import { type AclSession, Engine, formatPermissions, formatPrincipals, type Principal } from '@sqlpipe/engine';
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
    dump(categories, session) {
      for (const category of ['USERS', 'GROUPS', 'SERVICE_ACCOUNTS'])
        if (categories.has(category)) session.authorize('LIST USERS');
      if (categories.has('PERMISSIONS')) session.authorize('USER DETAILS');
      return { before: formatPrincipals(acl, categories), after: formatPermissions(acl, categories) };
    },
    show: (show, session) => answerAclShow(show, session as AclSession),
    checkPrincipals() {
      const principal = acl.find(admin.user);
      if (principal) throw new AdminNameError(principal);
    },
  };
}
