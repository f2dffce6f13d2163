/*! Drafts the ALTER statements that turn the columns of a table into those of A. Each is tried on the result of those before it. */
import {
  type Alteration,
  COLUMN_OPTIONS,
  COLUMN_ORDER,
  COLUMN_TYPE,
  type Column,
  columnProperty,
  findColumn,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import type { Task } from './task.js';
import { alterRows } from './values.js';

/** A table that is altered. `current` is its definition so far. `attempt` alters it, unless its rows or the proof forbid that. */
const targetOf = (name: string, task: Task, draft: Draft) => {
  const current = () => draft.definitionOf(name) as TableDefinition;
  return {
    current,
    attempt: (alteration: Alteration, ...properties: string[]): boolean =>
      alterRows(current(), alteration, properties, task, draft),
  };
};

type TableTarget = ReturnType<typeof targetOf>;

/** Alters the columns of a table as far as possible: renames, types, new columns, then options. `dropColumns` drops the others. */
export function alterColumns(wanted: TableDefinition, task: Task, draft: Draft): void {
  const target = targetOf(wanted.name, task, draft);
  const unrenamed = renameColumns(task.requests.renames.columnsOf(wanted.name), target);
  for (const column of wanted.columns)
    if (!isSameName(column.name, target.current().timestamp)) alterColumn(column, [COLUMN_TYPE], target);
  for (const column of wanted.columns)
    if (!findColumn(target.current(), column.name) && !unrenamed.has(foldCase(column.name)))
      target.attempt({ change: 'add column', column: toAdded(column) }, columnProperty(column.name));
  for (const column of wanted.columns)
    if (findColumn(target.current(), column.name)?.type === column.type) alterColumn(column, COLUMN_OPTIONS, target);
}

/** Drops the columns that the wanted table lacks. A column whose rename was left out stays, because it holds the values. */
export function dropColumns(wanted: TableDefinition, task: Task, draft: Draft): void {
  const target = targetOf(wanted.name, task, draft);
  const renamed = [...task.requests.renames.columnsOf(wanted.name).keys()];
  for (const { name } of target.current().columns) {
    const isTimestamp = isSameName(name, target.current().timestamp ?? '');
    const isUnrenamed = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isTimestamp && !isUnrenamed)
      target.attempt({ change: 'drop column', column: name }, columnProperty(name), 'dedup keys');
  }
}

/** A column in the form in which every server adds it. Parquet settings, and an index that is not BITMAP, need another ALTER. */
function toAdded({ index, parquet: _, ...column }: Column): Column {
  return { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
}

/** Renames columns. @returns the old and new names of renames that were left out: these columns must not be added */
function renameColumns(renamed: ReadonlyMap<string, string>, target: TableTarget): Set<string> {
  const unrenamed = new Set<string>();
  for (const [column, to] of renamed) {
    const ofTimestamp = isSameName(column, target.current().timestamp ?? '') ? ['designated timestamp'] : [];
    const properties = [columnProperty(column), columnProperty(to), ...ofTimestamp, 'dedup keys', COLUMN_ORDER];
    if (!findColumn(target.current(), column) || findColumn(target.current(), to)) continue;
    if (target.attempt({ change: 'rename column', column, to }, ...properties)) continue;
    for (const name of [column, to]) unrenamed.add(foldCase(name));
  }
  return unrenamed;
}

/** Alters some properties of a column, if the table has it. */
function alterColumn(wanted: Column, properties: typeof COLUMN_OPTIONS, target: TableTarget): void {
  const column = findColumn(target.current(), wanted.name);
  if (!column) return;
  for (const { name, alter } of properties)
    for (const alteration of alter.find(wanted, column)) target.attempt(alteration, columnProperty(wanted.name, name));
}
