/*! The open source edition: one login for all or none, no owners, nobody who may not. */
import { rejectOwner } from '@sqlpipe/ddl/grammar';
import { isSame } from './acl/credentials.js';
import { changes } from './change/index.js';
import type { Edition } from './edition.js';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export function openSource(credentials: Credentials | undefined): Edition {
  const expected =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  return {
    release: 'OSS',
    dialect: { owner: rejectOwner, enterprise: false, show: () => undefined },
    changes,
    authenticate: async authorization =>
      expected === undefined || isSame(authorization ?? '', expected) ? (credentials?.user ?? '') : undefined,
    session: catalogue => ({
      catalogue,
      enterprise: false,
      allow: () => {},
      maySee: () => true,
      ownColumn: () => {},
    }),
    dump: () => ({ before: [], after: [] }),
    show: () => ({ kind: 'rows', columns: [], rows: [] }),
    takeChanges: () => [],
    replay: () => {},
    checkPrincipals: () => {},
    all: () => [],
  };
}
