/*! Recreates a table if no ALTER can change what differs. As documented by QuestDB, the old table is kept. */
import { createHash } from 'node:crypto';
import { canCast, EXPLICIT, findColumn, keepRetention, printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import { type Engine, retentionEffects } from '@sqlpipe/engine';
import { foldCase } from '@sqlpipe/sql';
import type { Draft, Refusal } from './draft.js';
import type { Loss } from './losses.js';
import { parseRebuildName, rebuildNames } from './rebuild-names.js';
import type { Requests } from './requests.js';
import type { Task } from './task.js';
import {
  printAppliedAssertion,
  printCast,
  printCopyAssertion,
  printFitAssertions,
  printPartitionAssertion,
  printRowCountAssertion,
} from './text/assertions.js';
import { describe, quoteColumn } from './text/statement-text.js';
import type { WantedSchema } from './wanted-schema.js';

/** The mark of the rebuild of a table. @param repeated how often the same rebuild was made before */
const markOf = (wanted: TableDefinition, now: TableDefinition, repeated: number): string =>
  createHash('sha256')
    .update(printDefinition(wanted))
    .update(printDefinition({ ...now, name: wanted.name }))
    .update(repeated === 0 ? '' : String(repeated))
    .digest('hex')
    .slice(0, 8);

/** The mark of a rebuild that was not made before: its old table would still have the name. */
function unusedMark(wanted: TableDefinition, now: TableDefinition, isTaken: (name: string) => boolean): string {
  for (let repeated = 0; ; repeated++) {
    const mark = markOf(wanted, now, repeated);
    if (!Object.values(rebuildNames(now.name, mark)).some(isTaken)) return mark;
  }
}

/** The columns that a rebuild copies. @param renamed the new names of columns by their old names */
const copiedColumns = (wanted: TableDefinition, now: TableDefinition, renamed: ReadonlyMap<string, string>) => {
  const sources = new Map([...renamed].map(([from, to]) => [foldCase(to), from]));
  return wanted.columns.flatMap(column => {
    const from = sources.get(foldCase(column.name)) ?? column.name;
    const source = findColumn(now, from);
    return source ? [{ column, source }] : [];
  });
};

/**
 * Creates a new table under a temporary name, copies the rows, and exchanges the names if both tables have as many. The plan
 * waits for rows that were sent and are not applied yet: they would be missing in the copy.
 * @param renamed the new names of columns by their old names
 * @param isTaken whether there is an object of a name
 */
export function rebuildTable(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
  isTaken: (name: string) => boolean,
): readonly string[] {
  const { newName, oldName } = rebuildNames(now.name, unusedMark(wanted, now, isTaken));
  const copied = copiedColumns(wanted, now, renamed);
  const targets = copied.map(({ column }) => quoteColumn(column.name)).join(', ');
  const values = copied.map(({ column, source }) => printCast(source, column)).join(', ');
  return [
    printAppliedAssertion(now.name),
    ...copied.flatMap(({ column, source }) => printFitAssertions(now.name, source, column.type)),
    // Rows that expire while they are copied would be missing in the comparison; a shorter time is set later.
    printDefinition({ ...(keepRetention(wanted, now) ?? wanted), name: newName }, EXPLICIT),
    `INSERT INTO '${newName}' (${targets}) SELECT ${values} FROM '${now.name}';`,
    printRowCountAssertion(now.name, newName),
    `RENAME TABLE '${now.name}' TO '${oldName}';`,
    `RENAME TABLE '${newName}' TO '${now.name}';`,
  ];
}

/** Whether a mark is that of the rebuild that turns a table into another one, made once or repeatedly. */
function isMarkOf(mark: string, wanted: TableDefinition, now: TableDefinition, b: Engine, repeated = 0): boolean {
  const own = markOf(wanted, now, repeated);
  if (own === mark) return true;
  return b.find(rebuildNames(wanted.name, own).oldName) !== undefined && isMarkOf(mark, wanted, now, b, repeated + 1);
}

/**
 * Drops the old tables of rebuilds, of this plan and of earlier ones, if the new tables have all of their rows. Rows that were sent
 * to an old table under its former name may still wait to be applied.
 */
export function dropOldTables({ a, dropOld, requests }: Task, draft: Draft): void {
  for (const { name } of dropOld ? [...draft.engine.objects()] : []) {
    const { table = '', role, mark = '' } = parseRebuildName(name) ?? {};
    const [wanted, old, now] = [a.definitionOf(table), draft.definitionOf(name), draft.definitionOf(table)];
    if (role !== 'before' || !requests.isToRebuild(table) || a.findObject(name)) continue;
    if (wanted?.kind !== 'table' || old?.kind !== 'table' || now?.kind !== 'table') continue;
    if (!isMarkOf(mark, wanted, old, draft.engine)) continue;
    const copied = copiedColumns(now, old, requests.renames.columnsOf(table));
    const drop = `DROP TABLE '${name}';`;
    const change = { identity: { kind: 'table', name, verb: 'DROP' }, properties: [], what: describe(drop) } as const;
    const ungrouped = copied.find(({ column: { type } }) => type === 'BINARY' || type.endsWith('[]'));
    if (ungrouped) {
      const why = `the server cannot compare its column '${ungrouped.source.name}' with that of '${table}'`;
      draft.omit(change, why, 'compare the rows, then send it yourself');
      continue;
    }
    const columns = copied.map(({ column, source }) => ({
      from: source.name,
      to: column.name,
      cast: printCast(source, column),
    }));
    const copy = printCopyAssertion({ from: name, to: table, columns });
    const steps = [printAppliedAssertion(name), copy, printPartitionAssertion(name, 'detached'), drop];
    draft.add(change, steps);
  }
}

/** Why a table cannot be copied: the server cannot cast a column. */
export function findUncastable(...[wanted, now, renamed]: Parameters<typeof copiedColumns>): string | undefined {
  const found = copiedColumns(wanted, now, renamed).find(({ column, source }) => !canCast(source.type, column.type));
  return found && `the server cannot cast column '${found.source.name}': ${found.source.type} to ${found.column.type}`;
}

/**
 * The new tables, in lower case, that earlier, interrupted rebuilds have left: those with the mark of the rebuild that would be
 * made now. Any other table with such a name may hold rows that are needed.
 */
export function findLeftovers(a: WantedSchema, b: Engine, requests: Requests): ReadonlySet<string> {
  const leftovers = new Set<string>();
  for (const { name } of b.objects()) {
    const { table = '', role, mark = '' } = parseRebuildName(name) ?? {};
    if (role !== 'new' || !requests.isToRebuild(table) || a.findObject(name)) continue;
    const wanted = a.definitionOf(table);
    const old = [table, rebuildNames(table, mark).oldName].map(each => b.definitionOf(each));
    const isOwn = wanted?.kind === 'table' && old.some(now => now?.kind === 'table' && isMarkOf(mark, wanted, now, b));
    if (isOwn) leftovers.add(foldCase(name));
  }
  return leftovers;
}

/** Why a table cannot be rebuilt: a writer has created it between the two renames of an earlier rebuild. */
function findUsurpation(table: string, leftovers: ReadonlySet<string>, b: Engine): Refusal | undefined {
  const newName = [...leftovers].find(name => foldCase(parseRebuildName(name)?.table ?? '') === foldCase(table));
  const oldName = rebuildNames(table, parseRebuildName(newName ?? '')?.mark ?? '').oldName;
  if (!newName || !b.find(oldName) || !b.find(table)) return undefined;
  return [
    `a writer created it while an earlier rebuild exchanged the names; the old rows are in '${oldName}'`,
    `stop the writers, rename '${table}', and plan again to complete that rebuild`,
    'then copy the rows of the renamed table',
  ];
}

/** Whether a rebuild has made a table of this name. An old table that it kept is not a difference. */
export function isPartOfRebuild(name: string, { a, leftovers, requests }: Task): boolean {
  const { table, role } = parseRebuildName(name) ?? {};
  if (leftovers.has(foldCase(name))) return true;
  return table !== undefined && role === 'before' && requests.isToRebuild(table) && !a.findObject(name);
}

/**
 * Completes interrupted rebuilds. If a rebuild ended between its two renames, the new table was checked and is renamed.
 * Otherwise it may be incomplete, and is dropped.
 */
export function resumeRebuilds({ leftovers }: Task, draft: Draft): void {
  for (const { name } of [...draft.engine.objects()].filter(each => leftovers.has(foldCase(each.name)))) {
    const { table = '', mark = '' } = parseRebuildName(name) ?? {};
    const hasExchangeBegun = draft.engine.find(rebuildNames(table, mark).oldName) !== undefined;
    const isExchanged = hasExchangeBegun && !draft.engine.find(table);
    const usurpation = findUsurpation(table, leftovers, draft.engine);
    if (usurpation !== undefined) {
      draft.omit(
        { identity: { kind: 'table', name: table, verb: '' }, properties: [], what: `rebuild of table '${table}'` },
        ...usurpation,
      );
      draft.block(table);
      continue;
    }
    const statement = isExchanged ? `RENAME TABLE '${name}' TO '${table}';` : `DROP TABLE '${name}';`;
    draft.addStatement(statement, { kind: 'table', name, verb: '' });
  }
}

/** What a rebuild loses although the old table is kept: the new table does not keep it, or not for as long. */
export function findRebuildLosses(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
): Loss[] {
  const object = now.name;
  const copied = copiedColumns(wanted, now, renamed);
  const losesKeys = now.columns.some(
    key => key.dedup && !copied.some(({ column, source }) => source === key && column.dedup),
  );
  return [
    ...retentionEffects(now, wanted).flatMap(({ loss }) => (loss ? [{ loss, object }] : [])),
    ...(losesKeys ? [{ loss: 'keys', object } as const] : []),
  ];
}
