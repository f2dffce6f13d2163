/*! On whose behalf a statement runs: the catalog that it may change, and what its caller may do there. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import type { ServerCatalog } from './server-catalog.js';

/** The caller lacks a permission. The service replies 403. */
export class DenialError extends RejectionError {
  override name = 'DenialError';
  override readonly code = 'DENIED';
}

/**
 * Throws if the caller lacks a permission. `on` is a table or view by name; nothing for what concerns the whole
 * database.
 */
export type Authorize = (permission: string, on?: string, columns?: readonly string[]) => void;

export interface Session {
  readonly catalog: ServerCatalog;
  readonly authorize: Authorize;
  /** Whether an object may be read, in part at least: what may not is left out of lists and dumps. */
  readonly canRead: (name: string) => boolean;
  /** Whether there are storage policies and live views. */
  readonly enterprise: boolean;
  /** Who owns what is made without another owner being named. */
  readonly owner?: string | undefined;
  /** Gives an added column of a table to its owner, or to the caller. */
  readonly assignColumnOwner: (table: string, column: string, owner: string | undefined) => void;
}

/** Seeing an object requires the right to read some of it. @throws DenialError */
export function requireReadable({ authorize, canRead }: Session, name: string): void {
  if (!canRead(name)) authorize('SELECT', name);
}
