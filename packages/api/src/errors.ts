import { CodedError, type ErrorCode } from '@sqlpipe/text';

export type { ErrorCode };

/** An error of this library. Its message says where, what and why, and never contains a secret. */
export interface SqlpipeError extends Error {
  readonly code: ErrorCode;
  /** Where the error is in a rejected statement or query, as an index into it. */
  readonly position?: number;
}

/**
 * Returns whether a thrown value is an error of this library. Any other error is one of the system, with a code such as
 * `EACCES`, or a bug.
 *
 * ```ts
 * import { dump, isSqlpipeError } from 'sqlpipe';
 *
 * try {
 *   for await (const statement of dump('ftp://localhost')) console.log(statement);
 * } catch (error) {
 *   if (!isSqlpipeError(error)) throw error;
 *   console.log(error.code, error.message);
 * }
 * // CONFIG "ftp://localhost" starts with ftp://, which is not supported; give an address such as http://host:9000
 * ```
 */
export const isSqlpipeError = (error: unknown): error is SqlpipeError => error instanceof CodedError;
