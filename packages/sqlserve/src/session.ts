/*! On whose behalf a statement runs: the catalogue it may change, and what its caller may do there. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import type { Catalogue } from './catalogue.js';

/** The caller may not. The service says so with 403. */
export class Denial extends RejectionError {
  override readonly code = 'DENIED';
}

/** Says no by throwing. `on` is a table or view by name; nothing for what concerns the whole database. */
export type Allow = (permission: string, on?: string, columns?: readonly string[]) => void;

export interface Session {
  readonly catalogue: Catalogue;
  readonly allow: Allow;
  /** Whether an object may be read, in part at least: what may not is left out of lists and dumps. */
  readonly maySee: (name: string) => boolean;
  /** Whether there are storage policies and live views. */
  readonly enterprise: boolean;
  /** Who owns what is made without another owner being named. */
  readonly owner?: string | undefined;
  /** Gives an added column of a table to its owner, or to the caller. */
  readonly ownColumn: (table: string, column: string, owner: string | undefined) => void;
}

/** To look at an object takes a right to read some of it. @throws Denial */
export function allowSeeing({ allow, maySee }: Session, name: string): void {
  if (!maySee(name)) allow('SELECT', name);
}
