/*! Executes CREATE of tables and views. If a statement has two errors, the first check decides. So the checks have QuestDB's order. */
import {
  addTimestampToIndex,
  findColumn,
  isTimestamp,
  isValidColumnName,
  isValidTableName,
  type LiveViewDefinition,
  MAX_FILE_NAME_BYTES,
  type MaterializedViewDefinition,
  NO_RETENTION,
  PARTITIONING,
  type PartitionUnit,
  parseTimestamp,
  printDefinition,
  type Refresh,
  retentionOf,
  type TableDefinition,
  type ViewDefinition,
  VOLUME,
} from '@sqlpipe/ddl';
import {
  type Body,
  type CreateOf,
  type CreateStatement,
  catchRejection,
  DuplicateColumnError,
  missingError,
  OTHER_KIND_MESSAGES,
  RejectionError,
  recheckRetention,
  rejectBadCoveredColumns,
  rejectImpossiblePolicy,
  rejectInvalidTimeZone,
  unquoteToken,
} from '@sqlpipe/ddl/parser';
import { isSameName, kindKeywords, type LocatedName, NameSet } from '@sqlpipe/sql';
import { analyzeLiveView, scanLiveView } from '../analyze/analyze-live-view.js';
import { analyzeMaterializedView, findTimestampClause } from '../analyze/analyze-materialized-view.js';
import { analyzeRelation, type Relation } from '../analyze/analyze-relation.js';
import { findQueryReferences, requireQueryReadAccess } from '../analyze/query-scope.js';
import type { Catalogue } from '../catalogue.js';
import { type CatalogueObject, type Table, toStoredColumn } from '../catalogue-objects.js';
import { OpaqueError, unknownSyntaxError } from '../errors.js';
import { parseBody } from '../parse/parse-query.js';
import { type MutableSession, requirePartialReadAccess } from '../session.js';
import { listReadableColumns, toColumns } from './validity.js';

export function executeCreate(session: MutableSession, statement: CreateStatement): void {
  if (statement.kind === 'table') return createTable(session, statement);
  if (statement.kind === 'view') return createView(session, statement);
  if (statement.kind === 'materialized view') return createMaterializedView(session, statement);
  return createLiveView(session, statement);
}

/**
 * Checks the name and, if the name is free, the volume and the caller's permission.
 * @returns whether to create the object: false if it exists and the statement has IF NOT EXISTS
 * @throws OpaqueError if it is not known whether a server has the volume
 */
function checkNameAndPermission(
  session: MutableSession,
  statement: Pick<CreateStatement, 'kind' | 'definition' | 'nameStart' | 'ifNotExists'> & Partial<CreateStatement>,
): boolean {
  const { kind, definition, nameStart, ifNotExists, spans } = statement;
  const { catalogue, assumesRows } = session;
  const object = catalogue.find(definition.name);
  if (!object) {
    const span = spans?.get(VOLUME.name);
    const volume = ('volume' in definition && definition.volume) || '';
    if (span && !catalogue.hasVolume(volume)) {
      // sqlserve (an engine without rows) has no volumes. A real server may have others than those in use.
      if (!assumesRows) throw new RejectionError(span.position, `volume alias is not allowed [alias=${volume}]`);
      throw new OpaqueError(`it is not known whether the server has a volume '${volume}'`);
    }
    session.authorize(`CREATE ${kindKeywords(kind)}`);
    return true;
  }
  if (object.kind === kind && ifNotExists) return false;
  const found = object.kind === 'live view' ? object.kind : OTHER_KIND_MESSAGES[kind];
  const problem = object.kind === kind ? kind : `${found} with the requested name`;
  throw new RejectionError(nameStart, `${problem} already exists`);
}

function createTable(session: MutableSession, statement: CreateOf<TableDefinition>): void {
  const { catalogue } = session;
  const { nameStart, like, body } = statement;
  const { name, owner = session.owner } = statement.definition;
  const definition = { ...statement.definition, owner, ...retentionOf(statement.definition, session.hasFeature) };
  const likeObject = like && catalogue.compileAndFind(like.name);
  if (like && !likeObject) throw missingError(like.start, like.name);
  if (!checkNameAndPermission(session, statement)) return;
  if (like) requirePartialReadAccess(session, like.name);
  const table = likeObject
    ? toTableLike(definition, likeObject)
    : body
      ? toTableAsQuery(catalogue, { ...statement, definition, body })
      : definition;
  rejectImpossiblePolicy(definition.policy, statement.clauseNames.stages, session.hasFeature);
  if (body) requireQueryReadAccess(session, parseBody(body));
  else rejectBadIndexes(statement);
  rejectBadName(name, nameStart, body ? '' : 'Could not create table, ');
  // If a name is too long for a folder, QuestDB reports that the table exists.
  if (Buffer.byteLength(name) > MAX_FILE_NAME_BYTES) throw new RejectionError(nameStart, 'table already exists');
  catalogue.put(table);
}

function rejectBadIndexes({ columns, clauseNames: { covered } }: CreateStatement): void {
  const all = [...columns.values()];
  // The server's message for ALTER has `does not exist`.
  for (const { name, index } of all)
    if (index) rejectBadCoveredColumns(name, covered.get(name) ?? [], all, "doesn't exist");
}

function toTableLike({ name, owner }: TableDefinition, likeObject: CatalogueObject): Table {
  if (likeObject.opaqueStatement !== undefined) throw unknownSyntaxError(likeObject);
  const { columns, timestamp } = likeObject;
  const copy = { kind: 'table', name, columns: structuredClone(columns), timestamp, owner } as const;
  if (likeObject.kind === 'view') {
    // 9.3.4 accepts LIKE with a plain view, and shows the new table with this partitioning. The first row suspends the table, so it is
    // opaque here.
    const partitionBy = (timestamp === undefined ? 'NONE' : 'N/A') as PartitionUnit;
    const table = { ...copy, ...NO_RETENTION, partitionBy, wal: true, isParquet: false };
    return { ...table, opaqueStatement: printDefinition(table, { quoted: true }) };
  }
  const stored = { ...copy, partitionBy: likeObject.partitionBy, ...retentionOf(likeObject) };
  // A table LIKE a materialized view gets the o3MaxLag -1 (observed in tables() on 9.3.4). The same is assumed for LIKE a live view.
  if (likeObject.kind !== 'table') return { ...stored, wal: true, isParquet: false, o3MaxLag: -1 };
  const { wal, isParquet, maxUncommittedRows, o3MaxLag } = likeObject;
  return { ...stored, wal, isParquet, maxUncommittedRows, o3MaxLag };
}

function toTableAsQuery(catalogue: Catalogue, statement: CreateOf<TableDefinition> & { readonly body: Body }): Table {
  const { nameStart, body, definition, spans } = statement;
  const relation = analyzeRelation(parseBody(body), catalogue);
  const timestamp = chooseTimestamp(statement, relation);
  if (definition.partitionBy !== 'NONE' && !timestamp) {
    const position = spans.get(PARTITIONING.name)?.position ?? 0;
    throw new RejectionError(position, 'partitioning is possible only on tables with designated timestamps');
  }
  rejectUnknownColumns(statement, relation);
  const columns = relation.fields.map(({ name: column, type }, index) => {
    rejectBadColumnName(column, index, nameStart);
    const declared = statement.columns.get(column);
    if (declared?.type && type) rejectImpossibleCast(statement, column, type, declared.type);
    if (!declared && type === 'NULL')
      throw new RejectionError(0, `cannot create NULL-type column, please use type cast, e.g. ${column}::type`);
    const { cached = true, dedup = false, index: columnIndex } = declared ?? {};
    // If the type is unknown, DOUBLE is a guess.
    const stored = { name: column, type: declared?.type || type || 'DOUBLE', cached, dedup };
    if (columnIndex && stored.type !== 'SYMBOL')
      throw new RejectionError(0, `indexes are supported only for SYMBOL columns: ${column}`);
    return addTimestampToIndex(columnIndex ? { ...stored, index: columnIndex } : stored, timestamp);
  });
  const dedup = statement.clauseNames.dedup.toSorted((a, b) => a.start - b.start);
  if (dedup[0] && !dedup.some(key => isSameName(key.name, timestamp)))
    throw new RejectionError(dedup[0].start, 'deduplicate key list must include dedicated timestamp column');
  return { ...definition, columns, timestamp, query: undefined };
}

function chooseTimestamp(statement: CreateStatement, { fields, timestamp: designated, hasUnknownColumns }: Relation) {
  const timestamp = findTimestampClause(statement);
  if (!timestamp) return designated;
  const field = fields.find(({ name }) => isSameName(name, timestamp.name));
  if (!field && hasUnknownColumns) return timestamp.name;
  if (!field)
    throw new RejectionError(timestamp.start, `designated timestamp column doesn't exist [name=${timestamp.name}]`);
  if (field.type !== undefined && !isTimestamp(field.type))
    throw new RejectionError(timestamp.start, `TIMESTAMP column expected [actual=${field.type}]`);
  return field.name;
}

function rejectUnknownColumns({ clauseNames }: CreateStatement, { fields, hasUnknownColumns }: Relation): void {
  if (hasUnknownColumns) return;
  for (const clause of ['cast', 'index', 'dedup'] as const) {
    const unknown = clauseNames[clause].find(({ name }) => !fields.some(field => isSameName(field.name, name)));
    if (unknown)
      throw new RejectionError(unknown.start, `${clause.toUpperCase()} column doesn't exist [column=${unknown.name}]`);
  }
}

/** CREATE TABLE AS can cast between the types of a group (observed on 9.3.4). `rejectImpossibleCast` allows a few more casts. */
const CAST_GROUPS: readonly RegExp[] = [
  /^(?:BYTE|SHORT|CHAR|INT|LONG|DATE|TIMESTAMP|TIMESTAMP_NS|FLOAT|DOUBLE)$/,
  /^(?:STRING|VARCHAR|SYMBOL)$/,
  /^(?:LONG256|UUID|IPv4|GEOHASH.*|DECIMAL.*|DOUBLE(?:\[\])+)$/,
];

function rejectImpossibleCast({ clauseNames }: CreateStatement, column: string, from: string, to: string): void {
  if (from === to || from === 'NULL' || (/^(?:STRING|VARCHAR)$/.test(from) && to === 'IPv4')) return;
  if (CAST_GROUPS.some(group => group.test(from) && group.test(to))) return;
  const cast = clauseNames.cast.find(({ name }) => isSameName(name, column));
  if (cast) throw new RejectionError(cast.start, `unsupported cast [column=${column}, from=${from}, to=${to}]`);
}

function rejectBadName(name: string, position: number, prefix: string): void {
  if (isValidTableName(name)) return;
  const escapedName = name.replace(/[\0-\x1f\x7f]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  throw new RejectionError(position, `${prefix}invalid table name [table=${escapedName}]`);
}

function rejectBadColumnName(name: string, index: number, position: number): void {
  if (isValidColumnName(name)) return;
  throw new RejectionError(position, `invalid column name [name=${name}, position=${index}]`);
}

type ViewStatement = Pick<CreateOf<ViewDefinition>, 'definition' | 'nameStart' | 'ifNotExists' | 'orReplace' | 'body'>;

export function createView(session: MutableSession, statement: ViewStatement): void {
  const { catalogue } = session;
  const { nameStart, body, orReplace, ifNotExists, definition } = statement;
  const replaces = orReplace && !ifNotExists && catalogue.find(definition.name)?.kind === 'view';
  if (!replaces) {
    if (checkNameAndPermission(session, { ...statement, kind: 'view' })) putView(session, statement, nameStart);
    return;
  }
  session.authorize('ALTER VIEW', definition.name);
  // When QuestDB's compiler replaces a view, it does not count the `(` before the query and the white space around this `(`. So positions
  // in its errors are too small. Positions in errors of QuestDB's parser are right. Errors of the parser are those with the position 0,
  // and `DuplicateColumnError`.
  const shift = body.start - body.outerStart;
  const rejection = catchRejection(() => putView(session, statement, body.start));
  if (!(rejection instanceof RejectionError)) return;
  if (rejection.position === 0 || rejection instanceof DuplicateColumnError) throw rejection;
  throw new RejectionError(rejection.position - shift, rejection.message);
}

/** @param badColumnPosition the position that QuestDB reports for an invalid column name */
function putView(session: MutableSession, statement: ViewStatement, badColumnPosition: number): void {
  const { catalogue } = session;
  const { nameStart, body, orReplace } = statement;
  const { name, owner = session.owner } = statement.definition;
  const query = parseBody(body);
  const relation = analyzeRelation(query, catalogue);
  const references = findQueryReferences(query, catalogue);
  if (orReplace) rejectCycle(catalogue, name, references, body.start);
  requireQueryReadAccess(session, query);
  for (const [index, field] of relation.fields.entries()) rejectBadColumnName(field.name, index, badColumnPosition);
  rejectBadName(name, nameStart, '');
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

function rejectCycle(catalogue: Catalogue, name: string, references: readonly string[], position: number): void {
  const isRead = catalogue.directReadersOf(name).length > 0; // if nothing reads the view, the only possible cycle is a view that reads itself
  const reference = references.find(each => isSameName(each, name) || (isRead && catalogue.closure([each]).has(name)));
  if (reference === undefined) return;
  const [view, other] = [name, reference].map(each => catalogue.find(each)?.name ?? each);
  const problem = isSameName(reference, name)
    ? `view '${view}' cannot reference itself`
    : `'${view}' cannot depend on '${other}' because '${other}' already depends on '${view}'`;
  throw new RejectionError(position, `circular dependency detected: ${problem}`);
}

function rejectCycleOfBases(catalogue: Catalogue, { definition: { name }, nameStart }: CreateStatement, base: string) {
  const bases = new NameSet([base]);
  for (const each of bases) {
    const object = catalogue.find(each);
    if (object?.kind === 'materialized view') bases.add(object.base); // the set grows during the loop
  }
  if (!bases.has(name)) return;
  const details = `[view=${name}, baseTable=${base}]`;
  throw new RejectionError(nameStart, `circular dependency detected for materialized view ${details}`);
}

function createMaterializedView(session: MutableSession, statement: CreateOf<MaterializedViewDefinition>): void {
  const { catalogue } = session;
  const { nameStart, body, spans, definition } = statement;
  const { name, refresh, indexes, owner = session.owner } = definition;
  const base = statement.base as LocatedName; // if the statement names no base, `requireValidBase` has found it
  if (!checkNameAndPermission(session, statement)) return;
  rejectInvalidTimeZone(refresh.timeZone, nameStart);
  const query = parseBody(body);
  const relation = analyzeRelation(query, catalogue);
  requireQueryReadAccess(session, query);
  const timing = analyzeMaterializedView(statement, base, relation, session);
  const unindexable = relation.fields.find(
    field => indexes?.has(field.name) && field.type !== undefined && field.type !== 'SYMBOL',
  );
  if (unindexable) throw new RejectionError(0, `indexes are supported only for SYMBOL columns: ${unindexable.name}`);
  const completeDefinition = { ...definition, partitionBy: definition.partitionBy ?? timing.partitionBy };
  // With PARTITION BY, the parser has checked the retention. Otherwise, the unit of partitions is known only here.
  if (!definition.partitionBy) recheckRetention(spans, completeDefinition, session);
  rejectBadName(name, nameStart, '');
  rejectCycleOfBases(catalogue, statement, base.name);
  const columns = toColumns(relation).map(column => toStoredColumn(column, definition));
  const references = findQueryReferences(query, catalogue);
  catalogue.put({
    ...completeDefinition,
    base: catalogue.find(base.name)?.name ?? base.name,
    refresh: { ...refresh, start: refresh.start ?? defaultStart(refresh), ...timing.refresh },
    columns,
    indexes: undefined, // `columns` has the indexes now
    timestamp: timing.timestamp,
    references,
    readableColumns: listReadableColumns({ columns, base: base.name, references }, catalogue),
    wasNeverRefreshed: refresh.deferred,
    owner,
  });
}

export const defaultStart = ({ type, period }: Pick<Refresh, 'type' | 'period'>): string | undefined =>
  type === 'EVERY' && !period ? new Date().toISOString().replace('Z', '000Z') : undefined;

function createLiveView(session: MutableSession, statement: CreateOf<LiveViewDefinition>): void {
  const { catalogue } = session;
  const { nameStart, body, spans, definition } = statement;
  const { name, start, owner = session.owner } = definition;
  const scannedQuery = scanLiveView(body, catalogue);
  if (!checkNameAndPermission(session, statement)) return;
  const { base, relation } = analyzeLiveView(statement, scannedQuery, catalogue);
  requireQueryReadAccess(session, parseBody(body));
  const completeDefinition = { ...definition, partitionBy: definition.partitionBy ?? base.partitionBy };
  recheckRetention(spans, completeDefinition, session);
  rejectBadName(name, nameStart, '');
  const digits = findColumn(base, base.timestamp)?.type === 'TIMESTAMP_NS' ? 9 : 6;
  const startTime = parseTimestamp(unquoteToken(start), digits);
  catalogue.put({
    ...completeDefinition,
    base: base.name,
    start: startTime === undefined ? start : `'${startTime}'`,
    columns: toColumns(relation),
    timestamp: relation.timestamp,
    references: [base.name],
    owner,
  });
}
