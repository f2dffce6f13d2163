/*! The statements that turn one schema into another, each proven on an engine. */
export type { Plan } from './assemble-plan.js';
export type { PlanOptions } from './context/plan-context.js';
export { type RowQueries, ServerAnswers, type StoredSize } from './context/server-answers.js';
export { pathKey } from './losses.js';
export { planChanges, RejectedViewError } from './plan.js';
export { formatChangedValues } from './queries/conversions.js';
export {
  findConversion,
  findPartitionConditions,
  findValueConditions,
  type RowCondition,
} from './queries/row-conditions.js';
export { planUndo, type UndoOptions } from './undo.js';
export { createRowQuestions, printQueryOverPlainViews } from './views/view-queries.js';
