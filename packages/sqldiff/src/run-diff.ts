import { annotateFailure, type Io, readIgnorePatterns, UsageError, writeSettings } from '@sqlpipe/cli';
import { COLUMN_ORDER } from '@sqlpipe/ddl';
import { detectInput, detectSameOutput, isStdout, readStandardInput } from '@sqlpipe/files';
import { fetchComparisonFacts, fetchGrants, withClient, withPlanningFacts } from '@sqlpipe/instance';
import { COLUMN_ORDER_REASON, columnOrderHints } from '@sqlpipe/plan/text';
import { deferInput } from '@sqlpipe/records';
import {
  compareSchemas,
  IgnoreRules,
  MemoryBudget,
  parsePlanSelection,
  parseSelection,
  type SchemaComparison,
  type Selection,
  selectWanted,
} from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { formatHints } from '@sqlpipe/text';
import { Locations } from './locations.js';
import type { DiffArgs } from './options.js';
import { type LoadedSide, readSide, resolveOperands } from './sides.js';
import { formatIgnored, formatIgnoredCount, writeComparison } from './write-comparison.js';
import { writeMissing } from './write-statements.js';

export async function runDiff(args: DiffArgs, io: Io): Promise<number> {
  await rejectBadArgs(args);
  const work = () => compareAndWrite(args, io);
  return args.annotations ? annotateFailure(work, io) : work();
}

async function rejectBadArgs(args: DiffArgs): Promise<void> {
  const { names, json, text, missing, alter, annotations, output } = args;
  if ([names, json, text, missing, alter].filter(Boolean).length > 1)
    throw new UsageError('--names, --json, --text, --missing and --alter cannot be combined');
  if (!alter && (args.allowLoss.length || args.renamed.length || args.rebuild.length || args.dropOld || args.undo))
    throw new UsageError('--allow-loss, --renamed, --rebuild, --drop-old and --undo work only with --alter');
  if (args.undo !== undefined && (await detectSameOutput(output, args.undo)))
    throw new UsageError('--undo and -o need different files, because the undo is a plan of its own');
  if (args.label.length > 2) throw new UsageError('--label can be given at most twice: for A and for B');
  if (annotations && (missing || alter) && isStdout(output))
    throw new UsageError(
      '--annotations writes to standard output; with --missing or --alter, write the statements to a file with -o',
    );
}

async function compareAndWrite(args: DiffArgs, io: Io): Promise<number> {
  const { missing, alter, maxRecord, include, exclude } = args;
  const { selection, unselected } = alter
    ? parsePlanSelection(include, exclude)
    : { selection: parseSelection(include, exclude), unselected: [] };
  const ignore = new IgnoreRules([...(await readIgnorePatterns(args)), ...unselected]);
  const stdin = deferInput(async function* () {
    for await (const batch of readStandardInput(io.stdin(), { maxRecord }))
      for (const { statement } of batch) yield statement;
  });
  const [nameA = '', nameB = ''] = args.operands;
  const sides = await resolveOperands([nameA, nameB], args.label, {
    ...io,
    options: args,
    // If the previous program in the pipe prompts too, its prompt comes first.
    promptSecret: async question => {
      if (args.operands.includes('-')) await stdin.readAll();
      return io.promptSecret(question);
    },
  });
  const settings = sides.flatMap(({ config }) => (config ? [config.settings] : []));
  if (args.showConfig) return writeSettings(settings, io);
  const inputs = sides.flatMap(({ config, path }) => (config ? [] : [path]));
  for (const [option, path] of Object.entries({ '-o': args.output, '--undo': args.undo }))
    if (await detectInput(path, inputs)) throw new UsageError(`${option} would replace an operand; give another file`);
  const locations = args.annotations ? new Locations() : undefined;
  const readOptions = { ...io, maxRecord, budget: new MemoryBudget(), selection, locations, stdin };
  const [a, b] = [await readSide(sides[0], readOptions), await readSide(sides[1], readOptions)];
  const { rules, notes } = missing ? selectWanted(a.statements, b.statements, ignore) : { rules: ignore, notes: [] };
  const options = { ignoreOwner: args.ignoreOwner, ignoreExtra: args.ignoreExtra || missing, ignore: rules };
  const facts = await fetchComparisonFacts(a.config, b.config, !missing);
  const compared = compareSchemas(a.statements, b.statements, { ...options, ...facts });
  for (const ignored of compared.ignored) io.detail?.(formatIgnored(ignored));
  if (!alter) warnOfColumnOrder(compared, io);
  for (const note of notes) io.info(note);
  if (missing) return writeMissing(compared.differences, args, io);
  if (!alter) return writeComparison(compared, [a, b], args, locations, io);
  if (compared.ignored.length > 0) io.info(formatIgnoredCount(compared));
  const { writePlan } = await import('./write-plan.js'); // loaded late, because few runs need an engine
  const skipInvalid = a.config !== undefined;
  const { sideB, ...kept } = await addKeptGrants(b, ignore, selection);
  return withPlanningFacts(a.config, b.config, io.warn, planningFacts =>
    writePlan([a, sideB], { ...args, locations, skipInvalid, ...kept, ...planningFacts }, io),
  );
}

/** Adds the grants of instance B that --include or --exclude leave out. The plan keeps them, also on what it replaces. */
async function addKeptGrants(b: LoadedSide, ignore: IgnoreRules, selection: Selection) {
  if (!b.config || selection.selects('grant')) return { sideB: b, ignore };
  const { grants, hiddenGrants } = await withClient(b.config, fetchGrants);
  return { sideB: { ...b, statements: [...b.statements, ...grants] }, ignore: ignore.and('grant'), hiddenGrants };
}

/** No statement changes the order of columns. With --alter, the plan lists the difference as left out, so no warning is needed. */
function warnOfColumnOrder({ differences }: SchemaComparison, io: Io): void {
  for (const { identity, comparison } of differences)
    if (comparison?.differences.some(({ property }) => property === COLUMN_ORDER))
      io.warn(`${displayName(identity)}: ${COLUMN_ORDER_REASON}`, formatHints(columnOrderHints(identity.name)));
}
