/*!
 * Rebuilds the tables that `--rebuild` names. (A is the wanted schema, B that of the target.) A rebuild of `t`, without its assertions:
 *     CREATE TABLE 't_new_1a2b3c4d' …;
 *     INSERT INTO 't_new_1a2b3c4d' … SELECT … FROM 't';
 *     RENAME TABLE 't' TO 't_before_1a2b3c4d';    -- the old table, which is kept, as QuestDB's documentation recommends
 *     RENAME TABLE 't_new_1a2b3c4d' TO 't';
 * With `--drop-old`, the plan drops the old table at its end. If a plan is interrupted, a later one finishes the rebuild.
 */
import {
  COLUMN_ORDER,
  canCast,
  compareDefinitions,
  doubleQuote,
  EXPLICIT,
  expiresRows,
  findColumn,
  findProperty,
  isArray,
  keepExpiry,
  keepProperties,
  type PropertyName,
  printDefinition,
  printTypeCast,
  retentionAgeOf,
  type TableDefinition,
  withoutExpiry,
} from '@sqlpipe/ddl';
import type { CatalogueObject, Conversion } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { displayName, isSameName, NameMap, NameSet, quoteLiteral } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import {
  createRebuildNames,
  findInterruptedRebuilds,
  findRebuildTables,
  findUnusedHash,
  isRebuildHash,
} from '../auxiliary.js';
import { keepsProperty, type PlanContext } from '../context/plan-context.js';
import { describeChange, expiredRowsOf, formatPath, formatPathForShell, type Omission } from '../losses.js';
import {
  type Assertion,
  allAppliedAssertion,
  allCopiedAssertion,
  asManyRowsAssertion,
  type CountingAssertion,
  emptyAssertion,
  formatOverwriting,
  noneAddedAssertion,
  noneExpireAssertion,
  noneNullAssertion,
  noPartitionAssertion,
  printValueCondition,
} from '../queries/assertions.js';
import { printArrayText, printDuplicatesQuestion } from '../queries/row-comparisons.js';
import { printDrop, printTableRename } from '../statements.js';
import { changesTimestamp } from '../views/view-queries.js';
import { type Draft, findMisfitObstacle, toStatementChange } from './draft.js';

interface Rebuild {
  /** The old table, as earlier steps of the draft have left it. They may have renamed it. */
  readonly old: TableDefinition;
  /** The new table as A defines it. It keeps from B an ignored retention, and the optional properties that A leaves open. */
  readonly final: TableDefinition;
  /** The new table as CREATE TABLE makes it: with a temporary name, and perhaps with another retention than `final`. */
  readonly created: TableDefinition;
  readonly copied: CopiedColumns;
  readonly conversions: readonly Conversion[];
}

export function rebuildTable(entry: Entry, wanted: TableDefinition, draft: Draft): void {
  const { context, engine } = draft;
  const old = engine.definitionOf(entry.name) as TableDefinition;
  const change = { ...describeChange(entry, `rebuild of table '${old.name}'`), id: 'rebuild' };
  const { newName, keptName } = createRebuildNames(old.name, findUnusedHash(wanted, old, engine));
  const copied = findCopiedColumns(wanted, old, context.renames.columnRenamesOf(entry.name));
  const conversions = findConversions(old.name, copied);
  const isKept = (name: PropertyName) =>
    findProperty(name, 'table')?.isOptional === true && keepsProperty(context, wanted, name);
  const { final, created } = chooseRetention(entry, keepProperties(wanted, old, isKept), old, draft);
  const rebuild = { old, final, created: { ...created, name: newName }, copied, conversions };
  const { reasons, losses } = findRebuildObstacles(entry, rebuild, draft);
  if (reasons.length > 0) return draft.addOmission({ ...change, reasons, losses, hints: [] });
  const columns = copied.map(({ to }) => doubleQuote(to)).join(', ');
  const values = copied.map(({ cast }) => cast).join(', ');
  draft.add(change, [
    allAppliedAssertion(old.name), // the copy would lack rows that the server has not applied yet
    ...conversions.flatMap(each => draft.recordConversion(each)),
    ...copyableAssertions(rebuild, context),
    printDefinition(rebuild.created, EXPLICIT),
    `INSERT INTO ${quoteLiteral(newName)} (${columns}) SELECT ${values} FROM ${quoteLiteral(old.name)};`,
    // `copy` names the copied columns for the proof (prove.ts). If the old table is dropped, its other columns count as lost.
    { ...asManyRowsAssertion(old.name, newName), copy: { from: old.name, to: newName, columns: copied } },
    printTableRename(old.name, keptName),
    printTableRename(newName, final.name), // in the case of A
  ]);
}

/**
 * Chooses the retention of the new table. The first case that applies decides:
 * 1. `--ignore` excludes the retention: the table keeps the retention of B.
 * 2. The user allows the loss of expired rows: CREATE TABLE sets no retention, because rows that expire during the copy would make the
 *    counts differ. `alterExpiry` sets the retention of A at the end.
 * 3. A expires more rows than B: CREATE TABLE sets the retention of B, if the partitions of A permit it. `alterExpiry` sets A's.
 * 4. Otherwise CREATE TABLE sets the retention of A.
 *
 * Except in case 2, assertions show that no row expires.
 */
function chooseRetention(entry: Entry, wanted: TableDefinition, old: TableDefinition, draft: Draft) {
  const isKept = (name: PropertyName) =>
    findProperty(name, 'table')?.alter?.changesExpiry === true && draft.context.ignore.ignoresProperty(entry, name);
  const final = keepProperties(wanted, old, isKept);
  const limited = keepExpiry(final, old) ?? final;
  const isSetLater = expiresRows(limited) && draft.context.allowed.allows(expiredRowsOf(old.name));
  return { final, created: isSetLater ? keepProperties(withoutExpiry(limited), limited, isKept) : limited };
}

function findRebuildObstacles(entry: Entry, rebuild: Rebuild, draft: Draft): Pick<Omission, 'reasons' | 'losses'> {
  const { old, final, copied, conversions } = rebuild;
  const { context } = draft;
  const { answers, ignore, renames } = context;
  // `final` has the ignored properties of B that a rebuild can keep. Other ignored differences are obstacles, except the order of columns.
  const ignored = compareDefinitions(final, old).differences.filter(
    ({ property }) => property !== COLUMN_ORDER && ignore.ignoresProperty(entry, property),
  );
  const rebuildInB = { ...rebuild, old: { ...old, name: renames.nameBeforePlan(old.name) } };
  const unmet = copyableAssertions(rebuildInB, context).flatMap(({ questions: [question], formatReason, lossKind }) => {
    const count = answers.askCount(question);
    return count ? [{ reason: formatReason([[count]]), losses: lossKind ? [expiredRowsOf(old.name)] : [] }] : [];
  });
  const keys = copied.filter(({ column }) => column.dedup);
  // Also if the old table has the same keys: it keeps the rows that it had before it got them.
  const overwritten = keys.length > 0 && answers.askCount(printDuplicatesQuestion(rebuildInB.old.name, keys));
  const reasons = [
    ...ignored.map(({ property }) => `--ignore excludes ${property}, but a rebuild cannot keep it as it is in B`),
    ...conversions.flatMap(({ column, from, to }) =>
      canCast(from, to) ? [] : [`the server cannot cast column '${column}': ${from} to ${to}`],
    ),
    ...conversions.flatMap(each => findMisfitObstacle(each, context)?.[0] ?? []),
    ...unmet.map(({ reason }) => reason),
    ...(overwritten
      ? [`the copy would lack ${formatCount(overwritten, 'row')}: ${formatOverwriting(keys.map(({ to }) => to))}`]
      : []),
    ...findUnrefreshableViews(rebuild, draft).map(
      view => `${displayName(view)} could not be refreshed over another designated timestamp; drop it first`,
    ),
  ];
  return { reasons, losses: unmet.flatMap(({ losses }) => losses) };
}

/** Finds the views that a server cannot refresh after the rebuild, except those whose query differs in A: the plan recreates them. */
function findUnrefreshableViews(rebuild: Rebuild, { engine, context }: Draft): CatalogueObject[] {
  // A materialized view cannot be refreshed any more if its base gets another designated timestamp (observed on 9.3.4).
  const { old, final } = rebuild;
  if (!changesTimestamp(old, final, context)) return [];
  const { name } = old;
  return engine.catalogue.directReadersOf(name).filter(view => {
    const wanted = context.a.definitionOf(view.name);
    const isKept =
      !wanted || !compareDefinitions(wanted, view).differences.some(({ property }) => property === 'query');
    return view.kind === 'materialized view' && isSameName(view.base, name) && isKept;
  });
}

/** Asserts that the new table can hold all rows: none has NULL in the new designated timestamp, and none is older than the retention. */
function copyableAssertions({ old, final, created, copied }: Rebuild, context: PlanContext): CountingAssertion[] {
  const { name } = old;
  /** The old name of the column that becomes the designated timestamp. Undefined if the new table has none, or does not copy it. */
  const time = copied.find(({ to }) => isSameName(to, final.timestamp))?.from;
  return [
    ...(time !== undefined && changesTimestamp(old, final, context) ? [noneNullAssertion(name, time)] : []),
    ...(retentionAgeOf(created) === 0
      ? []
      : [noneExpireAssertion({ retained: { ...created, name, timestamp: time } })]),
  ];
}

/** @param renamed the new names of columns by their old names */
function findCopiedColumns(wanted: TableDefinition, old: TableDefinition, renamed: ReadonlyMap<string, string>) {
  const sources = new NameMap([...renamed].map(([from, to]) => [to, from]));
  return wanted.columns.flatMap(column => {
    const source = findColumn(old, sources.get(column.name) ?? column.name);
    if (!source) return [];
    const value = doubleQuote(source.name);
    const cast = source.type === column.type ? value : printTypeCast(value, source.type, column.type);
    return [{ column, source, from: source.name, to: column.name, cast }];
  });
}

type CopiedColumns = ReturnType<typeof findCopiedColumns>;

const findConversions = (table: string, copied: CopiedColumns): Conversion[] =>
  copied
    .filter(({ column, source }) => column.type !== source.type)
    .map(({ column, source }) => ({ table, column: source.name, from: source.type, to: column.type }));

/** With `--drop-old`, drops the old tables that this plan or an earlier one has kept after a rebuild, unless A has them. */
export function dropOldTables(draft: Draft): void {
  const { engine, context } = draft;
  const { a, dropOld, renames, tablesToRebuild } = context;
  for (const { name, table, hash } of dropOld ? findRebuildTables(engine, 'old') : []) {
    const [wanted, old, rebuilt] = [a.definitionOf(table), engine.definitionOf(name), engine.definitionOf(table)];
    if (!tablesToRebuild.has(table) || a.findObject(name)) continue;
    if (wanted?.kind !== 'table' || old?.kind !== 'table' || rebuilt?.kind !== 'table') continue;
    if (!isRebuildHash(hash, wanted, old, engine)) continue; // A has changed since the rebuild
    const copied = findCopiedColumns(rebuilt, old, renames.columnRenamesOf(table));
    // If this plan made the rebuild, it has recorded the conversions. If B has the old table, an earlier plan made it, so record them here.
    const conversions = context.engineOfB.find(name) ? findConversions(name, copied) : [];
    const unchanged = conversions.flatMap(each => draft.recordConversion(each));
    const allCopied = allCopiedAssertion({ from: name, to: table, columns: toComparable(copied) });
    dropCopiedTable(name, copied, [...unchanged, allCopied], draft);
  }
}

const toComparable = (copied: CopiedColumns) =>
  copied.map(each => (isArray(each.column.type) ? { ...each, cast: printArrayText(each.from) } : each));

/** Drops a table after assertions that another table has all its rows. If the server cannot compare a column, the DROP is left out. */
function dropCopiedTable(name: string, copied: CopiedColumns, assertions: readonly Assertion[], draft: Draft) {
  const drop = printDrop({ kind: 'table', name });
  const change = toStatementChange(drop, { kind: 'table', name });
  const incomparable = copied.find(({ column: { type } }) => type === 'BINARY');
  if (incomparable) {
    const why = `the server cannot compare column '${incomparable.from}' with its copy`;
    draft.omit(change, why, 'compare the rows, then drop it yourself');
  } else draft.add(change, [allAppliedAssertion(name), ...assertions, noPartitionAssertion(name, 'detached'), drop]);
}

/**
 * Continues rebuilds in which an earlier plan was interrupted:
 * - Before the first RENAME: if this plan makes the same rebuild, the new table is dropped, and the rebuild starts again.
 * - Between the two RENAMEs: the second RENAME follows. But the rebuild is left out if this plan does not make the same rebuild
 *   (`tablesBetweenRenames`), or if a writer has taken the original name meanwhile by creating a table.
 */
export function resumeRebuilds(draft: Draft): void {
  const { engine, context } = draft;
  for (const { name: newName, table, hash } of findRebuildTables(engine, 'new')) {
    const { keptName } = createRebuildNames(table, hash);
    const hasExchangeBegun = engine.find(keptName) !== undefined;
    if (context.tablesBetweenRenames.has(table) && !engine.find(table))
      omitBetweenRenames(table, newName, keptName, draft);
    if (!context.leftovers.has(newName)) continue;
    if (!hasExchangeBegun) dropNewTable(table, newName, draft);
    else if (engine.find(table)) {
      draft.omit(
        describeChange({ kind: 'table', name: table }, `rebuild of table '${table}'`),
        `a writer created '${table}' while an earlier rebuild exchanged the names; the old rows are in '${keptName}'`,
        `stop the writers, rename '${table}', and plan again to complete that rebuild`,
        'then copy the rows of the renamed table',
      );
      draft.blocked.add(table);
    } else {
      const { name } = context.a.findObject(table) ?? { name: table };
      draft.addStatement(printTableRename(newName, name), { kind: 'table', name: newName });
    }
  }
}

function dropNewTable(table: string, newName: string, draft: Draft): void {
  const [leftover, original] = [newName, table].map(each => draft.engine.definitionOf(each));
  if (leftover?.kind !== 'table' || original?.kind !== 'table') return;
  const copied = findCopiedColumns(leftover, original, draft.context.renames.columnRenamesOf(table));
  const added = leftover.columns.filter(column => !copied.some(({ to }) => isSameName(to, column.name)));
  const unwritten = added.map(column => emptyAssertion(newName, printValueCondition(column)));
  const noneAdded = noneAddedAssertion({ from: original.name, to: newName, columns: toComparable(copied) });
  dropCopiedTable(leftover.name, copied, [noneAdded, ...unwritten], draft);
}

/** Leaves out a table. Otherwise the plan would create an empty table, whose name the interrupted rebuild needs for its new table. */
function omitBetweenRenames(table: string, newName: string, keptName: string, draft: Draft): void {
  const { a, engineOfB } = draft.context;
  const canRebuildFinish = findInterruptedRebuilds(a, engineOfB, new NameSet([table])).leftovers.has(newName);
  draft.omit(
    describeChange({ kind: 'table', name: table }),
    `an earlier rebuild was interrupted between its two renames; the rows are in '${keptName}' and '${newName}'`,
    canRebuildFinish
      ? `--rebuild ${formatPathForShell(formatPath({ object: table }))} finishes that rebuild`
      : `send ${printTableRename(keptName, table)} and plan again`,
  );
  draft.blocked.add(table);
}
