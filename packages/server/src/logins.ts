/*! Who may log in to a server. */
import type { Acl } from '@sqlpipe/engine';
import { digest, hashPassword, isExpired, isSameSecret, PasswordCheck } from './secrets.js';

export interface Caller {
  readonly name: string;
  /** Extends the token of the request. This is a change like that of a statement, so it is made and stored together with one. */
  readonly renewToken?: (() => void) | undefined;
}

/** Returns the caller with these credentials; undefined if access is denied. */
export type Authenticator = (authorization: string | undefined) => Promise<Caller | undefined>;

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

/** Accepts one login; without one, everybody. */
export function loginAuthenticator(login: LoginCredentials | undefined): Authenticator {
  const expected = login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
  return async authorization =>
    expected === undefined || isSameSecret(authorization ?? '', expected) ? { name: login?.user ?? '' } : undefined;
}

/** Accepts the principals of the enterprise edition. The administrator's password is configured, not stored, and hashed like any other. */
export function principalAuthenticator(acl: Acl, admin: LoginCredentials): Authenticator {
  const check = new PasswordCheck();
  let adminHash: Promise<string> | undefined;

  async function findByPassword(user: string, password: string): Promise<Caller | undefined> {
    adminHash ??= hashPassword(admin.password);
    const principal = user === admin.user ? undefined : acl.find(user);
    const hash = user === admin.user ? await adminHash : principal?.passwordHash;
    if (!(await check.matches(password, hash))) return;
    return user === admin.user ? { name: user } : principal?.isDisabled ? undefined : principal;
  }

  const findToken = (id: string) =>
    acl
      .principals()
      .flatMap(principal => principal.tokens.map(token => ({ principal, token })))
      .find(({ token }) => token.digest === id);

  function findByToken(secret: string): Caller | undefined {
    const id = digest(secret);
    const found = findToken(id);
    if (!found || isExpired(found.token) || found.principal.isDisabled) return;
    return { name: found.principal.name, renewToken: () => renewToken(id) };
  }

  function renewToken(id: string): void {
    // Another statement may have changed the principal since the login.
    const { principal, token } = findToken(id) ?? {};
    if (!principal || token?.renewedLifetime === undefined) return;
    const renewed = { ...token, expiresAt: Date.now() + token.renewedLifetime };
    acl.apply({ put: { ...principal, tokens: principal.tokens.map(old => (old === token ? renewed : old)) } });
  }

  return async authorization => {
    const [scheme, value = ''] = authorization?.split(' ') ?? [];
    if (scheme === 'Bearer') return findByToken(value);
    if (scheme !== 'Basic') return;
    const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? [];
    return findByPassword(user, password);
  };
}
