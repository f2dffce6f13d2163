/*! QuestDB's grammar of DDL, check by check, for code that needs more than the definition in a statement. */
export type { LocatedName } from '@sqlpipe/sql';
export type { NameLookup } from '../change/lookup.js';
export { parseChangeAfter } from '../change/parse-change.js';
export type { PartitionUnit, StoragePolicy } from '../definition.js';
export { type Interval, isTimeZone, rejectLongPeriod } from '../properties/refresh.js';
export {
  policyOf,
  rejectImpossiblePolicy,
  rejectUnevenAge,
  splitAge,
} from '../properties/retention.js';
export {
  type AccessContext,
  type AssumptionStatement,
  type GrantStatement,
  type LocatedScope,
  parseGrant,
  parseMembership,
  type Scope,
} from './access.js';
export { type Body, readCode } from './body.js';
export { duplicateColumnError, rejectBadCover } from './columns.js';
export type { CreateLiveView } from './create-live-view.js';
export type { CreateMaterializedView } from './create-materialized-view.js';
export type { CreateTable } from './create-table.js';
export type { CreateView } from './create-view.js';
export { Cursor, isWord } from './cursor.js';
export { type Dialect, expectOnlySemicolons, parseOwner, rejectOwner } from './dialect.js';
export { type Feature, featuresOf, type HasFeature } from './features.js';
export {
  isReserved,
  isValidColumnName,
  isValidTableName,
  MAX_FILE_NAME_BYTES,
  parseEntityName,
  rejectDotsAndSlashes,
  rejectReserved,
  stripPublic,
  unquote,
} from './names.js';
export { AFTER_CREATE, type CreateStatement, parseCreate } from './parse-create.js';
export { RejectionError, tokenError, unexpectedTokenError } from './rejection-error.js';
export { parseTimestamp } from './timestamp.js';
export { formatGeohashType, isTimestamp, parseColumnType } from './types.js';
