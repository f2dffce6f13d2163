/*!
 * Definitions as statements, in the form that SHOW CREATE and the dump print, byte for byte (read in the
 * ShowCreate…RecordCursorFactory classes; later than 9.3.4 where the two differ).
 */
import type {
  Column,
  Definition,
  LiveViewDefinition,
  MaterializedViewDefinition,
  TableDefinition,
  ViewDefinition,
} from './definition.js';
import { splitTtl, type Ttl } from './grammar/partition.js';
import type { RefreshClause } from './grammar/refresh-clause.js';
import { STAGES, type StoragePolicy } from './grammar/storage-policy.js';
import { quoteName } from './reserved-names.js';

/** How to print. */
export interface PrintOptions {
  /**
   * The servers whose form is printed: 9.3 and later, or 9.0 to 9.2, which print capacities and parameters of tables.
   */
  readonly form: '9.3' | '9.0';
  /**
   * Whether names that need quotes are quoted. The server prints column names and volumes without quotes, whatever they
   * contain.
   */
  readonly quoted: boolean;
}

/** Prints what a server may have another default for. */
export const EXPLICIT: PrintOptions = { form: '9.0', quoted: true };

const PRINTED_OPTIONS: PrintOptions = { form: '9.3', quoted: false };

/** Prints the statement that creates an object, with its semicolon; by default exactly as QuestDB 9.3 prints it. */
export function printDefinition(definition: Definition, given: Partial<PrintOptions> = {}): string {
  const options = { ...PRINTED_OPTIONS, ...given };
  switch (definition.kind) {
    case 'table':
      return formatTable(definition, options);
    case 'view':
      return formatView(definition);
    case 'materialized view':
      return formatMaterializedView(definition, options);
    default:
      return formatLiveView(definition);
  }
}

function formatTable(table: TableDefinition, options: PrintOptions): string {
  const { name, columns, volume, owner } = table;
  const formatName = nameFormatter(options);
  const keys = columns.filter(column => column.dedup).map(column => formatName(column.name));
  const dedup = keys.length > 0 ? `\nDEDUP UPSERT KEYS(${keys.join(',')})` : '';
  const list = columns.map(column => formatColumn(column, options)).join(',\n');
  const end = `${formatClauses(table, options)}${formatVolume(volume, options)}${dedup}${formatOwner(owner)}`;
  return `CREATE TABLE '${name}' ( \n${list}\n)${end};`;
}

function formatClauses(table: TableDefinition, options: PrintOptions): string {
  const { timestamp, partitionBy, ttl, policy, parquet, wal } = table;
  const parameters = options.form === '9.0' ? formatParameters(table) : '';
  if (!timestamp) return parameters;
  const printedWal = options.form === '9.0' ? ' WAL' : '';
  const format = parquet ? ' FORMAT PARQUET' : '';
  return ` timestamp(${nameFormatter(options)(timestamp)}) PARTITION BY ${partitionBy}${formatTtl(ttl)}${formatPolicy(policy)}${format}${wal ? printedWal : ' BYPASS WAL'}${parameters}`;
}

const formatParameters = ({ maxUncommittedRows, o3MaxLag }: TableDefinition): string =>
  maxUncommittedRows === undefined || o3MaxLag === undefined
    ? ''
    : `\nWITH maxUncommittedRows=${maxUncommittedRows}, o3MaxLag=${o3MaxLag}us`;

const nameFormatter =
  ({ quoted }: PrintOptions) =>
  (name: string): string =>
    quoted ? quoteName(name) : name;

/** Formats IN VOLUME. The server prints a comma before it, which its own parser does not accept. */
const formatVolume = (volume: string | undefined, options: PrintOptions): string =>
  volume === undefined ? '' : `${options.quoted ? '' : ','} IN VOLUME ${nameFormatter(options)(volume)}`;

function formatColumn(column: Column, options: PrintOptions): string {
  const { name, type, parquet } = column;
  const symbol = type === 'SYMBOL' ? formatSymbol(column, options) : '';
  return `\t${nameFormatter(options)(name)} ${type}${symbol}${parquet ? ` PARQUET(${parquet})` : ''}`;
}

function formatSymbol({ cached, capacity, index }: Column, options: PrintOptions): string {
  if (options.form === '9.3') return `${cached ? '' : ' NOCACHE'}${formatIndex(index, options)}`;
  const size = capacity === undefined ? '' : ` CAPACITY ${capacity}`;
  return `${size}${cached ? ' CACHE' : ' NOCACHE'}${formatIndex(index, options)}`;
}

/** The index clause after the type of a column, with a leading blank; '' if there is no index. */
export function formatIndex(index: Column['index'], options: PrintOptions = PRINTED_OPTIONS): string {
  if (!index) return '';
  if (index.capacity !== undefined) return ` INDEX CAPACITY ${index.capacity}`;
  const covered = index.covered.map(nameFormatter(options)).join(', ');
  return ` INDEX TYPE ${index.type}${covered ? ` INCLUDE (${covered})` : ''}`;
}

/** `TTL 2 WEEKS`: in the largest unit that gives a whole number, not in the unit of the original statement. */
const formatTtl = (ttl: Ttl): string => (ttl === 0 ? '' : ` TTL ${formatTtlLength(ttl)}`);

/** A TTL as it is printed after the keyword: `2 WEEKS`. */
export function formatTtlLength(ttl: Ttl): string {
  const { value, unit } = splitTtl(ttl);
  return `${value} ${unit}${value > 1 ? 'S' : ''}`;
}

/** The storage policy, on a line of its own in the place of the TTL, as in the only documented example. */
function formatPolicy(policy: StoragePolicy | undefined): string {
  if (!policy || policy.disabled) return '';
  return `\nSTORAGE POLICY(${formatStages(policy)})`;
}

/** The text within the parentheses of a storage policy. */
export function formatStages({ after }: StoragePolicy): string {
  const set = STAGES.flatMap(stage => {
    const length = after[stage];
    return length === undefined ? [] : `${stage} ${formatTtlLength(length)}`;
  });
  return set.join(', ');
}

const formatView = ({ name, body, owner }: ViewDefinition): string =>
  `CREATE VIEW '${name}' AS ( \n${body}\n)${formatOwner(owner)};`;

function formatMaterializedView(view: MaterializedViewDefinition, options: PrintOptions): string {
  const { name, base, refresh, body, partitionBy, ttl, expire, volume, owner } = view;
  const withBase = base === undefined ? '' : ` WITH BASE '${base}'`;
  const partition = partitionBy === undefined ? '' : ` PARTITION BY ${partitionBy}`;
  const head = `CREATE MATERIALIZED VIEW '${name}'${withBase} REFRESH ${formatRefresh(refresh)} AS (\n${body}\n)`;
  const rule = expire === undefined ? '' : ` EXPIRE ROWS ${expire}`;
  return `${head}${partition}${formatTtl(ttl)}${rule}${formatVolume(volume, options)}${formatOwner(owner)};`;
}

function formatLiveView({ name, flush, inMemory, partitionBy, ttl, start, body, owner }: LiveViewDefinition): string {
  const partition = partitionBy === undefined ? '' : ` PARTITION BY ${partitionBy}`;
  const head = `CREATE LIVE VIEW '${name}' FLUSH EVERY ${flush} IN MEMORY ${inMemory}${partition}${formatTtl(ttl)} START FROM ${start}`;
  return `${head} AS (\n${body}\n)${formatOwner(owner)};`;
}

/** The text after REFRESH. */
export function formatRefresh({ type, deferred, every, start, timeZone, period }: RefreshClause): string {
  const zone = timeZone === undefined ? '' : ` TIME ZONE '${timeZone}'`;
  const head = `${type}${every === undefined ? '' : ` ${every}`}${deferred ? ' DEFERRED' : ''}`;
  if (period === 'sample by interval') return `${head} PERIOD (SAMPLE BY INTERVAL)`;
  if (period) return `${head} PERIOD (LENGTH ${period.length}${zone}${period.delay ? ` DELAY ${period.delay}` : ''})`;
  return start === undefined ? head : `${head} START '${start}'${zone}`;
}

/**
 * The owner clause. It is documented only where an enterprise server prints it for tables: on a line of its own, at the
 * very end. Views follow the same rule here.
 */
export const formatOwner = (owner: string | undefined): string => (owner === undefined ? '' : `\nOWNED BY '${owner}'`);
