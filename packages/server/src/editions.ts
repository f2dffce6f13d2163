/*! The two editions of a server: what they execute, and who may log in. */
import { Engine, type Naming } from '@sqlpipe/engine';
import { createAuthenticator } from './login.js';
import { createSecrets, isSameSecret } from './secrets.js';
import { parseAclShow } from './show-access.js';

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
  };
}

/** The enterprise edition: every caller has a name and a password or a token. */
export function emulateEnterprise(admin: LoginCredentials, { naming, version }: EmulatedServer): ServerEdition {
  const engine = new Engine({
    isEnterprise: true,
    naming,
    version,
    admin: admin.user,
    secrets: createSecrets(),
    parseShow: parseAclShow,
  });
  return { release: 'EE', version, engine, authenticate: createAuthenticator(engine.acl, admin) };
}
