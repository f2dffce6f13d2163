/** Statements beyond the limits of what can be analyzed. The message names the limit. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly code = 'DAMAGED';
}
