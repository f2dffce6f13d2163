export { type Comparison, compareDefinitions, type PropertyDifference } from './compare-definitions.js';
export {
  type CompareOptions,
  compareStatements,
  isEquivalent,
  parseMeaning,
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
export { type PartitionUnit, toTtl } from './grammar/partition.js';
export { type GrantTargets, grantTargets } from './grant-targets.js';
export { LimitError } from './limit-error.js';
export { findCommonTableExpressions, findMentions, findUnknownNames, isUnderstood, type Mention } from './mentions.js';
export { isSystemTable, needsQuotes, quoteName } from './names.js';
export { ownerOf, removeOwner } from './owner.js';
export { addTimestampToIndex, defaultPartition, parseDefinition, toTableDefinition } from './parse.js';
export { type PrintOptions, printDefinition } from './print.js';
export { isBareName } from './query-names.js';
export { findReferences } from './references.js';
export { type RepairResult, repair } from './repair.js';
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
export { dependsOnVersion, findMissingFeatures, isLaterVersion } from './versions.js';
