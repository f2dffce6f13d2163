/*! The statements that turn one schema into another, each proven on an engine. */

export type { Plan, PlannedStatement } from './assemble-plan.js';
export { changedObjects } from './changed-objects.js';
export type { AskSizes, StoredSize } from './cost.js';
export type { Omission } from './draft.js';
export {
  type AskHistory,
  findAssertedView,
  type HistoryFinding,
  printHistoryAssertion,
  printHistoryQuestion,
  type ViewColumn,
  withoutComments,
} from './history.js';
export { AllowedLosses, formatLoss, type Loss } from './losses.js';
export {
  isEnterpriseSchema,
  type PlanOptions,
  planChanges,
} from './plan.js';
export {
  describeOmission,
  fingerprint,
  type PlannedObject,
  plannedIrreversible,
  plannedLosses,
  plannedObjects,
  plannedPermissions,
  plannedState,
  printPlan,
  requiredPermissions,
} from './print-plan.js';
export { parseRebuildAssertion } from './rebuild.js';
export { planUndo, type UndoOptions, type UndoPlan } from './undo.js';
export { UnresolvedViewError } from './unresolved.js';
export { explainRowsAssertion, parseRowsAssertion, type RowsAssertion } from './values.js';
