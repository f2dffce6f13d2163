/*! Hashes of passwords and tokens. A password can be guessed, so its hash is slow; for a token of 256 random bits, SHA-256 suffices. */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { NotReadyError, type SecretFactory, type StoredToken } from '@sqlpipe/engine';

/** What OWASP recommends for scrypt if memory is scarce: 16 MiB. */
const SCRYPT_COST = { N: 2 ** 14, r: 8, p: 5 };

const KEY_LENGTH = 32;

const computeKey = promisify<string, Buffer, number, typeof SCRYPT_COST, Buffer>(scrypt);

/** One hash at a time in each queue. Hashes use the threads that also write the journal: guessers must not fill them. */
const hashQueues: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];

function deriveKey(password: string, salt: Buffer): Promise<Buffer> {
  const compute = () => computeKey(password, salt, KEY_LENGTH, SCRYPT_COST);
  const key = (hashQueues.shift() as Promise<unknown>).then(compute, compute);
  hashQueues.push(key);
  return key;
}

const formatHash = (salt: Buffer, key: Buffer): string => `scrypt$${salt.toString('base64')}$${key.toString('base64')}`;

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return formatHash(salt, await deriveKey(password, salt));
}

export const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** Compares in a time that does not depend on the secrets. */
export const isSameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(digest(a)), Buffer.from(digest(b)));

export function generateToken(ttl: number, refresh: boolean): { token: string; stored: StoredToken } {
  const token = `qt1${randomBytes(32).toString('base64url')}`;
  return {
    token,
    stored: { digest: digest(token), expiresAt: Date.now() + ttl, renewedLifetime: refresh ? ttl : undefined },
  };
}

/** What statements need of secrets. A statement with a password is executed again when the hash is known. */
export function createSecretFactory(): SecretFactory {
  const hashes = new Map<string, string>();
  return {
    hashPassword(password) {
      const id = digest(password);
      const hash = hashes.get(id);
      if (hash === undefined) throw new NotReadyError(async () => void hashes.set(id, await hashPassword(password)));
      hashes.delete(id);
      return hash;
    },
    generateToken,
    digest,
  };
}

export const isExpired = ({ expiresAt }: StoredToken): boolean => expiresAt <= Date.now();

/** The hash of no password: a login with an unknown name takes as long as one with a known name. */
const DECOY_HASH = formatHash(randomBytes(16), randomBytes(KEY_LENGTH));

/** Checks passwords. A correct one is hashed only once, because a client sends it with every request. */
export class PasswordCheck {
  readonly #verified = new Set<string>();

  /** @param hash undefined if the name or its password does not exist: it never matches, and is as slow as any other */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const id = digest(`${hash}\0${password}`);
    if (this.#verified.has(id)) return true;
    const [, salt = '', key = ''] = (hash ?? DECOY_HASH).split('$');
    const expected = Buffer.from(key, 'base64');
    const derived = await deriveKey(password, Buffer.from(salt, 'base64'));
    if (expected.length !== KEY_LENGTH || !timingSafeEqual(derived, expected) || hash === undefined) return false;
    if (this.#verified.size >= 1000) this.#verified.clear();
    this.#verified.add(id);
    return true;
  }
}
