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

/** The table that is altered. */
export interface TableTarget {
  /** Returns the table after the previous alterations. */
  current(): TableDefinition;
  /**
   * Makes an alteration, unless it causes a loss that is not allowed.
   * @param properties what differs if it is not made
   */
  attempt(alteration: Alteration, ...properties: string[]): boolean;
}

/**
 * Alters columns until they are the wanted ones, except for those to be dropped, or nothing more can be altered.
 * @param renamed the new names of columns by their old names
 */
export function alterColumns(wanted: TableDefinition, renamed: ReadonlyMap<string, string>, target: TableTarget): void {
  const kept = renameColumns(renamed, target);
  for (const column of wanted.columns)
    if (!isSameName(column.name, target.current().timestamp)) alterColumn(column, [COLUMN_TYPE], target);
  for (const column of wanted.columns)
    if (!findColumn(target.current(), column.name) && !kept.has(foldCase(column.name)))
      target.attempt({ change: 'add column', column: toAdded(column) }, columnProperty(column.name));
  for (const column of wanted.columns)
    if (findColumn(target.current(), column.name)?.type === column.type) alterColumn(column, COLUMN_OPTIONS, target);
}

/** Drops the columns that the wanted table does not have, but for those that should have been renamed. */
export function dropColumns(wanted: TableDefinition, renamed: ReadonlyMap<string, string>, target: TableTarget): void {
  for (const { name } of target.current().columns) {
    const isTimestamp = isSameName(name, target.current().timestamp ?? '');
    const isKept = [...renamed.keys()].some(from => isSameName(from, name));
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
  const kept = new Set<string>();
  for (const [column, to] of renamed) {
    const ofTimestamp = isSameName(column, target.current().timestamp ?? '') ? ['designated timestamp'] : [];
    const properties = [columnProperty(column), columnProperty(to), ...ofTimestamp, 'dedup keys', COLUMN_ORDER];
    if (!findColumn(target.current(), column) || findColumn(target.current(), to)) continue;
    if (target.attempt({ change: 'rename column', column, to }, ...properties)) continue;
    for (const name of [column, to]) kept.add(foldCase(name));
  }
  return kept;
}

/** Alters a column, if it is there, until it is the wanted one in some properties. */
function alterColumn(wanted: Column, properties: typeof COLUMN_OPTIONS, target: TableTarget): void {
  const column = findColumn(target.current(), wanted.name);
  if (!column) return;
  for (const { name, alter } of properties)
    for (const alteration of alter.find(wanted, column)) target.attempt(alteration, columnProperty(wanted.name, name));
}
