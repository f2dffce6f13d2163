export { conceal, secretsOf, starOut } from './conceal.js';
export { foldCase } from './fold.js';
export { createsToken, type Identity, identify, KINDS, type Kind, title } from './identify.js';
export { givesRight, hasName, identityKey, isAcl, isObject, isPrincipal } from './kinds.js';
export { Lexer, type Reading, type Segment, type SegmentType, WHITE } from './lexer.js';
export { nameAt } from './name.js';
export { escapeLines, excerpt, formatSafeJson, plainly, printable, reasonOf } from './printable.js';
export { SplitError, Splitter, statementOf } from './splitter.js';
export { meaningful, type Token, type TokenType, tokens, unquote, wordOf } from './tokens.js';
