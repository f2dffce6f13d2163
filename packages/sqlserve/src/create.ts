/*! CREATE, held against the catalogue: what exists already, what must exist, which names may not be. */
import { samplingOf } from './analysis/materialized.js';
import { type Relation, relationOf } from './analysis/relation.js';
import type { Catalogue } from './catalogue.js';
import type { Column, MaterializedView, Refresh, Table } from './objects.js';
import type { CreateLiveView } from './parser/create-live-view.js';
import type { CreateMaterializedView } from './parser/create-matview.js';
import type { CreateTable, Placed } from './parser/create-table.js';
import type { CreateView } from './parser/create-view.js';
import { isValidColumnName, isValidTableName, maxFileNameLength } from './parser/names.js';
import { type PartitionUnit, refuseUnevenTtl } from './parser/partition.js';
import { isTimeZone } from './parser/refresh.js';
import { Refusal } from './parser/refusal.js';
import { policyOfTtl } from './parser/storage-policy.js';
import { isTimestamp } from './parser/types.js';
import { allowReading, references } from './references.js';
import { allowSeeing, type Session } from './session.js';

type Create = CreateTable | CreateView | CreateMaterializedView | CreateLiveView;

/** Whether there is nothing to do: the name is taken by an object of the same kind, and IF NOT EXISTS allows that. */
function exists(catalogue: Catalogue, statement: Create): boolean {
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
  'live view': 'table or view',
};

/** CREATE TABLE, with its columns, LIKE another or AS a query. */
export function createTableIn(session: Session, given: CreateTable): void {
  const { catalogue } = session;
  const owned = { ...given, owner: given.owner ?? session.owner };
  // TTL is turned into a storage policy where there are any.
  const statement = session.enterprise ? { ...owned, ttl: 0, policy: given.policy ?? policyOfTtl(given.ttl) } : owned;
  const { name, position, like, select } = statement;
  if (like && !catalogue.find(like.name)) throw noTable(like.name, like.position);
  if (exists(catalogue, statement)) return;
  refuseVolume(statement);
  session.allow('CREATE TABLE');
  if (like) allowSeeing(session, like.name);
  const table = like
    ? tableLike(catalogue, statement, like)
    : select
      ? tableAs(catalogue, statement)
      : tableOf(statement);
  if (select) allowReading(session, select.query);
  refuseBadName(name, position, select ? '' : 'Could not create table, ');
  // Longer than a file name: the service takes its failure to make the folder for a table that is there.
  if (Buffer.byteLength(name) > maxFileNameLength) throw new Refusal(position, 'table already exists');
  catalogue.put(table);
}

function tableOf({ name, columns, timestamp, partition, ttl, policy, wal, parquet, owner }: CreateTable): Table {
  const list = [...columns.values()];
  const designated = timestamp && columns.find(timestamp.name)?.name;
  return {
    kind: 'table',
    name,
    columns: list.map(column => coverTimestamp(column, designated)),
    timestamp: designated,
    partitionBy: partition?.unit ?? 'NONE',
    ttl,
    policy,
    wal,
    parquet,
    owner,
  };
}

function tableLike(catalogue: Catalogue, { name, owner }: CreateTable, like: Placed): Table {
  const model = catalogue.find(like.name);
  if (!model || model.kind === 'view') throw noTable(like.name, like.position);
  const { columns, timestamp, partitionBy, ttl } = model;
  const wal = model.kind !== 'table' || model.wal;
  const parquet = model.kind === 'table' && model.parquet;
  const policy = model.kind === 'table' ? model.policy : undefined;
  const stored = { name, columns: structuredClone(columns), timestamp, partitionBy, ttl, owner };
  return { kind: 'table', ...stored, policy, wal, parquet };
}

/** The columns of a query, with what CAST, INDEX and DEDUP say of them. */
function tableAs(catalogue: Catalogue, statement: CreateTable): Table {
  const { name, position, select, partition, ttl, policy, wal, parquet, owner } = statement;
  const relation = select ? relationOf(select.query, catalogue) : { fields: [] };
  const timestamp = timestampOfQuery(statement, relation);
  if (partition && partition.unit !== 'NONE' && !timestamp) {
    throw new Refusal(partition.position, 'partitioning is possible only on tables with designated timestamps');
  }
  refuseUnknownColumns(statement, relation);
  const columns = relation.fields.map(({ name: column, type }, index) => {
    if (!isValidColumnName(column)) {
      throw new Refusal(position, `invalid column name [name=${column}, position=${index}]`);
    }
    const said = statement.columns.find(column);
    if (said?.type && type) refuseCast(statement, column, type, said.type);
    if (!said && type === 'NULL') {
      throw new Refusal(0, `cannot create NULL-type column, please use type cast, e.g. ${column}::type`);
    }
    const own = {
      name: column,
      type: said?.type || type || 'DOUBLE',
      cached: said?.cached ?? true,
      dedup: said?.dedup ?? false,
    };
    if (said?.index && own.type !== 'SYMBOL') {
      throw new Refusal(0, `indexes are supported only for SYMBOL columns: ${column}`);
    }
    return coverTimestamp(said?.index ? { ...own, index: said.index } : own, timestamp);
  });
  const dedup = statement.placed.dedup.toSorted((a, b) => a.position - b.position);
  if (dedup[0] && !dedup.some(key => key.name.toLowerCase() === timestamp?.toLowerCase())) {
    throw new Refusal(dedup[0].position, 'deduplicate key list must include dedicated timestamp column');
  }
  const stored = { name, columns, timestamp, partitionBy: partition?.unit ?? 'NONE', ttl, owner } as const;
  return { kind: 'table', ...stored, policy, wal, parquet };
}

function timestampOfQuery(
  { timestamp }: CreateTable,
  { fields, timestamp: designated, open }: Relation,
): string | undefined {
  if (!timestamp) return designated;
  const field = fields.find(({ name }) => name.toLowerCase() === timestamp.name.toLowerCase());
  if (!field && open) return timestamp.name;
  if (!field) {
    throw new Refusal(timestamp.position, `designated timestamp column doesn't exist [name=${timestamp.name}]`);
  }
  if (field.type !== undefined && !isTimestamp(field.type)) {
    throw new Refusal(timestamp.position, `TIMESTAMP column expected [actual=${field.type}]`);
  }
  return field.name;
}

function refuseUnknownColumns({ placed }: CreateTable, { fields, open }: Relation): void {
  if (open) return;
  for (const [clause, columns] of Object.entries(placed)) {
    for (const { name, position } of columns) {
      if (fields.some(field => field.name.toLowerCase() === name.toLowerCase())) continue;
      throw new Refusal(position, `${clause.toUpperCase()} column doesn't exist [column=${name}]`);
    }
  }
}

/** Types that CAST of a CREATE TABLE AS turns into each other, as 9.3.4 was seen to. */
const castGroups: readonly RegExp[] = [
  /^(?:BYTE|SHORT|CHAR|INT|LONG|DATE|TIMESTAMP|TIMESTAMP_NS|FLOAT|DOUBLE)$/,
  /^(?:STRING|VARCHAR|SYMBOL)$/,
  /^(?:LONG256|UUID|IPv4|GEOHASH.*|DECIMAL.*|DOUBLE(?:\[\])+)$/,
];

function refuseCast({ placed }: CreateTable, column: string, from: string, to: string): void {
  const texts = ['STRING', 'VARCHAR'];
  if (from === to || from === 'NULL' || (texts.includes(from) && to === 'IPv4')) return;
  if (castGroups.some(group => group.test(from) && group.test(to))) return;
  const cast = placed.cast.find(({ name }) => name.toLowerCase() === column.toLowerCase());
  if (cast) throw new Refusal(cast.position, `unsupported cast [column=${column}, from=${from}, to=${to}]`);
}

/** A posting index that covers columns covers the timestamp too. */
function coverTimestamp(column: Column, timestamp: string | undefined): Column {
  const { index } = column;
  if (!timestamp || !index || index.capacity !== undefined || index.covered.length === 0) return column;
  const covered = index.covered.some(name => name.toLowerCase() === timestamp.toLowerCase());
  return covered ? column : { ...column, index: { ...index, covered: [...index.covered, timestamp] } };
}

const noTable = (name: string, position: number): Refusal =>
  new Refusal(position, `table does not exist [table=${name}]`);

/** No volumes are configured, so none may be named. */
function refuseVolume({ volume }: CreateTable | CreateMaterializedView): void {
  if (volume) throw new Refusal(volume.position, `volume alias is not allowed [alias=${volume.name}]`);
}

function refuseBadName(name: string, position: number, lead: string): void {
  if (isValidTableName(name)) return;
  throw new Refusal(position, `${lead}invalid table name [table=${visible(name)}]`);
}

/** Control characters as the service writes them into its own messages. */
const visible = (text: string): string =>
  text.replace(/[\0-\x1f\x7f]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** CREATE VIEW. */
export function createViewIn(session: Session, statement: CreateView): void {
  const { catalogue } = session;
  const { name, position, body, orReplace } = statement;
  const replaces = orReplace && !statement.ifNotExists && catalogue.find(name)?.kind === 'view';
  if (!replaces) {
    if (!exists(catalogue, statement)) putView(session, statement, position);
    return;
  }
  // In what takes the place of a view, the service counts from before the parenthesis, but for what its parser finds.
  const shift = body.position - body.start;
  try {
    putView(session, statement, body.position);
  } catch (error) {
    if (!(error instanceof Refusal) || error.position === 0 || /^Duplicate column/.test(error.message)) throw error;
    throw new Refusal(error.position - shift, error.message);
  }
}

/** `blamed` is where a name is refused that no column can have. */
function putView(session: Session, statement: CreateView, blamed: number): void {
  const { catalogue } = session;
  const { name, position, body, owner = session.owner, orReplace } = statement;
  session.allow('CREATE VIEW');
  const relation = relationOf(body.query, catalogue);
  if (orReplace) refuseCircle(catalogue, statement);
  allowReading(session, body.query);
  relation.fields.forEach((field, index) => {
    if (isValidColumnName(field.name)) return;
    throw new Refusal(blamed, `invalid column name [name=${field.name}, position=${index}]`);
  });
  refuseBadName(name, position, '');
  catalogue.put({
    kind: 'view',
    name,
    body: body.text,
    columns: columnsOf(relation),
    timestamp: relation.timestamp,
    references: references(body.query, catalogue),
    owner,
  });
}

/** A view cannot come to stand on itself. */
function refuseCircle(catalogue: Catalogue, { name, body }: CreateView): void {
  const below = references(body.query, catalogue).find(below => catalogue.closure([below]).has(name.toLowerCase()));
  if (below === undefined) return;
  const problem =
    below.toLowerCase() === name.toLowerCase()
      ? `view '${name}' cannot reference itself`
      : `'${name}' cannot depend on '${below}' because '${below}' already depends on '${name}'`;
  throw new Refusal(body.position, `circular dependency detected: ${problem}`);
}

/** What a query gives as the columns of a view. */
export const columnsOf = ({ fields }: Relation): Column[] =>
  fields.map(({ name, type }) => ({ name, type: type ?? 'DOUBLE', cached: true, dedup: false }));

/** CREATE MATERIALIZED VIEW. */
export function createMaterializedViewIn(session: Session, statement: CreateMaterializedView): void {
  const { catalogue } = session;
  const { name, position, body, base, partition, ttl, owner = session.owner } = statement;
  if (exists(catalogue, statement)) return;
  refuseVolume(statement);
  session.allow('CREATE MATERIALIZED VIEW');
  const { timeZone } = statement.refresh;
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw new Refusal(position, `invalid timezone: ${timeZone}`);
  const relation = relationOf(body.query, catalogue);
  allowReading(session, body.query);
  const sampling = samplingOf(statement, base, relation, catalogue);
  const unindexable = relation.fields.find(
    ({ name: field, type = 'SYMBOL' }) => statement.indexes.has(field.toLowerCase()) && type !== 'SYMBOL',
  );
  if (unindexable) throw new Refusal(0, `indexes are supported only for SYMBOL columns: ${unindexable.name}`);
  const partitionBy = partition ?? defaultPartition(sampling.interval);
  if (!partition && ttl && ttl.ttl > 0) refuseUnevenTtl(partitionBy, ttl.ttl, ttl.position);
  refuseBadName(name, position, '');
  const view: MaterializedView = {
    kind: 'materialized view',
    name,
    base: catalogue.find(base.name)?.name ?? base.name,
    interval: sampling.interval,
    refresh: refreshOf(statement, sampling),
    body: body.text,
    columns: columnsOf(relation),
    timestamp: sampling.timestamp,
    partitionBy,
    ttl: ttl?.ttl ?? 0,
    references: references(body.query, catalogue),
    owner,
  };
  catalogue.put(view);
}

function refreshOf(
  { refresh }: CreateMaterializedView,
  sampling: { period?: string | undefined; timeZone?: string | undefined },
): Refresh {
  const { period, ...rest } = refresh;
  if (period !== 'sample by interval') return { ...rest, period };
  return { ...rest, timeZone: sampling.timeZone, period: { length: sampling.period ?? '' } };
}

/** By the bucket: more than an hour YEAR, more than a minute MONTH, else DAY (read in CreateMatViewOperationImpl). */
function defaultPartition(interval: string): PartitionUnit {
  const unit = interval.slice(-1);
  const count = Number.parseInt(interval, 10) || 1;
  const seconds = count * ({ n: 1e-9, U: 1e-6, T: 1e-3, s: 1, m: 60, h: 3600 }[unit] ?? 86_400);
  return seconds > 3600 ? 'YEAR' : seconds > 60 ? 'MONTH' : 'DAY';
}

/** CREATE LIVE VIEW. */
export function createLiveViewIn(session: Session, statement: CreateLiveView): void {
  const { catalogue } = session;
  const { name, position, body, flush, inMemory, start, owner = session.owner } = statement;
  if (exists(catalogue, statement)) return;
  session.allow('CREATE LIVE VIEW');
  const relation = relationOf(body.query, catalogue);
  const base = liveBaseOf(statement, catalogue);
  allowReading(session, body.query);
  refuseBadName(name, position, '');
  catalogue.put({
    kind: 'live view',
    name,
    base: base.name,
    flush,
    inMemory,
    partitionBy: statement.partition ?? base.partitionBy,
    start,
    body: body.written,
    columns: columnsOf(relation),
    timestamp: relation.timestamp,
    ttl: 0,
    owner,
  });
}

/** The one table that a live view is over. It must have what makes rows come in order. */
function liveBaseOf({ body }: CreateLiveView, catalogue: Catalogue): Table {
  const [name = '', ...others] = references(body.query, catalogue);
  const base = catalogue.find(name);
  if (base?.kind !== 'table' || others.length > 0) {
    throw new Refusal(body.position, 'live view query must have exactly one base table');
  }
  if (base.wal && base.timestamp) return base;
  throw new Refusal(body.position, `base table has to be WAL enabled with a designated timestamp [table=${base.name}]`);
}
