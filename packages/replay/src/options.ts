import type { IgnoreRules } from '@sqlpipe/schema';
import { CodedError } from '@sqlpipe/text';

/** How to replay. */
export interface ReplayOptions {
  /** What to do about an object that exists: compare it, count it as an error, or skip it. */
  readonly ifExists: 'compare' | 'fail' | 'skip';
  /** Continue after a rejection, except that of an assertion or in a plan. With `alter`: apply a plan that leaves something out. */
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
  /** Yields the statements unchanged, and may show progress. After `stopSignal`, it shows no more. Not called for `stream`. */
  trackProgress?(statements: AsyncIterable<string>, count: number, stopSignal: AbortSignal): AsyncIterable<string>;
}

/** More connections do not help, and the server has other clients. */
const MAX_JOBS = 64;

/** @param spell how users of the caller write the name of an option: `--stale-ok` @throws CodedError for options that no replay accepts */
export function rejectBadOptions(
  { allowPlan, staleOk, jobs }: Pick<ReplayOptions, 'allowPlan' | 'staleOk'> & { readonly jobs: number },
  spell = (option: string) => option,
): void {
  if (allowPlan && staleOk)
    throw new CodedError(
      'USAGE',
      `${spell('allowPlan')} cannot be combined with ${spell('staleOk')}; use ${spell('allow')} with the verbs of the plan`,
    );
  if (!(Number.isInteger(jobs) && jobs >= 1 && jobs <= MAX_JOBS))
    throw new CodedError('USAGE', `${spell('jobs')} must be a number from 1 to ${MAX_JOBS}`);
}
