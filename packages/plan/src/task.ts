import type { CompareOptions } from '@sqlpipe/ddl';
import type { Engine, HistoryAnswer } from '@sqlpipe/engine';
import type { HealthProblem, IgnoreRules, Schema } from '@sqlpipe/schema';
import type { AllowedLosses } from './losses.js';
import type { Renames } from './renames.js';
import type { RowFindings } from './row-findings.js';
import type { WantedSchema } from './wanted-schema.js';

/** What the parts of the planner need to know: schema B has to become A. */
export interface Task {
  readonly a: WantedSchema;
  readonly b: Schema;
  readonly renames: Renames;
  readonly allowed: AllowedLosses;
  /** The names of the tables to rebuild if they differ, in lower case. */
  readonly rebuilt: ReadonlySet<string>;
  readonly isEnterprise: boolean;
  /** The version of B's server, if it is known. */
  readonly version: string | undefined;
  readonly defaults: CompareOptions['defaults'];
  /** Whether a different owner is ignored. */
  readonly ignoreOwner: boolean;
  /** Whether objects, principals and rights that only B has are kept. */
  readonly keepExtra: boolean;
  /** The differences that the plan neither changes nor lists. */
  readonly ignore: IgnoreRules;
  /** What is known of the rows of a materialized view of B. */
  readonly historyOf: (view: string) => HistoryAnswer;
  /** An engine that has B and is not changed. */
  readonly before: Engine;
  /** The objects of B that are invalid or suspended. */
  readonly problems: readonly HealthProblem[];
  /** What B's server says of the rows of tables. */
  readonly rows: RowFindings;
  /** The names of the new tables of interrupted rebuilds, in lower case. */
  readonly leftovers: ReadonlySet<string>;
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld: boolean;
}
