export { Catalog, dumpOrder, type Entry, toEntry } from './catalog.js';
export { CATEGORIES, InvalidSelectionError, parseKinds, type Selection, parseSelection } from './selection.js';
export { collectStatements, MemoryError, MemoryBudget } from './collect.js';
export {
  type CompareSchemasOptions,
  compareSchemas,
  type Difference,
  type SchemaComparison,
} from './compare-schemas.js';
export { findCycle } from './cycle.js';
export { DuplicateNameError, deduplicate } from './deduplicate.js';
export { topologicalOrder } from './topological-order.js';
