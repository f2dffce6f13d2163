import { command, type Io, printSettings, stayLean, UsageError, watched } from '@sqlpipe/cli';
import { arriving, spool } from '@sqlpipe/records';
import { admitted, objections } from './admission.js';
import { apply } from './apply.js';
import { openConnections, resolveTarget } from './connections.js';
import { LoginCheck } from './credentials.js';
import { ExistingObjects } from './existing.js';
import { openInput, readsStdin } from './input.js';
import { judge } from './judge.js';
import { type ApplyOptions, declareOptions, hasDataOnStdout } from './options.js';
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
    if (options.showConfig) return printSettings([(await resolveTarget(options, io, io.ask)).settings], io);
    if (options.report === '-' && options.rejects === '-')
      throw new UsageError('only one of --report and --rejects can be standard output');
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
    const queue = shown(complete ?? input, complete?.count);
    if (complete) io.interrupted.throwIfAborted();

    const existing = new ExistingObjects(target, io.warn);
    const print = (rows: unknown[][]) => printRows(rows, io);
    const judges = jobs.map(job => judge(job, { ...options, objection, existing, printRows: print }));
    tally.start(target.label);
    let outcomes = apply(queue, judges, { keepGoing, interrupted: io.interrupted, locations: source.locations });
    if (options.dryRun) outcomes = hasDataOnStdout(options) ? outcomes : foretold(outcomes, io);
    else if (!options.noVerify) outcomes = verified(outcomes, target, existing);
    if (options.report) outcomes = reported(outcomes, options.report, io);
    const summarize = hasDataOnStdout(options) ? io.summary : io.note;
    const rest = rejects(told(outcomes, tally, new LoginCheck(config), io, summarize));
    if (options.rejects) await writeRejects(options.rejects, io.stdout, rest, options.maxRecord);
    else for await (const _ of rest);
    return tally.status;
  } finally {
    await close();
  }
}
