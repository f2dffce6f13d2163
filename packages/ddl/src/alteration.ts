/*! One change that ALTER makes to an existing object: printed as a statement, or applied to a definition in memory. */
import { isSameName } from '@sqlpipe/sql';
import { addTimestampToIndex } from './create/create-table.js';
import type { Column, Definition, Index, MaterializedViewDefinition, TableDefinition } from './definition.js';
import { formatIndex } from './print.js';
import { formatOwner } from './properties/storage.js';
import { alterOf, type PropertyAlteration } from './properties/table.js';
import { quoteColumn } from './reserved-names.js';

/** The change that one ALTER makes to columns, or to a query. */
type StructureAlteration =
  | { readonly change: 'add column'; readonly column: Column; readonly owner?: string | undefined }
  | { readonly change: 'drop column'; readonly column: string }
  | { readonly change: 'rename column'; readonly column: string; readonly to: string }
  | ({ readonly change: 'type'; readonly column: string } & Omit<Column, 'name' | 'dedup' | 'parquet'>)
  | { readonly change: 'cache'; readonly column: string; readonly cached: boolean }
  | { readonly change: 'symbol capacity'; readonly column: string; readonly capacity: number }
  | { readonly change: 'add index'; readonly column: string; readonly index: Index }
  | { readonly change: 'drop index'; readonly column: string }
  | { readonly change: 'parquet settings'; readonly column: string; readonly parquet: string }
  | { readonly change: 'query'; readonly body: string };

/** The change that one ALTER makes. */
export type Alteration = StructureAlteration | PropertyAlteration;

const isOfProperty = (alteration: Alteration): alteration is PropertyAlteration =>
  alterOf(alteration as PropertyAlteration) !== undefined;

/** The permission that an ALTER of a property requires; undefined for one of columns or a query. */
export const permissionFor = (alteration: Alteration): string | undefined =>
  isOfProperty(alteration) ? alterOf(alteration)?.permission(alteration) : undefined;

/** An ALTER of one object. */
export interface Alter {
  readonly kind: Definition['kind'];
  readonly name: string;
  readonly alteration: Alteration;
}

/**
 * Prints the statement with its semicolon. Without the semicolon QuestDB 9.3.4 fails to read `START '…'` at the end.
 */
export function printAlter({ kind, name, alteration }: Alter): string {
  return `ALTER ${kind.toUpperCase()} '${name}' ${alterationText(alteration)};`;
}

function alterationText(alteration: Alteration): string {
  if (isOfProperty(alteration)) return alterOf(alteration)?.print(alteration) ?? '';
  switch (alteration.change) {
    case 'add column':
      return `ADD COLUMN ${addedText(alteration.column)}${formatOwner(alteration.owner)}`;
    case 'drop column':
      return `DROP COLUMN ${quoteColumn(alteration.column)}`;
    case 'rename column':
      return `RENAME COLUMN ${quoteColumn(alteration.column)} TO ${quoteColumn(alteration.to)}`;
    case 'query':
      return `AS (\n${alteration.body}\n)`;
    default:
      return `ALTER COLUMN ${quoteColumn(alteration.column)} ${columnChangeText(alteration)}`;
  }
}

function columnChangeText(alteration: Extract<Alteration, { column: string }>): string {
  switch (alteration.change) {
    case 'type':
      return `TYPE ${typeText(alteration)}`;
    case 'cache':
      return alteration.cached ? 'CACHE' : 'NOCACHE';
    case 'symbol capacity':
      return `SYMBOL CAPACITY ${alteration.capacity}`;
    case 'add index':
      return `ADD${formatIndex(alteration.index, { form: '9.3', quoted: true })}`;
    case 'parquet settings':
      return `SET PARQUET(${alteration.parquet || 'default'})`;
    default:
      return 'DROP INDEX';
  }
}

/** A column as ADD COLUMN accepts it. Parquet settings need an ALTER of their own. */
const addedText = (column: Column): string => `${quoteColumn(column.name)} ${typeText(column)}`;

function typeText({ type, cached, capacity, index }: Omit<Column, 'name' | 'dedup' | 'parquet'>): string {
  if (type !== 'SYMBOL') return type;
  const size = capacity === undefined ? '' : ` CAPACITY ${capacity}`;
  return `${type}${size}${cached ? ' CACHE' : ' NOCACHE'}${formatIndex(index, { form: '9.3', quoted: true })}`;
}

/**
 * Returns the definition after an ALTER. An ALTER that is not possible, for example of a missing column, changes nothing.
 * TYPE drops the index and the Parquet settings, and DROP COLUMN also removes a dedup key (observed on 9.3.4).
 */
export function applyAlteration<T extends Definition>(definition: T, alteration: Alteration): T {
  return alter(definition, alteration) as T;
}

function alter(definition: Definition, alteration: Alteration): Definition {
  const { kind } = definition;
  if (isOfProperty(alteration)) {
    const { change: _, ...set } = alteration;
    const found = alterOf(alteration, kind);
    if (!found) return definition;
    return found.apply ? found.apply(definition, alteration) : ({ ...definition, ...set } as Definition);
  }
  if (kind === 'table') return alterTable(definition, alteration);
  if (kind === 'materialized view') return alterMaterializedView(definition, alteration);
  return kind === 'view' && alteration.change === 'query' ? { ...definition, body: alteration.body } : definition;
}

function alterTable(table: TableDefinition, alteration: StructureAlteration): TableDefinition {
  switch (alteration.change) {
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
    default:
      return withColumn(table, alteration.column, column =>
        addTimestampToIndex(alterColumn(column, alteration), table.timestamp),
      );
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

function alterColumn(column: Column, alteration: Extract<Alteration, { column: string }>): Column {
  switch (alteration.change) {
    case 'type': {
      const { change: _, column: _name, ...changed } = alteration;
      const { index: _index, parquet: _parquet, capacity: _capacity, ...kept } = column;
      return { ...kept, ...changed, name: column.name, cached: changed.type !== 'SYMBOL' || changed.cached };
    }
    case 'cache':
      return { ...column, cached: alteration.cached };
    case 'symbol capacity':
      return { ...column, capacity: alteration.capacity };
    case 'add index':
      // If there is an index, the server answers OK and changes nothing (observed on 9.3.4).
      return column.index ? column : { ...column, index: alteration.index };
    case 'parquet settings':
      return { ...column, parquet: alteration.parquet };
    case 'drop index': {
      const { index: _, ...rest } = column;
      return rest;
    }
    default:
      return column;
  }
}

/** Alters a materialized view. No statement names its columns, but a server knows them. */
function alterMaterializedView(
  view: MaterializedViewDefinition & { readonly columns?: Column[] },
  alteration: StructureAlteration,
): MaterializedViewDefinition {
  switch (alteration.change) {
    case 'add index':
    case 'drop index':
    case 'symbol capacity':
      return withColumn(view, alteration.column, column => alterColumn(column, alteration));
    default:
      return view;
  }
}
