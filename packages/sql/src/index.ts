export { AmbiguousStatementError, describe, findAmbiguity, requireUnambiguous } from './agreement.js';
export { conceal, secretsOf, starOut } from './conceal.js';
export { type Head, type Identity, identify, KINDS, type Kind, title } from './identify.js';
export { Lexer, type Reading, type Segment, type SegmentType, WHITE } from './lexer.js';
export { nameAt, quoteName } from './name.js';
export { excerpt, plainly, printable, reasonOf } from './printable.js';
export { SERVER_READINGS, type ServerReading, type ServerToken, scanToken, serverTokens } from './server-lexer.js';
export { SplitError, Splitter, statementOf } from './splitter.js';
export { meaningful, type Token, type TokenType, tokens, unquote, wordOf } from './tokens.js';
