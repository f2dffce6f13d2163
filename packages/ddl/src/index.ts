export { type Access, access } from './access.js';
export { type Alter, type Alteration, applyAlteration, printAlter } from './alteration.js';
export { type Comparison, compareDefinitions, type PropertyDifference } from './compare.js';
export {
  type CompareOptions,
  compareStatements,
  isEquivalent,
  meaningOf,
  type StatementComparison,
} from './compare-statements.js';
export { canConvert, isLossless } from './conversions.js';
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
export { type PartitionUnit, type Ttl, ttlOf } from './grammar/partition.js';
export { policyOfTtl, type StoragePolicy } from './grammar/storage-policy.js';
export { LimitError } from './limit-error.js';
export { isSystemTable, needsQuotes, quoteName } from './names.js';
export { owner, withoutOwner } from './owner.js';
export { type Change, kindOf, parseChange } from './parse-change.js';
export { coverTimestamp, defaultPartition, parseDefinition, toTable } from './parse.js';
export { lengthText, type PrintOptions, printDefinition } from './print.js';
export { type QueryToken, queryTokens } from './query-tokens.js';
export { findQueryColumns } from './query-columns.js';
export { references } from './references.js';
export { type Repaired, repair } from './repair.js';
export { isCleanTable, isRepairForm } from './repair-table.js';
export {
  type Assumption,
  type Grant,
  type Membership,
  parseRevocation,
  parseRights,
  printRevocation,
  printRight,
  quotePrincipal,
  type Right,
  RightSet,
} from './rights.js';
export { dependsOnVersion, isLaterVersion, missingFeatures } from './versions.js';
