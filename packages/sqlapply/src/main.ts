import { Readable } from 'node:stream';
import { command, type Io, stayLean, UsageError, watched } from '@sqlpipe/cli';
import { arriving, spool } from '@sqlpipe/records';
import { describeOmission } from '@sqlpipe/schema';
import { admitted, objections } from './admission.js';
import { apply } from './apply.js';
import { openConnections } from './connections.js';
import { openForecast } from './forecast.js';
import { LoginCheck } from './credentials.js';
import { ExistingObjects } from './existing.js';
import { openInput, readsStdin } from './input.js';
import { judge } from './judge.js';
import { type ApplyOptions, declareOptions, hasDataOnStdout } from './options.js';
import { checkPlan, planAlter, rejectOmissions } from './plan.js';
import { writeRejects } from './rejects.js';
import { nothingSent } from './state.js';
import { Tally } from './tally.js';
import { foretold, printRows, rejects, reported, told } from './told.js';
import { verified } from './verify.js';
import { windUp } from './wind-up.js';

command({
  name: 'sqlapply',
  operands: '<instance> [file..]',
  takes: ['instances', 'files'],
  summary:
    'Applies a statement stream, .sql files or folders to an instance: in order, one statement per request, up to the first error.',
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ['sqlapply --dry-run localhost:9000 schema.sql', 'see what a file would change'],
    ['sqldump src | sqlapply --keep-going --rejects rest dst; sqlapply dst < rest', 'try all, then the rest again'],
  ],
  values: { 'yes-to': 'instances' },
  options: declareOptions,
  run: async (options, io) => {
    stayLean();
    checkOptions(options);
    const tally = new Tally(options);
    try {
      return await run(options, tally, io);
    } catch (error) {
      if (tally.isStarted) throw error;
      if (io.interrupted.aborted) io.error('interrupted; nothing was sent');
      throw nothingSent(error);
    }
  },
});

function checkOptions({ report, rejects, json, dryRun, alter, stream, ifExists, renamed }: ApplyOptions): void {
  if ([report === '-', rejects === '-', json].filter(Boolean).length > 1)
    throw new UsageError('only one of --report, --rejects and --json can be on standard output');
  if (json && !dryRun) throw new UsageError('--json goes with --dry-run; --report is for all runs');
  if (alter && (stream || ifExists !== 'compare'))
    throw new UsageError('--alter compares a complete schema: it goes neither with --stream nor with --if-exists');
  if (renamed.length > 0 && !alter) throw new UsageError('--renamed goes with --alter');
}

async function run(options: ApplyOptions, tally: Tally, io: Io): Promise<number> {
  const source = openInput(options, io);
  const input = arriving(() => source);
  const { config, target, jobs, close } = await openConnections(options, input, io);
  io.interrupted.addEventListener('abort', () => windUp(readsStdin(options) ? io.stdin() : undefined, close));
  try {
    const objection = objections(target, options.allow);
    const keepGoing = options.keepGoing || options.dryRun;
    const shown = (items: AsyncIterable<string>, total?: number) => watched(items, io.progress(), total);
    const allowed = keepGoing ? input : admitted(input, objection, source.locations);
    const complete = options.stream ? undefined : await spool(shown(allowed));
    if (complete) io.interrupted.throwIfAborted();
    const checked = await checkPlan(complete ?? input, target, options);
    const plan = options.alter ? await planAlter(checked, config, target, options) : undefined;
    if (plan && !keepGoing) rejectOmissions(plan.omissions);
    for (const omission of plan?.omissions ?? []) io.error(describeOmission(omission));
    if (plan?.omissions.length) tally.noteBroken();
    const queue = shown(plan ? Readable.from(plan.statements) : checked, plan?.statements.length ?? complete?.count);
    const locations = plan ? [] : source.locations;

    const existing = new ExistingObjects(target, io.warn);
    const forecast = options.dryRun ? await openForecast(config, options, io) : undefined;
    const judging = {
      ...options,
      objection: plan ? objections(target, [...options.allow, ...plan.permissions]) : objection,
      existing,
      forecast,
      patience: { timeout: config.timeout, interrupted: io.interrupted },
      printRows: (rows: unknown[][]) => printRows(rows, io),
    };
    const judges = jobs.map(job => judge(job, judging));
    tally.start(target.label);
    let outcomes = apply(queue, judges, { keepGoing, interrupted: io.interrupted, locations });
    if (options.dryRun) outcomes = hasDataOnStdout(options) ? outcomes : foretold(outcomes, io, forecast);
    else if (!options.noVerify) outcomes = verified(outcomes, target, existing);
    if (options.report) outcomes = reported(outcomes, options.report, io);
    if (options.json) outcomes = reported(outcomes, '-', io);
    const summarize = hasDataOnStdout(options) ? io.summary : io.note;
    const rest = rejects(told(outcomes, tally, new LoginCheck(config), io, summarize));
    if (options.rejects) await writeRejects(options.rejects, io.stdout, rest, options.maxRecord);
    else for await (const _ of rest);
    if (forecast?.broken().length) tally.noteBroken();
    return tally.status;
  } finally {
    await close();
  }
}
