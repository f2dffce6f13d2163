/*!
 * Drafts the ALTER statements that turn the columns of a table into those of A. Each is executed on the engine of the draft, so the next
 * one sees its result.
 */
import {
  type Alteration,
  COLUMN_OPTIONS,
  COLUMN_ORDER,
  COLUMN_TYPE,
  type Column,
  columnProperty,
  findColumn,
  type PropertyName,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import { alterTable } from './alter-table.js';
import type { Draft } from './draft.js';

/**
 * Makes two functions: `current` returns the definition of a table so far; `attempt` alters the table, unless rows or a proof forbid it.
 */
const createAlterable = (name: string, draft: Draft) => {
  const current = () => draft.engine.definitionOf(name) as TableDefinition;
  return {
    current,
    attempt: (alteration: Alteration, ...properties: PropertyName[]): boolean =>
      alterTable({ table: current(), alteration, properties }, draft),
  };
};

type AlterableTable = ReturnType<typeof createAlterable>;

/** Alters the columns of a table as far as possible: names, types, new columns, then options. `dropColumns` drops columns later. */
export function alterColumns(wanted: TableDefinition, draft: Draft): void {
  const table = createAlterable(wanted.name, draft);
  const unrenamed = renameColumns(draft.context.renames.columnRenamesOf(wanted.name), table);
  for (const column of wanted.columns)
    if (!isSameName(column.name, table.current().timestamp)) alterColumn(column, [COLUMN_TYPE], table);
  for (const column of wanted.columns)
    if (!findColumn(table.current(), column.name) && !unrenamed.has(foldCase(column.name)))
      table.attempt({ action: 'add column', column: toAdded(column) }, columnProperty(column.name));
  for (const column of wanted.columns)
    if (findColumn(table.current(), column.name)?.type === column.type) alterColumn(column, COLUMN_OPTIONS, table);
}

/** Drops the columns that the wanted table lacks. A column whose rename was left out stays, because it holds the values. */
export function dropColumns(wanted: TableDefinition, draft: Draft): void {
  const table = createAlterable(wanted.name, draft);
  const renamed = [...draft.context.renames.columnRenamesOf(wanted.name).keys()];
  for (const { name } of table.current().columns) {
    const isTimestamp = isSameName(name, table.current().timestamp ?? '');
    const isUnrenamed = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isTimestamp && !isUnrenamed)
      table.attempt({ action: 'drop column', column: name }, columnProperty(name), 'dedup keys');
  }
}

/** Reduces a column to what ADD COLUMN can say on every server. Parquet settings, and an index that is not BITMAP, need another ALTER. */
function toAdded({ index, parquet: _, ...column }: Column): Column {
  return { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
}

/** Renames columns. @returns the old and new names of renames that were left out: these columns must not be added */
function renameColumns(renamed: ReadonlyMap<string, string>, table: AlterableTable): Set<string> {
  const unrenamed = new Set<string>();
  for (const [column, to] of renamed) {
    const timestamp = isSameName(column, table.current().timestamp ?? '') ? ['designated timestamp' as const] : [];
    const properties: PropertyName[] = [
      columnProperty(column),
      columnProperty(to),
      ...timestamp,
      'dedup keys',
      COLUMN_ORDER,
    ];
    if (!findColumn(table.current(), column) || findColumn(table.current(), to)) continue;
    if (table.attempt({ action: 'rename column', column, to }, ...properties)) continue;
    for (const name of [column, to]) unrenamed.add(foldCase(name));
  }
  return unrenamed;
}

function alterColumn(wanted: Column, properties: typeof COLUMN_OPTIONS, table: AlterableTable): void {
  const column = findColumn(table.current(), wanted.name);
  if (!column) return;
  for (const { name, alter } of properties)
    for (const alteration of alter.find(wanted, column)) table.attempt(alteration, columnProperty(wanted.name, name));
}
