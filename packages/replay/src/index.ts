/*! From statements to what an instance made of them. The steps are not exported, because a wrong order would lose checks. */

export { PreflightError } from './checks/preflight.js';
export { type ReplayOptions, rejectBadOptions } from './options.js';
export {
  formatStatementLabel,
  isReject,
  isReordered,
  type Outcome,
  type Result,
} from './outcome.js';
export { prepareReplay, type Replay } from './replay.js';
export { isShowable } from './target/fetched-objects.js';
export { openTarget, type ReplayTarget } from './target/target.js';
