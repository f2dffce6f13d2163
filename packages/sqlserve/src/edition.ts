/*! What the two editions do differently: who may come in, what they may do, which statements there are besides. */
import type { Catalogue, Change } from './catalogue.js';
import type { Changes } from './change/index.js';
import type { Show } from './parser/show.js';
import type { Dialect } from './parser/statement.js';
import type { Outcome } from './reply.js';
import type { Session } from './session.js';

export interface Edition {
  /** As `/settings` tells it. */
  readonly release: 'OSS' | 'EE';
  readonly dialect: Omit<Dialect, 'verbs' | 'baseOf' | 'checkQuery' | 'defaults'>;
  readonly changes: Changes;
  /** The caller that an Authorization header stands for; undefined for one who may not come in. */
  authenticate(authorization: string | undefined): Promise<string | undefined>;
  session(catalogue: Catalogue, caller: string): Session;
  /** What a dump holds besides the objects: rows before and behind them. @throws Denial */
  dump(categories: ReadonlySet<string>, session: Session): { before: string[]; after: string[] };
  /** Answers a SHOW that only this edition has. */
  show(show: Extract<Show, { statement: 'show acl' }>, session: Session): Outcome;
  /** What must outlive a restart besides the objects, if it changed since it was last asked for. */
  takeState(): unknown;
  restore(state: unknown): void;
  /** The changes that make its state out of an empty one. */
  all(): Change[];
}
