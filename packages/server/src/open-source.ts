/*! The open source edition: one optional login, no owners, no permissions. */
import { Engine } from '@sqlpipe/engine';
import { isSameSecret } from './secrets.js';
import type { Edition, EmulatedServer } from './server-edition.js';

/** A user and a password. */
export interface LoginCredentials {
  readonly user: string;
  readonly password: string;
}

export function createOpenSource(
  credentials: LoginCredentials | undefined,
  { naming, version }: EmulatedServer,
): Edition {
  const expected =
    credentials && `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  return {
    release: 'OSS',
    version,
    engine: new Engine({ naming, version }),
    authenticate: async authorization =>
      expected === undefined || isSameSecret(authorization ?? '', expected) ? (credentials?.user ?? '') : undefined,
    dump: () => ({ before: [], after: [] }),
    show: () => ({ kind: 'rows', columns: [], rows: [] }),
    checkPrincipals: () => {},
  };
}
