/*! QuestDB's grammar of DDL, check by check, for code that needs more than the definition in a statement. */
export { type Body, expectEndOfBody, parseViewBody, readCode } from './body.js';
export {
  duplicateColumnError,
  parseIndexType,
  rejectCachedCapacity,
  toValidCapacity,
} from './columns.js';
export { AFTER_CREATE, type CreateStatement, parseCreate } from './create.js';
export type { CreateLiveView } from './create-live-view.js';
export type { CreateMaterializedView } from './create-materialized-view.js';
export { type CreateTable, parseInterval } from './create-table.js';
export type { CreateView } from './create-view.js';
export { Cursor, isWord } from './cursor.js';
export { type Dialect, expectOnlySemicolons, parseOwner, rejectOwner } from './dialect.js';
export {
  isReserved,
  isValidColumnName,
  isValidTableName,
  type LocatedName,
  MAX_FILE_NAME_BYTES,
  rejectDotsAndSlashes,
  rejectReserved,
  requireLiteral,
  stripPublic,
  unquote,
} from './names.js';
export { ceilPow2, parseInt32, parseInt64 } from './numbers.js';
export { parseParquet } from './parquet.js';
export { type PartitionUnit, parseTtl, rejectUnevenTtl, splitTtl, type Ttl } from './partition.js';
export { type Interval, isTimeZone, parseSetRefresh, rejectLongPeriod } from './refresh.js';
export { RejectionError, tokenError, unexpectedTokenError } from './rejection-error.js';
export { parseStoragePolicy, type StoragePolicy, ttlToPolicy } from './storage-policy.js';
export { formatGeohashType, isTimestamp, parseColumnType } from './types.js';
