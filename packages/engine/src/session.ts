/*! What a statement is executed with: the catalogue, and what its caller may do there. And what it answers. */
import type { Defaults } from '@sqlpipe/ddl';
import { type HasFeature, RejectionError } from '@sqlpipe/ddl/grammar';
import type { Catalogue } from './catalogue.js';
import type { Effect } from './effects.js';

/** The caller lacks a permission. The status of the reply is 403. */
export class DenialError extends RejectionError {
  override name = 'DenialError';
  override readonly code = 'DENIED';
}

/**
 * Throws if the caller lacks a permission. `on` is the name of a table or view; it is undefined for a permission on the
 * whole database.
 */
export type Authorize = (permission: string, on?: string, columns?: readonly string[]) => void;

/** Who executes a statement, and on what. */
export interface Session {
  readonly catalogue: Catalogue;
  readonly authorize: Authorize;
  /** Whether the caller may read at least a part of an object. Other objects are left out of dumps, but not of lists. */
  readonly canRead: (name: string) => boolean;
  /** The version; undefined for the newest. */
  readonly version: string | undefined;
  readonly has: HasFeature;
  /** What the server fills in if a statement omits it. */
  readonly defaults: Defaults;
  /** Whether there are storage policies. */
  readonly enterprise: boolean;
  /** The owner of objects that are created without OWNED BY. */
  readonly owner?: string | undefined;
  /** Receives what a statement does to rows; undefined if tables have none, so that such a statement is rejected. */
  readonly rowEffects?: Effect[] | undefined;
  /** Makes `owner`, or the caller if it is undefined, the owner of an added column. */
  readonly assignColumnOwner: (table: string, column: string, owner: string | undefined) => void;
}

/** Requires the right to read at least a part of an object. @throws DenialError */
export function requireReadable({ authorize, canRead }: Session, name: string): void {
  if (!canRead(name)) authorize('SELECT', name);
}

/** A column of an answer. */
export interface ColumnHead {
  readonly name: string;
  readonly type: string;
}

/** A value of an answer. */
export type Value = string | number | boolean | null;

/** Rows with their columns. */
export interface Rows {
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly (readonly Value[])[];
  /** The name of the designated timestamp, if the rows have one. */
  readonly timestamp?: string | undefined;
}

/** The answer to a statement: nothing but that it was executed, nothing because it was empty, or rows. */
export type ExecutionResult =
  | { readonly kind: 'ddl' }
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'rows' } & Rows);
