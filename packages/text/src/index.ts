export {
  escapeControls,
  escapeLines,
  formatError,
  formatSafeJson,
  systemErrorReason,
  truncate,
} from './format-text.js';
export { maskSecrets } from './mask-secrets.js';
export { suggestWord } from './suggest.js';
