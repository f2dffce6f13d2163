import { command, EXCLUDE, Exit, INCLUDE, instanceOptions, printSettings, recordLimit, UsageError } from '@sqlpipe/cli';
import { arriving, MAX_RECORD, statements } from '@sqlpipe/records';
import { CATEGORIES, compareSchemas, Room, selection } from '@sqlpipe/schema';
import { title } from '@sqlpipe/sql';
import { otherMeanings, unchanged } from './meaning.js';
import { writeMissing } from './missing.js';
import { read } from './read.js';
import { jsonLine, named, shown } from './shown.js';
import { bothSides, fetchTargetDefaults } from './side.js';

command({
  name: 'sqldiff',
  operands: '<a> <b>',
  takes: ['instances', 'files'],
  summary: 'Compares two schemas object by object. Each is an instance, a .sql file, a folder, a stream file, or -.',
  examples: [
    ['sqldiff src dst', 'two instances'],
    ['sqldiff --names schema.sql http://localhost:9000', 'a file and an instance; names only'],
    ['sqldiff --missing src dst | sqlapply dst', 'make in dst what it lacks'],
  ],
  values: { include: CATEGORIES, exclude: CATEGORIES },
  options: cli =>
    instanceOptions(cli)
      .option('names', { type: 'boolean', default: false, describe: 'say which objects differ, not how' })
      .option('text', { type: 'boolean', default: false, describe: 'show differences line by line, as printed' })
      .option('json', { type: 'boolean', default: false, describe: 'a line of JSON per object that differs' })
      .option('missing', { type: 'boolean', default: false, describe: 'write the stream of what A has and B lacks' })
      .option('ignore-extra', { type: 'boolean', default: false, describe: 'what only B has is no difference' })
      .option('ignore-owner', { type: 'boolean', default: false, describe: 'another OWNED BY is no difference' })
      .option('include', INCLUDE)
      .option('exclude', EXCLUDE)
      .option('max-record', recordLimit(MAX_RECORD)),
  run: async ({ operands: [a = '', b = ''], ...args }, io) => {
    const { names, json, text, missing, maxRecord } = args;
    if (Number(names) + Number(json) + Number(text) + Number(missing) > 1)
      throw new UsageError('--names, --json, --text and --missing exclude each other');
    const stdin = arriving(() => statements(io.stdin(), { maxRecord }));
    const reading = {
      maxRecord,
      room: new Room(),
      selection: selection(args.include, args.exclude),
      stdin,
      warn: io.note,
    };
    const sides = await bothSides([a, b], {
      env: io.env,
      options: args,
      warn: io.warn,
      logRequest: io.logRequest,
      // The other end of a pipe may be asking too: it goes first.
      ask: async question => {
        if ([a, b].includes('-')) await stdin.arrived();
        return io.ask(question);
      },
    });
    if (args.showConfig)
      return printSettings(
        sides.flatMap(({ target }) => (target ? [target.settings] : [])),
        io,
      );
    const [inA, inB] = [await read(sides[0], reading), await read(sides[1], reading)];
    const { differences, total, notComparable } = compareSchemas(inA, inB, {
      defaults: await fetchTargetDefaults(sides),
      ignoreOwner: args.ignoreOwner,
    });
    for (const { identity, properties } of notComparable)
      io.note(`${title(identity)}: can not be compared: ${properties.join(', ')}`);
    for (const warning of await otherMeanings(sides, unchanged(inA, differences))) io.warn(warning);

    const found = args.ignoreExtra || missing ? differences.filter(each => each.a !== undefined) : differences;
    if (missing) return writeMissing(found, maxRecord, io);
    for (const each of found)
      await io.print(
        json ? jsonLine(each) : names ? named(each, sides) : shown(each, sides, { text, colors: io.colors }),
      );
    if (!json)
      io.note(
        `${found.length} of ${total} ${total === 1 ? 'object' : 'objects'} ${found.length === 1 ? 'differs' : 'differ'}`,
      );
    return found.length ? Exit.no : Exit.yes;
  },
});
