/** Why a change of its base makes a stored view invalid, in the server's words (observed on 9.3.4; REBASE WAL is of QuestDB 10). */
export type ChangeOfBase =
  | `${string} operation`
  | `base ${'table' | 'materialized view'} is ${string}`
  | 'base table rebase';

/** Whether a view is invalid because its base has changed, and not because its query failed. */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is |^base table rebase$/.test(reason);

/** Whether a view is invalid because its query failed on stored data (observed on 9.3.4). A refresh would fail again. */
export const isFailureOnRow = (reason: string): boolean => /^(?:\[-1\]: |inconvertible value: )/.test(reason);
