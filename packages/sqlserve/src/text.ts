/*!
 * Objects as statements: the one form that SHOW CREATE and the dump print, byte for byte (read in the
 * ShowCreate…RecordCursorFactory classes; later than 9.3.4 where the two differ).
 */
import type { CatalogueObject, Column, LiveView, MaterializedView, Refresh, Table, View } from './objects.js';
import type { Ttl } from './parser/partition.js';
import { type StoragePolicy, stages } from './parser/storage-policy.js';

/** The statement that makes the object, with its closing semicolon. */
export function statementOf(object: CatalogueObject): string {
  switch (object.kind) {
    case 'table':
      return tableText(object);
    case 'view':
      return viewText(object);
    case 'materialized view':
      return materializedViewText(object);
    default:
      return liveViewText(object);
  }
}

function tableText(table: Table): string {
  const { name, columns, timestamp, partitionBy, ttl, policy, parquet, wal, owner } = table;
  const keys = columns.filter(column => column.dedup).map(column => column.name);
  const clauses = timestamp
    ? ` timestamp(${timestamp}) PARTITION BY ${partitionBy}${ttlText(ttl)}${policyText(policy)}${parquet ? ' FORMAT PARQUET' : ''}${wal ? '' : ' BYPASS WAL'}`
    : '';
  const dedup = keys.length > 0 ? `\nDEDUP UPSERT KEYS(${keys.join(',')})` : '';
  return `CREATE TABLE '${name}' ( \n${columns.map(columnText).join(',\n')}\n)${clauses}${dedup}${ownerText(owner)};`;
}

function columnText({ name, type, cached, index, parquet }: Column): string {
  const cache = type === 'SYMBOL' && !cached ? ' NOCACHE' : '';
  return `\t${name} ${type}${cache}${indexText(index)}${parquet ? ` PARQUET(${parquet})` : ''}`;
}

function indexText(index: Column['index']): string {
  if (!index) return '';
  if (index.capacity !== undefined) return ` INDEX CAPACITY ${index.capacity}`;
  const covered = index.covered.length > 0 ? ` INCLUDE (${index.covered.join(', ')})` : '';
  return ` INDEX TYPE ${index.type}${covered}`;
}

/** `TTL 2 WEEKS`: in the largest unit that fits, which need not be the one that was written. */
const ttlText = (ttl: Ttl): string => (ttl === 0 ? '' : ` TTL ${lengthText(ttl)}`);

function lengthText(ttl: Ttl): string {
  const { value, unit } = ttlParts(ttl);
  return `${value} ${unit}${value > 1 ? 'S' : ''}`;
}

/** On a line of its own, in the place of TTL, as the one documented sample has it. */
function policyText(policy: StoragePolicy | undefined): string {
  if (!policy || policy.disabled) return '';
  const set = stages.flatMap(stage => {
    const length = policy.after[stage];
    return length === undefined ? [] : `${stage} ${lengthText(length)}`;
  });
  return `\nSTORAGE POLICY(${set.join(', ')})`;
}

export function ttlParts(ttl: Ttl): { value: number; unit: string } {
  const months = -ttl;
  if (ttl < 0) return months % 12 === 0 ? { value: months / 12, unit: 'YEAR' } : { value: months, unit: 'MONTH' };
  if (ttl % 168 === 0 && ttl > 0) return { value: ttl / 168, unit: 'WEEK' };
  return ttl % 24 === 0 && ttl > 0 ? { value: ttl / 24, unit: 'DAY' } : { value: ttl, unit: 'HOUR' };
}

const viewText = ({ name, body, owner }: View): string => `CREATE VIEW '${name}' AS ( \n${body}\n)${ownerText(owner)};`;

function materializedViewText(view: MaterializedView): string {
  const { name, base, refresh, body, partitionBy, ttl, owner } = view;
  const head = `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' REFRESH ${refreshText(refresh)} AS (\n${body}\n)`;
  return `${head} PARTITION BY ${partitionBy}${ttlText(ttl)}${ownerText(owner)};`;
}

function liveViewText({ name, flush, inMemory, partitionBy, start, body, owner }: LiveView): string {
  const lengths = `${flush ? ` FLUSH EVERY ${flush}` : ''}${inMemory ? ` IN MEMORY ${inMemory}` : ''}`;
  const head = `CREATE LIVE VIEW '${name}'${lengths} PARTITION BY ${partitionBy} START FROM ${start}`;
  return `${head} AS (\n${body}\n)${ownerText(owner)};`;
}

function refreshText({ type, deferred, every, start, timeZone, period }: Refresh): string {
  const zone = timeZone === undefined ? '' : ` TIME ZONE '${timeZone}'`;
  const head = `${type}${every === undefined ? '' : ` ${every}`}${deferred ? ' DEFERRED' : ''}`;
  if (!period) return type === 'EVERY' ? `${head} START '${start}'${zone}` : head;
  return `${head} PERIOD (LENGTH ${period.length}${zone}${period.delay ? ` DELAY ${period.delay}` : ''})`;
}

/**
 * Where an enterprise server prints the owner is documented for tables only (a line of its own, at the very end);
 * views follow the same rule here.
 */
const ownerText = (owner: string | undefined): string => (owner === undefined ? '' : `\nOWNED BY '${owner}'`);
