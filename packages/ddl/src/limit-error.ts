/** Statements in which there is more to keep track of than any have that are meant to be run. The message says what of. */
export class LimitError extends Error {
  override name = 'LimitError';
  readonly code = 'DAMAGED';
}
