/** Input that is not a whole statement stream, or a statement that a stream can't carry. The message says what and where. */
export class StreamError extends Error {
  override name = 'StreamError';
  readonly code = 'DAMAGED';
}
