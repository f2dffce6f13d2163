/*!
 * CREATE, checked against the catalogue: the name must be valid and free, and what the statement refers to must exist.
 */

import {
  addTimestampToIndex,
  type Column,
  defaultPartition,
  findColumn,
  type Refresh,
  toTableDefinition,
} from '@sqlpipe/ddl';
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
  MAX_FILE_NAME_BYTES,
  parseTimestamp,
  policyOf,
  RejectionError,
  rejectBadCover,
  rejectImpossiblePolicy,
  rejectUnevenAge,
  unquote,
} from '@sqlpipe/ddl/grammar';
import { foldCase, isSameName } from '@sqlpipe/sql';
import { analyzeLiveView, checkWindows } from './analysis/live-view.js';
import { analyzeSampling, type ViewSampling } from './analysis/materialized-view.js';
import { analyzeRelation, type Relation } from './analysis/relation.js';
import type { Catalogue } from './catalogue.js';
import { type Table, toStoredColumn } from './catalogue-objects.js';
import { unknownSyntaxError } from './opaque-error.js';
import { parsedQuery } from './parser/parsed-query.js';
import { findQueryReferences, requireReadAccess } from './query-references.js';
import { requireReadable, type Session } from './session.js';

type Create = CreateTable | CreateView | CreateMaterializedView | CreateLiveView;

/**
 * Whether there is something to do, and the caller may do it: not if an object of the same kind has the name and IF NOT EXISTS
 * allows that. No volumes are configured, so none may be named.
 * @throws RejectionError if the name is taken in any other way; DenialError
 */
function canCreate({ catalogue, authorize }: Session, statement: Create): boolean {
  const { name, position, ifNotExists } = statement;
  const kind = statement.statement.replace('create ', '');
  const object = catalogue.find(name);
  if (!object) {
    const volume = 'volume' in statement ? statement.volume : undefined;
    if (volume) throw new RejectionError(volume.position, `volume alias is not allowed [alias=${volume.name}]`);
    authorize(statement.statement.toUpperCase());
    return true;
  }
  if (object.kind !== kind)
    throw new RejectionError(
      position,
      `${object.kind === 'live view' ? object.kind : otherKinds[kind]} with the requested name already exists`,
    );
  if (ifNotExists) return false;
  throw new RejectionError(position, `${kind} already exists`);
}

const otherKinds: Readonly<Record<string, string>> = {
  table: 'view or materialized view',
  view: 'table or materialized view',
  'materialized view': 'table or view',
  'live view': 'table or view',
};

/** CREATE TABLE, with columns, LIKE another table or AS a query. */
export function createTable(session: Session, parsed: CreateTable): void {
  const { catalogue } = session;
  const owned = { ...parsed, owner: parsed.owner ?? session.owner };
  // The enterprise edition has storage policies, and turns a TTL into one.
  const statement = session.enterprise ? { ...owned, ttl: 0, policy: policyOf(parsed) } : owned;
  const { name, position, like, select } = statement;
  if (like && !catalogue.find(like.name)) throw noTableError(like.name, like.position);
  if (!canCreate(session, statement)) return;
  if (like) requireReadable(session, like.name);
  const table = like
    ? copyTable(catalogue, statement, like)
    : select
      ? tableFromQuery(catalogue, statement)
      : toTableDefinition(statement);
  rejectImpossiblePolicy(statement.policy, session.has);
  const columns = [...statement.columns.values()];
  if (!select) for (const column of columns) rejectBadCover(column, columns, "doesn't exist");
  if (select) requireReadAccess(session, parsedQuery(select));
  rejectBadName(name, position, select ? '' : 'Could not create table, ');
  // QuestDB cannot create a folder with a name longer than a file name, and reports that the table exists.
  if (Buffer.byteLength(name) > MAX_FILE_NAME_BYTES) throw new RejectionError(position, 'table already exists');
  catalogue.put(table);
}

function copyTable(catalogue: Catalogue, { name, owner }: CreateTable, like: LocatedName): Table {
  const model = catalogue.resolve(like.name);
  if (!model || model.kind === 'view') throw noTableError(like.name, like.position);
  if (model.opaque !== undefined) throw unknownSyntaxError(model);
  const { columns, timestamp, partitionBy, ttl } = model;
  const wal = model.kind !== 'table' || model.wal;
  const parquet = model.kind === 'table' && model.parquet;
  const policy = model.kind === 'table' ? model.policy : undefined;
  const stored = { name, columns: structuredClone(columns), timestamp, partitionBy, ttl, owner };
  return { kind: 'table', ...stored, policy, wal, parquet };
}

/** The table that a query creates: the query's columns, with the types and options that CAST, INDEX and DEDUP set. */
function tableFromQuery(catalogue: Catalogue, statement: CreateTable): Table {
  const { name, position, select, partition, ttl, policy, wal, parquet, owner } = statement;
  const relation = select ? analyzeRelation(parsedQuery(select), catalogue) : { fields: [] };
  const timestamp = timestampOfQuery(statement, relation);
  if (partition && partition.unit !== 'NONE' && !timestamp) {
    throw new RejectionError(partition.position, 'partitioning is possible only on tables with designated timestamps');
  }
  rejectUnknownColumns(statement, relation);
  const columns = relation.fields.map(({ name: column, type }, index) => {
    rejectBadColumnName(column, index, position);
    const declared = statement.columns.find(column);
    if (declared?.type && type) rejectCast(statement, column, type, declared.type);
    if (!declared && type === 'NULL') {
      throw new RejectionError(0, `cannot create NULL-type column, please use type cast, e.g. ${column}::type`);
    }
    const definition = {
      name: column,
      type: declared?.type || type || 'DOUBLE',
      cached: declared?.cached ?? true,
      dedup: declared?.dedup ?? false,
    };
    if (declared?.index && definition.type !== 'SYMBOL') {
      throw new RejectionError(0, `indexes are supported only for SYMBOL columns: ${column}`);
    }
    return addTimestampToIndex(declared?.index ? { ...definition, index: declared.index } : definition, timestamp);
  });
  const dedup = statement.located.dedup.toSorted((a, b) => a.position - b.position);
  if (dedup[0] && !dedup.some(key => isSameName(key.name, timestamp))) {
    throw new RejectionError(dedup[0].position, 'deduplicate key list must include dedicated timestamp column');
  }
  const stored = { name, columns, timestamp, partitionBy: partition?.unit ?? 'NONE', ttl, owner } as const;
  return { kind: 'table', ...stored, policy, wal, parquet };
}

function timestampOfQuery(
  { timestamp }: CreateTable,
  { fields, timestamp: designated, open }: Relation,
): string | undefined {
  if (!timestamp) return designated;
  const field = fields.find(({ name }) => isSameName(name, timestamp.name));
  if (!field && open) return timestamp.name;
  if (!field) {
    throw new RejectionError(timestamp.position, `designated timestamp column doesn't exist [name=${timestamp.name}]`);
  }
  if (field.type !== undefined && !isTimestamp(field.type)) {
    throw new RejectionError(timestamp.position, `TIMESTAMP column expected [actual=${field.type}]`);
  }
  return field.name;
}

function rejectUnknownColumns({ located }: CreateTable, { fields, open }: Relation): void {
  if (open) return;
  for (const [clause, columns] of Object.entries(located)) {
    for (const { name, position } of columns) {
      if (fields.some(field => isSameName(field.name, name))) continue;
      throw new RejectionError(position, `${clause.toUpperCase()} column doesn't exist [column=${name}]`);
    }
  }
}

/** Groups of types that CAST in CREATE TABLE AS converts into each other (observed on 9.3.4). */
const castGroups: readonly RegExp[] = [
  /^(?:BYTE|SHORT|CHAR|INT|LONG|DATE|TIMESTAMP|TIMESTAMP_NS|FLOAT|DOUBLE)$/,
  /^(?:STRING|VARCHAR|SYMBOL)$/,
  /^(?:LONG256|UUID|IPv4|GEOHASH.*|DECIMAL.*|DOUBLE(?:\[\])+)$/,
];

function rejectCast({ located }: CreateTable, column: string, from: string, to: string): void {
  const textTypes = ['STRING', 'VARCHAR'];
  if (from === to || from === 'NULL' || (textTypes.includes(from) && to === 'IPv4')) return;
  if (castGroups.some(group => group.test(from) && group.test(to))) return;
  const cast = located.cast.find(({ name }) => isSameName(name, column));
  if (cast) throw new RejectionError(cast.position, `unsupported cast [column=${column}, from=${from}, to=${to}]`);
}

const noTableError = (name: string, position: number): RejectionError =>
  new RejectionError(position, `table does not exist [table=${name}]`);

function rejectBadName(name: string, position: number, lead: string): void {
  if (isValidTableName(name)) return;
  throw new RejectionError(position, `${lead}invalid table name [table=${escapeForMessage(name)}]`);
}

function rejectBadColumnName(name: string, index: number, position: number): void {
  if (isValidColumnName(name)) return;
  throw new RejectionError(position, `invalid column name [name=${name}, position=${index}]`);
}

/** Escapes control characters as QuestDB does in its own messages. */
const escapeForMessage = (text: string): string =>
  text.replace(/[\0-\x1f\x7f]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** CREATE VIEW. */
export function createView(session: Session, statement: CreateView): void {
  const { catalogue } = session;
  const { name, position, body, orReplace } = statement;
  const replaces = orReplace && !statement.ifNotExists && catalogue.find(name)?.kind === 'view';
  if (!replaces) {
    if (canCreate(session, statement)) putView(session, statement, position);
    return;
  }
  session.authorize('CREATE VIEW');
  // In CREATE OR REPLACE VIEW QuestDB counts from before the parenthesis, except for errors that its parser finds.
  const shift = body.position - body.start;
  try {
    putView(session, statement, body.position);
  } catch (error) {
    if (!(error instanceof RejectionError) || error.position === 0 || /^Duplicate column/.test(error.message))
      throw error;
    throw new RejectionError(error.position - shift, error.message);
  }
}

/** `errorPosition` is the position that is reported for an invalid column name. */
function putView(session: Session, statement: CreateView, errorPosition: number): void {
  const { catalogue } = session;
  const { name, position, body, owner = session.owner, orReplace } = statement;
  const relation = analyzeRelation(parsedQuery(body), catalogue);
  if (orReplace) rejectCycle(catalogue, statement);
  requireReadAccess(session, parsedQuery(body));
  for (const [index, field] of relation.fields.entries()) rejectBadColumnName(field.name, index, errorPosition);
  rejectBadName(name, position, '');
  const references = findQueryReferences(parsedQuery(body), catalogue);
  catalogue.put({
    kind: 'view',
    name,
    body: body.text,
    columns: toColumns(relation),
    timestamp: relation.timestamp,
    references,
    sources: catalogue.sources(references),
    owner,
  });
}

/** A view cannot depend on itself. */
function rejectCycle(catalogue: Catalogue, { name, body }: CreateView): void {
  const reference = findQueryReferences(parsedQuery(body), catalogue).find(reference =>
    catalogue.closure([reference]).has(foldCase(name)),
  );
  if (reference === undefined) return;
  const problem = isSameName(reference, name)
    ? `view '${name}' cannot reference itself`
    : `'${name}' cannot depend on '${reference}' because '${reference}' already depends on '${name}'`;
  throw new RejectionError(body.position, `circular dependency detected: ${problem}`);
}

/** A materialized view cannot be built from itself. */
function rejectCycleOfBases(catalogue: Catalogue, { name, position }: CreateMaterializedView, base: string): void {
  const seen = new Set<string>();
  for (
    let at = catalogue.find(base);
    at?.kind === 'materialized view' && !seen.has(at.name);
    at = catalogue.find(at.base)
  ) {
    seen.add(at.name);
    if (!isSameName(at.base, name)) continue;
    const between = `[view=${name}, baseTable=${base}]`;
    throw new RejectionError(position, `circular dependency detected for materialized view ${between}`);
  }
}

/** The columns of a query as columns of a view. */
export const toColumns = ({ fields }: Relation): Column[] =>
  fields.map(({ name, type }) => ({ name, type: type ?? 'DOUBLE', cached: true, dedup: false }));

/** CREATE MATERIALIZED VIEW. */
export function createMaterializedView(session: Session, statement: CreateMaterializedView): void {
  const { catalogue } = session;
  const { name, position, body, partition, ttl, expire, owner = session.owner } = statement;
  const base = statement.base as LocatedName; // `findBase` sets it if the statement names none
  if (!canCreate(session, statement)) return;
  const { timeZone } = statement.refresh;
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new RejectionError(position, `invalid timezone: ${timeZone}`);
  const relation = analyzeRelation(parsedQuery(body), catalogue);
  requireReadAccess(session, parsedQuery(body));
  const sampling = analyzeSampling(statement, base, relation, session);
  const unindexable = relation.fields.find(
    ({ name: field, type = 'SYMBOL' }) => statement.indexes.has(foldCase(field)) && type !== 'SYMBOL',
  );
  if (unindexable) throw new RejectionError(0, `indexes are supported only for SYMBOL columns: ${unindexable.name}`);
  const partitionBy = partition ?? sampling.partitionBy ?? defaultPartition(sampling.interval);
  if (!partition && ttl && ttl.age > 0) rejectUnevenAge(partitionBy, ttl.age, ttl.position);
  rejectBadName(name, position, '');
  rejectCycleOfBases(catalogue, statement, base.name);
  catalogue.put({
    kind: 'materialized view',
    name,
    base: catalogue.find(base.name)?.name ?? base.name,
    interval: sampling.interval,
    refresh: resolveRefresh(statement, sampling),
    body: body.text,
    columns: toColumns(relation).map(column => toStoredColumn(column, statement)),
    timestamp: sampling.timestamp,
    partitionBy,
    ttl: ttl?.age ?? 0,
    ...(expire !== undefined && { expire }),
    references: findQueryReferences(parsedQuery(body), catalogue),
    neverRefreshed: statement.refresh.deferred,
    owner,
  });
}

function resolveRefresh({ refresh }: CreateMaterializedView, sampling: ViewSampling): Refresh {
  const { period, ...options } = refresh;
  const started = { ...options, start: options.start ?? defaultStart(refresh) };
  if (period !== 'sample by interval') return { ...started, period };
  return { ...started, timeZone: sampling.timeZone, period: { length: sampling.period ?? '' } };
}

/** A timer without START starts now. */
export const defaultStart = ({
  type,
  period,
}: Pick<CreateMaterializedView['refresh'], 'type' | 'period'>): string | undefined =>
  type === 'EVERY' && !period ? new Date().toISOString().replace('Z', '000Z') : undefined;

/** CREATE LIVE VIEW. */
export function createLiveView(session: Session, statement: CreateLiveView): void {
  const { catalogue } = session;
  const { name, position, body, flush, inMemory, ttl, start, owner = session.owner } = statement;
  checkWindows(statement, catalogue);
  if (!canCreate(session, statement)) return;
  const { base, relation } = analyzeLiveView(statement, catalogue);
  requireReadAccess(session, parsedQuery(body));
  const partitionBy = statement.partition ?? base.partitionBy;
  if (ttl) rejectUnevenAge(partitionBy, ttl.age, ttl.position);
  rejectBadName(name, position, '');
  const digits = findColumn(base, base.timestamp)?.type === 'TIMESTAMP_NS' ? 9 : 6;
  const moment = parseTimestamp(unquote(start), digits);
  catalogue.put({
    kind: 'live view',
    name,
    base: base.name,
    flush,
    inMemory,
    partitionBy,
    start: moment === undefined ? start : `'${moment}'`,
    body: body.text,
    columns: toColumns(relation),
    timestamp: relation.timestamp,
    ttl: ttl?.age ?? 0,
    references: [base.name],
    owner,
  });
}
