/*!
 * The text of a plan: its head, its assertions, the names of losses and omissions, printed and parsed. This entry point imports no planner
 * and no engine: to load them takes longer than to apply a short plan.
 */

export { parseRebuildName } from './auxiliary.js';
export {
  AllowedLosses,
  COLUMN_ORDER_REASON,
  columnOrderHints,
  formatAllowance,
  formatLoss,
  formatOmission,
  type Omission,
} from './losses.js';
export { type Assertion, isPlanQuery, type KnownView, parseAssertion, ROWLESS_ANSWERS } from './queries/assertions.js';
export { printNothingIsLostAssertion } from './queries/row-comparisons.js';
export { isCastQuery, parseWith, printWith, redirectToWith, type WithQuery } from './queries/with-queries.js';
export { printFullRefresh } from './statements.js';
export * from './text/print-plan.js';
