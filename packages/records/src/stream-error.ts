/** Input that is not a complete statement stream, or a statement that a record cannot contain. */
export class StreamError extends Error {
  override name = 'StreamError';
  readonly code = 'DAMAGED';
  /** The end of the message if it is that of the program that wrote the stream, which prints it too. */
  readonly repeated: string | undefined;

  constructor(message: string, { cause, repeated }: { cause?: unknown; repeated?: string } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.repeated = repeated;
  }
}
