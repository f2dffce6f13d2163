/*! QuestDB's grammar of DDL, check by check, for those who need more of it than what a statement means. */
export { type Body, readCode, expectEndOfBody, parseViewBody } from './body.js';
export {
  duplicateColumnError,
  parseIndexType,
  rejectCachedCapacity,
  toValidCapacity,
} from './columns.js';
export { AFTER_CREATE, type CreateStatement, parseCreate } from './create.js';
export type { CreateLiveView } from './create-live-view.js';
export type { CreateMaterializedView } from './create-matview.js';
export { type CreateTable, parseInterval } from './create-table.js';
export type { CreateView } from './create-view.js';
export { Cursor, isWord } from './cursor.js';
export { type Dialect, expectOnlySemicolons, rejectOwner, parseOwner } from './dialect.js';
export {
  isReserved,
  isValidColumnName,
  isValidTableName,
  type LocatedName,
  MAX_FILE_NAME_BYTES,
  rejectDotsAndSlashes,
  requireLiteral,
  rejectReserved,
  stripPublic,
  unquote,
} from './names.js';
export { ceilPow2, parseInt32, parseInt64 } from './numbers.js';
export { parseParquet } from './parquet.js';
export { type PartitionUnit, rejectUnevenTtl, type Ttl, parseTtl, splitTtl } from './partition.js';
export { isTimeZone, parseSetRefresh, rejectLongPeriod, type Interval } from './refresh.js';
export { tokenError, RejectionError, unexpectedTokenError } from './rejection-error.js';
export { ttlToPolicy, type StoragePolicy, parseStoragePolicy } from './storage-policy.js';
export { parseColumnType, formatGeohashType, isTimestamp } from './types.js';
