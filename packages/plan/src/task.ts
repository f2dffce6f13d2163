import type { CompareOptions } from '@sqlpipe/ddl';
import type { Engine, StoredRows } from '@sqlpipe/engine';
import type { Health, HealthProblem, IgnoreRules, Schema } from '@sqlpipe/schema';
import type { AllowedLosses } from './losses.js';
import type { Renames } from './renames.js';
import type { Row, RowAnswers } from './row-answers.js';
import type { AskHistory, HistoryFinding } from './text/history.js';
import type { WantedSchema } from './wanted-schema.js';

/** The size of a table or a materialized view on a server. */
export interface StoredSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Asks a server for the sizes of tables and materialized views, by name in lower case; undefined if it does not show them. */
export type AskSizes = () => Promise<ReadonlyMap<string, StoredSize> | undefined>;

/** Options for planning. */
export interface PlanOptions {
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
  /** The version of B's server. */
  readonly version?: string | undefined;
  /** Whether invalid views of A are left out, because A is an instance. In a schema from files they are an error. */
  readonly skipInvalid?: boolean;
  /** Whether B's server is of the enterprise edition; by default, its statements decide. */
  readonly isEnterprise?: boolean | undefined;
  /** Asks B's server about the rows of a materialized view. If absent, only the assertions of the plan check these rows. */
  readonly askHistory?: AskHistory | undefined;
  /** Asks B's server for the sizes of tables. The head of the plan shows them as its cost. */
  readonly askSizes?: AskSizes | undefined;
  /** Runs a query that returns one row on B's server, about the rows of a table. If absent, only assertions check these rows. */
  readonly askRow?: ((query: string) => Promise<Row>) | undefined;
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
  /** What B's server has said of materialized views, by name in lower case. */
  readonly histories: ReadonlyMap<string, HistoryFinding>;
  /** What is known of the rows of a materialized view of B. */
  readonly storedRowsOf: (view: string) => StoredRows;
  /** An engine that has B and is not changed. */
  readonly engineOfB: Engine;
  /** The objects of B that are invalid or suspended. */
  readonly healthProblems: readonly HealthProblem[];
  /** What B's server says of the rows of tables, and of queries: whether it can compile and compute them. */
  readonly rows: RowAnswers;
  /** The names of the new tables of interrupted rebuilds, in lower case. */
  readonly leftovers: ReadonlySet<string>;
}
