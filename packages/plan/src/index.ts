/*! The statements that turn one schema into another, each proven on an engine. */
export type { Plan } from './assemble-plan.js';
export { planChanges } from './plan.js';
export { createEngine, isEnterpriseSchema, type PlanOptions } from './plan-context.js';
export { RejectedViewError } from './proof/rejected-views.js';
export { type RowQueries, ServerAnswers, type StoredSize } from './proof/server-answers.js';
export { planUndo, type UndoOptions } from './undo.js';
