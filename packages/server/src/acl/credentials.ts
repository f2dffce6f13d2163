/*!
 * Passwords and tokens: never kept, only their hashes. A password is guessable, so its hash is slow on purpose; a token
 * is 256 random bits, for which one round of SHA-256 will do.
 */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** What OWASP recommends for scrypt where memory is dear: 16 MiB. */
const SCRYPT_COST = { N: 2 ** 14, r: 8, p: 5 };

const keyLength = 32;

/** Hashes under way. The threads that hash also write the journal, and somebody who guesses must not have them all. */
const maxConcurrent = 2;
let running = 0;
const queue: (() => void)[] = [];

async function deriveKey(password: string, salt: Buffer): Promise<Buffer> {
  if (running >= maxConcurrent) await new Promise<void>(resolve => queue.push(resolve));
  else running++;
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, keyLength, SCRYPT_COST, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    const next = queue.shift();
    if (next) next();
    else running--;
  }
}

const formatHash = (salt: Buffer, key: Buffer): string => `scrypt$${salt.toString('base64')}$${key.toString('base64')}`;

/** The hash of a password, with its salt; made beside the event loop. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return formatHash(salt, await deriveKey(password, salt));
}

/** What names a secret without telling it. */
export const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** Compares in a time that tells nothing. */
export const isSameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));

/** What is kept of a REST token. */
export interface Token {
  readonly digest: string;
  /** When it ends, in milliseconds of the epoch. */
  readonly expires: number;
  /** How much longer, in milliseconds, each login makes it live; only of those that were made with REFRESH. */
  readonly refresh?: number | undefined;
}

/** A new REST token, and what is kept of it. */
export function generateToken(ttl: number, refresh: boolean): { token: string; stored: Token } {
  const token = `qt1${randomBytes(32).toString('base64url')}`;
  return { token, stored: { digest: digest(token), expires: Date.now() + ttl, refresh: refresh ? ttl : undefined } };
}

export const isExpired = ({ expires }: Token): boolean => expires <= Date.now();

/** Nobody's: who guesses names waits as long for it as for somebody's. */
const DECOY_HASH = formatHash(randomBytes(16), randomBytes(keyLength));

/** Right passwords that are remembered. */
const maxRemembered = 1000;

/** Checks passwords; each right one is computed once, as a client sends it with every request. */
export class PasswordCheck {
  readonly #verified = new Set<string>();

  /** @param hash undefined where there is nobody of that name, or no password: never matched, as slow as any other */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const known = digest(`${hash}\0${password}`);
    if (this.#verified.has(known)) return true;
    const [, salt = '', key = ''] = (hash ?? DECOY_HASH).split('$');
    const expected = Buffer.from(key, 'base64');
    const derived = await deriveKey(password, Buffer.from(salt, 'base64'));
    if (expected.length !== keyLength || !timingSafeEqual(derived, expected) || hash === undefined) return false;
    if (this.#verified.size >= maxRemembered) this.#verified.clear();
    this.#verified.add(known);
    return true;
  }
}
