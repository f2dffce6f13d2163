/*! Finds the ALTER statements that turn the columns of a table into those of another one, if possible. Each is tried after the previous ones. */
import {
  type Alteration,
  COLUMN_ORDER,
  type Column,
  canConvert,
  findColumn,
  type Index,
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
  for (const column of wanted.columns) alterType(column, target);
  for (const column of wanted.columns)
    if (!findColumn(target.current(), column.name) && !kept.has(foldCase(column.name)))
      target.attempt({ change: 'add column', column: toAdded(column) }, columnProperty(column.name));
  for (const column of wanted.columns) alterOptions(column, target);
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

/** The name of a column's property in a comparison. */
export const columnProperty = (name: string, what = ''): string => `column '${name}'${what}`;

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

function alterType(wanted: Column, target: TableTarget): void {
  const column = findColumn(target.current(), wanted.name);
  const isTimestamp = isSameName(wanted.name, target.current().timestamp ?? '');
  if (!column || isTimestamp || column.type === wanted.type || !canConvert(column.type, wanted.type)) return;
  const { name, type, cached, capacity } = wanted;
  const size = capacity !== undefined && { capacity };
  target.attempt({ change: 'type', column: name, type, cached, ...size }, columnProperty(name));
}

function alterOptions(wanted: Column, target: TableTarget): void {
  const { name, cached, capacity, index, parquet = '' } = wanted;
  const current = (): Column | undefined => findColumn(target.current(), name);
  const before = current();
  if (!before || before.type !== wanted.type) return;
  if (before.type === 'SYMBOL' && before.cached !== cached)
    target.attempt({ change: 'cache', column: name, cached }, columnProperty(name, ' cache'));
  if (capacity !== undefined && before.capacity !== undefined && capacity !== before.capacity)
    target.attempt({ change: 'symbol capacity', column: name, capacity }, columnProperty(name, ' capacity'));
  if (!isSameIndex(before.index, index)) {
    if (before.index) target.attempt({ change: 'drop index', column: name }, columnProperty(name, ' index'));
    if (index) target.attempt({ change: 'add index', column: name, index }, columnProperty(name, ' index'));
  }
  if ((current()?.parquet ?? '') !== parquet)
    target.attempt({ change: 'parquet settings', column: name, parquet }, columnProperty(name, ' Parquet settings'));
}

function isSameIndex(one: Index | undefined, other: Index | undefined): boolean {
  if (!one || !other) return one === other;
  if (one.capacity !== undefined || other.capacity !== undefined) return one.capacity === other.capacity;
  return one.type === other.type && isSameSet(one.covered, other.covered);
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.map(foldCase).sort().join('\0') === other.map(foldCase).sort().join('\0');
