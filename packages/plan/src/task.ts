import type { CompareOptions } from '@sqlpipe/ddl';
import type { HealthProblem, IgnoreRules, Schema } from '@sqlpipe/schema';
import type { Requests } from './requests.js';
import type { RowFindings } from './row-findings.js';
import type { WantedSchema } from './wanted-schema.js';

/** What a plan has to do: schema B becomes A. */
export interface Task {
  readonly a: WantedSchema;
  readonly b: Schema;
  readonly requests: Requests;
  readonly isEnterprise: boolean;
  readonly defaults: CompareOptions['defaults'];
  /** Whether a different owner is ignored. */
  readonly ignoreOwner: boolean;
  /** Whether objects, principals and rights that only B has are kept. */
  readonly keepExtra: boolean;
  /** The differences that stay, and are not listed. */
  readonly ignore: IgnoreRules;
  /** The materialized views of B that have rows, as far as is known, in lower case. */
  readonly filled: ReadonlySet<string>;
  /** The objects of B that are invalid or suspended. */
  readonly problems: readonly HealthProblem[];
  /** What B's server says of the rows of tables. */
  readonly rows: RowFindings;
  /** The new tables of interrupted rebuilds, in lower case. */
  readonly leftovers: ReadonlySet<string>;
  /** Whether the old table of a rebuild is dropped. */
  readonly dropOld: boolean;
}
