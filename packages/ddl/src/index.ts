export { parsePrincipal, printAliasChanges } from './acl/principal.js';
export {
  type Assumption,
  type Grant,
  locateNamesInRights,
  type Membership,
  parseRights,
  printRevocation,
  printRight,
  printScope,
  quoteAclName,
  type Right,
  sortByScope,
} from './acl/rights.js';
export { findAffectedObjects } from './affected-objects.js';
export { COLUMN_OPTIONS, COLUMN_TYPE, findColumnProperty } from './columns/column-properties.js';
export {
  canCast,
  canConvert,
  decimalLimits,
  hasNull,
  isLossless,
  losesLoneSurrogates,
  parseFill,
  printConverted,
  printFill,
  printTypeCast,
} from './columns/conversions.js';
export { addTimestampToIndex } from './columns/indexes.js';
export {
  type Alter,
  type Alteration,
  applyAlteration,
  findColumn,
  findUnalterable,
  permissionOfAlteration,
  printAlter,
  printResumeWal,
} from './command/alteration.js';
export {
  type Command,
  findWalObjects,
  isPartitionCommand,
  isPartitionConversion,
  OBJECT_PERMISSIONS,
  objectsOf,
  type PartitionCommand,
  permissionOfCommand,
} from './command/command.js';
export { parseAlters, parseCommand } from './command/parse-command.js';
export * from './compare.js';
export { defaultPartition, parseCreateStatement, parseDefinition } from './create/parse-create.js';
export {
  type Age,
  ASSUMED_PARTITION,
  type Column,
  DEFAULT_CAPACITY,
  type Defaults,
  type Definition,
  type Index,
  type LiveViewDefinition,
  type MaterializedViewDefinition,
  type PartitionUnit,
  type Refresh,
  SERVER_DEFAULTS,
  type StoragePolicy,
  type TableDefinition,
  type ViewDefinition,
} from './definition.js';
export { createFeatureCheck, type HasFeature } from './features.js';
export { findCommonTableExpressions, findMentions, findUnknownNames, isUnderstood, type Mention } from './mentions.js';
export { dependsOnVersion, findMissingFeatures, isEnterpriseSchema, mayLackFeature } from './needed-features.js';
export {
  doubleQuote,
  isSystemTable,
  isValidColumnName,
  isValidTableName,
  MAX_FILE_NAME_BYTES,
  needsQuotes,
  quoteName,
} from './parser/names.js';
export { MICROS, MICROS_PER_DAY, MICROS_PER_MINUTE, parseTimestamp, splitAge, toAge } from './parser/numbers.js';
export { ownerOf, removeOwner } from './parser/owner-clause.js';
export { parsePartitionName } from './parser/partition-name.js';
export { ALL_NAMES } from './parser/rights-parser.js';
export { isArray, isDecimal, isTimestamp, printGeohashType, TYPE_PATTERN } from './parser/types.js';
export { printDefinition } from './print.js';
export { findProperty, keepProperties, type PropertyName, propertiesOf } from './properties/object-properties.js';
export {
  expiresMoreRows,
  expiresRows,
  formatExpiredRows,
  keepExpiry,
  NO_RETENTION,
  retentionAgeOf,
  retentionOf,
  withoutExpiry,
} from './properties/retention.js';
export { PARTITIONING, TIMESTAMP, VOLUME } from './properties/storage.js';
export {
  COLUMN_ORDER,
  columnPropertyName,
  EXPLICIT,
  isColumnOrder,
  type PrintOptions,
  parseColumnPropertyName,
  type Unalterable,
} from './property.js';
export { findFunction } from './queries/functions.js';
export { flagExactItems, locateColumns } from './queries/query-columns.js';
export { isBareName } from './queries/query-names.js';
export { findReferences, findReferencesOfQuery } from './queries/references.js';
export { isCleanTable, isRepairForm, repair } from './repair.js';
