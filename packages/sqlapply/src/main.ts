import { command, instanceOptions, recordLimit, stayLean, UsageError, watched } from '@sqlpipe/cli';
import { connect, type Instance, resolveInstance } from '@sqlpipe/instance';
import { arriving, MAX_RECORD, spool, statements } from '@sqlpipe/records';
import { admitted, objections } from './admission.js';
import { apply } from './apply.js';
import { LoginCheck } from './credentials.js';
import { ExistingObjects } from './existing.js';
import { judge } from './judge.js';
import { writeRejects } from './rejects.js';
import { Tally } from './tally.js';
import { foretold, printRows, rejects, reported, told } from './told.js';
import { verified } from './verify.js';
import { windUp } from './wind-up.js';

/** More gain nothing, and a server has other clients. */
const MAX_JOBS = 64;

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
  options: cli =>
    instanceOptions(cli)
      .option('dry-run', {
        alias: 'n',
        type: 'boolean',
        default: false,
        describe: 'print what would be done; change nothing',
      })
      .option('if-exists', {
        choices: ['compare', 'fail', 'skip'] as const,
        default: 'compare' as const,
        describe: 'what to do about an object that is there',
      })
      .option('keep-going', { alias: 'k', type: 'boolean', default: false, describe: 'carry on after a refusal' })
      .option('stream', { type: 'boolean', default: false, describe: 'send as records arrive, not when all have come' })
      .option('jobs', {
        alias: 'j',
        type: 'number',
        default: 1,
        requiresArg: true,
        describe: 'so many statements at once, where none needs another; for targets far away',
      })
      .option('allow', {
        type: 'string',
        array: true,
        default: [],
        describe: 'send these verbs too: ALTER, DROP, … or all',
      })
      .option('no-verify', { type: 'boolean', default: false, describe: 'do not read back what was made' })
      .option('yes-to', {
        type: 'string',
        requiresArg: true,
        describe: 'the name of a protected instance, to change it',
      })
      .option('rejects', {
        type: 'string',
        requiresArg: true,
        describe: 'write what was refused or not reached, as a stream',
      })
      .option('report', { type: 'string', requiresArg: true, describe: 'write a line of JSON per statement' })
      .option('allow-empty', { type: 'boolean', default: false, describe: 'take no input at all for no statements' })
      .option('max-record', recordLimit(MAX_RECORD)),
  run: async ({ operands: [instance = ''], ...args }, io) => {
    stayLean();
    const input = arriving(() => statements(io.stdin(), args));
    const resolved = await resolveInstance(instance, {
      program: 'sqlapply',
      env: io.env,
      options: args,
      warn: io.warn,
      // The other end of the pipe may be asking too: it goes first.
      ask: question => input.arrived().then(() => io.ask(question)),
    });
    if (resolved.protected && !args.dryRun && args.yesTo !== resolved.name)
      throw new UsageError(`${resolved.name} is protected: --yes-to=${resolved.name} changes it all the same`);
    if (!(Number.isInteger(args.jobs) && args.jobs >= 1 && args.jobs <= MAX_JOBS))
      throw new UsageError(`--jobs takes a number from 1 to ${MAX_JOBS}`);
    const jobs = Array.from({ length: args.jobs }, () => connect(resolved));
    const target = jobs.length === 1 ? (jobs[0] as Instance) : connect(resolved); // what reads back while jobs go on
    try {
      const objection = objections(target, args.allow);
      const keepGoing = args.keepGoing || args.dryRun;
      const drawn = (items: AsyncIterable<string>, total?: number) => watched(items, io.progress(), total);
      const whole = args.stream ? undefined : await spool(drawn(keepGoing ? input : admitted(input, objection)));
      const queue = drawn(whole ?? input, whole?.count);
      const tally = new Tally(target.label, args);

      io.interrupted.addEventListener('abort', () => windUp(io.stdin(), [target, ...jobs]));
      const existing = new ExistingObjects(target, io.warn);
      const options = { ...args, objection, existing, printRows: (rows: unknown[][]) => printRows(rows, io) };
      const judges = jobs.map(job => judge(job, options));
      let outcomes = apply(queue, judges, { keepGoing, interrupted: io.interrupted });
      if (args.dryRun) outcomes = foretold(outcomes, io);
      else if (!args.noVerify) outcomes = verified(outcomes, target, existing);
      if (args.report) outcomes = reported(outcomes, args.report);
      const rest = rejects(told(outcomes, tally, new LoginCheck(resolved), io));
      if (args.rejects) await writeRejects(args.rejects, rest, args.maxRecord);
      else for await (const _ of rest);
      return tally.status;
    } finally {
      await Promise.all([target, ...jobs].map(each => each.close()));
    }
  },
});
