/*! From an input of statements to an instance. */
import { Readable } from 'node:stream';
import { type Io, limitHeapGrowth, UsageError, withProgress } from '@sqlpipe/cli';
import { type ResolvedInstance, waitUntilReady } from '@sqlpipe/instance';
import { spool } from '@sqlpipe/records';
import {
  applyStatements,
  checkPlan,
  createExecutor,
  createImpactAnalyzer,
  createPreflightCheck,
  ExistingObjects,
  fetchTargetSchema,
  planAlter,
  rejectOmissions,
  requireAllowed,
  verifyOutcomes,
} from '@sqlpipe/replay';
import { describeOmission } from '@sqlpipe/schema';
import { openConnections } from './connections.js';
import type { Input } from './input.js';
import { LoginCheck } from './login-check.js';
import { toNothingSentError } from './nothing-sent-error.js';
import { hasDataOnStdout, type RunOptions } from './options.js';
import { writeRejects } from './rejects.js';
import { printDryRun, printRows, reportOutcomes, selectRejects, writeReport } from './report-outcomes.js';
import { shutDown } from './shut-down.js';
import { Summary } from './summary.js';

/** The two ends of a run. */
interface Ends {
  input: Input;
  target: ResolvedInstance;
}

/**
 * Applies an input to a target; gives the exit status. An error before the first statement says that nothing was sent.
 * @param openEnds opens the input, and resolves the target
 */
export async function applyInput(options: RunOptions, openEnds: () => Promise<Ends>, io: Io): Promise<number> {
  limitHeapGrowth();
  checkOptions(options);
  const summary = new Summary(options);
  try {
    return await run(await openEnds(), options, summary, io);
  } catch (error) {
    if (summary.isStarted) throw error;
    if (io.interrupted.aborted) io.error('interrupted; nothing was sent');
    throw toNothingSentError(error);
  }
}

function checkOptions({ report, rejects, json, dryRun, alter, stream, ifExists, renamed }: RunOptions): void {
  if ([report === '-', rejects === '-', json].filter(Boolean).length > 1)
    throw new UsageError('only one of --report, --rejects and --json can be on standard output');
  if (json && !dryRun) throw new UsageError('--json works only with --dry-run; use --report for other runs');
  if (alter && (stream || ifExists !== 'compare'))
    throw new UsageError(
      '--alter cannot be combined with --stream or --if-exists, because it compares a complete schema',
    );
  if (renamed.length > 0 && !alter) throw new UsageError('--renamed works only with --alter');
}

async function run(ends: Ends, options: RunOptions, summary: Summary, io: Io): Promise<number> {
  const { input } = ends;
  const { config, target, jobs, close } = openConnections(ends.target, options, io);
  io.interrupted.addEventListener('abort', () => shutDown(input, close));
  try {
    if (options.wait !== undefined)
      await waitUntilReady(config, { seconds: options.wait, signal: io.interrupted, onWait: io.info });
    const check = createPreflightCheck(target, options.allow);
    const keepGoing = options.keepGoing || options.dryRun;
    const showProgress = (items: AsyncIterable<string>, total?: number) => withProgress(items, io.progress(), total);
    const allowed = keepGoing ? input : requireAllowed(input, check, input.locations);
    const complete = options.stream ? undefined : await spool(showProgress(allowed));
    if (complete) io.interrupted.throwIfAborted();
    const checked = await checkPlan(complete ?? input, target, options);
    const schema = options.alter ? await fetchTargetSchema(config, target) : undefined;
    const plan = schema && (await planAlter(checked, schema, options));
    if (plan && !keepGoing) rejectOmissions(plan.omissions);
    for (const omission of plan?.omissions ?? []) io.error(describeOmission(omission));
    if (plan?.omissions.length) summary.noteBroken();
    const count = plan?.statements.length ?? complete?.count;
    const planned = plan ? Readable.from(plan.statements) : checked;

    // --wait is made for the start of a container, when the schema usually exists already.
    const isRerun = options.wait !== undefined;
    const existing = new ExistingObjects(target, io.warn, { isDryRun: options.dryRun, isRerun });
    const fetchSchema = async () => schema ?? fetchTargetSchema(config, target);
    const mayChange = options.alter || options.allow.length > 0;
    const impact =
      options.dryRun && mayChange
        ? await createImpactAnalyzer(target, fetchSchema, options.allowLoss, io.warn)
        : undefined;
    const executorOptions = {
      ...options,
      check: plan ? createPreflightCheck(target, [...options.allow, ...plan.permissions]) : check,
      existing,
      impact,
      retries: config.retries,
      patience: { timeout: config.timeout, interrupted: io.interrupted },
      printRows: (rows: unknown[][]) => printRows(rows, io),
    };
    const executors = jobs.map(job => createExecutor(job, executorOptions));
    const queue = showProgress(complete ? existing.lookAhead(planned) : planned, count);
    summary.start(target.label);
    let outcomes = applyStatements(queue, executors, {
      keepGoing,
      interrupted: io.interrupted,
      locations: plan ? [] : input.locations,
    });
    if (options.dryRun) outcomes = hasDataOnStdout(options) ? outcomes : printDryRun(outcomes, io, impact);
    else if (!options.noVerify) outcomes = verifyOutcomes(outcomes, target, existing);
    if (options.report) outcomes = writeReport(outcomes, options.report, io);
    if (options.json) outcomes = writeReport(outcomes, '-', io);
    const summarize = hasDataOnStdout(options) ? io.summary : io.info;
    const rest = selectRejects(reportOutcomes(outcomes, summary, new LoginCheck(config), io, summarize));
    if (options.rejects) await writeRejects(options.rejects, io.stdout, rest, options.maxRecord);
    else for await (const _ of rest);
    if (impact?.broken().length) summary.noteBroken();
    return summary.status;
  } finally {
    await close();
  }
}
