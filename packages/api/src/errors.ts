/**
 * Why something failed:
 *
 * - `REJECTED`: the server rejected a statement or a query, or this library did before sending it.
 * - `DAMAGED`: input that is incomplete, not UTF-8, or not SQL; two statements that create different objects of one name; a
 *   view that is not valid.
 * - `NOINPUT`: no such file.
 * - `UNREACHABLE`: the server is unreachable or unavailable.
 * - `PROTOCOL`: the reply is not QuestDB's, such as a login page, or it is truncated.
 * - `DENIED`: wrong credentials, or no permission.
 * - `CONFIG`: an address or a credential that cannot be used.
 * - `USAGE`: options that cannot be combined, unknown names in options, or an argument of a wrong type.
 * - `IO`: a file that cannot be written, or a schema too large for memory.
 */
export type ErrorCode =
  | 'REJECTED'
  | 'DAMAGED'
  | 'NOINPUT'
  | 'UNREACHABLE'
  | 'PROTOCOL'
  | 'DENIED'
  | 'CONFIG'
  | 'USAGE'
  | 'IO';

const CODES = new Set<unknown>([
  'REJECTED',
  'DAMAGED',
  'NOINPUT',
  'UNREACHABLE',
  'PROTOCOL',
  'DENIED',
  'CONFIG',
  'USAGE',
  'IO',
] satisfies ErrorCode[]);

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
export const isSqlpipeError = (error: unknown): error is SqlpipeError =>
  error instanceof Error && CODES.has((error as NodeJS.ErrnoException).code);
