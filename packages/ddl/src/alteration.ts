/*! One action of ALTER on an existing object: printed as a statement, or applied to a definition in memory. */
import { isSameName } from '@sqlpipe/sql';
import { addTimestampToIndex } from './columns/indexes.js';
import { type ColumnAlteration, columnAlterOf } from './columns/table.js';
import { printAddedColumn } from './columns/type.js';
import type { Column, Definition, TableDefinition } from './definition.js';
import { formatOwner } from './properties/storage.js';
import { alterOf, type PropertyAlteration } from './properties/table.js';
import { quoteColumn } from './reserved-names.js';

/** An action of ALTER on the list of columns, or on a query. */
type StructureAlteration =
  | { readonly action: 'add column'; readonly column: Column; readonly owner?: string | undefined }
  | { readonly action: 'drop column'; readonly column: string }
  | { readonly action: 'rename column'; readonly column: string; readonly to: string }
  | { readonly action: 'query'; readonly body: string };

/** What one ALTER does to one object. */
export type Alteration = StructureAlteration | ColumnAlteration | PropertyAlteration;

const isOfProperty = (alteration: Alteration): alteration is PropertyAlteration =>
  alterOf(alteration as PropertyAlteration) !== undefined;

const isOfColumn = (alteration: Alteration): alteration is ColumnAlteration => columnAlterOf(alteration) !== undefined;

/** The permission that an ALTER of a property requires; undefined if it requires none, or is no ALTER of a property. */
export function permissionFor(alteration: Alteration): string | undefined {
  if (isOfColumn(alteration)) return columnAlterOf(alteration)?.permission(alteration);
  return isOfProperty(alteration) ? alterOf(alteration)?.permission(alteration) : undefined;
}

/** An ALTER of one object. */
export interface Alter {
  readonly kind: Definition['kind'];
  readonly name: string;
  readonly alteration: Alteration;
}

/** Prints the statement with its semicolon. Without the semicolon QuestDB 9.3.4 fails to read `START '…'` at the end. */
export function printAlter({ kind, name, alteration }: Alter): string {
  return `ALTER ${kind.toUpperCase()} '${name}' ${printAlteration(alteration)};`;
}

function printAlteration(alteration: Alteration): string {
  if (isOfProperty(alteration)) return alterOf(alteration)?.print(alteration) ?? '';
  if (isOfColumn(alteration))
    return `ALTER COLUMN ${quoteColumn(alteration.column)} ${columnAlterOf(alteration)?.print(alteration)}`;
  switch (alteration.action) {
    case 'add column':
      return `ADD COLUMN ${quoteColumn(alteration.column.name)}${printAddedColumn(alteration.column)}${formatOwner(alteration.owner)}`;
    case 'drop column':
      return `DROP COLUMN ${quoteColumn(alteration.column)}`;
    case 'rename column':
      return `RENAME COLUMN ${quoteColumn(alteration.column)} TO ${quoteColumn(alteration.to)}`;
    case 'query':
      return `AS (\n${alteration.body}\n)`;
  }
}

/**
 * Returns the definition after an ALTER. An ALTER that is not possible, for example of a missing column, changes nothing.
 * DROP COLUMN also removes a dedup key (observed on 9.3.4).
 */
export function applyAlteration<T extends Definition>(definition: T, alteration: Alteration): T {
  return alter(definition, alteration) as T;
}

function alter(definition: Definition, alteration: Alteration): Definition {
  const { kind } = definition;
  if (isOfProperty(alteration)) {
    const { action: _, ...set } = alteration;
    const found = alterOf(alteration, kind);
    if (!found) return definition;
    return found.apply ? found.apply(definition, alteration) : ({ ...definition, ...set } as Definition);
  }
  if (isOfColumn(alteration)) return alterColumn(definition, alteration);
  if (kind === 'table') return alterTable(definition, alteration);
  return kind === 'view' && alteration.action === 'query' ? { ...definition, body: alteration.body } : definition;
}

function alterTable(table: TableDefinition, alteration: StructureAlteration): TableDefinition {
  switch (alteration.action) {
    case 'add column': {
      const added = addTimestampToIndex({ ...alteration.column, dedup: false }, table.timestamp);
      return findColumn(table, added.name) ? table : { ...table, columns: [...table.columns, added] };
    }
    case 'drop column': {
      const columns = table.columns.filter(({ name }) => !isSameName(name, alteration.column));
      return { ...table, columns, timestamp: timestampAfter(table, alteration.column, undefined) };
    }
    case 'rename column': {
      const renamed = withColumn(table, alteration.column, column => ({ ...column, name: alteration.to }));
      return { ...renamed, timestamp: timestampAfter(table, alteration.column, alteration.to) };
    }
    case 'query':
      return table;
  }
}

/** The name of the designated timestamp after a column was renamed or dropped. */
const timestampAfter = ({ timestamp }: TableDefinition, column: string, to: string | undefined): string | undefined =>
  timestamp !== undefined && isSameName(timestamp, column) ? to : timestamp;

/** Finds a column by its name, in any case. */
export const findColumn = ({ columns }: { readonly columns: readonly Column[] }, name: string): Column | undefined =>
  columns.find(column => isSameName(column.name, name));

const withColumn = <T extends { readonly columns?: Column[] }>(
  object: T,
  name: string,
  change: (column: Column) => Column,
): T => ({
  ...object,
  ...(object.columns && { columns: object.columns.map(each => (isSameName(each.name, name) ? change(each) : each)) }),
});

/** Alters a column. No statement names those of a materialized view, but a server knows them. */
function alterColumn(
  definition: Definition & { readonly columns?: Column[]; readonly timestamp?: string | undefined },
  alteration: ColumnAlteration,
): Definition {
  const { kind, timestamp } = definition;
  const alter = columnAlterOf(alteration);
  if (!alter || !(kind === 'table' || (kind === 'materialized view' && alter.isOfViews))) return definition;
  return withColumn(definition, alteration.column, column =>
    addTimestampToIndex(alter.apply(column, alteration), timestamp),
  );
}
