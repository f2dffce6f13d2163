/*! The steps of a replay, in their order. The programs and the library all replay through this one function. */

import { Readable } from 'node:stream';
import { fetchHealth, waitUntilReady } from '@sqlpipe/instance';
import type { Omission } from '@sqlpipe/plan';
import { spool } from '@sqlpipe/records';
import { noteQuery, type ViewQueries } from './assertions.js';
import { checkPlan, notePlanned, rejectOmissions, requireState } from './check-plan.js';
import { executeStatements } from './execute-statements.js';
import { createExecutor } from './executor.js';
import { ExistingObjects } from './existing.js';
import { IgnoredStatements, splitIgnoredRights } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { endsRun, type Outcome, type ReplayInput } from './outcome.js';
import { createPreflightCheck, requireAllowed } from './preflight.js';
import { fetchSchemaIfShown, fetchTargetSchema, type ReplayTarget } from './target.js';
import { verifyOutcomes } from './verify.js';
import { findDamage, warnOfProblems } from './warn-of-problems.js';

/** A replay of which nothing has been sent yet. */
export interface Replay {
  /** What `alter` leaves out; empty unless the run keeps going. */
  readonly omissions: readonly Omission[];
  /** An outcome for each statement, in order. Statements are sent while they are read. */
  readonly outcomes: AsyncIterable<Outcome>;
  /** What a dry run would leave invalid, or lose without a permission, once its outcomes have been read. */
  findings(): string[];
  /** In which state a plan leaves the target that was not completed: what is invalid or suspended since then, one line each. */
  findDamage(): Promise<string[]>;
}

/** Why a plan is not executed that was made a moment before. */
const CHANGED = 'it has changed while the changes were planned; rerun the same command';

/**
 * Replays statements on a target. When it resolves, all of them are read and checked (unless they are sent as they
 * arrive), and nothing is sent. A statement that is not in force afterwards is an outcome, not an error.
 *
 * @throws PreflightError, PlanError, InstanceError, and the errors of the input, while nothing is sent
 */
export async function replay(input: ReplayInput, target: ReplayTarget, options: ReplayOptions): Promise<Replay> {
  const { config, connection, jobs } = target;
  const { allow, dryRun, wait, signal, onWarning } = options;
  const { onNote = () => {}, onWait = () => {}, watch = statements => statements } = options;

  // Read and check.
  if (wait !== undefined) await waitUntilReady(config, { seconds: wait, signal, onWait });

  const ignored = new IgnoredStatements(options.ignore);
  const [planned, queries] = [new Set<string>(), new Map() as ViewQueries];
  const permission = { statements: planned, queries, isGiven: options.allowPlan };
  const check = createPreflightCheck(connection, allow, permission);
  const checked = await checkPlan(notePlanned(input.statements, planned, queries), connection, options);
  const { statements, locations } = splitIgnoredRights({ ...input, ...checked }, options.ignore);
  const checkWanted: typeof check = async statement => (ignored.isIgnored(statement) ? undefined : check(statement));
  const skipsRejects = dryRun || options.stream || (options.keepGoing && !checked.isPlan);
  const allowed = skipsRejects ? statements : requireAllowed(statements, checkWanted, locations);
  const complete = options.stream ? undefined : await spool(ignored.noteNeeded(allowed));

  // Make a plan.
  const schema = options.alter ? await fetchTargetSchema(config, connection) : undefined;
  const plan = schema && (await (await import('./plan-alter.js')).planAlter(complete ?? allowed, schema, options));
  for (const change of plan?.changes ?? []) noteQuery(change, queries);
  for (const warning of plan?.warnings ?? []) onWarning(warning);
  for (const note of plan?.notes ?? []) onNote(note);
  if (plan && !(dryRun || options.keepGoing)) rejectOmissions(plan.omissions);
  const guard = plan?.changes.length && !dryRun ? await requireState(plan.changes, connection, CHANGED) : checked.guard;

  const before = guard && (schema?.health ?? (await fetchHealth(connection)));

  // Look ahead, execute, verify: while the outcomes are read.
  // A target that is waited for is a container that starts, in which the schema usually exists already.
  const existing = new ExistingObjects(connection, onWarning, wait !== undefined);
  const upcoming = plan ? Readable.from(plan.statements) : (complete ?? allowed);
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  const queue = complete
    ? watch(dryRun ? upcoming : existing.lookAhead(upcoming), plan?.statements.length ?? complete.count, stopped)
    : upcoming;
  const executorOptions = {
    ...options,
    ignored,
    check: plan ? createPreflightCheck(connection, [...allow, ...plan.permissions], permission) : check,
    retries: config.retries,
    patience: { timeout: config.timeout, interrupted: signal },
  };
  const predictor = dryRun
    ? new (await import('./predictor.js')).Predictor(
        connection,
        existing,
        schema ?? (await fetchSchemaIfShown(config, connection)),
        executorOptions,
      )
    : undefined;
  const executors = predictor
    ? [(statement: string) => predictor.predict(statement)]
    : jobs.map(job => createExecutor(job, { ...executorOptions, existing, guard }));
  const executed = executeStatements(queue, executors, {
    keepGoing: options.keepGoing,
    dryRun,
    interrupted: signal,
    ended,
    lastPlanned: plan?.changes.length,
    locations: plan ? [] : locations,
  });
  const verified =
    dryRun || options.noVerify
      ? executed
      : endPlan(verifyOutcomes(executed, connection, existing, options.ignore), options, ended);
  const outcomes = warnOfProblems(verified, connection, options.ignore, onWarning);

  return {
    omissions: plan?.omissions ?? [],
    outcomes,
    findings: () => predictor?.findings() ?? [],
    findDamage: async () => (before ? findDamage(connection, before) : []),
  };
}

/** Passes outcomes on, and ends a plan of which an object is not as its statement says. */
async function* endPlan(
  outcomes: AsyncIterable<Outcome>,
  options: ReplayOptions,
  ended: AbortController,
): AsyncGenerator<Outcome> {
  for await (const outcome of outcomes) {
    if (outcome.isPlanned && endsRun(outcome, options)) ended.abort();
    yield outcome;
  }
}
