/*! QuestDB's grammar of DDL, check by check, for code that needs more than the definition in a statement. */

export type { LocatedName } from '@sqlpipe/sql';
export { OTHER_KINDS, parseChangeAfter, parsePrincipalKind, parsePrincipalName } from './change/parse-change.js';
export { rejectBadCover } from './columns/indexes.js';
export { AFTER_CREATE, parseCreate } from './create/parse-create.js';
export type { PartitionUnit, RefreshClause, StoragePolicy } from './definition.js';
export {
  type AccessContext,
  type AssumptionStatement,
  type GrantStatement,
  type LocatedScope,
  parseGrant,
  parseMembership,
  type Scope,
} from './grammar/access.js';
export { type Body, readCode } from './grammar/body.js';
export {
  type CreateContext,
  type CreateOf,
  type CreateStatement,
  DuplicateColumnError,
  expectOnlySemicolons,
} from './grammar/clause-reader.js';
export {
  Cursor,
  isWord,
  missingError,
  orRejection,
  RejectionError,
  tokenError,
  unexpectedTokenError,
} from './grammar/cursor.js';
export { featuresOf, type HasFeature } from './grammar/features.js';
export type { NameLookup, ServerTraits } from './grammar/lookup.js';
export {
  isValidColumnName,
  isValidTableName,
  MAX_FILE_NAME_BYTES,
  parseEntityName,
  rejectDotsAndSlashes,
  rejectReserved,
  stripPublic,
  unquoteToken,
} from './grammar/names.js';
export { DAY, MICROS, MINUTE, parseTimestamp, splitAge } from './grammar/numbers.js';
export { formatGeohashType, isTimestamp, parseColumnType } from './grammar/types.js';
export { type Interval, isTimeZone, rejectLongPeriod } from './properties/refresh.js';
export { rejectImpossiblePolicy, rejectUnevenRetention, retentionOf } from './properties/retention.js';
