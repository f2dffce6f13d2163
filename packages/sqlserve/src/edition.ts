/*! What the two editions do differently: who may come in, what they may do, which statements there are besides. */
import type { AclChange } from './acl/acl.js';
import type { StatementHandlers } from './change/index.js';
import type { Show } from './parser/show.js';
import type { Dialect } from './parser/statement.js';
import type { ExecutionResult } from './reply.js';
import type { ServerCatalog } from './server-catalog.js';
import type { Session } from './session.js';

export interface Edition {
  /** As `/settings` tells it. */
  readonly release: 'OSS' | 'EE';
  readonly dialect: Omit<Dialect, 'verbs' | 'findBase' | 'checkQuery' | 'defaults'>;
  readonly handlers: StatementHandlers;
  /** The caller that an Authorization header stands for; undefined for one who may not come in. */
  authenticate(authorization: string | undefined): Promise<string | undefined>;
  session(catalog: ServerCatalog, caller: string): Session;
  /** The rows of a dump before and after the objects. @throws DenialError */
  dump(categories: ReadonlySet<string>, session: Session): { before: string[]; after: string[] };
  /** Answers a SHOW that only this edition has. */
  show(show: Extract<Show, { statement: 'show acl' }>, session: Session): ExecutionResult;
  /** What was changed besides the objects since this was last asked, in order. */
  takeChanges(): AclChange[];
  /** Does again what was done. */
  replay(change: AclChange): void;
  /** Called when all that was done is done again. @throws AdminNameError */
  checkPrincipals(): void;
  /** The changes that make all this out of nothing. */
  snapshotChanges(): AclChange[];
}
