import { isStoredViewKind, type Kind, type KindAndName, type NameMap, type NameSet } from '@sqlpipe/sql';

/** What a server reports of its objects. */
export interface Health {
  /** The invalid views, materialized views and live views, with the reasons. */
  readonly invalid?: NameMap<string>;
  /** Those of them that are plain views and that the server cannot query, although it reports them as valid; see `STALE_REASON`. */
  readonly stale?: NameSet;
  /** The tables and stored views whose changes are not applied, with the reasons. */
  readonly suspended?: NameMap<string>;
  /** The columns that invalid materialized views have. Their queries may give others by now. */
  readonly columns?: NameMap<readonly { readonly name: string; readonly type: string }[]>;
  /** The materialized views that have no rows yet. */
  readonly neverRefreshed?: NameSet;
  /** Those that the server has not begun to fill since its start. If it dies meanwhile, they stay empty and valid (observed on 9.3.4). */
  readonly unstarted?: NameSet;
  /** The materialized views whose rows come only from a REFRESH with RANGE. */
  readonly partlyRefreshed?: NameSet;
}

/**
 * Example: view `b` reads view `a`. Then ALTER VIEW makes `a` read another table. Now queries on `b` fail with a NullPointerException,
 * because the server expanded `a` when it stored `b`. But `views()` reports `b` as valid, and COMPILE VIEW does not repair `b`
 * (observed on 9.3.4).
 */
export const STALE_REASON =
  'it reads a view whose query has changed; ALTER VIEW with its own query, unchanged, repairs it';

/** An object that a server reports as not working. */
export interface HealthProblem {
  readonly identity: KindAndName;
  readonly state: 'invalid' | 'suspended';
  /** The server's reason; may be empty. */
  readonly reason: string;
}

/** The problems of an object; none if it works. */
export const problemsOf = (identity: KindAndName, health: Health): HealthProblem[] =>
  statesOf(identity.kind).flatMap(state => {
    const reason = health[state]?.get(identity.name);
    return reason === undefined ? [] : [{ identity, state, reason }];
  });

export const statesOf = (kind: Kind): HealthProblem['state'][] => [
  ...(kind === 'view' || isStoredViewKind(kind) ? ['invalid' as const] : []),
  ...(kind === 'table' || isStoredViewKind(kind) ? ['suspended' as const] : []),
];

/** Why a change of its base makes a stored view invalid, in the server's words (observed on 9.3.4; REBASE WAL is of QuestDB 10). */
export type ChangeOfBaseReason =
  | `${string} operation`
  | `base ${'table' | 'materialized view'} is ${string}`
  | 'base table rebase';

/** Whether a view is invalid because its base has changed, and not because its query failed. */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is |^base table rebase$/.test(reason);

/** Whether a view is invalid because its query failed on stored data (observed on 9.3.4). A refresh would fail again. */
export const isFailureOnRow = (reason: string): boolean => /^(?:\[-1\]: |inconvertible value: )/.test(reason);
