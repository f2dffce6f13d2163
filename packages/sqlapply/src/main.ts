import { command, stayLean, watched } from '@sqlpipe/cli';
import { arriving, spool, statements } from '@sqlpipe/records';
import { admitted, objections } from './admission.js';
import { apply } from './apply.js';
import { openConnections } from './connections.js';
import { LoginCheck } from './credentials.js';
import { ExistingObjects } from './existing.js';
import { judge } from './judge.js';
import { declareOptions } from './options.js';
import { writeRejects } from './rejects.js';
import { Tally } from './tally.js';
import { foretold, printRows, rejects, reported, told } from './told.js';
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
  values: { 'yes-to': 'instances' },
  options: declareOptions,
  run: async (options, io) => {
    stayLean();
    const input = arriving(() => statements(io.stdin(), options));
    const { config, target, jobs, close } = await openConnections(options, input, io);
    io.interrupted.addEventListener('abort', () => windUp(io.stdin(), close));
    try {
      const objection = objections(target, options.allow);
      const keepGoing = options.keepGoing || options.dryRun;
      const shown = (items: AsyncIterable<string>, total?: number) => watched(items, io.progress(), total);
      const complete = options.stream ? undefined : await spool(shown(keepGoing ? input : admitted(input, objection)));
      const queue = shown(complete ?? input, complete?.count);

      const existing = new ExistingObjects(target, io.warn);
      const print = (rows: unknown[][]) => printRows(rows, io);
      const judges = jobs.map(job => judge(job, { ...options, objection, existing, printRows: print }));
      const tally = new Tally(target.label, options);
      let outcomes = apply(queue, judges, { keepGoing, interrupted: io.interrupted });
      if (options.dryRun) outcomes = foretold(outcomes, io);
      else if (!options.noVerify) outcomes = verified(outcomes, target, existing);
      if (options.report) outcomes = reported(outcomes, options.report);
      const rest = rejects(told(outcomes, tally, new LoginCheck(config), io));
      if (options.rejects) await writeRejects(options.rejects, rest, options.maxRecord);
      else for await (const _ of rest);
      return tally.status;
    } finally {
      await close();
    }
  },
});
