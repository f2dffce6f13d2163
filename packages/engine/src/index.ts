/*!
 * A schema in memory, and what statements do to it; no I/O. A statement passes through the folders `parse`, `analyze` and `execute`; then
 * `rows` accounts for what it does to rows.
 */
export { Acl, printPermissions, printPrincipals } from './acl.js';
export type { ColumnNaming } from './catalogue.js';
export {
  areTypesKnown,
  type CatalogueObject,
  type LiveView,
  type MaterializedView,
  type Table,
  type View,
} from './catalogue-objects.js';
export { type Effect, effectOn, isExpiryLoss, isFullRefresh, type LossKind, OTHER_TYPES_REASON } from './effects.js';
export { createPredictingEngine, Engine, type EngineOptions, type Execution, type QueryStatement } from './engine.js';
export { isNotExecutable, NotReadyError, OpaqueError, whenReady } from './errors.js';
export type { AclList, ShownObject } from './parse/parse-statement.js';
export type { Principal, SecretFactory, StoredToken } from './principal.js';
export type {
  ComputedView,
  Conversion,
  ExternalFacts,
  RetentionEnforcement,
  StoredRows,
  TableCopy,
  UnendedRows,
} from './rows/ledger.js';
export { RowAccount } from './rows/row-account.js';
export {
  type Cell,
  type ColumnHead,
  DenialError,
  type ResultSet,
  requirePartialReadAccess,
  type Session,
  type StatementReply,
} from './session.js';
export { type JournalEntry, TransactionLog } from './transaction-log.js';
