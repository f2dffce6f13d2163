/*!
 * The format of a plan: its head, its assertions, the names of losses and omissions, printed and parsed. It imports no planner or engine,
 * which takes longer to load than a short plan to apply.
 */

export { type PlanHead, parsePlanHead } from './format/head.js';
export {
  computeFingerprint,
  findPlannedObjects,
  findVerbsToAllow,
  printPlan,
} from './format/print-plan.js';
export { AllowedLosses, formatAllowance, formatLoss } from './losses/losses.js';
export { COLUMN_ORDER_REASON, columnOrderHints, formatOmission, type Omission } from './losses/omission.js';
export { type KnownView, parseAssertion, ROWLESS_ANSWERS } from './queries/assertions.js';
export { type CommonQuery, isCastQuery, parseWith, printWith, useNamesOfWith } from './queries/common-queries.js';
export { printNothingIsLostAssertion } from './queries/history.js';
export { findAffectedObjects } from './statements/affected-objects.js';
export { printFullRefresh, printOnOneLine, withoutLeadingComments } from './statements/statement-text.js';
