/*! From statements to what an instance made of them: checks, order, comparison, reading back; an outcome for each. */
export { applyStatements, type Executor, type RunOptions } from './apply.js';
export { createExecutor, type ExecutorOptions, type StatementResult } from './executor.js';
export { ExistingObjects, isShowable } from './existing.js';
export { createImpactAnalyzer } from './impact.js';
export { statementLabel } from './location.js';
export { isReject, type Location, type Outcome, type Result } from './outcome.js';
export {
  type AlterOptions,
  type AlterRun,
  checkPlan,
  fetchTargetSchema,
  PlanError,
  planAlter,
  rejectOmissions,
  type TargetSchema,
} from './plan.js';
export { createPreflightCheck, type PreflightCheck, PreflightError, requireAllowed } from './preflight.js';
export { verifyOutcomes } from './verify.js';
