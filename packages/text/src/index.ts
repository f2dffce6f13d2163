export { CodedError, type ErrorCode, type LocatedMessage } from './coded-error.js';
export {
  escapeControls,
  escapeLines,
  formatCount,
  formatError,
  formatFirst,
  formatHints,
  formatMessage,
  formatSafeJson,
  indentLines,
  systemErrorReason,
  truncate,
} from './format-text.js';
export { maskSecrets } from './mask-secrets.js';
export { formatSuggestion } from './suggest.js';
