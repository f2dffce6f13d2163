export { CodedError, type ErrorCode, type LocatedMessage } from './coded-error.js';
export {
  escapeControls,
  escapeLines,
  formatCount,
  formatError,
  formatHints,
  formatMessage,
  formatSafeJson,
  indentLines,
  listFirst,
  systemErrorReason,
  truncate,
} from './format-text.js';
export { maskSecrets } from './mask-secrets.js';
export { suggestWord } from './suggest.js';
