/*! The server that is emulated: an engine of an edition and version, and who may log in. */
import { type Acl, type ColumnNaming, Engine } from '@sqlpipe/engine';
import { createSecrets, digest, hashPassword, isExpired, isSameSecret, PasswordCheck } from './secrets.js';

export interface Caller {
  readonly name: string;
  /** Extends the token of the request. This is a change like that of a statement, so it is made and stored together with one. */
  readonly renewToken?: (() => void) | undefined;
}

export interface EmulatedServer {
  readonly isEnterprise: boolean;
  readonly version: string;
  readonly engine: Engine;
  /** The caller with these credentials; undefined if access is denied. */
  authenticate(authorization: string | undefined): Promise<Caller | undefined>;
}

/** A user and a password. */
export interface LoginCredentials {
  readonly user: string;
  readonly password: string;
}

/** The words for the editions. `oss` and `open-source` are the same one. */
export const EDITIONS = ['oss', 'open-source', 'enterprise'] as const;

export type EditionName = (typeof EDITIONS)[number];

/** The administrator of the enterprise edition, unless another is given. */
export const DEFAULT_ADMIN: LoginCredentials = { user: 'admin', password: 'quest' };

/** @param login the only login of the open source edition, or the administrator of the enterprise edition */
export function emulateServer(
  edition: EditionName,
  login: LoginCredentials | undefined,
  options: { readonly naming: ColumnNaming; readonly version: string },
): EmulatedServer {
  const { version } = options;
  if (edition === 'enterprise') {
    const admin = login ?? DEFAULT_ADMIN;
    const enterprise = { isEnterprise: true, admin: admin.user, secrets: createSecrets() };
    const engine = new Engine({ ...options, ...enterprise });
    return { isEnterprise: true, version, engine, authenticate: createAuthenticator(engine.acl, admin) };
  }
  const expected = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
  return {
    isEnterprise: false,
    version,
    engine: new Engine(options),
    authenticate: async authorization =>
      expected === undefined || isSameSecret(authorization ?? '', expected) ? { name: login?.user ?? '' } : undefined,
  };
}

/** The administrator's password is configured and not stored, and is hashed like any other. */
function createAuthenticator(acl: Acl, admin: LoginCredentials): EmulatedServer['authenticate'] {
  const check = new PasswordCheck();
  let adminHash: Promise<string> | undefined;

  async function findByPassword(user: string, password: string): Promise<Caller | undefined> {
    adminHash ??= hashPassword(admin.password);
    const principal = user === admin.user ? undefined : acl.find(user);
    const hash = user === admin.user ? await adminHash : principal?.password;
    if (!(await check.matches(password, hash))) return;
    return user === admin.user ? { name: user } : principal?.disabled ? undefined : principal;
  }

  const findToken = (id: string) =>
    acl
      .principals()
      .flatMap(principal => principal.tokens.map(token => ({ principal, token })))
      .find(({ token }) => token.digest === id);

  function findByToken(secret: string): Caller | undefined {
    const id = digest(secret);
    const found = findToken(id);
    if (!found || isExpired(found.token) || found.principal.disabled) return;
    return { name: found.principal.name, renewToken: () => renewToken(id) };
  }

  function renewToken(id: string): void {
    // Another statement may have changed the principal since the login.
    const { principal, token } = findToken(id) ?? {};
    if (!principal || token?.refresh === undefined) return;
    const renewed = { ...token, expires: Date.now() + token.refresh };
    acl.put({ ...principal, tokens: principal.tokens.map(old => (old === token ? renewed : old)) });
  }

  return async authorization => {
    const [scheme, value = ''] = authorization?.split(' ') ?? [];
    if (scheme === 'Bearer') return findByToken(value);
    if (scheme !== 'Basic') return;
    const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? [];
    return findByPassword(user, password);
  };
}
