/*! Replays statements on a target, in four steps: read and check, plan, execute, verify. All programs and the library replay here. */
import { Readable } from 'node:stream';
import { fetchHealth, type Instance, tryQuery, waitUntilReady } from '@sqlpipe/instance';
import type { Omission } from '@sqlpipe/plan/text';
import { spool } from '@sqlpipe/records';
import { type Health, type IgnoreRules, problemsOf } from '@sqlpipe/schema';
import { displayName, type Identity, isObject } from '@sqlpipe/sql';
import { recordQuery, type ViewQueries } from './assertions.js';
import { checkPlan, recordPlanned, rejectOmissions, requireState } from './check-plan.js';
import { executeStatements } from './execute-statements.js';
import { createExecutor } from './executor.js';
import { ExistingObjects } from './existing.js';
import { IgnoredStatements, splitIgnoredRights } from './ignored.js';
import type { ReplayOptions } from './options.js';
import { endsRun, type Outcome, type ReplayInput } from './outcome.js';
import { createPreflightCheck, requireAllowed } from './preflight.js';
import { fetchSchemaIfShown, fetchTargetSchema, type ReplayTarget } from './target.js';
import { verifyOutcomes } from './verify.js';

/** A replay that is checked and ready. Reading its outcomes sends the statements. */
export interface Replay {
  /** What the plan of `alter` leaves out. Unless the run keeps going, an omission is an error, so the list is empty. */
  readonly omissions: readonly Omission[];
  readonly outcomes: AsyncIterable<Outcome>;
  /** What the run would leave invalid, or lose although it is not allowed. Known after a dry run has been read. */
  findings(): string[];
  /** Finds what is invalid or suspended since an incomplete plan began, one line each. */
  findDamage(): Promise<string[]>;
}

/** Why a plan that was made a moment ago is not executed. */
const CHANGED = 'it has changed while the changes were planned; rerun the same command';

/**
 * Prepares the replay of statements on a target: reads all of them and checks them, but sends nothing. With `stream`, statements are
 * read, checked and sent one by one, while the outcomes are read. A statement that fails is an outcome, not an error.
 * @throws PreflightError, CodedError, InstanceError, and the errors of the input
 */
export async function replay(input: ReplayInput, target: ReplayTarget, options: ReplayOptions): Promise<Replay> {
  const { config, connection, jobs } = target;
  const { allow, dryRun, wait, signal, onWarning } = options;
  const { onWait = () => {}, watch = statements => statements } = options;
  if (wait !== undefined) await waitUntilReady(config, { seconds: wait, signal, onWait });

  const ignored = new IgnoredStatements(options.ignore);
  const [planned, queries] = [new Set<string>(), new Map() as ViewQueries];
  const permission = { statements: planned, queries, isGiven: options.allowPlan };
  const check = createPreflightCheck(connection, allow, permission);
  const checked = await checkPlan(recordPlanned(input.statements, planned, queries), connection, options);
  const { statements, locations } = splitIgnoredRights({ ...input, ...checked }, options.ignore);
  const checkUnlessIgnored: typeof check = async statement =>
    ignored.isIgnored(statement) ? undefined : check(statement);
  const skipsRejects = dryRun || options.stream || (options.keepGoing && !checked.isPlan);
  const allowed = skipsRejects ? statements : requireAllowed(statements, checkUnlessIgnored, locations);
  const complete = options.stream ? undefined : await spool(ignored.recordNeeded(allowed));

  const { schema, plan } = options.alter ? await makePlan(complete ?? allowed, target, options) : {};
  for (const change of plan?.changes ?? []) recordQuery(change, queries);
  const guard = plan?.changes.length && !dryRun ? await requireState(plan.changes, connection, CHANGED) : checked.guard;
  const healthBefore = guard && (schema?.health ?? (await fetchHealth(connection)));

  // From here on, nothing happens until the outcomes are read.
  // A target that is waited for is usually a container that restarts, with objects that exist already.
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
    findings: () => predictor?.describeProblems() ?? [],
    findDamage: async () => (healthBefore ? findDamage(connection, healthBefore) : []),
  };
}

/** Makes a plan that turns the schema of the target into the statements. @throws CodedError for omissions, unless they are accepted */
async function makePlan(
  statements: AsyncIterable<string>,
  { config, connection }: ReplayTarget,
  options: ReplayOptions,
) {
  const schema = await fetchTargetSchema(config, connection);
  const plan = await (await import('./plan-alter.js')).planAlter(statements, schema, options);
  for (const warning of plan.warnings) options.onWarning(warning);
  for (const note of plan.notes) options.onNote?.(note);
  if (!(options.dryRun || options.keepGoing)) rejectOmissions(plan.omissions);
  return { schema, plan };
}

/** Passes outcomes on. Ends a plan if an object that is read back is not as its statement says. */
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

/** Passes outcomes on. After the last one it warns of the skipped objects that the target reports as invalid or suspended. */
async function* warnOfProblems(
  outcomes: AsyncIterable<Outcome>,
  target: Instance,
  ignore: IgnoreRules,
  warn: (message: string) => void,
): AsyncGenerator<Outcome> {
  const skipped: Identity[] = [];
  for await (const outcome of outcomes) {
    const { result, identity, statement } = outcome;
    if (result === 'skipped' && isObject(identity.kind) && !ignore.ignoresObject({ ...identity, statement }))
      skipped.push(identity);
    yield outcome;
  }
  if (skipped.length === 0) return;
  const health = (await fetchHealthIfShown(target)) ?? {};
  for (const identity of skipped)
    for (const { state, reason } of problemsOf(identity, health))
      if (!ignore.ignoresProperty(identity, state))
        warn(`${displayName(identity)} was skipped, but is ${state} on the target: ${reason}`);
}

/**
 * What is invalid or suspended now and was not before, one line each; nothing if the target does not answer.
 * @param before what the target reported before the first statement
 */
async function findDamage(target: Instance, before: Health): Promise<string[]> {
  const now = (await fetchHealthIfShown(target)) ?? {};
  return (['suspended', 'invalid'] as const).flatMap(state =>
    [...(now[state] ?? [])]
      .filter(([name]) => !before[state]?.has(name))
      .map(([name, why]) => `${state === 'invalid' ? 'view' : 'table'} '${name}' is ${state}: ${why}`),
  );
}

/** What a target reports; undefined if it does not answer. */
const fetchHealthIfShown = (target: Instance): Promise<Health | undefined> => tryQuery(() => fetchHealth(target));
