/*!
 * Whether two definitions make the same object on the same server, and if not, in which properties they differ. What one
 * of the two leaves to the server, or no server can show, is not compared.
 */
import { foldCase } from '@sqlpipe/sql';
import type {
  Column,
  Definition,
  LiveViewDefinition,
  MaterializedViewDefinition,
  Refresh,
  TableDefinition,
  ViewDefinition,
} from './definition.js';
import { unquote } from './grammar/names.js';
import { parseTimestamp } from './grammar/timestamp.js';
import { formatIndex, formatStages, formatTtlLength } from './print.js';
import { findQueryColumns } from './query-columns.js';
import { findQueryDifference } from './query-tokens.js';

/** A property that two definitions have in different ways. */
export interface PropertyDifference {
  /** What differs, in the user's words: `TTL`, `column 'price'`, `column order`, `query`. */
  readonly property: string;
  /** What the first one has, as text to be shown; `none` where it has nothing. */
  readonly a: string;
  readonly b: string;
}

/** The result of comparing two definitions. */
export interface Comparison {
  /** None where the two are the same. */
  readonly differences: PropertyDifference[];
  /** What one of the two says and the other can not: never a difference, and no proof of the same. */
  readonly notComparable: string[];
}

/** A property as text; undefined where a definition leaves it open. */
interface Property<T> {
  readonly name: string;
  readonly value: (definition: T) => string | undefined;
  /** Whether a value that only one of the two has is worth mentioning: it was asked for, and no server shows it. */
  readonly reportOneSided?: boolean;
}

const NONE = 'none';

const OWNER = {
  name: 'owner',
  value: ({ owner }: { readonly owner?: string | undefined }) => owner && foldCase(owner),
};
const VOLUME = { name: 'volume', value: ({ volume }: { readonly volume?: string | undefined }) => volume ?? NONE };

const TABLE_PROPERTIES: Property<TableDefinition>[] = [
  { name: 'designated timestamp', value: foldedTimestamp },
  { name: 'partitioning', value: ({ partitionBy }) => partitionBy },
  { name: 'TTL', value: table => formatTtl(localTtl(table)) },
  {
    name: 'storage policy',
    value: ({ policy }) => (policy && !policy.disabled && !isTtl(policy) ? `(${formatStages(policy)})` : NONE),
  },
  { name: 'format', value: ({ parquet }) => (parquet ? 'PARQUET' : 'NATIVE') },
  // Without partitions there is no choice.
  { name: 'WAL', value: ({ partitionBy, wal }) => (partitionBy === 'NONE' ? undefined : wal ? 'enabled' : 'bypassed') },
  VOLUME,
  { name: 'dedup keys', value: dedupKeys },
  {
    name: 'maxUncommittedRows',
    value: ({ maxUncommittedRows }) => maxUncommittedRows?.toString(),
    reportOneSided: true,
  },
  {
    name: 'o3MaxLag',
    value: ({ o3MaxLag }) => (o3MaxLag === undefined ? undefined : `${o3MaxLag}us`),
    reportOneSided: true,
  },
  OWNER,
];

const MATERIALIZED_VIEW_PROPERTIES: Property<MaterializedViewDefinition>[] = [
  { name: 'base', value: ({ base }) => base && foldCase(base) },
  {
    name: 'refresh',
    value: ({ refresh: { type, every, deferred } }) => [type, every, deferred && 'DEFERRED'].filter(Boolean).join(' '),
  },
  {
    name: 'refresh start',
    value: ({ refresh: { type, start, period } }) => start ?? (type === 'EVERY' && !period ? undefined : NONE),
  },
  { name: 'refresh period', value: ({ refresh }) => formatPeriod(refresh), reportOneSided: true },
  {
    name: 'refresh time zone',
    value: ({ refresh }) => (refresh.period?.length === '' ? undefined : (refresh.timeZone ?? NONE)),
  },
  { name: 'partitioning', value: ({ partitionBy }) => partitionBy },
  { name: 'TTL', value: ({ ttl }) => formatTtl(ttl) },
  { name: 'designated timestamp', value: ({ timestamp }) => timestamp && foldCase(timestamp), reportOneSided: true },
  { name: 'indexes', value: formatIndexes, reportOneSided: true },
  VOLUME,
  OWNER,
];

const LIVE_VIEW_PROPERTIES: Property<LiveViewDefinition>[] = [
  { name: 'flush interval', value: ({ flush }) => flush ?? NONE },
  { name: 'time in memory', value: ({ inMemory }) => inMemory ?? NONE },
  { name: 'partitioning', value: ({ partitionBy }) => partitionBy },
  { name: 'start', value: ({ start }) => parseTimestamp(unquote(start)) ?? start },
  OWNER,
];

const VIEW_PROPERTIES: Property<ViewDefinition>[] = [OWNER];

/** Compares what two statements mean, property by property. */
export function compareDefinitions(a: Definition, b: Definition): Comparison {
  const found = new ComparisonBuilder();
  found.add('name', a.name, b.name);
  if (a.kind !== b.kind) found.add('kind', a.kind, b.kind);
  else if (a.kind === 'table') compareTables(a, b as TableDefinition, found);
  else {
    compareQueries(a.body, (b as ViewDefinition).body, found);
    if (a.kind === 'view') found.addAll(VIEW_PROPERTIES, a, b as ViewDefinition);
    else if (a.kind === 'materialized view')
      found.addAll(MATERIALIZED_VIEW_PROPERTIES, a, b as MaterializedViewDefinition);
    else found.addAll(LIVE_VIEW_PROPERTIES, a, b as LiveViewDefinition);
  }
  return found;
}

class ComparisonBuilder implements Comparison {
  readonly differences: PropertyDifference[] = [];
  readonly notComparable: string[] = [];

  add(property: string, a: string | undefined, b: string | undefined, mention = false): void {
    if (a !== undefined && b !== undefined) {
      if (a !== b) this.differences.push({ property, a, b });
    } else if (mention && a !== b) this.notComparable.push(property);
  }

  addAll<T>(properties: readonly Property<T>[], a: T, b: T): void {
    for (const { name, value, reportOneSided } of properties) this.add(name, value(a), value(b), reportOneSided);
  }
}

function compareTables(a: TableDefinition, b: TableDefinition, found: ComparisonBuilder): void {
  if (a.like !== undefined || b.like !== undefined) {
    if (a.like !== b.like) found.notComparable.push('everything that it is LIKE');
    return;
  }
  compareColumns(toColumnList(a), toColumnList(b), found);
  found.addAll(TABLE_PROPERTIES, a, b);
}

/** The columns of a table; `complete` where those are all, in their order. */
interface ColumnList {
  readonly columns: readonly ListedColumn[];
  readonly complete: boolean;
}

/** A column of which a query may leave the type open, and whether symbols are cached. */
type ListedColumn = Omit<Column, 'cached'> & { readonly cached?: boolean };

/** What is known of the columns of a table that is made from a query: those it names, and what clauses say of some. */
function toColumnList({ columns, query }: TableDefinition): ColumnList {
  if (query === undefined) return { columns, complete: true };
  const named = findQueryColumns(query);
  const listed = columns.map(toListedColumn);
  if (!named) return { columns: listed, complete: false };
  const byKey = new Map(listed.map(column => [foldCase(column.name), column]));
  return {
    columns: named.map(({ name, type = '' }) => {
      const column = byKey.get(foldCase(name));
      return { dedup: false, ...column, name, type: column?.type || type };
    }),
    complete: true,
  };
}

/** Whether symbols are cached is known of a column of a query where a CAST makes it one. */
function toListedColumn({ cached, ...column }: Column): ListedColumn {
  return column.type ? { ...column, cached } : column;
}

function compareColumns(a: ColumnList, b: ColumnList, found: ComparisonBuilder): void {
  const [inA, inB] = [indexColumns(a), indexColumns(b)];
  for (const [key, column] of inA) {
    const other = inB.get(key);
    if (other) compareColumn(column, other, found);
    else if (b.complete) found.add(`column '${column.name}'`, column.type || 'present', NONE);
  }
  if (a.complete)
    for (const [key, column] of inB)
      if (!inA.has(key)) found.add(`column '${column.name}'`, NONE, column.type || 'present');
  if (!a.complete || !b.complete) found.notComparable.push('the columns that its query gives');
  else
    compareOrder(
      [...inA.keys()].filter(key => inB.has(key)),
      [...inB.keys()].filter(key => inA.has(key)),
      found,
    );
}

const indexColumns = ({ columns }: ColumnList): Map<string, ListedColumn> =>
  new Map(columns.map(column => [foldCase(column.name), column]));

/** The same columns in two orders; those that are at one place in both, before and after the others, are not shown. */
function compareOrder(a: string[], b: string[], found: ComparisonBuilder): void {
  const first = a.findIndex((name, at) => name !== b[at]);
  if (first < 0) return;
  const end = a.findLastIndex((name, at) => name !== b[at]) + 1;
  const [inA, inB] = [a, b].map(names => names.slice(first, end).join(', '));
  found.add('column order', inA, inB);
}

function compareColumn(a: ListedColumn, b: ListedColumn, found: ComparisonBuilder): void {
  const of = (what: string) => `column '${a.name}'${what}`;
  found.add(of(' name'), a.name, b.name);
  if (!a.type || !b.type) found.notComparable.push(of(' type'));
  else if (a.type !== b.type) return found.add(of(''), a.type, b.type);
  if (a.type === 'SYMBOL' || b.type === 'SYMBOL') found.add(of(' cache'), formatCache(a), formatCache(b));
  found.add(of(' capacity'), a.capacity?.toString(), b.capacity?.toString(), true);
  found.add(of(' index'), indexKey(a), indexKey(b));
  found.add(of(' Parquet settings'), a.parquet || NONE, b.parquet || NONE);
}

const formatCache = ({ cached }: ListedColumn): string | undefined =>
  cached === undefined ? undefined : cached ? 'CACHE' : 'NOCACHE';

const indexKey = ({ index }: ListedColumn): string => foldNames(formatIndex(index).trim()) || NONE;

/** The columns that an index covers, in one case. */
const foldNames = (text: string): string => text.replace(/INCLUDE \(.*/s, foldCase);

/** Undefined where a query may bring one along. */
function foldedTimestamp({ timestamp, query }: TableDefinition): string | undefined {
  if (timestamp === undefined) return query === undefined ? NONE : undefined;
  return foldCase(timestamp);
}

function formatIndexes({ indexes = new Map() }: MaterializedViewDefinition): string | undefined {
  const texts = Array.from(indexes, ([column, capacity]) => `${column} CAPACITY ${capacity}`);
  return texts.sort().join(', ') || undefined;
}

/** They come in the order of the columns, however they are written. */
function dedupKeys({ columns }: TableDefinition): string {
  const keys = columns.filter(({ dedup }) => dedup).map(({ name }) => foldCase(name));
  return keys.sort().join(', ') || NONE;
}

const formatTtl = (ttl: number): string => (ttl === 0 ? NONE : formatTtlLength(ttl));

/** The enterprise edition makes a storage policy of a TTL, which does nothing but drop. */
const isTtl = ({ after, disabled }: NonNullable<TableDefinition['policy']>): boolean =>
  !disabled && Object.keys(after).join() === 'DROP LOCAL';

/** What a table has as TTL, in either edition. */
export const localTtl = ({ ttl, policy }: TableDefinition): number =>
  policy && isTtl(policy) ? (policy.after['DROP LOCAL'] ?? 0) : ttl;

/** Undefined where it is the sampling interval of a query that could not be found. */
function formatPeriod({ period }: Refresh): string | undefined {
  if (!period) return NONE;
  if (period.length === '') return undefined;
  return `LENGTH ${period.length}${period.delay ? ` DELAY ${period.delay}` : ''}`;
}

/** UTF-16 code units of a query that are shown around the first difference. */
const CONTEXT = 40;

function compareQueries(a: string, b: string, found: ComparisonBuilder): void {
  const at = findQueryDifference(a, b);
  if (at) found.differences.push({ property: 'query', a: excerptAround(a, at.a), b: excerptAround(b, at.b) });
}

function excerptAround(query: string, at: number): string {
  const start = Math.max(0, at - CONTEXT / 2);
  const piece = query.slice(start, at + CONTEXT).replace(/\s+/g, ' ');
  return `${start > 0 ? '…' : ''}${piece}${at + CONTEXT < query.length ? '…' : ''}`;
}
