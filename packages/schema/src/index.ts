export { collectStatements, MemoryBudget } from './collect.js';
export {
  type ComparedProblem,
  type CompareSchemasOptions,
  compareSchemas,
  type Difference,
  type SchemaComparison,
} from './compare-schemas.js';
export { findCycle } from './cycle.js';
export { DuplicateNameError, deduplicate } from './deduplicate.js';
export { canMatchSame, matchesGlob } from './glob.js';
export { type Health, type HealthProblem, problemsOf } from './health.js';
export { type IgnoredDifference, IgnoreRules } from './ignore.js';
export { createMatcher, type MatchCriteria } from './matcher.js';
export { NameSelection } from './name-selection.js';
export { parseEntryRights } from './parse-entry-rights.js';
export { type RelatedOptions, selectWithRelated } from './related.js';
export { dumpOrder, type Entry, Schema, toEntry } from './schema.js';
export { CATEGORY_NAMES, InvalidSelectionError, parseKinds, parseSelection, type Selection } from './selection.js';
export { LimitError, topologicalOrder } from './topological-order.js';
