import { type Comparison, findAffectedObjects, isColumnOrder } from '@sqlpipe/ddl';
import type { Effect } from '@sqlpipe/engine';
import { findLocation, type Location } from '@sqlpipe/files';
import type { PlanHead } from '@sqlpipe/plan/text';
import { displayName, type StatementIdentity } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { ReplayOptions } from './options.js';

export interface ReplayInput {
  readonly statements: AsyncIterable<string>;
  /** The locations of the statements that were read so far, in their order. A location is undefined if it is not known. */
  readonly locations: readonly (Location | undefined)[];
}

/**
 * The result of a statement. The man page lists all results, for example:
 * - `skipped`: the target already has the object.
 * - `unknown`: no reply says whether the statement was executed. In a dry run, the result depends on rows.
 * - `would send`: in a dry run, a statement that cannot be compared with an object. All predictions begin with `would`.
 */
export type Result =
  | ('applied' | 'skipped' | 'differs' | 'rejected' | 'unknown' | 'failed' | 'not reached')
  | ('would create' | 'would replace' | 'would send');

/** A result, and what is known about it. */
export interface StatementResult {
  readonly result: Result;
  /** Why the target does not have what the statement says, or why that is unknown. */
  readonly error?: string;
  /** The index into the statement to which the error refers, in UTF-16 code units. */
  readonly position?: number | undefined;
  readonly isDenied?: boolean;
  /** Whether the server has an object of this name that was not compared, or cannot be compared. */
  readonly exists?: boolean;
  readonly comparison?: Comparison;
  /** Whether the definition was read back from the target, and has every property as the statement sets it. */
  readonly isFullyVerified?: boolean;
  /** How the definition that CREATE OR REPLACE replaces differs from the statement's. */
  readonly replaced?: StatementResult;
  readonly effects?: readonly Effect[];
  /** A failure of the instance, which ends the run. */
  readonly failure?: Error;
}

/** A statement and its result. */
export interface Outcome extends StatementResult {
  /** The number of the statement in the stream, from 1. */
  readonly n: number;
  readonly statement: string;
  readonly location?: Location | undefined;
  readonly identity: StatementIdentity;
  /** The head of the plan that the statement belongs to. */
  readonly planHead: PlanHead | undefined;
  /** When the statement was sent, or compared with an existing object; undefined if it was not reached. */
  readonly time?: Date;
  /** Milliseconds until the result was known, including the wait for the reply. */
  readonly ms: number;
}

/** Whether an existing table differs only in the order of its columns. False in a plan, because such a difference ends a plan. */
export const isReordered = ({ result, comparison, planHead }: StatementResult & Partial<Outcome>): boolean =>
  result === 'differs' && !planHead && isColumnOrder(comparison?.differences.map(({ property }) => property) ?? []);

/** Whether the target does not have what the statement says. Then the statement is written to the rejects. */
export const isReject = ({ result, failure }: Outcome): boolean =>
  ['differs', 'rejected', 'failed', 'not reached'].includes(result) || (result === 'unknown' && failure !== undefined);

/**
 * Whether an outcome ends the run, so that nothing is sent after it:
 * - A failure of the instance always ends the run.
 * - A reject ends it, except in a dry run, with `keepGoing`, or if only the order of columns differs.
 * - A reject in a plan, or of an assertion, ends it even with `keepGoing`, because later statements rely on it.
 */
export function endsRun(outcome: Outcome, { keepGoing, dryRun }: Pick<ReplayOptions, 'keepGoing' | 'dryRun'>): boolean {
  if (!isReject(outcome)) return false;
  const isReliedOn = outcome.planHead !== undefined || isAssertion(outcome.identity);
  return outcome.failure !== undefined || !(dryRun || isReordered(outcome) || (keepGoing && !isReliedOn));
}

export const isAssertion = ({ kind, verb }: StatementIdentity): boolean => kind === 'other' && verb === 'SELECT';

/** Names what a statement creates: `table 'fx_trades'`. For any other statement, names what it does: `ALTER of table 'fx_trades'`. */
export function formatStatementName({ statement, identity }: Pick<Outcome, 'statement' | 'identity'>): string {
  const [object] = identity.kind === 'other' ? findAffectedObjects(statement) : [];
  return object ? `${identity.verb} of ${displayName(object)}` : displayName(identity);
}

/** Names a statement by its place: `statement 3 (table 'fx_trades')`, or in a file `schema.sql:42: table 'fx_trades'`. */
export function formatStatementLabel(
  labelled: Pick<Outcome, 'n' | 'statement' | 'identity' | 'location' | 'position'>,
): string {
  const { n, statement, location, position } = labelled;
  const what = escapeControls(formatStatementName(labelled));
  const { path, line } = findLocation(statement, location, position) ?? {};
  if (path === undefined) return `statement ${n} (${what})`;
  return line === undefined
    ? `${escapeControls(path)}: statement ${n} (${what})`
    : `${escapeControls(path)}:${line}: ${what}`;
}
