import type { CompareOptions } from '@sqlpipe/ddl';
import type { Engine, StoredRows } from '@sqlpipe/engine';
import type { Health, HealthProblem, IgnoreRules, Schema } from '@sqlpipe/schema';
import type { Renames } from './renames.js';
import type { RowQueries, ServerAnswers } from './server-answers.js';
import type { AllowedLosses } from './text/losses.js';
import type { WantedSchema } from './wanted-schema.js';

/** Options for planning. */
export interface PlanOptions extends RowQueries {
  /** The names of what may be lost: `drop:trades.qty`, `history:m_1h`. */
  readonly allowLoss?: readonly string[];
  /** Renames of objects and columns: `old=new`, `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** The tables to rebuild if no ALTER can change what differs. */
  readonly rebuild?: readonly string[];
  readonly defaults?: CompareOptions['defaults'];
  readonly ignoreOwner?: boolean | undefined;
  /** Whether objects, principals and rights that only B has are kept, and do not count as differences. */
  readonly keepExtra?: boolean;
  /** The differences that the plan neither changes nor lists. */
  readonly ignore?: IgnoreRules | undefined;
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld?: boolean;
  /** The invalid views and suspended tables that B's server reports. */
  readonly health?: Health;
  readonly version?: string | undefined;
  /** Whether invalid views of A are left out, because A is an instance. In a schema from files they are an error. */
  readonly skipInvalid?: boolean;
  /** Whether B's server is of the enterprise edition; by default, its statements decide. */
  readonly isEnterprise?: boolean | undefined;
}

/** What the parts of the planner need to know: schema B has to become A. */
export interface Task extends PlanOptions {
  readonly a: WantedSchema;
  readonly b: Schema;
  readonly renames: Renames;
  readonly allowed: AllowedLosses;
  /** The names of the tables to rebuild if they differ, in lower case. */
  readonly toRebuild: ReadonlySet<string>;
  readonly isEnterprise: boolean;
  readonly ignore: IgnoreRules;
  /** What is known of the rows of a materialized view of B. */
  readonly storedRowsOf: (view: string) => StoredRows;
  /** An engine that has B and is not changed. */
  readonly engineOfB: Engine;
  /** The objects of B that are invalid or suspended. */
  readonly healthProblems: readonly HealthProblem[];
  /** What B's server says of the rows of tables, and of queries: whether it can compile and compute them. */
  readonly answers: ServerAnswers;
  /** The names of the new tables of interrupted rebuilds, in lower case. */
  readonly leftovers: ReadonlySet<string>;
}
