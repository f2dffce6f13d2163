export { PLAN_START, parseFailureMarker, printFailureMarker } from './failure-marker.js';
export * from './identify.js';
export * from './kinds.js';
export * from './name.js';
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
