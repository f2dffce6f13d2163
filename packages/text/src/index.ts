export { CodedError, type ErrorCode, type LocatedMessage } from './coded-error.js';
export {
  escapeControls,
  escapeLines,
  formatCount,
  formatError,
  formatExcerpt,
  formatFirst,
  formatHints,
  formatMessage,
  formatSafeJson,
  indentLines,
  systemErrorReason,
} from './format-text.js';
export { maskSecrets } from './mask-secrets.js';
export { formatSuggestion } from './suggest.js';
