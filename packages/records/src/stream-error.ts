/** Input that is not a complete statement stream, or a statement that a record cannot contain. */
export class StreamError extends Error {
  override name = 'StreamError';
  readonly code = 'DAMAGED';
}
