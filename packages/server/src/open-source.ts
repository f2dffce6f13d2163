/*! The open source edition: one optional login, no owners, no permissions. */
import { rejectOwner } from '@sqlpipe/ddl/grammar';
import { isSameSecret } from './acl/credentials.js';
import { statementHandlers } from './change/index.js';
import type { Edition } from './edition.js';

/** A user and a password. */
export interface LoginCredentials {
  readonly user: string;
  readonly password: string;
}

export function createOpenSource(credentials: LoginCredentials | undefined): Edition {
  const expected =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  return {
    release: 'OSS',
    dialect: { owner: rejectOwner, enterprise: false, show: () => undefined },
    handlers: statementHandlers,
    authenticate: async authorization =>
      expected === undefined || isSameSecret(authorization ?? '', expected) ? (credentials?.user ?? '') : undefined,
    session: catalog => ({
      catalog,
      enterprise: false,
      authorize: () => {},
      canRead: () => true,
      assignColumnOwner: () => {},
    }),
    dump: () => ({ before: [], after: [] }),
    show: () => ({ kind: 'rows', columns: [], rows: [] }),
    takeChanges: () => [],
    replay: () => {},
    checkPrincipals: () => {},
    snapshotChanges: () => [],
  };
}
