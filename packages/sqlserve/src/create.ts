/*! CREATE, held against the catalogue: what exists already, what must exist, which names may not be. */
import type { Catalogue } from './catalogue.js';
import type { Column, Table } from './objects.js';
import type { CreateMaterializedView } from './parser/create-matview.js';
import type { CreateTable } from './parser/create-table.js';
import type { CreateView } from './parser/create-view.js';
import { isValidTableName } from './parser/names.js';
import { Refusal } from './parser/refusal.js';
import { references } from './references.js';

/** Whether there is nothing to do: the name is taken by an object of the same kind, and IF NOT EXISTS allows that. */
function exists(catalogue: Catalogue, statement: CreateTable | CreateView | CreateMaterializedView): boolean {
  const { name, position, ifNotExists } = statement;
  const kind = statement.statement.replace('create ', '');
  const object = catalogue.find(name);
  if (!object) return false;
  if (object.kind !== kind) throw new Refusal(position, `${others[kind]} with the requested name already exists`);
  if (ifNotExists) return true;
  throw new Refusal(position, `${kind} already exists`);
}

const others: Readonly<Record<string, string>> = {
  table: 'view or materialized view',
  view: 'table or materialized view',
  'materialized view': 'table or view',
};

/** CREATE TABLE. */
export function createTableIn(catalogue: Catalogue, statement: CreateTable): void {
  const { name, position, like, partition, timestamp, ttl, wal, parquet, owner } = statement;
  if (like && !catalogue.find(like.name)) throw noTable(like.name, like.position);
  if (exists(catalogue, statement)) return;
  refuseVolume(statement);
  if (!isValidTableName(name)) {
    throw new Refusal(position, `Could not create table, invalid table name [table=${name}]`);
  }
  const model = like && catalogue.find(like.name);
  if (model && model.kind !== 'view') {
    const { columns, timestamp, partitionBy, ttl } = model;
    const wal = model.kind !== 'table' || model.wal;
    const parquet = model.kind === 'table' && model.parquet;
    catalogue.put({
      kind: 'table',
      name,
      columns: structuredClone(columns),
      timestamp,
      partitionBy,
      ttl,
      wal,
      parquet,
      owner,
    });
    return;
  }
  const columns = [...statement.columns.values()];
  const table: Table = {
    kind: 'table',
    name,
    columns: columns.map(column => withTimestamp(column, timestamp?.name)),
    timestamp: columns.find(column => column.name.toLowerCase() === timestamp?.name.toLowerCase())?.name,
    partitionBy: partition?.unit ?? 'NONE',
    ttl,
    wal,
    parquet,
    owner,
  };
  catalogue.put(table);
}

/** A posting index that covers columns covers the timestamp too. */
function withTimestamp(column: Column, timestamp: string | undefined): Column {
  const { index } = column;
  if (!timestamp || !index || index.capacity !== undefined || index.covered.length === 0) return column;
  const covered = index.covered.some(name => name.toLowerCase() === timestamp.toLowerCase());
  return covered ? column : { ...column, index: { ...index, covered: [...index.covered, timestamp] } };
}

export const noTable = (name: string, position: number): Refusal =>
  new Refusal(position, `table does not exist [table=${name}]`);

/** No volumes are configured, so none may be named. */
function refuseVolume({ volume }: CreateTable | CreateMaterializedView): void {
  if (volume) throw new Refusal(volume.position, `volume alias is not allowed [alias=${volume.name}]`);
}

/** CREATE VIEW. */
export function createViewIn(catalogue: Catalogue, statement: CreateView): void {
  const { name, position, body, owner } = statement;
  const used = references(body.query, catalogue);
  if (!(statement.orReplace && catalogue.find(name)?.kind === 'view') && exists(catalogue, statement)) return;
  if (!isValidTableName(name)) throw new Refusal(position, `invalid table name [table=${name}]`);
  catalogue.put({ kind: 'view', name, body: body.text, columns: [], references: used, owner });
}

/** CREATE MATERIALIZED VIEW. */
export function createMaterializedViewIn(catalogue: Catalogue, statement: CreateMaterializedView): void {
  const { name, position, body, base, refresh, partition, ttl, owner } = statement;
  const used = references(body.query, catalogue);
  const baseName = base?.name ?? used[0];
  if (baseName === undefined) {
    throw new Refusal(body.position, 'missing base table, materialized views have to be based on a table');
  }
  if (exists(catalogue, statement)) return;
  refuseVolume(statement);
  if (!isValidTableName(name)) throw new Refusal(position, `invalid table name [table=${name}]`);
  const period = refresh.period === 'sample by interval' ? undefined : refresh.period;
  catalogue.put({
    kind: 'materialized view',
    name,
    base: catalogue.find(baseName)?.name ?? baseName,
    refresh: { ...refresh, period },
    body: body.text,
    columns: [],
    partitionBy: partition ?? defaultPartition(body.query.select.sampleBy?.duration ?? '1d'),
    ttl: ttl?.ttl ?? 0,
    references: used,
    owner,
  });
}

/** By the bucket: more than an hour YEAR, more than a minute MONTH, else DAY (read in CreateMatViewOperationImpl). */
function defaultPartition(interval: string): 'YEAR' | 'MONTH' | 'DAY' {
  const unit = interval.slice(-1);
  const count = Number.parseInt(interval, 10) || 1;
  const seconds = count * ({ n: 1e-9, U: 1e-6, T: 1e-3, s: 1, m: 60, h: 3600 }[unit] ?? 86_400);
  return seconds > 3600 ? 'YEAR' : seconds > 60 ? 'MONTH' : 'DAY';
}
