/*! The differences between the two editions of a server: logins, and what only one of them answers. */
import type { Engine, ExecutionResult, Naming, Session, Show } from '@sqlpipe/engine';
import type { Kind } from '@sqlpipe/sql';

/** What both editions of a server have in common. */
export interface EmulatedServer {
  /** How columns of queries are named that have no name. */
  readonly naming: Naming;
  readonly version: string;
}

export interface Edition {
  /** The release type that `/settings` reports. */
  readonly release: 'OSS' | 'EE';
  /** The version that it reports. */
  readonly version: string;
  /** Executes the statements. */
  readonly engine: Engine;
  /** The caller that an Authorization header identifies; undefined if access is denied. */
  authenticate(authorization: string | undefined): Promise<string | undefined>;
  /** The statements of a dump that precede and follow the objects. @throws DenialError */
  dump(kinds: ReadonlySet<Kind>, session: Session): { before: string[]; after: string[] };
  /** Answers a SHOW that only this edition has. */
  show(show: Extract<Show, { statement: 'show acl' }>, session: Session): ExecutionResult;
  /** Called after all recorded changes were applied. @throws AdminNameError */
  checkPrincipals(): void;
}
