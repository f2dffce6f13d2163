/*! Finds the principal of a login. The time that this takes does not reveal whether a name exists. */
import type { Acl, Principal, Token } from '@sqlpipe/engine';
import { digest, hashPassword, isExpired, PasswordCheck } from './secrets.js';

/**
 * Resolves an Authorization header to a name, or to undefined. The administrator's password is the configured one, and
 * is hashed like any other.
 */
export function createAuthenticator(
  acl: Acl,
  admin: { readonly user: string; readonly password: string },
): (authorization: string | undefined) => Promise<string | undefined> {
  const check = new PasswordCheck();
  let adminHash: Promise<string> | undefined;

  async function findByPassword(user: string, password: string): Promise<string | undefined> {
    adminHash ??= hashPassword(admin.password);
    const principal = user === admin.user ? undefined : acl.find(user);
    const hash = user === admin.user ? await adminHash : principal?.password;
    if (!(await check.matches(password, hash))) return;
    return user === admin.user ? user : nameIfEnabled(principal);
  }

  function findByToken(secret: string): string | undefined {
    const id = digest(secret);
    const hasDigest = (token: Token) => token.digest === id;
    const principal = acl.principals().find(({ tokens }) => tokens.some(hasDigest));
    const token = principal?.tokens.find(hasDigest);
    if (!principal || !token || isExpired(token) || principal.disabled) return;
    if (token.refresh !== undefined) {
      const renewed = { ...token, expires: Date.now() + token.refresh };
      acl.put({ ...principal, tokens: principal.tokens.map(old => (old === token ? renewed : old)) });
    }
    return principal.name;
  }

  return async authorization => {
    const [scheme, value = ''] = authorization?.split(' ') ?? [];
    if (scheme === 'Bearer') return findByToken(value);
    if (scheme !== 'Basic') return;
    const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? [];
    return findByPassword(user, password);
  };
}

const nameIfEnabled = (principal: Principal | undefined): string | undefined =>
  principal && !principal.disabled ? principal.name : undefined;
