/*!
 * Finishes rebuilds: with `--drop-old`, drops the old tables; continues the rebuilds in which an earlier plan was interrupted.
 * `rebuild.ts` shows the statements of a rebuild.
 */
import { isArray, type TableDefinition } from '@sqlpipe/ddl';
import { isSameName, NameSet } from '@sqlpipe/sql';
import { createRebuildNames, findLeftovers, findRebuildTables, isRebuildHash } from '../auxiliary/rebuild-names.js';
import { formatPath, formatPathForShell } from '../losses/object-path.js';
import { describeChange } from '../losses/omission.js';
import {
  type Assertion,
  allAppliedAssertion,
  allCopiedAssertion,
  emptyAssertion,
  noneAddedAssertion,
  noPartitionAssertion,
  printValueCondition,
} from '../queries/assertions.js';
import { printArrayText } from '../queries/copies.js';
import { printDrop, printTableRename } from '../statements.js';
import { recordConversion } from './alter-table.js';
import { changeByStatement, type Draft } from './draft.js';
import { type CopiedColumns, findConversions, findCopiedColumns } from './rebuild.js';

/**
 * With `--drop-old`, drops the old table `t_before_…` of each table `t` in `--rebuild`. An earlier plan may have left this old table. If
 * A has the old table, it is kept.
 */
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
    const unchanged = conversions.flatMap(each => recordConversion(each, draft));
    const allCopied = allCopiedAssertion({ from: name, to: table, columns: toComparable(copied) });
    dropCopiedTable(old, copied, [...unchanged, allCopied], draft);
  }
}

const toComparable = (copied: CopiedColumns) =>
  copied.map(each => (isArray(each.column.type) ? { ...each, cast: printArrayText(each.from) } : each));

/** Drops a table after assertions that another table has all its rows. If the server cannot compare a column, the DROP is left out. */
function dropCopiedTable(
  { kind, name }: TableDefinition,
  copied: CopiedColumns,
  assertions: readonly Assertion[],
  draft: Draft,
): void {
  const drop = printDrop({ kind, name });
  const change = changeByStatement(drop, { kind, name });
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
      omitBetweenRenames({ table, newName, keptName }, draft);
    if (!context.leftovers.has(newName)) continue;
    if (!hasExchangeBegun) dropNewTable(table, newName, draft);
    else if (engine.find(table)) omitTableOfWriter(table, keptName, draft);
    else {
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
  dropCopiedTable(leftover, copied, [noneAdded, ...unwritten], draft);
}

/** Leaves out a rebuild, because a writer has created a table with the original name between the two RENAMEs. */
function omitTableOfWriter(table: string, keptName: string, draft: Draft): void {
  draft.omit(
    describeChange({ kind: 'table', name: table }, `rebuild of table '${table}'`),
    `a writer created '${table}' while an earlier rebuild exchanged the names; the old rows are in '${keptName}'`,
    `stop the writers, rename '${table}', and plan again to complete that rebuild`,
    'then copy the rows of the renamed table',
  );
  draft.block(table);
}

/** Leaves out a table. Otherwise the plan would create an empty table, whose name the interrupted rebuild needs for its new table. */
function omitBetweenRenames(
  { table, newName, keptName }: Readonly<Record<'table' | 'newName' | 'keptName', string>>,
  draft: Draft,
) {
  const { a, engineOfB } = draft.context;
  const canRebuildFinish = findLeftovers(a, engineOfB, new NameSet([table])).has(newName);
  draft.omit(
    describeChange({ kind: 'table', name: table }),
    `an earlier rebuild was interrupted between its two renames; the rows are in '${keptName}' and '${newName}'`,
    canRebuildFinish
      ? `--rebuild ${formatPathForShell(formatPath({ object: table }))} finishes that rebuild`
      : `send ${printTableRename(keptName, table)} and plan again`,
  );
  draft.block(table);
}
