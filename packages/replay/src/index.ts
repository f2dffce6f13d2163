/*!
 * From statements to what an instance made of them. The steps are not exported, because a wrong order loses checks: `replay`
 * has the right one.
 */
export type { IfExists } from './executor.js';
export { isShowable } from './existing.js';
export { isReject, isReordered, type Location, locate, type Outcome, type Result, statementLabel } from './outcome.js';
export { fetchPlanContext } from './plan-context.js';
export { PreflightError } from './preflight.js';
export { type Replay, type ReplayInput, type ReplayOptions, replay } from './replay.js';
export { openTarget, type ReplayTarget, type TargetOptions } from './target.js';
