/*! QuestDB's grammar of DDL, check by check, for those who need more of it than what a statement means. */
export { type Body, codeOf, endBody, viewBody } from './body.js';
export {
  duplicateColumn,
  indexType,
  rejectCachedCapacity,
  rejectOddCapacity,
} from './columns.js';
export { AFTER_CREATE, type Create, create } from './create.js';
export type { CreateLiveView } from './create-live-view.js';
export type { CreateMaterializedView } from './create-matview.js';
export { type CreateTable, parseInterval } from './create-table.js';
export type { CreateView } from './create-view.js';
export { Cursor, is } from './cursor.js';
export { type Dialect, expectOnlySemicolons, noOwner, ownedBy } from './dialect.js';
export {
  isReserved,
  isValidColumnName,
  isValidTableName,
  type LocatedName,
  maxFileNameLength,
  rejectDotsAndSlashes,
  rejectNoLiteral,
  rejectReserved,
  stripPublic,
  unquote,
} from './names.js';
export { ceilPow2, parseInt32, parseInt64 } from './numbers.js';
export { parquet } from './parquet.js';
export { type PartitionUnit, rejectUnevenTtl, type Ttl, ttl, ttlParts } from './partition.js';
export { isTimeZone, newRefresh, rejectLongPeriod, type Stride } from './refresh.js';
export { found, Rejection, unexpected } from './rejection.js';
export { policyOfTtl, type StoragePolicy, storagePolicy } from './storage-policy.js';
export { columnType, geohashType, isTimestamp } from './types.js';
