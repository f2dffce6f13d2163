import type { IgnoreRules } from '@sqlpipe/schema';
import { CodedError } from '@sqlpipe/text';

/** What to do about an object that exists: compare it, count it as an error, or skip it. */
export type IfExists = 'compare' | 'fail' | 'skip';

/** How to replay. */
export interface ReplayOptions {
  readonly ifExists: IfExists;
  /** Continue after a rejection, unless it is that of an assertion or in a plan; apply the plan of `alter` without what it leaves out. */
  readonly keepGoing: boolean;
  readonly dryRun: boolean;
  /** Verbs that may be sent besides what a dump contains; `CTAS`, `REPLACE`, `all`. */
  readonly allow: readonly string[];
  /** Send the statements of a plan that no dump contains. */
  readonly allowPlan: boolean;
  readonly staleOk: boolean;
  readonly stream: boolean;
  readonly alter: boolean;
  readonly allowLoss: readonly string[];
  readonly renamed: readonly string[];
  readonly ignore: IgnoreRules;
  readonly noVerify: boolean;
  /** Maximum number of seconds to wait for the target to start. */
  readonly wait?: number | undefined;
  /** Aborted when the user wants to stop: statements in flight are finished, later ones are `not reached`. */
  readonly signal: AbortSignal;
  warn(message: string): void;
  info?(message: string): void;
  /** Receives the rows that a statement returns: a token, which is secret. It is awaited. */
  onRows(rows: unknown[][]): unknown;
  /** Passes on the statements that are executed, and may watch them; not called for `stream`. Once `stopped` is aborted, none follows. */
  watch?(statements: AsyncIterable<string>, count: number, stopped: AbortSignal): AsyncIterable<string>;
}

/** More connections do not help, and the server has other clients. */
const MAX_JOBS = 64;

/** Rejects options that cannot be combined, before anything is read. Messages name them as the programs do. @throws CodedError */
export function rejectBadOptions(
  options: Pick<ReplayOptions, 'alter' | 'stream' | 'ifExists' | 'renamed' | 'allowPlan' | 'staleOk'>,
  jobs: number,
): void {
  const { alter, stream, ifExists, renamed, allowPlan, staleOk } = options;
  const usageError = (message: string) => new CodedError('USAGE', message);
  if (alter && (stream || ifExists !== 'compare'))
    throw usageError('--alter cannot be combined with --stream or --if-exists, because it compares a complete schema');
  if (allowPlan && staleOk)
    throw usageError('--allow-plan cannot be combined with --stale-ok; use --allow with the verbs of the plan');
  if (renamed.length > 0 && !alter) throw usageError('--renamed works only with --alter');
  if (!(Number.isInteger(jobs) && jobs >= 1 && jobs <= MAX_JOBS))
    throw usageError(`--jobs must be a number from 1 to ${MAX_JOBS}`);
}
