/*! Replays statements on a target, in four steps: read and check, plan, execute, verify. Libraries and programs call `prepareReplay`. */
import { Readable } from 'node:stream';
import { type Client, fetchAllObjects, fetchHealth, poll, tryQuery, waitUntilReady } from '@sqlpipe/instance';
import { type Omission, parsePlanHead } from '@sqlpipe/plan/text';
import { spool } from '@sqlpipe/records';
import { type Health, problemsOf, toEntry } from '@sqlpipe/schema';
import { displayName, isObjectKind, NameMap, type StatementIdentity } from '@sqlpipe/sql';
import { checkPlan, rejectOmissions, requireState } from './checks/check-plan.js';
import { createPreflightCheck, type PreflightCheck, requireAllowed } from './checks/preflight.js';
import type { DryRun } from './dry-run/dry-run.js';
import { executeStatements } from './execute/execute-statements.js';
import { createExecutor } from './execute/executor.js';
import { verifyOutcomes } from './execute/verify.js';
import type { ReplayOptions } from './options.js';
import { endsRun, type Outcome, type ReplayInput } from './outcome.js';
import { FetchedObjects } from './target/fetched-objects.js';
import { IgnoredStatements, splitIgnoredRights } from './target/ignored-statements.js';
import { fetchSchemaIfShown, fetchTargetSchema, type ReplayTarget } from './target/target.js';

/** A replay that is ready. Reading its outcomes sends the statements. */
export interface Replay {
  /** The changes that the plan of `alter` leaves out. Empty without `keepGoing` or `dryRun`, because an omission is an error then. */
  readonly omissions: readonly Omission[];
  readonly outcomes: AsyncIterable<Outcome>;
  /** After the outcomes of a dry run: a line for each view that the run would leave invalid, and for each loss that is not allowed. */
  formatHarm(): string[];
  /**
   * A line for each object that has become invalid or suspended since the run began. Only for a plan without `staleOk`.
   * @param wasApplied whether the plan was applied completely. Then only problems that last are listed.
   * @throws InstanceError
   */
  fetchProblemLines(wasApplied: boolean): Promise<string[]>;
}

/**
 * Prepares the replay of statements on a target. The statements are sent when the caller reads their outcomes.
 * - By default, it reads and checks all statements before it returns. It throws if the check rejects a statement.
 * - In a dry run, or with `keepGoing` if the input is no plan, it reads all statements. Each is checked later, when its outcome is
 *   read, and a rejection is an outcome.
 * - With `stream`, each statement is also read when its outcome is read.
 * A statement that fails on the target is always an outcome.
 * @throws PreflightError, CodedError, InstanceError, and the errors of the input
 */
export async function prepareReplay(input: ReplayInput, target: ReplayTarget, options: ReplayOptions): Promise<Replay> {
  const { config, client } = target;
  const { ignore, wait, signal, info = () => {}, trackProgress = statements => statements } = options;
  if (wait !== undefined) await waitUntilReady(config, wait, signal, info);
  const runOfInput = await prepareRun(input, target, options);
  const run = { ...runOfInput, ...(options.alter && (await makePlan(runOfInput, target, options))) };
  const { statements, count, locations, preflightCheck, ignored, guard, planHead, schema, omissions = [] } = run;
  const healthBefore = guard && (schema?.health ?? (await fetchHealth(client)));

  // With `wait`, the target is usually a container that restarts, so it has many of the objects already.
  const existing = new FetchedObjects(client, options.warn, wait !== undefined);
  const pollLimits = { timeout: config.timeout, signal };
  // Without --retries too, a statement is sent once more if its reply was lost and its object is missing.
  const maxResends = Math.max(config.retries ?? 0, 1);
  const context = { ...options, ignored, preflightCheck, existing, maxResends, pollLimits };
  let dryRun: DryRun | undefined;
  if (options.dryRun) {
    const known = schema ?? (await fetchSchemaIfShown(config, client, options.warn));
    dryRun = new (await import('./dry-run/dry-run.js')).DryRun(known, { ...context, client, planHead });
  }
  const executors = dryRun
    ? [dryRun.predictResult]
    : target.jobClients.map(client => createExecutor({ ...context, client, guard }));
  const endOfRun = new AbortController();
  const stopSignal = AbortSignal.any([signal, endOfRun.signal]);
  // The rest only builds a chain of generators. No statement is sent until `outcomes` is read.
  const upcoming = dryRun || count === undefined ? statements : existing.lookAhead(statements);
  const queue = count === undefined ? upcoming : trackProgress(upcoming, count, stopSignal);
  let outcomes = executeStatements(queue, executors, { ...options, endOfRun, planHead, locations });
  if (!(options.dryRun || options.noVerify)) outcomes = verifyOutcomes(outcomes, { client, existing, ignore });
  return {
    omissions,
    outcomes: superviseOutcomes(outcomes, client, endOfRun, options),
    formatHarm: () => dryRun?.formatHarm() ?? [],
    fetchProblemLines: async wasApplied => {
      if (!healthBefore) return [];
      let found: string[] = [];
      // For a moment, a server reports a plain view as invalid that a plan has repaired (observed on 9.3.4).
      await poll({ timeout: 5000, signal }, async () => {
        found = await fetchProblemLines(client, healthBefore);
        return found.length === 0 || !wasApplied || undefined;
      });
      return found;
    },
  };
}

async function prepareRun(input: ReplayInput, target: ReplayTarget, options: ReplayOptions) {
  const { allow, dryRun, stream, ignore } = options;
  const ignored = new IgnoredStatements(ignore);
  const permitted = { statements: new Set<string>(), queries: new NameMap<string[]>(), allowsPlan: options.allowPlan };
  const preflightCheck = createPreflightCheck(target.client, allow, permitted);
  const checked = await checkPlan(input, permitted, target.client, options);
  const { statements, locations } = splitIgnoredRights({ ...input, ...checked }, ignored);
  const checkUnlessIgnored: PreflightCheck = async statement =>
    ignored.isIgnored(toEntry(statement)) ? undefined : preflightCheck(statement);
  const checksLater = dryRun || stream || (options.keepGoing && !checked.planHead);
  const allowed = checksLater ? statements : requireAllowed(statements, checkUnlessIgnored, locations);
  const spooled = stream ? undefined : await spool(ignore.hasObjectRules ? ignored.recordNeeded(allowed) : allowed);
  if (spooled) target.resources.push(spooled);
  const { guard, planHead } = checked;
  return { statements: spooled ?? allowed, count: spooled?.count, locations, preflightCheck, ignored, guard, planHead };
}

/** @throws CodedError for omissions, unless the run keeps going or is a dry run */
async function makePlan(input: ReplayInput, { config, client }: ReplayTarget, options: ReplayOptions) {
  const schema = await fetchTargetSchema(config, client, options.warn);
  const { planAlter } = await import('./plan-alter.js');
  const { planStatements, statements, locations, omissions, notes, warnings } = await planAlter(input, schema, options);
  for (const warning of warnings) options.warn(warning);
  for (const note of notes) options.info?.(note);
  if (!(options.dryRun || options.keepGoing)) rejectOmissions(omissions);
  const permitted = { statements: new Set(planStatements), queries: new NameMap<string[]>(), allowsPlan: true };
  const isGuarded = planStatements.length > 0 && !options.dryRun;
  const changedMessage = 'the target changed during planning; rerun the same command';
  return {
    statements: Readable.from(statements),
    count: statements.length,
    locations,
    preflightCheck: createPreflightCheck(client, options.allow, permitted),
    guard: isGuarded ? await requireState(planStatements, client, changedMessage) : undefined,
    schema,
    planHead: parsePlanHead(planStatements[0] ?? ''),
    omissions,
  };
}

/**
 * Ends the run if an object of a plan was read back and differs from its statement. After the last outcome, warns of each skipped object
 * that the target reports as invalid or suspended, unless that is ignored.
 */
async function* superviseOutcomes(
  outcomes: AsyncIterable<Outcome>,
  client: Client,
  endOfRun: AbortController,
  options: ReplayOptions,
): AsyncGenerator<Outcome> {
  const { ignore, signal, warn } = options;
  const skipped: StatementIdentity[] = [];
  for await (const outcome of outcomes) {
    const { result, identity, statement, planHead } = outcome;
    if (planHead && endsRun(outcome, options)) endOfRun.abort();
    if (result === 'skipped' && isObjectKind(identity.kind) && !ignore.ignoresObject({ ...identity, statement }))
      skipped.push(identity);
    yield outcome;
  }
  if (skipped.length === 0) return;
  const health = await tryQuery(fetchHealth(client), ({ message }) => {
    if (!signal.aborted) warn(`whether the skipped objects are invalid or suspended is unknown: ${message}`);
    return true;
  });
  for (const identity of skipped)
    for (const { state, reason } of problemsOf(identity, health ?? {}))
      if (!ignore.ignoresProperty(identity, state))
        warn(`${displayName(identity)} was skipped, but is ${state} on the target: ${reason}`);
}

async function fetchProblemLines(client: Client, former: Health): Promise<string[]> {
  const after = await fetchHealth(client);
  const isHealthy = !after.invalid?.size && !after.suspended?.size;
  return (isHealthy ? [] : await fetchAllObjects(client))
    .flatMap(object => problemsOf(object, after))
    .filter(({ identity, state }) => !former[state]?.has(identity.name))
    .map(({ identity, state, reason }) => `${displayName(identity)} is ${state}: ${reason}`);
}
