import { CodedError, type ErrorCode } from '@sqlpipe/text';

/** A failure at one instance. The message names the instance, contains no secret, and can be shown unchanged. */
export class InstanceError extends CodedError {
  override name = 'InstanceError';
  readonly status: number | undefined;
  /** The index into the query (UTF-16 code units) to which the server's message refers. */
  readonly position: number | undefined;
  /** Without secrets; undefined if the server sent no message. */
  readonly serverMessage: string | undefined;
  /** As `Rejection.matches`. */
  readonly matches: (pattern: RegExp) => boolean;
  /** Whether the statement may have been executed, although its reply did not arrive completely. */
  readonly mayHaveRun: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    details: Partial<Omit<InstanceError, keyof CodedError>> & ErrorOptions = {},
  ) {
    super(code, message, { cause: details.cause });
    this.status = details.status;
    this.position = details.position;
    this.serverMessage = details.serverMessage;
    this.matches = details.matches ?? (() => false);
    this.mayHaveRun = details.mayHaveRun ?? false;
  }

  /** The same failure in other words; this error is its cause. */
  withMessage(message: string): InstanceError {
    return new InstanceError(this.code, message, { ...this, cause: this });
  }
}

export const configError = (message: string): InstanceError => new InstanceError('CONFIG', message);
