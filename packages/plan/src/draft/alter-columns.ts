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
  // The server rejects the other changes of a column whose rename was left out, so each is listed.
  const findCurrent = ({ name }: Column) => findColumn(table.current(), unrenamed.get(foldCase(name)) ?? name);
  const alter = (column: Column, properties: typeof COLUMN_OPTIONS): void => {
    const now = findCurrent(column);
    for (const { name, alter } of now ? properties : [])
      for (const alteration of alter.find(column, now as Column))
        table.attempt(alteration, columnProperty(column.name, name));
  };
  for (const column of wanted.columns)
    if (!isSameName(column.name, table.current().timestamp)) alter(column, [COLUMN_TYPE]);
  for (const column of wanted.columns)
    if (!findCurrent(column))
      table.attempt({ action: 'add column', column: toAdded(column) }, columnProperty(column.name));
  for (const column of wanted.columns) if (findCurrent(column)?.type === column.type) alter(column, COLUMN_OPTIONS);
}

/** Drops the columns that the wanted table lacks. A column whose rename was left out stays, because it holds the values. */
export function dropColumns(wanted: TableDefinition, draft: Draft): void {
  const table = createAlterable(wanted.name, draft);
  const renamed = [...draft.context.renames.columnRenamesOf(wanted.name).keys()];
  for (const { name } of table.current().columns) {
    const isTimestamp = isSameName(name, table.current().timestamp);
    const isUnrenamed = renamed.some(from => isSameName(from, name));
    if (!findColumn(wanted, name) && !isTimestamp && !isUnrenamed)
      table.attempt({ action: 'drop column', column: name }, columnProperty(name), 'dedup keys');
  }
}

/** Reduces a column to what ADD COLUMN can say on every server. Parquet settings, and an index that is not BITMAP, need another ALTER. */
function toAdded({ index, parquet: _, ...column }: Column): Column {
  return { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
}

/** Renames columns. @returns the renames that were left out: the old names by the new ones in lower case */
function renameColumns(renamed: ReadonlyMap<string, string>, table: AlterableTable): Map<string, string> {
  const unrenamed = new Map<string, string>();
  for (const [column, to] of renamed) {
    const timestamp = isSameName(column, table.current().timestamp) ? ['designated timestamp' as const] : [];
    const properties: PropertyName[] = [
      columnProperty(column),
      columnProperty(to),
      ...timestamp,
      'dedup keys',
      COLUMN_ORDER,
    ];
    if (!findColumn(table.current(), column) || findColumn(table.current(), to)) continue;
    if (!table.attempt({ action: 'rename column', column, to }, ...properties)) unrenamed.set(foldCase(to), column);
  }
  return unrenamed;
}
