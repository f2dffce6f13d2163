export { collectStatements, DuplicateNameError, deduplicate, MemoryBudget } from './collect-statements.js';
export * from './compare-schemas.js';
export {
  type ChangeOfBaseReason,
  type Health,
  type HealthProblem,
  isChangeOfBase,
  isFailureOnRow,
  problemsOf,
  STALE_REASON,
} from './health.js';
export { formatIgnorePattern, type IgnoredDifference, IgnoreRules } from './ignore-rules.js';
export { createMatcher, type MatchCriteria, NameSelection, type RelatedOptions, selectWithRelated } from './matcher.js';
export { RightSet } from './right-set.js';
export { dumpOrder, type Entry, Schema, toEntry, toUnambiguousEntry } from './schema.js';
export { findNeeded, selectWanted, splitRights } from './select-wanted.js';
export { InvalidOptionError, parsePlanSelection, parseSelection, type Selection, splitWords } from './selection.js';
export { findCycle, topologicalOrder } from './topological-order.js';
