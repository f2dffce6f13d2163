/*! The parser of QuestDB's DDL, for code that reads tokens or rejects statements as a server does. index.ts exports the rest. */

export { rejectBadCoveredColumns } from './columns/indexes.js';
export {
  OTHER_KIND_MESSAGES,
  parseCommandAfter,
  parsePrincipalKind,
  parsePrincipalName,
  readMainVerb,
} from './command/parse-command.js';
export { AFTER_CREATE, parseAfterCreate } from './create/parse-create.js';
export { type Body, readCode } from './parser/body.js';
export {
  type CreateContext,
  type CreateOf,
  type CreateStatement,
  DuplicateColumnError,
  expectOnlySemicolons,
} from './parser/clause-reader.js';
export {
  Cursor,
  catchRejection,
  isWord,
  missingError,
  RejectionError,
  tokenError,
  unexpectedTokenError,
} from './parser/cursor.js';
export type { NameLookup, ServerTraits } from './parser/lookup.js';
export {
  MAX_NAME_LENGTH,
  parseEntityName,
  rejectDotsAndSlashes,
  rejectReserved,
  stripPublic,
  unquoteToken,
} from './parser/names.js';
export { type LocatedScope, parseRightsStatement, type RightsStatement, type Scope } from './parser/rights-parser.js';
export { parseColumnType, TYPE_NAMES } from './parser/types.js';
export { wordsWith } from './parser/words.js';
export { rejectInvalidTimeZone, rejectLongPeriod } from './properties/refresh.js';
export { recheckRetention, rejectImpossiblePolicy } from './properties/retention.js';
export {
  closingIndex,
  isKeyword,
  openingIndex,
  type QueryToken,
  splitList,
  tokenizeQuery,
  topLevelIndex,
  withDepths,
} from './queries/query-tokens.js';
