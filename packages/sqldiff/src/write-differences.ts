/*! Two schemas, and what of their differences is asked for. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, type Io, printSettings, UsageError } from '@sqlpipe/cli';
import { isStdout, writeOutput } from '@sqlpipe/files';
import { fetchCommonDefaults, withInstance } from '@sqlpipe/instance';
import { decodeRecords, deferInput } from '@sqlpipe/records';
import { fetchPlanContext } from '@sqlpipe/replay';
import { compareSchemas, type Difference, MemoryBudget, parseSelection } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { writePlan } from './alter.js';
import { formatDifference, formatIgnored, formatJsonLine, formatName } from './format.js';
import { findHiddenDifferences, selectUnchanged } from './hidden-differences.js';
import { readIgnoreRules } from './ignore.js';
import { writeMissing } from './missing.js';
import { resolveOperands, type Sides } from './operands.js';
import type { DiffOptions } from './options.js';
import { readSide } from './read-side.js';

/** Compares the schemas that the command line names; gives the exit status. */
export async function writeDifferences({ operands: [a = '', b = ''], ...args }: DiffOptions, io: Io): Promise<number> {
  const { names, json, text, missing, alter, maxRecord } = args;
  if ([names, json, text, missing, alter].filter(Boolean).length > 1)
    throw new UsageError('--names, --json, --text, --missing and --alter cannot be combined');
  if (!alter && (args.allowLoss.length || args.renamed.length || args.rebuild.length || args.dropOld || args.undo))
    throw new UsageError('--allow-loss, --renamed, --rebuild, --drop-old and --undo work only with --alter');
  const [labelA, labelB, ...more] = args.label;
  if (more.length > 0) throw new UsageError('--label can be given twice: for A and for B');
  const ignore = await readIgnoreRules(args);
  const stdin = deferInput(() => decodeRecords(io.stdin(), { maxRecord }));
  const readOptions = {
    maxRecord,
    budget: new MemoryBudget(),
    selection: parseSelection(args.include, args.exclude),
    stdin,
    warn: io.info,
    note: io.info,
  };
  const operands = await resolveOperands([a, b], {
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
  const sides: Sides = [
    { ...operands[0], label: labelA ?? operands[0].label },
    { ...operands[1], label: labelB ?? operands[1].label },
  ];
  if (args.showConfig)
    return printSettings(
      sides.flatMap(({ target }) => (target ? [target.settings] : [])),
      io,
    );
  const [inA, inB] = [await readSide(sides[0], readOptions), await readSide(sides[1], readOptions)];
  const defaults = await fetchCommonDefaults(sides[0].target, sides[1].target);
  if (alter) {
    const options = {
      ...args,
      defaults,
      keepExtra: args.ignoreExtra,
      ignore,
      skipInvalid: sides[0].target !== undefined,
    };
    const { target } = sides[1];
    if (!target) return writePlan(inA, inB, sides, options, io);
    return withInstance(target, async instance =>
      writePlan(inA, inB, sides, { ...options, ...(await fetchPlanContext(instance)) }, io),
    );
  }
  const compared = compareSchemas(inA, inB, { defaults, ignoreOwner: args.ignoreOwner, ignore });
  const { differences, total, notComparable, ignored } = compared;
  for (const each of ignored) io.detail(formatIgnored(each));
  for (const { identity, properties } of notComparable)
    io.info(`${displayName(identity)}: cannot be compared: ${properties.join(', ')}`);
  for (const warning of await findHiddenDifferences(sides, selectUnchanged(inA, [...differences, ...ignored])))
    io.warn(warning);

  const relevant = args.ignoreExtra || missing ? differences.filter(each => each.a !== undefined) : differences;
  if (missing) return writeMissing(relevant, args, io);
  const colors = io.colors && isStdout(args.output);
  const format = (each: Difference) => {
    if (json) return formatJsonLine(each);
    return names ? formatName(each, sides) : formatDifference(each, sides, { text, colors });
  };
  const write = (out: Writable) => pipeline(Readable.from(relevant.map(format)), out, { end: false });
  await writeOutput(args.output, io.stdout, write, () => io.interrupted);
  if (!json)
    io.info(
      `${relevant.length} of ${total} ${total === 1 ? 'object' : 'objects'} ${relevant.length === 1 ? 'differs' : 'differ'}${ignored.length > 0 ? `; ${ignored.length} ${ignored.length === 1 ? 'difference' : 'differences'} ignored` : ''}`,
    );
  return relevant.length ? Exit.negative : Exit.ok;
}
