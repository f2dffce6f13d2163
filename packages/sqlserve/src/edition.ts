/*! The differences between the two editions: authentication, authorization, additional statements. */
import type { AclChange } from './acl/acl.js';
import type { StatementHandlers } from './change/index.js';
import type { Show } from './parser/show.js';
import type { Dialect } from './parser/statement.js';
import type { ExecutionResult } from './reply.js';
import type { ServerCatalog } from './server-catalog.js';
import type { Session } from './session.js';

export interface Edition {
  /** The release type that `/settings` reports. */
  readonly release: 'OSS' | 'EE';
  readonly dialect: Omit<Dialect, 'verbs' | 'findBase' | 'checkQuery' | 'defaults'>;
  readonly handlers: StatementHandlers;
  /** The caller that an Authorization header identifies; undefined if access is denied. */
  authenticate(authorization: string | undefined): Promise<string | undefined>;
  session(catalog: ServerCatalog, caller: string): Session;
  /** The statements of a dump that precede and follow the objects. @throws DenialError */
  dump(categories: ReadonlySet<string>, session: Session): { before: string[]; after: string[] };
  /** Answers a SHOW that only this edition has. */
  show(show: Extract<Show, { statement: 'show acl' }>, session: Session): ExecutionResult;
  /** The changes of access control since the last call, in order. */
  takeChanges(): AclChange[];
  /** Applies a recorded change. */
  replay(change: AclChange): void;
  /** Called after all recorded changes were applied. @throws AdminNameError */
  checkPrincipals(): void;
  /** The changes that recreate the complete state. */
  snapshotChanges(): AclChange[];
}
