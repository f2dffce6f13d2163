/*! QuestDB's grammar of DDL, for code that reads tokens or rejects statements as a server does. index.ts exports the rest. */

export { rejectBadCover } from './columns/indexes.js';
export { OTHER_KINDS, parseCommandAfter, parsePrincipalKind, parsePrincipalName } from './command/parse-command.js';
export { AFTER_CREATE, parseCreate } from './create/parse-create.js';
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
  parseEntityName,
  rejectDotsAndSlashes,
  rejectReserved,
  stripPublic,
  unquoteToken,
} from './grammar/names.js';
export { parseColumnType } from './grammar/types.js';
export { type Interval, rejectLongPeriod } from './properties/refresh.js';
export { rejectImpossiblePolicy, rejectUnevenRetention } from './properties/retention.js';
