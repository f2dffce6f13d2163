/*! Finds the ALTER statements that turn the columns of a table into those of another one, if possible. Each is tried after the previous ones. */
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

/** A table that is altered. `current` returns it after the previous alterations; `attempt` makes one, if rows and losses allow it. */
const targetOf = (name: string, task: Task, draft: Draft) => {
  const current = () => draft.definitionOf(name) as TableDefinition;
  return {
    current,
    attempt: (alteration: Alteration, ...properties: string[]): boolean =>
      alterRows(current(), alteration, properties, task, draft),
  };
};

type TableTarget = ReturnType<typeof targetOf>;

/** Alters the columns of a table until they are the wanted ones, except for those to be dropped, or nothing more can be altered. */
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

/** Drops the columns that the wanted table does not have, but for those that should have been renamed. */
export function dropColumns(wanted: TableDefinition, task: Task, draft: Draft): void {
  const target = targetOf(wanted.name, task, draft);
  const renamed = [...task.requests.renames.columnsOf(wanted.name).keys()];
  for (const { name } of target.current().columns) {
    const isTimestamp = isSameName(name, target.current().timestamp ?? '');
    const isKept = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isTimestamp && !isKept)
      target.attempt({ change: 'drop column', column: name }, columnProperty(name), 'dedup keys');
  }
}

/** A column as every server adds it: another index than BITMAP, and Parquet settings, need an ALTER of their own. */
function toAdded({ index, parquet: _, ...column }: Column): Column {
  return { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
}

/** Renames columns. @returns the old and new names of renames that were not made: these columns must not be changed */
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

/** Alters a column, if it is there, until it is the wanted one in some properties. */
function alterColumn(wanted: Column, properties: typeof COLUMN_OPTIONS, target: TableTarget): void {
  const column = findColumn(target.current(), wanted.name);
  if (!column) return;
  for (const { name, alter } of properties)
    for (const alteration of alter.find(wanted, column)) target.attempt(alteration, columnProperty(wanted.name, name));
}
