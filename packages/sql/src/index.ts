export { PLAN_START, parseFailureMarker, printFailureMarker } from './failure-marker.js';
export {
  displayName,
  findAmbiguity,
  identify,
  type KindAndName,
  readStatementHead,
  requireUnambiguous,
  returnsRows,
  type StatementHead,
  type StatementIdentity,
} from './identify.js';
export {
  CATEGORY_KINDS,
  folderOf,
  isAclKind,
  isNamedKind,
  isObjectKind,
  isPrincipalKind,
  isRightKind,
  isStoredViewKind,
  KINDS,
  type Kind,
  kindAndNameKey,
  kindKeywords,
  namespaceKey,
  OBJECT_KINDS,
  type ObjectKind,
  type PrincipalKind,
  tableTypeOf,
} from './kinds.js';
export {
  addToList,
  foldCase,
  isSameName,
  type LocatedName,
  NameMap,
  NameSet,
  type NameSpan,
  quoteLiteral,
} from './name.js';
export { findSecrets, redact, redactFully } from './redact.js';
export { DEFAULT_REQUEST_BUFFER, requiredBuffer } from './request-size.js';
export {
  emptyTokenAt,
  SERVER_COMMENT_RULES,
  type ServerCommentRules,
  scanSignificant,
  serverTokens,
} from './server-lexer.js';
export { MAX_RECORD, normalizeStatement, SplitError, Splitter } from './splitter.js';
export {
  canHaveComments,
  keywordOf,
  printOnOneLine,
  significantTokens,
  type Token,
  TokenReader,
  tokens,
  unquote,
  WHITESPACE,
} from './tokens.js';
