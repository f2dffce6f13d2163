/*! CREATE, held against the catalogue: what exists already, what must exist, which names may not be. */

import { type Column, coverTimestamp, defaultPartition, type Refresh, toTable } from '@sqlpipe/ddl';
import {
  type CreateLiveView,
  type CreateMaterializedView,
  type CreateTable,
  type CreateView,
  isTimestamp,
  isTimeZone,
  isValidColumnName,
  isValidTableName,
  type LocatedName,
  maxFileNameLength,
  policyOfTtl,
  Rejection,
  rejectUnevenTtl,
} from '@sqlpipe/ddl/grammar';
import { samplingOf } from './analysis/materialized.js';
import { type Relation, relationOf } from './analysis/relation.js';
import type { Catalogue } from './catalogue.js';
import type { MaterializedView, Table } from './objects.js';
import { queryOf } from './parser/queries.js';
import { allowReading, references } from './references.js';
import { allowSeeing, type Session } from './session.js';

type Create = CreateTable | CreateView | CreateMaterializedView | CreateLiveView;

/** Whether there is nothing to do: the name is taken by an object of the same kind, and IF NOT EXISTS allows that. */
function exists(catalogue: Catalogue, statement: Create): boolean {
  const { name, position, ifNotExists } = statement;
  const kind = statement.statement.replace('create ', '');
  const object = catalogue.find(name);
  if (!object) return false;
  if (object.kind !== kind) throw new Rejection(position, `${others[kind]} with the requested name already exists`);
  if (ifNotExists) return true;
  throw new Rejection(position, `${kind} already exists`);
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
  rejectVolume(statement);
  session.allow('CREATE TABLE');
  if (like) allowSeeing(session, like.name);
  const table = like
    ? tableLike(catalogue, statement, like)
    : select
      ? tableAs(catalogue, statement)
      : toTable(statement);
  if (select) allowReading(session, queryOf(select));
  rejectBadName(name, position, select ? '' : 'Could not create table, ');
  // Longer than a file name: the service takes its failure to make the folder for a table that is there.
  if (Buffer.byteLength(name) > maxFileNameLength) throw new Rejection(position, 'table already exists');
  catalogue.put(table);
}

function tableLike(catalogue: Catalogue, { name, owner }: CreateTable, like: LocatedName): Table {
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
  const relation = select ? relationOf(queryOf(select), catalogue) : { fields: [] };
  const timestamp = timestampOfQuery(statement, relation);
  if (partition && partition.unit !== 'NONE' && !timestamp) {
    throw new Rejection(partition.position, 'partitioning is possible only on tables with designated timestamps');
  }
  rejectUnknownColumns(statement, relation);
  const columns = relation.fields.map(({ name: column, type }, index) => {
    if (!isValidColumnName(column)) {
      throw new Rejection(position, `invalid column name [name=${column}, position=${index}]`);
    }
    const said = statement.columns.find(column);
    if (said?.type && type) rejectCast(statement, column, type, said.type);
    if (!said && type === 'NULL') {
      throw new Rejection(0, `cannot create NULL-type column, please use type cast, e.g. ${column}::type`);
    }
    const own = {
      name: column,
      type: said?.type || type || 'DOUBLE',
      cached: said?.cached ?? true,
      dedup: said?.dedup ?? false,
    };
    if (said?.index && own.type !== 'SYMBOL') {
      throw new Rejection(0, `indexes are supported only for SYMBOL columns: ${column}`);
    }
    return coverTimestamp(said?.index ? { ...own, index: said.index } : own, timestamp);
  });
  const dedup = statement.located.dedup.toSorted((a, b) => a.position - b.position);
  if (dedup[0] && !dedup.some(key => key.name.toLowerCase() === timestamp?.toLowerCase())) {
    throw new Rejection(dedup[0].position, 'deduplicate key list must include dedicated timestamp column');
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
    throw new Rejection(timestamp.position, `designated timestamp column doesn't exist [name=${timestamp.name}]`);
  }
  if (field.type !== undefined && !isTimestamp(field.type)) {
    throw new Rejection(timestamp.position, `TIMESTAMP column expected [actual=${field.type}]`);
  }
  return field.name;
}

function rejectUnknownColumns({ located }: CreateTable, { fields, open }: Relation): void {
  if (open) return;
  for (const [clause, columns] of Object.entries(located)) {
    for (const { name, position } of columns) {
      if (fields.some(field => field.name.toLowerCase() === name.toLowerCase())) continue;
      throw new Rejection(position, `${clause.toUpperCase()} column doesn't exist [column=${name}]`);
    }
  }
}

/** Types that CAST of a CREATE TABLE AS turns into each other, as 9.3.4 was seen to. */
const castGroups: readonly RegExp[] = [
  /^(?:BYTE|SHORT|CHAR|INT|LONG|DATE|TIMESTAMP|TIMESTAMP_NS|FLOAT|DOUBLE)$/,
  /^(?:STRING|VARCHAR|SYMBOL)$/,
  /^(?:LONG256|UUID|IPv4|GEOHASH.*|DECIMAL.*|DOUBLE(?:\[\])+)$/,
];

function rejectCast({ located }: CreateTable, column: string, from: string, to: string): void {
  const texts = ['STRING', 'VARCHAR'];
  if (from === to || from === 'NULL' || (texts.includes(from) && to === 'IPv4')) return;
  if (castGroups.some(group => group.test(from) && group.test(to))) return;
  const cast = located.cast.find(({ name }) => name.toLowerCase() === column.toLowerCase());
  if (cast) throw new Rejection(cast.position, `unsupported cast [column=${column}, from=${from}, to=${to}]`);
}

const noTable = (name: string, position: number): Rejection =>
  new Rejection(position, `table does not exist [table=${name}]`);

/** No volumes are configured, so none may be named. */
function rejectVolume({ volume }: CreateTable | CreateMaterializedView): void {
  if (volume) throw new Rejection(volume.position, `volume alias is not allowed [alias=${volume.name}]`);
}

function rejectBadName(name: string, position: number, lead: string): void {
  if (isValidTableName(name)) return;
  throw new Rejection(position, `${lead}invalid table name [table=${visible(name)}]`);
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
    if (!(error instanceof Rejection) || error.position === 0 || /^Duplicate column/.test(error.message)) throw error;
    throw new Rejection(error.position - shift, error.message);
  }
}

/** `blamed` is where a name is refused that no column can have. */
function putView(session: Session, statement: CreateView, blamed: number): void {
  const { catalogue } = session;
  const { name, position, body, owner = session.owner, orReplace } = statement;
  session.allow('CREATE VIEW');
  const relation = relationOf(queryOf(body), catalogue);
  if (orReplace) rejectCircle(catalogue, statement);
  allowReading(session, queryOf(body));
  relation.fields.forEach((field, index) => {
    if (isValidColumnName(field.name)) return;
    throw new Rejection(blamed, `invalid column name [name=${field.name}, position=${index}]`);
  });
  rejectBadName(name, position, '');
  catalogue.put({
    kind: 'view',
    name,
    body: body.text,
    columns: columnsOf(relation),
    timestamp: relation.timestamp,
    references: references(queryOf(body), catalogue),
    owner,
  });
}

/** A view cannot come to stand on itself. */
function rejectCircle(catalogue: Catalogue, { name, body }: CreateView): void {
  const below = references(queryOf(body), catalogue).find(below => catalogue.closure([below]).has(name.toLowerCase()));
  if (below === undefined) return;
  const problem =
    below.toLowerCase() === name.toLowerCase()
      ? `view '${name}' cannot reference itself`
      : `'${name}' cannot depend on '${below}' because '${below}' already depends on '${name}'`;
  throw new Rejection(body.position, `circular dependency detected: ${problem}`);
}

/** What a query gives as the columns of a view. */
export const columnsOf = ({ fields }: Relation): Column[] =>
  fields.map(({ name, type }) => ({ name, type: type ?? 'DOUBLE', cached: true, dedup: false }));

/** CREATE MATERIALIZED VIEW. */
export function createMaterializedViewIn(session: Session, statement: CreateMaterializedView): void {
  const { catalogue } = session;
  const { name, position, body, partition, ttl, owner = session.owner } = statement;
  const base = statement.base as LocatedName; // found by `baseOf` where it is not named
  if (exists(catalogue, statement)) return;
  rejectVolume(statement);
  session.allow('CREATE MATERIALIZED VIEW');
  const { timeZone } = statement.refresh;
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw new Rejection(position, `invalid timezone: ${timeZone}`);
  const relation = relationOf(queryOf(body), catalogue);
  allowReading(session, queryOf(body));
  const sampling = samplingOf(statement, base, relation, catalogue);
  const unindexable = relation.fields.find(
    ({ name: field, type = 'SYMBOL' }) => statement.indexes.has(field.toLowerCase()) && type !== 'SYMBOL',
  );
  if (unindexable) throw new Rejection(0, `indexes are supported only for SYMBOL columns: ${unindexable.name}`);
  const partitionBy = partition ?? defaultPartition(sampling.interval);
  if (!partition && ttl && ttl.ttl > 0) rejectUnevenTtl(partitionBy, ttl.ttl, ttl.position);
  rejectBadName(name, position, '');
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
    references: references(queryOf(body), catalogue),
    owner,
  };
  catalogue.put(view);
}

function refreshOf(
  { refresh }: CreateMaterializedView,
  sampling: { period?: string | undefined; timeZone?: string | undefined },
): Refresh {
  const { period, ...given } = refresh;
  const rest = { ...given, start: given.start ?? firstStart(refresh) };
  if (period !== 'sample by interval') return { ...rest, period };
  return { ...rest, timeZone: sampling.timeZone, period: { length: sampling.period ?? '' } };
}

/** A timer without START starts now. */
export const firstStart = ({
  type,
  period,
}: Pick<CreateMaterializedView['refresh'], 'type' | 'period'>): string | undefined =>
  type === 'EVERY' && !period ? new Date().toISOString().replace('Z', '000Z') : undefined;

/** CREATE LIVE VIEW. */
export function createLiveViewIn(session: Session, statement: CreateLiveView): void {
  const { catalogue } = session;
  const { name, position, body, flush, inMemory, start, owner = session.owner } = statement;
  if (exists(catalogue, statement)) return;
  session.allow('CREATE LIVE VIEW');
  const relation = relationOf(queryOf(body), catalogue);
  const base = liveBaseOf(statement, catalogue);
  allowReading(session, queryOf(body));
  rejectBadName(name, position, '');
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
  const [name = '', ...others] = references(queryOf(body), catalogue);
  const base = catalogue.find(name);
  if (base?.kind !== 'table' || others.length > 0) {
    throw new Rejection(body.position, 'live view query must have exactly one base table');
  }
  if (base.wal && base.timestamp) return base;
  throw new Rejection(
    body.position,
    `base table has to be WAL enabled with a designated timestamp [table=${base.name}]`,
  );
}
