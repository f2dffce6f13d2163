export { CodedError, type ErrorCode, type LocatedMessage } from './coded-error.js';
export * from './format-text.js';
export { maskSecrets } from './mask-secrets.js';
export { formatSuggestion, isSimilar } from './suggest.js';
