import type { PrincipalKind } from '@sqlpipe/sql';

/** What is stored of a REST token. */
export interface StoredToken {
  readonly digest: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The lifetime in milliseconds that each login renews; only for tokens that were created with REFRESH. */
  readonly renewedLifetime?: number | undefined;
}

/** Makes what is stored of passwords and tokens. */
export interface SecretFactory {
  /** @throws NotReadyError while the hash is computed */
  hashPassword(password: string): string;
  generateToken(lifetime: number, refresh: boolean): { token: string; stored: StoredToken };
  digest(token: string): string;
}

/** A user, a group or a service account. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
  readonly passwordHash?: string | undefined;
  readonly tokens: readonly StoredToken[];
  readonly isDisabled?: boolean;
  /** Groups only: their name outside of the database. */
  readonly alias?: string | undefined;
}
