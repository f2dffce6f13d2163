/*! What an account of rows asks the planner or the server, because statements do not show it. */
import type { MaterializedView } from './catalogue-objects.js';
import type { Effect } from './effects.js';
import type { Enforcement } from './expired-rows.js';
import type { HistoryAnswer } from './view-history.js';

/** The questions of an account; each has a default. */
export interface AccountOptions {
  /** What the server says of a materialized view, by its name in lower case; by default, its query returns all rows. */
  readonly historyOf?: (view: string) => HistoryAnswer;
  /** The number of rows that the server drops because their TTL has expired; undefined if it cannot say. By default none. */
  readonly countExpired?: (enforcement: Enforcement) => number | undefined;
  /** Whether a loss of the values of a column changes some. By default none: what was allowed for the column counts for its views. */
  readonly changesValues?: (loss: Effect) => boolean;
  /** The planned name of an object of the loaded schema; by default, its name. */
  readonly newNameOf?: (view: string) => string;
  /** Whether the user wants the new query of a materialized view. If not, the view must keep all rows. By default each is wanted. */
  readonly isWanted?: (view: string) => boolean;
  /** Whether a recreated view has another query. Names that were renamed do not count. */
  readonly isRedefined?: (former: MaterializedView, now: MaterializedView) => boolean;
  /** Whether the server can compute a view over the current schema. By default it can if the engine accepts the view. */
  readonly isComputable?: (former: MaterializedView, now: MaterializedView) => boolean;
}

/** Without a server: each query returns all rows, and none has expired. */
export const DEFAULT_OPTIONS: Required<AccountOptions> = {
  historyOf: () => 'complete',
  countExpired: () => 0,
  changesValues: () => false,
  newNameOf: name => name,
  isWanted: () => true,
  isRedefined: (former, now) => former.body !== now.body,
  isComputable: () => true,
};
