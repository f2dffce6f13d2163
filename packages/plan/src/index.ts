/*! The statements that turn one schema into another, each proven on an engine. */
export type { Plan } from './assemble-plan.js';
export { createEngine, isEnterpriseSchema, planChanges } from './plan.js';
export { RejectedViewError } from './rejected-views.js';
export { type RowQueries, ServerAnswers, type StoredSize } from './server-answers.js';
export type { PlanOptions } from './task.js';
export { planUndo, type UndoOptions } from './undo.js';
