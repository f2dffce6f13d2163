/*! The text of a plan, printed and parsed. It imports no planner or engine, which takes longer to load than a short plan to apply. */

export { findAffectedObjects } from './affected-objects.js';
export { parseAssertion } from './assertions.js';
export { isCastQuery, parseWith, printWith, useNamesOfWith } from './common-queries.js';
export { printExpiredQuestion } from './expiry.js';
export { type PlanHead, parsePlanHead } from './head.js';
export { type AskHistory, printHistoryQuestion, printNoHistoryAssertion } from './history.js';
export { AllowedLosses, formatLoss } from './losses.js';
export { COLUMN_ORDER_REASON, columnOrderHints, describeOmission, type Omission } from './omission.js';
export { printUnendedRange } from './periods.js';
export {
  computeFingerprint,
  findPlannedObjects,
  findRequiredPermissions,
  printPlan,
} from './print-plan.js';
export { printOnOneLine, withoutComments } from './statement-text.js';
