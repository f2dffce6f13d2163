/*! One change that ALTER makes to an existing object: printed as a statement, or applied to a definition in memory. */
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { Column, Definition, Index, MaterializedViewDefinition, Refresh, TableDefinition } from './definition.js';
import type { Ttl } from './grammar/partition.js';
import type { StoragePolicy } from './grammar/storage-policy.js';
import { needsQuotes } from './names.js';
import { addTimestampToIndex } from './parse.js';
import { formatIndex, formatRefresh, formatStages, formatTtlLength } from './print.js';

/** The change that one ALTER makes. */
export type Alteration =
  | { readonly change: 'add column'; readonly column: Column; readonly owner?: string | undefined }
  | { readonly change: 'drop column'; readonly column: string }
  | { readonly change: 'rename column'; readonly column: string; readonly to: string }
  | { readonly change: 'type'; readonly column: string; readonly type: string; readonly cached: boolean }
  | { readonly change: 'cache'; readonly column: string; readonly cached: boolean }
  | { readonly change: 'symbol capacity'; readonly column: string; readonly capacity: number }
  | { readonly change: 'add index'; readonly column: string; readonly index: Index }
  | { readonly change: 'drop index'; readonly column: string }
  | { readonly change: 'parquet settings'; readonly column: string; readonly parquet: string }
  | { readonly change: 'ttl'; readonly ttl: Ttl }
  /** Without keys, deduplication is disabled. */
  | { readonly change: 'dedup keys'; readonly keys: readonly string[] }
  | { readonly change: 'parameter'; readonly name: 'maxUncommittedRows' | 'o3MaxLag'; readonly value: number }
  | { readonly change: 'format'; readonly parquet: boolean }
  /** If undefined, the policy is dropped. */
  | { readonly change: 'storage policy'; readonly policy: StoragePolicy | undefined }
  | { readonly change: 'refresh'; readonly refresh: Refresh }
  | { readonly change: 'query'; readonly body: string };

/** An ALTER of one object. */
export interface Alter {
  readonly kind: Exclude<Definition['kind'], 'live view'>;
  readonly name: string;
  readonly alteration: Alteration;
}

/** The words that start a clause where ALTER may have the name of a column. */
const CLAUSES = new Set(['column', 'if']);

const quoteColumn = (name: string): string => (needsQuotes(name) || CLAUSES.has(foldCase(name)) ? `"${name}"` : name);

/**
 * Prints the statement with its semicolon. Without the semicolon QuestDB 9.3.4 fails to read `START '…'` at the end.
 */
export function printAlter({ kind, name, alteration }: Alter): string {
  return `ALTER ${kind.toUpperCase()} '${name}' ${alterationText(alteration)};`;
}

function alterationText(alteration: Alteration): string {
  const { change } = alteration;
  switch (change) {
    case 'add column':
      return `ADD COLUMN ${addedText(alteration.column)}`;
    case 'drop column':
      return `DROP COLUMN ${quoteColumn(alteration.column)}`;
    case 'rename column':
      return `RENAME COLUMN ${quoteColumn(alteration.column)} TO ${quoteColumn(alteration.to)}`;
    case 'ttl':
      return `SET TTL ${alteration.ttl === 0 ? '0 HOURS' : formatTtlLength(alteration.ttl)}`;
    case 'dedup keys':
      return alteration.keys.length > 0
        ? `DEDUP ENABLE UPSERT KEYS(${alteration.keys.map(quoteColumn).join(',')})`
        : 'DEDUP DISABLE';
    case 'parameter':
      return `SET PARAM ${alteration.name} = ${alteration.value}${alteration.name === 'o3MaxLag' ? 'us' : ''}`;
    case 'format':
      return `SET FORMAT ${alteration.parquet ? 'PARQUET' : 'NATIVE'}`;
    case 'storage policy':
      return alteration.policy ? `SET STORAGE POLICY(${formatStages(alteration.policy)})` : 'DROP STORAGE POLICY';
    case 'refresh':
      return `SET REFRESH ${formatRefresh({ ...alteration.refresh, deferred: false })}`;
    case 'query':
      return `AS (\n${alteration.body}\n)`;
    default:
      return `ALTER COLUMN ${quoteColumn(alteration.column)} ${columnChangeText(alteration)}`;
  }
}

function columnChangeText(alteration: Extract<Alteration, { column: string }>): string {
  switch (alteration.change) {
    case 'type':
      return `TYPE ${alteration.type}${alteration.type === 'SYMBOL' && !alteration.cached ? ' NOCACHE' : ''}`;
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

/** A column as ADD COLUMN accepts it. An index other than BITMAP, and Parquet settings, need an ALTER of their own. */
function addedText({ name, type, cached, capacity, index }: Column): string {
  if (type !== 'SYMBOL') return `${quoteColumn(name)} ${type}`;
  const size = capacity === undefined ? '' : ` CAPACITY ${capacity}`;
  const indexed = index?.capacity === undefined ? '' : formatIndex(index);
  return `${quoteColumn(name)} ${type}${size}${cached ? '' : ' NOCACHE'}${indexed}`;
}

/**
 * Returns the definition after an ALTER. An ALTER that is not possible, for example of a missing column, changes nothing.
 * TYPE drops the index and the Parquet settings, and DROP COLUMN also removes a dedup key (observed on 9.3.4).
 */
export function applyAlteration(definition: Definition, alteration: Alteration): Definition {
  switch (definition.kind) {
    case 'table':
      return alterTable(definition, alteration);
    case 'materialized view':
      return alterMaterializedView(definition, alteration);
    default:
      return alteration.change === 'query' ? { ...definition, body: alteration.body } : definition;
  }
}

function alterTable(table: TableDefinition, alteration: Alteration): TableDefinition {
  const { change } = alteration;
  switch (change) {
    case 'add column': {
      const { index, parquet: _, ...column } = alteration.column;
      const added = { ...column, ...(index?.capacity !== undefined && { index }), dedup: false };
      return findColumn(table, added.name) ? table : { ...table, columns: [...table.columns, added] };
    }
    case 'drop column':
      return { ...table, columns: table.columns.filter(({ name }) => !isSameName(name, alteration.column)) };
    case 'rename column': {
      const isTimestamp = table.timestamp && isSameName(table.timestamp, alteration.column);
      const renamed = withColumn(table, alteration.column, column => ({ ...column, name: alteration.to }));
      return isTimestamp ? { ...renamed, timestamp: alteration.to } : renamed;
    }
    case 'ttl':
      return { ...table, ttl: alteration.ttl };
    case 'dedup keys': {
      const keys = new Set(alteration.keys.map(foldCase));
      return {
        ...table,
        columns: table.columns.map(column => ({ ...column, dedup: keys.has(foldCase(column.name)) })),
      };
    }
    case 'parameter':
      return { ...table, [alteration.name]: alteration.value };
    case 'format':
      return { ...table, parquet: alteration.parquet };
    case 'storage policy':
      return { ...table, ttl: 0, policy: alteration.policy };
    case 'refresh':
    case 'query':
      return table;
    default:
      return withColumn(table, alteration.column, column =>
        addTimestampToIndex(alterColumn(column, alteration), table.timestamp),
      );
  }
}

/** Finds a column by its name, in any case. */
export const findColumn = ({ columns }: TableDefinition, name: string): Column | undefined =>
  columns.find(column => isSameName(column.name, name));

const withColumn = (table: TableDefinition, name: string, change: (column: Column) => Column): TableDefinition => ({
  ...table,
  columns: table.columns.map(column => (isSameName(column.name, name) ? change(column) : column)),
});

function alterColumn(column: Column, alteration: Extract<Alteration, { column: string }>): Column {
  switch (alteration.change) {
    case 'type': {
      const { name, dedup } = column;
      return { name, type: alteration.type, cached: alteration.type !== 'SYMBOL' || alteration.cached, dedup };
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

/** Alters a materialized view. DEFERRED belongs to its creation and stays (observed on 9.3.4). */
function alterMaterializedView(view: MaterializedViewDefinition, alteration: Alteration): MaterializedViewDefinition {
  const { change } = alteration;
  if (change === 'ttl') return { ...view, ttl: alteration.ttl };
  if (change !== 'refresh') return view;
  return { ...view, refresh: { ...alteration.refresh, deferred: view.refresh.deferred } };
}
