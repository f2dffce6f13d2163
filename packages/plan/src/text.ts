/*!
 * The text of a plan: its head, its assertions, the names of losses and omissions, printed and parsed. This entry point imports no planner
 * and no engine: to load them takes longer than to apply a short plan.
 */

export { parseRebuildName } from './auxiliary/rebuild-names.js';
export { AllowedLosses, formatAllowance, formatLoss } from './losses/losses.js';
export { COLUMN_ORDER_REASON, columnOrderHints, formatOmission, type Omission } from './losses/omission.js';
export { type Assertion, isPlanQuery, type KnownView, parseAssertion, ROWLESS_ANSWERS } from './queries/assertions.js';
export { type CommonQuery, isCastQuery, parseWith, printWith, redirectToWith } from './queries/common-queries.js';
export { printNothingIsLostAssertion } from './queries/history.js';
export { printFullRefresh } from './statements.js';
export {
  computeFingerprint,
  findPlannedObjects,
  findVerbsToAllow,
  GIVES_BACK,
  type PlanHead,
  parsePlanHead,
  printPlan,
} from './text/print-plan.js';
