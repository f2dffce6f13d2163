/*! Answers the catalogue functions, such as `tables()`. Each function has a table of its columns. */
import { type Column, DEFAULT_CAPACITY, splitAge, type TableDefinition } from '@sqlpipe/ddl';
import { missingError, unquoteToken } from '@sqlpipe/ddl/parser';
import {
  type CatalogueObject,
  type Cell,
  type ColumnHead,
  type ResultSet,
  requirePartialReadAccess,
  type Session,
} from '@sqlpipe/engine';
import type { ParsedQuery, TableFunctionCall } from '@sqlpipe/engine/query';
import { tableTypeOf } from '@sqlpipe/sql';

export function callFunction(source: TableFunctionCall, session: Session, query: ParsedQuery): ResultSet {
  const { name: spelling, args } = source;
  const [argument] = args;
  const name = spelling.toLowerCase();
  if (name === 'table_columns') {
    if (argument?.type === 'literal') return listColumns(session, String(argument.value), query.positionOf(argument));
    throw query.rejection('function `table_columns` requires arguments: table_columns(STRING constant)', source);
  }
  const list = name === 'live_views' && !session.hasFeature('live views') ? undefined : LIST_FUNCTIONS.get(name);
  if (!list) throw query.rejection(`unknown function name: ${spelling}()`, source);
  if (args.length === 0) return list(session);
  throw query.rejection(
    `wrong number of arguments for function \`${name}\`; expected: 0, provided: ${args.length}`,
    source,
  );
}

type ListColumn<T> = readonly [name: string, type: string, value: (object: T) => Cell];

const listObjects = <T>(columns: readonly ListColumn<T>[], objects: readonly T[]): ResultSet => ({
  columns: columns.map(([name, type]) => ({ name, type })),
  rows: objects.map(object => columns.map(([, , value]) => value(object))),
});

function parametersOf(object: CatalogueObject): Pick<TableDefinition, 'maxUncommittedRows' | 'o3MaxLag'> {
  if (object.kind === 'table') return object;
  return object.kind === 'view' ? { maxUncommittedRows: 0, o3MaxLag: 0 } : { o3MaxLag: -1 };
}

const LENGTH_UNITS: Readonly<Record<string, string>> = {
  ms: 'MILLISECOND',
  s: 'SECOND',
  m: 'MINUTE',
  h: 'HOUR',
  d: 'DAY',
};

const splitLength = (length: string): { value: number; unit: string } => ({
  value: Number.parseInt(length, 10),
  unit: LENGTH_UNITS[length.replace(/^\d+/, '')] ?? '',
});

const listKind =
  <Kind extends CatalogueObject['kind'], Listed extends Extract<CatalogueObject, { kind: Kind }>>(
    kind: Kind,
    columns: readonly ListColumn<Listed>[],
  ) =>
  ({ catalogue }: Session): ResultSet =>
    listObjects(
      columns,
      catalogue.list().filter((object): object is Listed => object.kind === kind),
    );

/** As on the server, they also list objects that the caller may not read. */
const LIST_FUNCTIONS = new Map(
  Object.entries<(session: Session) => ResultSet>({
    tables: ({ catalogue }) =>
      listObjects<CatalogueObject>(
        [
          ['id', 'INT', ({ id = 0 }) => id],
          ['table_name', 'STRING', ({ name }) => name],
          ['designatedTimestamp', 'STRING', ({ timestamp }) => timestamp ?? null],
          ['partitionBy', 'STRING', object => (object.kind === 'view' ? 'N/A' : object.partitionBy)],
          ['walEnabled', 'BOOLEAN', object => object.kind !== 'table' || object.wal],
          ['dedup', 'BOOLEAN', ({ columns }) => columns.some(({ dedup }) => dedup)],
          ['ttlValue', 'INT', object => (object.kind === 'view' ? 0 : splitAge(object.ttl).value)],
          ['ttlUnit', 'STRING', object => (object.kind === 'view' ? 'HOUR' : splitAge(object.ttl).unit)],
          ['matView', 'BOOLEAN', ({ kind }) => kind === 'materialized view'],
          ['directoryName', 'STRING', ({ name, id }) => `${name}~${id}`],
          ['maxUncommittedRows', 'INT', object => parametersOf(object).maxUncommittedRows ?? 500_000],
          ['o3MaxLag', 'LONG', object => parametersOf(object).o3MaxLag ?? 600_000_000],
          ['table_suspended', 'BOOLEAN', object => object.kind === 'table' && object.isSuspended === true],
          ['table_type', 'CHAR', ({ kind }) => tableTypeOf(kind)],
          ['table_row_count', 'LONG', () => 0],
        ],
        catalogue.list(),
      ),
    views: listKind('view', [
      ['view_name', 'STRING', ({ name }) => name],
      ['view_sql', 'STRING', ({ body }) => body],
      ['view_table_dir_name', 'STRING', ({ name }) => name],
      ['invalidation_reason', 'STRING', ({ rejection }) => rejection?.reason ?? null],
      ['view_status', 'STRING', ({ rejection }) => (rejection ? 'invalid' : 'valid')],
    ]),
    materialized_views: listKind('materialized view', [
      ['view_name', 'STRING', ({ name }) => name],
      ['refresh_type', 'STRING', ({ refresh }) => (refresh.type === 'EVERY' ? 'timer' : refresh.type.toLowerCase())],
      ['base_table_name', 'STRING', ({ base }) => base],
      ['view_sql', 'STRING', ({ body }) => body],
      ['view_table_dir_name', 'STRING', ({ name }) => name],
      ['invalidation_reason', 'STRING', ({ invalidReason }) => invalidReason ?? null],
      ['view_status', 'STRING', ({ invalidReason }) => (invalidReason === undefined ? 'valid' : 'invalid')],
      ['timer_time_zone', 'STRING', ({ refresh }) => refresh.timeZone ?? null],
      ['timer_start', 'TIMESTAMP', ({ refresh }) => refresh.start ?? null],
    ]),
    // The columns of QuestDB 10 that do not measure rows or files
    live_views: listKind('live view', [
      ['view_name', 'STRING', ({ name }) => name],
      ['view_table_dir_name', 'STRING', ({ name }) => name],
      ['base_table_name', 'STRING', ({ base }) => base],
      ['view_sql', 'STRING', ({ body }) => body],
      ['view_status', 'STRING', ({ invalidReason }) => (invalidReason === undefined ? 'active' : 'invalid')],
      ['invalidation_reason', 'STRING', ({ invalidReason }) => invalidReason ?? null],
      ['flush_every_interval', 'LONG', ({ flush }) => splitLength(flush).value],
      ['flush_every_interval_unit', 'STRING', ({ flush }) => splitLength(flush).unit],
      ['in_memory_interval', 'LONG', ({ inMemory }) => splitLength(inMemory).value],
      ['in_memory_interval_unit', 'STRING', ({ inMemory }) => splitLength(inMemory).unit],
      ['view_lower_bound_timestamp', 'TIMESTAMP', ({ start }) => (start.startsWith("'") ? unquoteToken(start) : null)],
    ]),
  }),
);

export function listColumns(session: Session, name: string, position: number): ResultSet {
  const object = session.catalogue.find(name);
  if (!object) throw missingError(position, name);
  requirePartialReadAccess(session, object.name);
  const { kind, columns, timestamp } = object;
  const isStoredSymbol = ({ type }: Column) => type === 'SYMBOL' && kind !== 'view';
  const symbolCapacity = (column: Column) => (isStoredSymbol(column) ? (column.capacity ?? DEFAULT_CAPACITY) : 0);
  return listObjects<Column>(
    [
      ['column', 'STRING', ({ name }) => name],
      ['type', 'STRING', ({ type }) => type],
      ['indexed', 'BOOLEAN', ({ index }) => index !== undefined],
      ['indexBlockCapacity', 'INT', column => column.index?.capacity ?? (symbolCapacity(column) && DEFAULT_CAPACITY)],
      ['symbolCached', 'BOOLEAN', column => isStoredSymbol(column) && column.cached],
      ['symbolCapacity', 'INT', symbolCapacity],
      ['symbolTableSize', 'INT', () => 0],
      ['designated', 'BOOLEAN', ({ name }) => name === timestamp],
      ['upsertKey', 'BOOLEAN', ({ dedup }) => dedup],
    ],
    columns,
  );
}

export const heads = (type: string, names: string): ColumnHead[] => names.split(' ').map(name => ({ name, type }));
