/*! Drafts the ALTERs that turn the columns of a table into those of A. */
import {
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

const tableIn = ({ engine }: Draft, name: string) => engine.definitionOf(name) as TableDefinition;

/** Alters the columns of a table as far as possible: names, types, new columns, then options. `dropColumns` drops columns later. */
export function alterColumns({ name: table, columns }: TableDefinition, draft: Draft): void {
  const unrenamed = renameColumns(table, draft);
  // The server rejects other ALTERs of a column whose rename was left out, so each is listed.
  const findCurrent = ({ name }: Column) => findColumn(tableIn(draft, table), unrenamed.get(foldCase(name)) ?? name);
  const alter = (column: Column, properties: typeof COLUMN_OPTIONS): void => {
    const now = findCurrent(column);
    for (const { name, alter } of now ? properties : [])
      for (const alteration of alter.find(column, now as Column))
        alterTable(table, alteration, [columnProperty(column.name, name)], draft);
  };
  for (const column of columns)
    if (!isSameName(column.name, tableIn(draft, table).timestamp)) alter(column, [COLUMN_TYPE]);
  for (const column of columns)
    if (!findCurrent(column))
      alterTable(table, { action: 'add column', column: toAdded(column) }, [columnProperty(column.name)], draft);
  for (const column of columns) if (findCurrent(column)?.type === column.type) alter(column, COLUMN_OPTIONS);
}

/** Drops the columns that the wanted table lacks. A column whose rename was left out stays, because it holds the values. */
export function dropColumns(wanted: TableDefinition, draft: Draft): void {
  const { columns, timestamp } = tableIn(draft, wanted.name);
  const renamed = [...draft.context.renames.columnRenamesOf(wanted.name).keys()];
  for (const { name } of columns) {
    const isUnrenamed = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isSameName(name, timestamp) && !isUnrenamed)
      alterTable(wanted.name, { action: 'drop column', column: name }, [columnProperty(name), 'dedup keys'], draft);
  }
}

/** Reduces a column to what ADD COLUMN can say on every server. Parquet settings, and an index that is not BITMAP, need another ALTER. */
function toAdded({ index, parquet: _, ...column }: Column): Column {
  return { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
}

/** @returns the renames that were left out: the old names by the new ones in lower case */
function renameColumns(table: string, draft: Draft): Map<string, string> {
  const unrenamed = new Map<string, string>();
  for (const [column, to] of draft.context.renames.columnRenamesOf(table)) {
    const now = tableIn(draft, table);
    const timestamp = isSameName(column, now.timestamp) ? ['designated timestamp' as const] : [];
    const properties: PropertyName[] = [
      columnProperty(column),
      columnProperty(to),
      ...timestamp,
      'dedup keys',
      COLUMN_ORDER,
    ];
    if (!findColumn(now, column) || findColumn(now, to)) continue;
    if (!alterTable(table, { action: 'rename column', column, to }, properties, draft))
      unrenamed.set(foldCase(to), column);
  }
  return unrenamed;
}
