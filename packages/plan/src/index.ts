/*! The statements that turn one schema into another, each proven on an engine. */
export type { Plan } from './assemble-plan.js';
export type { Omission } from './draft.js';
export { AllowedLosses, formatLoss } from './losses.js';
export { createEngine, isEnterpriseSchema, planChanges } from './plan.js';
export { RejectedViewError } from './rejected-views.js';
export type { AskSizes, PlanOptions, StoredSize } from './task.js';
export { planUndo, type UndoOptions } from './undo.js';
