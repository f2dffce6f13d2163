/*! Rebuilds tables. The old table is kept, as QuestDB's documentation recommends. With `--drop-old`, it is dropped at the end. */
import {
  COLUMN_ORDER,
  canCast,
  compareDefinitions,
  doubleQuote,
  EXPLICIT,
  findColumn,
  findProperty,
  formatExpiredRows,
  isArray,
  keepProperties,
  keepRetention,
  type PropertyName,
  printDefinition,
  retentionAgeOf,
  type TableDefinition,
  UNLIMITED,
} from '@sqlpipe/ddl';
import { type CatalogueObject, type Conversion, type Effect, findCopyLosses } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { displayName, isSameName, NameMap, NameSet, quoteLiteral } from '@sqlpipe/sql';
import {
  createRebuildNames,
  findLeftovers,
  findRebuildTables,
  findUnusedHash,
  isRebuildHash,
} from '../auxiliary/rebuild-names.js';
import { expiredRowsOf, mayConcernColumn } from '../losses/losses.js';
import { formatPath, formatPathForShell } from '../losses/object-path.js';
import type { Omission } from '../losses/omission.js';
import {
  type Assertion,
  allAppliedAssertion,
  allCopiedAssertion,
  asManyRowsAssertion,
  emptyAssertion,
  noneAddedAssertion,
  noneExpireAssertion,
  noneNullAssertion,
  noPartitionAssertion,
  printValueCondition,
} from '../queries/assertions.js';
import { printCast } from '../queries/copies.js';
import { printDrop, printOnOneLine, printTableRename } from '../statements/statement-text.js';
import { conversionAssertions, whyMisfitsForbid } from './alter-table.js';
import { changeOf, type Draft } from './draft.js';

interface Rebuild {
  /** The table as the draft has it so far. Earlier steps may have renamed the table. */
  readonly now: TableDefinition;
  /** The table as A wants it. If `--ignore` excludes the retention, the retention is that of B. */
  readonly final: TableDefinition;
  /** The new table as CREATE TABLE makes it: with its temporary name, and perhaps with another retention than `final`. */
  readonly created: TableDefinition;
  readonly copied: CopiedColumns;
  readonly conversions: readonly Conversion[];
}

export function rebuildTable(entry: Entry, wanted: TableDefinition, draft: Draft): void {
  const { context, engine } = draft;
  const now = engine.definitionOf(entry.name) as TableDefinition;
  const change = changeOf(entry, `rebuild of table '${now.name}'`);
  const { newName, oldName } = createRebuildNames(now.name, findUnusedHash(wanted, now, engine));
  const copied = findCopiedColumns(wanted, now, context.renames.columnRenamesOf(entry.name));
  const conversions = findConversions(now.name, copied);
  const { final, created } = chooseRetention(entry, wanted, now, draft);
  const rebuild = { now, final, created: { ...created, name: newName }, copied, conversions };
  const { reasons, losses } = findObstacles(entry, rebuild, draft);
  if (reasons.length > 0) return draft.addOmission({ ...change, reasons, losses, hints: [] });
  const unchanged = conversions.flatMap(each => conversionAssertions(each, context));
  draft.add(change, printRebuild(rebuild, oldName, [...unchanged, ...copyableAssertions(rebuild)]));
}

/**
 * Chooses the retention of the new table. The first case that applies decides:
 * 1. If `--ignore` excludes the retention, the table has that of B, also at the end of the plan.
 * 2. If the loss of expired rows is allowed, the table is created without retention, because rows that expire during the copy would make
 *    the counts differ. Later, `alterRetention` sets the retention of A. In the other cases, assertions show that no row expires.
 * 3. If the retention of A expires more rows than that of B, and that of B fits the partitions of A, the table is created with that of B.
 * 4. Otherwise the table is created with the retention of A.
 */
function chooseRetention(
  entry: Entry,
  wanted: TableDefinition,
  now: TableDefinition,
  draft: Draft,
): Pick<Rebuild, 'final' | 'created'> {
  const isKept = (name: PropertyName) =>
    findProperty(name, 'table')?.alter?.expiresRows === true && draft.context.ignore.ignoresProperty(entry, name);
  const final = keepProperties(wanted, now, isKept);
  if (final !== wanted) return { final, created: final };
  const limited = keepRetention(wanted, now) ?? wanted;
  const unlimited = { ...limited, ...UNLIMITED, policy: undefined };
  const expiresRows = formatExpiredRows(unlimited, limited) !== undefined;
  const isSetLater = expiresRows && draft.acceptLoss(expiredRowsOf(now.name));
  return { final, created: isSetLater ? unlimited : limited };
}

function findObstacles(entry: Entry, rebuild: Rebuild, draft: Draft): Pick<Omission, 'reasons' | 'losses'> {
  const { now, final, copied, conversions } = rebuild;
  const { context } = draft;
  const { answers, ignore, renames } = context;
  // A rebuild keeps an ignored retention: `final` has that of B. An ignored order may be any. Other ignored properties cannot be kept.
  const ignored = compareDefinitions(final, now).differences.filter(
    ({ property }) => property !== COLUMN_ORDER && ignore.ignoresProperty(entry, property),
  );
  const rebuildInB = { ...rebuild, now: { ...now, name: renames.nameBeforePlan(now.name) } };
  const unmet = copyableAssertions(rebuildInB).flatMap(({ questions: [question = ''] = [], formatReason, loss }) => {
    const count = answers.countOrQueue(question);
    return count ? [{ reason: formatReason([[count]]), loss }] : [];
  });
  // The old table keeps all rows and values. But later rows go to the new table, so fewer dedup keys or a shorter retention affect these.
  const copyLosses = findCopyLosses(now, final, copied);
  const losses = [...copyLosses, ...unmet]
    .flatMap(({ loss }) => (loss === undefined || mayConcernColumn(loss) ? [] : [{ loss, object: now.name }]))
    .filter(named => !draft.acceptLoss(named));
  const isForbidden = ({ loss }: Effect) => losses.some(each => each.loss === loss);
  const reasons = [
    ...ignored.map(({ property }) => `--ignore excludes ${property}, but a rebuild cannot keep it as it is in B`),
    ...conversions.flatMap(({ column, from, to }) =>
      canCast(from, to) ? [] : [`the server cannot cast column '${column}': ${from} to ${to}`],
    ),
    ...conversions.flatMap(each => whyMisfitsForbid(each, context)?.[0] ?? []),
    ...unmet.map(({ reason }) => reason),
    ...findUnrefreshableViews(rebuild, draft).map(
      view => `${displayName(view)} could not be refreshed over another designated timestamp; drop it first`,
    ),
    ...copyLosses.filter(isForbidden).map(({ text }) => `the new table ${text}`),
  ];
  return { reasons, losses };
}

/** Finds the views that a server cannot refresh after the rebuild, except those with another query in A: the plan recreates these. */
function findUnrefreshableViews(rebuild: Rebuild, { engine, context }: Draft): CatalogueObject[] {
  // A materialized view cannot be refreshed once its base has another designated timestamp (observed on 9.3.4).
  if (!changesTimestamp(rebuild)) return [];
  const { name } = rebuild.now;
  return engine.catalogue.dependentsOf(name).filter(view => {
    const wanted = context.a.definitionOf(view.name);
    const isKept =
      !wanted || !compareDefinitions(wanted, view).differences.some(({ property }) => property === 'query');
    return view.kind === 'materialized view' && isSameName(view.base, name) && isKept;
  });
}

/** The old name of the column that becomes the designated timestamp. Undefined if the new table has none, or does not copy it. */
const findFormerTimestamp = ({ created, copied }: Rebuild): string | undefined =>
  copied.find(({ to }) => isSameName(to, created.timestamp))?.from;

/** Whether the table gets another designated timestamp, or loses it. */
function changesTimestamp(rebuild: Rebuild): boolean {
  const [time, former] = [findFormerTimestamp(rebuild), rebuild.now.timestamp];
  return time !== former && !isSameName(time, former);
}

/** Assertions that the new table can hold all rows: no row has NULL in a new designated timestamp, or is older than the retention. */
function copyableAssertions(rebuild: Rebuild): Assertion[] {
  const { name } = rebuild.now;
  const { created } = rebuild;
  const time = findFormerTimestamp(rebuild);
  return [
    ...(time === undefined || !changesTimestamp(rebuild) ? [] : [noneNullAssertion(name, time)]),
    ...(retentionAgeOf(created) === 0 ? [] : [noneExpireAssertion({ ...created, name, timestamp: time })]),
  ];
}

/** @param renamed the new names of columns by their old names */
const findCopiedColumns = (
  newTable: TableDefinition,
  oldTable: TableDefinition,
  renamed: ReadonlyMap<string, string>,
) => {
  const sources = new NameMap([...renamed].map(([from, to]) => [to, from]));
  return newTable.columns.flatMap(column => {
    const from = sources.get(column.name) ?? column.name;
    const source = findColumn(oldTable, from);
    return source ? [{ column, source, from: source.name, to: column.name, cast: printCast(source, column) }] : [];
  });
};

type CopiedColumns = ReturnType<typeof findCopiedColumns>;

const findConversions = (table: string, copied: CopiedColumns): Conversion[] =>
  copied
    .filter(({ column, source }) => column.type !== source.type)
    .map(({ column, source }) => ({ table, column: source.name, from: source.type, to: column.type }));

/** @param required assertions about the rows, which precede the copy */
function printRebuild(
  { created, now, copied }: Rebuild,
  oldName: string,
  required: readonly Assertion[],
): readonly (string | Assertion)[] {
  const { name: newName } = created;
  const columns = copied.map(({ to }) => doubleQuote(to)).join(', ');
  const values = copied.map(({ cast }) => cast).join(', ');
  return [
    allAppliedAssertion(now.name), // the copy would lack rows that the server has not applied yet
    ...required,
    printDefinition(created, EXPLICIT),
    `INSERT INTO ${quoteLiteral(newName)} (${columns}) SELECT ${values} FROM ${quoteLiteral(now.name)};`,
    // `copy` tells the proof which columns were copied. Any other column counts as lost.
    { ...asManyRowsAssertion(now.name, newName), copy: { from: now.name, to: newName, columns: copied } },
    printTableRename(now.name, oldName),
    printTableRename(newName, now.name),
  ];
}

/** With `--drop-old`, drops the old tables of rebuilds of tables in `--rebuild`, also by earlier plans, unless A has the old table. */
export function dropOldTables(draft: Draft): void {
  const { engine, context } = draft;
  const { a, dropOld, renames, toRebuild } = context;
  for (const { name, table, hash } of dropOld ? findRebuildTables(engine, 'old') : []) {
    const [wanted, old, now] = [a.definitionOf(table), engine.definitionOf(name), engine.definitionOf(table)];
    if (!toRebuild.has(table) || a.findObject(name)) continue;
    if (wanted?.kind !== 'table' || old?.kind !== 'table' || now?.kind !== 'table') continue;
    if (!isRebuildHash(hash, wanted, old, engine)) continue; // A has changed since the rebuild
    const copied = findCopiedColumns(now, old, renames.columnRenamesOf(table));
    // If this plan makes the rebuild, its assertions about the conversions already precede the copy.
    const conversions = context.engineOfB.find(name) ? findConversions(name, copied) : [];
    const unchanged = conversions.flatMap(each => conversionAssertions(each, context));
    const allCopied = allCopiedAssertion({ from: name, to: table, columns: copied });
    dropIfRowsAreIn(old, copied, [...unchanged, allCopied], draft);
  }
}

/** Drops a table after assertions that another table has all of its rows. If the server cannot compare a column, the DROP is left out. */
function dropIfRowsAreIn(
  { kind, name }: TableDefinition,
  copied: CopiedColumns,
  assertions: readonly Assertion[],
  draft: Draft,
): void {
  const drop = printDrop({ kind, name });
  const change = changeOf({ kind, name }, printOnOneLine(drop));
  const incomparable = copied.find(({ column: { type } }) => type === 'BINARY' || isArray(type));
  if (incomparable) {
    const why = `the server cannot compare column '${incomparable.from}' with its copy`;
    draft.omit(change, why, 'compare the rows, then drop it yourself');
  } else draft.add(change, [allAppliedAssertion(name), ...assertions, noPartitionAssertion(name, 'detached'), drop]);
}

/**
 * Continues interrupted rebuilds. If the earlier plan stopped
 * - before its first RENAME, the new table is dropped after assertions that the original has these rows. The rebuild starts again;
 * - between its two RENAMEs, the new table gets the name of the original. If this plan does not finish the rebuild (`halfExchanged`), or a
 *   writer has created a table of that name, the table is left out.
 */
export function resumeRebuilds(draft: Draft): void {
  const { engine, context } = draft;
  for (const { name: newName, table, hash } of findRebuildTables(engine, 'new')) {
    const { oldName } = createRebuildNames(table, hash);
    const hasExchangeBegun = engine.find(oldName) !== undefined;
    if (context.halfExchanged.has(table) && !engine.find(table)) omitHalfExchanged({ table, newName, oldName }, draft);
    if (!context.leftovers.has(newName)) continue;
    if (!hasExchangeBegun) dropNewTable(table, newName, draft);
    else if (engine.find(table)) omitOverwritten(table, oldName, draft);
    else draft.addStatement(printTableRename(newName, table), { kind: 'table', name: newName });
  }
}

/** Drops the new table of a rebuild that stopped before its first RENAME, after assertions that the original has its rows. */
function dropNewTable(table: string, newName: string, draft: Draft): void {
  const [leftover, now] = [newName, table].map(each => draft.engine.definitionOf(each));
  if (leftover?.kind !== 'table' || now?.kind !== 'table') return;
  const copied = findCopiedColumns(leftover, now, draft.context.renames.columnRenamesOf(table));
  const added = leftover.columns.filter(column => !copied.some(({ to }) => isSameName(to, column.name)));
  const unwritten = added.map(column => emptyAssertion(newName, printValueCondition(column)));
  const noneAdded = noneAddedAssertion({ from: now.name, to: newName, columns: copied });
  dropIfRowsAreIn(leftover, copied, [noneAdded, ...unwritten], draft);
}

/** Leaves out a table that a writer has created while a rebuild exchanged the names. */
function omitOverwritten(table: string, oldName: string, draft: Draft): void {
  draft.omit(
    changeOf({ kind: 'table', name: table }, `rebuild of table '${table}'`),
    `a writer created '${table}' while an earlier rebuild exchanged the names; the old rows are in '${oldName}'`,
    `stop the writers, rename '${table}', and plan again to complete that rebuild`,
    'then copy the rows of the renamed table',
  );
  draft.block(table);
}

/** Leaves out a half-exchanged table. An empty table of this name would hide where the rows are, and keep `--rebuild` from finishing. */
function omitHalfExchanged(
  { table, newName, oldName }: Readonly<Record<'table' | 'newName' | 'oldName', string>>,
  draft: Draft,
) {
  const { a, engineOfB } = draft.context;
  const canRebuildFinish = findLeftovers(a, engineOfB, new NameSet([table])).has(newName);
  draft.omit(
    changeOf({ kind: 'table', name: table }),
    `an earlier rebuild was interrupted between its two renames; the rows are in '${oldName}' and '${newName}'`,
    canRebuildFinish
      ? `--rebuild ${formatPathForShell(formatPath({ object: table }))} finishes that rebuild`
      : `send ${printTableRename(oldName, table)} and plan again`,
  );
  draft.block(table);
}
