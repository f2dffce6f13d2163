import { command, stayLean, UsageError, watched } from '@sqlpipe/cli';
import { arriving, spool, statements } from '@sqlpipe/records';
import { admitted, objections } from './admission.js';
import { apply } from './apply.js';
import { openConnections } from './connections.js';
import { ExistingObjects } from './existing.js';
import { judge } from './judge.js';
import { declareOptions, hasDataOnStdout } from './options.js';
import { writeRejects } from './rejects.js';
import { Tally } from './tally.js';
import { foretold, rejects, reported, told } from './told.js';
import { verified } from './verify.js';
import { windUp } from './wind-up.js';

command({
  name: 'sqlapply',
  operands: '<instance>',
  takes: ['instances'],
  summary: 'Replays a statement stream on an instance: in order, one statement per request, up to the first refusal.',
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ['sqlsplit schema.sql | sqlapply --dry-run localhost:9000', 'see what a file would change'],
    ['sqldump src | sqlapply --keep-going --rejects rest dst; sqlapply dst < rest', 'try all, then the rest again'],
  ],
  options: declareOptions,
  run: async (options, io) => {
    stayLean();
    if (options.report === '-' && options.rejects === '-')
      throw new UsageError('only one of --report and --rejects can be standard output');
    const input = arriving(() => statements(io.stdin(), options));
    const { target, jobs, close } = await openConnections(options, input, io);
    io.interrupted.addEventListener('abort', () => windUp(io.stdin(), close));
    try {
      const objection = objections(target, options.allow);
      const keepGoing = options.keepGoing || options.dryRun;
      const shown = (items: AsyncIterable<string>, total?: number) => watched(items, io.progress(), total);
      const complete = options.stream ? undefined : await spool(shown(keepGoing ? input : admitted(input, objection)));
      const queue = shown(complete ?? input, complete?.count);

      const existing = new ExistingObjects(target);
      const judges = jobs.map(job => judge(job, { ...options, objection, existing }));
      const tally = new Tally(target.label, options);
      let outcomes = apply(queue, judges, { keepGoing, interrupted: io.interrupted });
      if (options.dryRun) outcomes = hasDataOnStdout(options) ? outcomes : foretold(outcomes, io);
      else if (!options.noVerify) outcomes = verified(outcomes, target, existing);
      if (options.report) outcomes = reported(outcomes, options.report, io);
      const rest = rejects(told(outcomes, tally, io));
      if (options.rejects) await writeRejects(options.rejects, io.stdout, rest, options.maxRecord);
      else for await (const _ of rest);
      return tally.status;
    } finally {
      await close();
    }
  },
});
