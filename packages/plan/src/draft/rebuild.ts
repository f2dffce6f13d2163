/*!
 * Rebuilds the tables that `--rebuild` names. (A is the wanted schema, B that of the target.) A rebuild of `t`, without its assertions:
 *     CREATE TABLE 't_new_1a2b3c4d' …;
 *     INSERT INTO 't_new_1a2b3c4d' … SELECT … FROM 't';
 *     RENAME TABLE 't' TO 't_before_1a2b3c4d';    -- the old table, which is kept, as QuestDB's documentation recommends
 *     RENAME TABLE 't_new_1a2b3c4d' TO 't';
 * With `--drop-old`, the plan drops the old table at its end.
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
  keepExpiry,
  keepProperties,
  type PropertyName,
  printDefinition,
  printTypeCast,
  retentionAgeOf,
  type TableDefinition,
  withoutExpiry,
} from '@sqlpipe/ddl';
import { type CatalogueObject, type Conversion, findCopyLosses } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { displayName, isSameName, NameMap, quoteLiteral } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import { createRebuildNames, findUnusedHash } from '../auxiliary/rebuild-names.js';
import { keepsProperty } from '../context/kept-of-b.js';
import type { Schemas } from '../context/plan-context.js';
import { expiredRowsOf } from '../losses/losses.js';
import { describeChange, type Omission } from '../losses/omission.js';
import {
  type Assertion,
  allAppliedAssertion,
  asManyRowsAssertion,
  type CountingAssertion,
  formatOverwriting,
  noneExpireAssertion,
  noneNullAssertion,
} from '../queries/assertions.js';
import { printDuplicatesQuestion } from '../queries/copies.js';
import { printTableRename } from '../statements.js';
import { changesTimestamp } from '../views/query-after-plan.js';
import { findMisfitObstacle, recordConversion } from './alter-table.js';
import type { Draft } from './draft.js';

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
  if (reasons.length > 0) return draft.omissions.add({ ...change, reasons, losses, hints: [] });
  const unchanged = conversions.flatMap(each => recordConversion(each, draft));
  draft.add(change, printRebuild(rebuild, keptName, [...unchanged, ...copyableAssertions(rebuild, context)]));
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
function chooseRetention(
  entry: Entry,
  wanted: TableDefinition,
  old: TableDefinition,
  draft: Draft,
): Pick<Rebuild, 'final' | 'created'> {
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
  const hadTheseKeys =
    old.columns.some(({ dedup }) => dedup) &&
    !findCopyLosses(old, final, copied).some(({ lossKind }) => lossKind === 'keys');
  const overwritten =
    keys.length === 0 || hadTheseKeys ? 0 : answers.askCount(printDuplicatesQuestion(rebuildInB.old.name, keys));
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
  return engine.catalogue.dependentsOf(name).filter(view => {
    const wanted = context.a.definitionOf(view.name);
    const isKept =
      !wanted || !compareDefinitions(wanted, view).differences.some(({ property }) => property === 'query');
    return view.kind === 'materialized view' && isSameName(view.base, name) && isKept;
  });
}

/** Asserts that the new table can hold all rows: none has NULL in the new designated timestamp, and none is older than the retention. */
function copyableAssertions({ old, final, created, copied }: Rebuild, schemas: Schemas): CountingAssertion[] {
  const { name } = old;
  /** The old name of the column that becomes the designated timestamp. Undefined if the new table has none, or does not copy it. */
  const time = copied.find(({ to }) => isSameName(to, final.timestamp))?.from;
  return [
    ...(time !== undefined && changesTimestamp(old, final, schemas) ? [noneNullAssertion(name, time)] : []),
    ...(retentionAgeOf(created) === 0 ? [] : [noneExpireAssertion({ ...created, name, timestamp: time })]),
  ];
}

/** @param renamed the new names of columns by their old names */
export const findCopiedColumns = (
  newTable: TableDefinition,
  oldTable: TableDefinition,
  renamed: ReadonlyMap<string, string>,
) => {
  const sources = new NameMap([...renamed].map(([from, to]) => [to, from]));
  return newTable.columns.flatMap(column => {
    const from = sources.get(column.name) ?? column.name;
    const source = findColumn(oldTable, from);
    if (!source) return [];
    const value = doubleQuote(source.name);
    const cast = source.type === column.type ? value : printTypeCast(value, source.type, column.type);
    return [{ column, source, from: source.name, to: column.name, cast }];
  });
};

export type CopiedColumns = ReturnType<typeof findCopiedColumns>;

export const findConversions = (table: string, copied: CopiedColumns): Conversion[] =>
  copied
    .filter(({ column, source }) => column.type !== source.type)
    .map(({ column, source }) => ({ table, column: source.name, from: source.type, to: column.type }));

function printRebuild(
  { created, final, old, copied }: Rebuild,
  keptName: string,
  beforeCopy: readonly Assertion[],
): readonly (string | Assertion)[] {
  const { name: newName } = created;
  const columns = copied.map(({ to }) => doubleQuote(to)).join(', ');
  const values = copied.map(({ cast }) => cast).join(', ');
  return [
    allAppliedAssertion(old.name), // the copy would lack rows that the server has not applied yet
    ...beforeCopy,
    printDefinition(created, EXPLICIT),
    `INSERT INTO ${quoteLiteral(newName)} (${columns}) SELECT ${values} FROM ${quoteLiteral(old.name)};`,
    // `copy` names the copied columns for the proof (prove.ts). If the old table is dropped, its other columns count as lost.
    { ...asManyRowsAssertion(old.name, newName), copy: { from: old.name, to: newName, columns: copied } },
    printTableRename(old.name, keptName),
    printTableRename(newName, final.name), // in the case of A
  ];
}
