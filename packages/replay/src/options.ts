/*! The options of a replay. */
import type { IgnoreRules } from '@sqlpipe/schema';

/** What to do about an object that exists: compare it, count it as an error, or skip it. */
export type IfExists = 'compare' | 'fail' | 'skip';

/** How to replay. */
export interface ReplayOptions {
  readonly ifExists: IfExists;
  /** Continue after a rejection, unless it is that of an assertion or in a plan; apply the plan of `alter` without what it leaves out. */
  readonly keepGoing: boolean;
  /** Determine what would happen, and change nothing. */
  readonly dryRun: boolean;
  /** Verbs that may be sent besides what a dump contains; `CTAS`, `REPLACE`, `all`. */
  readonly allow: readonly string[];
  /** Send the statements of a plan that no dump contains. */
  readonly allowPlan: boolean;
  /** Apply a plan even if the target has changed since. */
  readonly staleOk: boolean;
  /** Send statements as they arrive, instead of reading all of them first. */
  readonly stream: boolean;
  readonly alter: boolean;
  /** For `alter` and a dry run: what may be lost. */
  readonly allowLoss: readonly string[];
  /** For `alter`: what has another name in the target. */
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
