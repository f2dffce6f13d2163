import {
  ALLOW_LOSS_OPTION,
  addInstanceOptions,
  EXCLUDE_OPTION,
  Exit,
  INCLUDE_OPTION,
  maxRecordOption,
  printSettings,
  RENAMED_OPTION,
  runProgram,
  UsageError,
} from '@sqlpipe/cli';
import { decodeRecords, deferInput, MAX_RECORD } from '@sqlpipe/records';
import { CATEGORIES, compareSchemas, MemoryBudget, parseSelection } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { findRefreshStates, writePlan } from './alter.js';
import { formatDifference, formatJsonLine, formatName } from './format.js';
import { findHiddenDifferences, selectUnchanged } from './hidden-differences.js';
import { writeMissing } from './missing.js';
import { fetchTargetDefaults, resolveOperands } from './operands.js';
import { readSide } from './read-side.js';

runProgram({
  name: 'sqldiff',
  operands: '<A> <B>',
  operandTypes: ['instances', 'files'],
  summary:
    'Compares schemas A and B object by object. Each is an instance, a .sql file, a folder, a stream file, or -.',
  examples: [
    ['sqldiff src dst', 'compare two instances'],
    ['sqldiff --names schema.sql http://localhost:9000', 'compare a file with an instance; names only'],
    ['sqldiff --missing src dst | sqlapply dst', 'add what dst lacks'],
    ['sqldiff --alter schema/ dst > plan', 'make a plan that changes dst to match a folder'],
  ],
  values: { include: CATEGORIES, exclude: CATEGORIES },
  options: cli =>
    addInstanceOptions(cli)
      .option('names', { type: 'boolean', default: false, describe: 'print only the names of objects that differ' })
      .option('text', { type: 'boolean', default: false, describe: 'print a unified diff of the statements' })
      .option('json', { type: 'boolean', default: false, describe: 'print one line of JSON per difference' })
      .option('missing', { type: 'boolean', default: false, describe: 'write a stream of the objects that only A has' })
      .option('alter', { type: 'boolean', default: false, describe: 'write the statements that turn B into A' })
      .option('allow-loss', ALLOW_LOSS_OPTION)
      .option('renamed', RENAMED_OPTION)
      .option('rebuild', {
        type: 'string',
        array: true,
        default: [],
        describe: 'with --alter: recreate a table to change it',
      })
      .option('drop-old', {
        type: 'boolean',
        default: false,
        describe: 'with --rebuild: drop the old table',
      })
      .option('ignore-extra', { type: 'boolean', default: false, describe: 'ignore objects that only B has' })
      .option('ignore-owner', { type: 'boolean', default: false, describe: 'ignore differences in OWNED BY' })
      .option('include', INCLUDE_OPTION)
      .option('exclude', EXCLUDE_OPTION)
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ operands: [a = '', b = ''], ...args }, io) => {
    const { names, json, text, missing, alter, maxRecord } = args;
    if ([names, json, text, missing, alter].filter(Boolean).length > 1)
      throw new UsageError('--names, --json, --text, --missing and --alter cannot be combined');
    if (!alter && (args.allowLoss.length || args.renamed.length || args.rebuild.length || args.dropOld))
      throw new UsageError('--allow-loss, --renamed, --rebuild and --drop-old work only with --alter');
    const stdin = deferInput(() => decodeRecords(io.stdin(), { maxRecord }));
    const readOptions = {
      maxRecord,
      budget: new MemoryBudget(),
      selection: parseSelection(args.include, args.exclude),
      stdin,
      warn: io.info,
    };
    const sides = await resolveOperands([a, b], {
      env: io.env,
      options: args,
      warn: io.warn,
      logRequest: io.logRequest,
      // The previous program in the pipe may prompt too: its prompt comes first.
      promptSecret: async question => {
        if ([a, b].includes('-')) await stdin.ready();
        return io.promptSecret(question);
      },
    });
    if (args.showConfig)
      return printSettings(
        sides.flatMap(({ target }) => (target ? [target.settings] : [])),
        io,
      );
    const [inA, inB] = [await readSide(sides[0], readOptions), await readSide(sides[1], readOptions)];
    const defaults = await fetchTargetDefaults(sides);
    if (alter) {
      const states = await findRefreshStates(sides[1]);
      return writePlan(inA, inB, { ...args, defaults, ...states, keepExtra: args.ignoreExtra, maxRecord }, io);
    }
    const { differences, total, notComparable } = compareSchemas(inA, inB, { defaults, ignoreOwner: args.ignoreOwner });
    for (const { identity, properties } of notComparable)
      io.info(`${displayName(identity)}: cannot be compared: ${properties.join(', ')}`);
    for (const warning of await findHiddenDifferences(sides, selectUnchanged(inA, differences))) io.warn(warning);

    const relevant = args.ignoreExtra || missing ? differences.filter(each => each.a !== undefined) : differences;
    if (missing) return writeMissing(relevant, maxRecord, io);
    for (const each of relevant)
      await io.print(
        json
          ? formatJsonLine(each)
          : names
            ? formatName(each, sides)
            : formatDifference(each, sides, { text, colors: io.colors }),
      );
    if (!json)
      io.info(
        `${relevant.length} of ${total} ${total === 1 ? 'object' : 'objects'} ${relevant.length === 1 ? 'differs' : 'differ'}`,
      );
    return relevant.length ? Exit.negative : Exit.ok;
  },
});
