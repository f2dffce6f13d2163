/*! The text of a plan, printed and parsed. It imports no planner or engine, which takes longer to load than a short plan to apply. */

export { parseAssertion } from './queries/assertions.js';
export { isCastQuery, parseWith, printWith, useNamesOfWith } from './queries/common-queries.js';
export { printNoHistoryAssertion } from './queries/history.js';
export { findAffectedObjects } from './text/affected-objects.js';
export { type PlanHead, parsePlanHead } from './text/head.js';
export { AllowedLosses, formatAllowance, formatLoss } from './text/losses.js';
export { COLUMN_ORDER_REASON, columnOrderHints, describeOmission, type Omission } from './text/omission.js';
export {
  computeFingerprint,
  findPlannedObjects,
  findVerbsToAllow,
  printPlan,
} from './text/print-plan.js';
export { printOnOneLine, printRefresh, withoutComments } from './text/statement-text.js';
