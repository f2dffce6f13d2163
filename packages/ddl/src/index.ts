export { type Access, access } from './access.js';
export { type Comparison, compareDefinitions, type PropertyDifference } from './compare.js';
export {
  type CompareOptions,
  compareStatements,
  isEquivalent,
  meaningOf,
  type StatementComparison,
} from './compare-statements.js';
export {
  type Column,
  DEFAULTS,
  type Defaults,
  type Definition,
  type Index,
  type LiveViewDefinition,
  type MaterializedViewDefinition,
  type Refresh,
  type TableDefinition,
  type ViewDefinition,
} from './definition.js';
export { type PartitionUnit, ttlOf } from './grammar/partition.js';
export { LimitError } from './limit-error.js';
export { commonTableExpressions, findMentions, findUnknownNames, isUnderstood, type Mention } from './mentions.js';
export { isSystemTable, needsQuotes, quoteName } from './names.js';
export { owner, withoutOwner } from './owner.js';
export { coverTimestamp, defaultPartition, parseDefinition, toTable } from './parse.js';
export { type PrintOptions, printDefinition } from './print.js';
export { isBareName } from './query-names.js';
export { references } from './references.js';
export { type Repaired, repair } from './repair.js';
export { isCleanTable, isRepairForm } from './repair-table.js';
export {
  type Assumption,
  type Grant,
  type Membership,
  parseRights,
  printRight,
  quotePrincipal,
  type Right,
  RightSet,
} from './rights.js';
export { dependsOnVersion, isLaterVersion, missingFeatures } from './versions.js';
