/*!
 * Passwords and tokens: never kept, only their hashes. A password is guessable, so it takes argon2id, slow on purpose; a
 * token is 256 random bits, for which one round of SHA-256 will do.
 */
import { createHash, randomBytes } from 'node:crypto';
import { argon2id, argon2Verify } from 'hash-wasm';

/** The parameters that OWASP recommends for argon2id. */
const argon2 = { parallelism: 1, iterations: 2, memorySize: 19 * 1024, hashLength: 32, outputType: 'encoded' } as const;

/** The hash of a password, with its salt and parameters. */
export const hashPassword = (password: string): Promise<string> =>
  argon2id({ ...argon2, password, salt: randomBytes(16) });

const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** A new REST token, and what is kept of it. */
export function newToken(): { token: string; kept: string } {
  const token = `qt1${randomBytes(32).toString('base64url')}`;
  return { token, kept: digest(token) };
}

export const keptOf = digest;

/** Checks passwords; each right one is computed once, as a client sends it with every request. */
export class PasswordCheck {
  readonly #right = new Set<string>();

  async matches(password: string, hash: string): Promise<boolean> {
    const known = digest(`${hash}\0${password}`);
    if (this.#right.has(known)) return true;
    if (password === '' || !(await argon2Verify({ password, hash }))) return false;
    this.#right.add(known);
    return true;
  }
}
