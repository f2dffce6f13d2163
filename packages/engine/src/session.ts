/*! What a statement is executed with, and what its reply contains. */
import { RejectionError, type ServerTraits } from '@sqlpipe/ddl/parser';
import { isSameName } from '@sqlpipe/sql';
import type { Acl } from './acl.js';
import type { Catalogue, MutableCatalogue } from './catalogue.js';
import type { Effect } from './effects.js';
import type { SecretFactory } from './principal.js';

/** The caller lacks a permission. The status of the reply is 403. */
export class DenialError extends RejectionError {
  override name = 'DenialError';
  override readonly code = 'DENIED';
}

interface CallerRights {
  /** Without `on`, the permission is for the whole database. @throws DenialError */
  readonly authorize: (permission: string, on?: string, columns?: readonly string[]) => void;
  /** Whether the caller may read at least a part of an object. Other objects are left out of dumps, but not of lists. */
  readonly canReadPart: (name: string) => boolean;
  /** The owner of objects that are created without OWNED BY. */
  readonly owner?: string | undefined;
  /** Makes `owner`, or the caller if it is undefined, the owner of an added column. */
  readonly setColumnOwner: (table: string, column: string, owner: string | undefined) => void;
}

/** The open source edition has no owners and no permissions. */
export const ALL_RIGHTS: CallerRights = { authorize: () => {}, canReadPart: () => true, setColumnOwner: () => {} };

export function rightsOfCaller(caller: string, acl: Acl, catalogue: Catalogue): CallerRights {
  const owns = (name: string) => isSameName(catalogue.find(name)?.owner, caller);
  const isAllowed = (permission: string, table?: string, columns: readonly string[] = []) =>
    (table !== undefined && owns(table)) ||
    acl.hasPermission(caller, permission, { table }) ||
    (columns.length > 0 && columns.every(column => acl.hasPermission(caller, permission, { table, column })));
  return {
    owner: caller,
    canReadPart: name => owns(name) || acl.canReadPart(caller, name),
    setColumnOwner(table, column, owner = caller) {
      if (isSameName(owner, acl.admin) || isSameName(catalogue.find(table)?.owner, owner)) return;
      acl.apply({ grant: { kind: 'grant', entity: owner, permission: 'ALL', hasGrantOption: true, table, column } });
    },
    authorize(permission, table, columns) {
      if (isAllowed(permission, table, columns)) return;
      const on = table === undefined ? '' : ` on ${table}`;
      throw new DenialError(0, `Access denied for ${caller} [${permission}${on}]`);
    },
  };
}

/** Who sends a statement, and to what. */
export interface Session extends CallerRights, Pick<ServerTraits, 'hasFeature' | 'defaults'> {
  readonly catalogue: Catalogue;
  readonly acl: Acl;
  readonly caller: string;
  readonly version: string | undefined;
}

/** A session whose statement may change the schema. */
export interface MutableSession extends Session {
  readonly catalogue: MutableCatalogue;
  readonly secrets: SecretFactory;
  /** Whether all tables count as having rows. If not, statements about rows are rejected. */
  readonly assumesRows: boolean;
  /** Receives the effects on rows and principals that the statement itself has. */
  readonly directEffects: Effect[];
}

/** Requires the right to read at least a part of an object. @throws DenialError */
export function requirePartialReadAccess({ authorize, canReadPart }: Session, name: string): void {
  if (!canReadPart(name)) authorize('SELECT', name);
}

/** A column of a reply. */
export interface ColumnHead {
  readonly name: string;
  readonly type: string;
}

/** A cell of a reply. */
export type Cell = string | number | boolean | null;

/** The rows of a reply, with their columns. */
export interface ResultSet {
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly (readonly Cell[])[];
  readonly timestamp?: string | undefined;
}

/** The reply to a statement: that it was executed, that it was empty, or rows. */
export type StatementReply =
  | { readonly kind: 'ddl' }
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'rows' } & ResultSet);
