import { foldCase, type ObjectKind } from '@sqlpipe/sql';
import { type MaterializedViewDefinition, PARTITION_UNITS, type TableDefinition } from '../definition.js';
import type { ClauseReader } from '../parser/clause-reader.js';
import { isWord, RejectionError } from '../parser/cursor.js';
import { parseLiteral, quoteName, unquoteToken } from '../parser/names.js';
import { isTimestamp } from '../parser/types.js';
import { defineProperty } from '../property.js';

/** CREATE TABLE … AS without this clause may get the timestamp of its query. So its designated timestamp is not comparable. */
export const TIMESTAMP = defineProperty<{ timestamp?: string | undefined; query?: string | undefined }>()({
  name: 'designated timestamp',
  value: ({ timestamp, query }) =>
    timestamp === undefined ? (query === undefined ? 'none' : undefined) : foldCase(timestamp),
  words: ['timestamp'],
  parse: parseTimestampClause,
  print: ({ timestamp }, { quoted }) => (timestamp ? ` timestamp(${quoted ? quoteName(timestamp) : timestamp})` : ''),
  unalterable: { needsNewTable: true },
});

/** No server prints the designated timestamp of a materialized view. */
export const VIEW_TIMESTAMP = defineProperty<{ readonly timestamp?: string | undefined }>()({
  name: 'designated timestamp',
  value: ({ timestamp }) => timestamp && foldCase(timestamp),
  isHidden: true,
  words: ['timestamp'],
  parse: parseTimestampClause,
  print: ({ timestamp }, { form }) =>
    form === 'complete' && timestamp !== undefined ? ` timestamp(${quoteName(timestamp)})` : '',
});

/** A server prints PARTITION BY NONE only after a designated timestamp. Other partitions are always printed, as a query may have one. */
export const PARTITIONING = defineProperty<Pick<MaterializedViewDefinition, 'partitionBy' | 'timestamp'>>()({
  name: 'partitioning',
  value: ({ partitionBy }) => partitionBy,
  words: ['partition'],
  parse({ cursor, definition, isQuery }) {
    cursor.expect('by');
    const { name } = parseLiteral(cursor);
    if (definition.kind === 'table' && !isQuery && definition.timestamp === undefined)
      throw cursor.error('partitioning is possible only on tables with designated timestamps');
    const partitionBy = PARTITION_UNITS.find(unit => unit === name.toUpperCase());
    const forbidden = NO_PARTITIONS[definition.kind];
    if (partitionBy === undefined)
      throw cursor.error(
        `${forbidden === undefined ? "'NONE', " : ''}'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected`,
      );
    if (partitionBy === 'NONE' && forbidden !== undefined) throw cursor.error(forbidden);
    return { partitionBy };
  },
  print: ({ partitionBy, timestamp }) =>
    partitionBy === undefined || (partitionBy === 'NONE' && !timestamp) ? '' : ` PARTITION BY ${partitionBy}`,
  unalterable: { needsNewTable: true },
});

function parseTimestampClause(reader: ClauseReader) {
  const { cursor, definition, columns, isQuery } = reader;
  cursor.expect('(');
  const { name, start } = parseLiteral(cursor);
  cursor.require("')'"); // any token ends the clause, as on 9.3.4
  if (definition.kind === 'table' && !isQuery) {
    const column = columns.get(name);
    if (!column) throw new RejectionError(start, `invalid designated timestamp column [name=${name}]`);
    if (!isTimestamp(column.type))
      throw new RejectionError(start, `TIMESTAMP column expected [actual=${column.type}, columnName=${name}]`);
  }
  reader.position = start;
  return { timestamp: name };
}

/** By the kinds that have to be partitioned: the rejection of NONE. */
const NO_PARTITIONS: { readonly [kind in ObjectKind]?: string } = {
  'materialized view': 'materialized view has to be partitioned',
  'live view': 'live view PARTITION BY NONE is not supported; live views must be partitioned',
};

export const FORMAT = defineProperty<
  Pick<TableDefinition, 'isParquet' | 'wal'>,
  { action: 'format'; isParquet: boolean }
>()({
  name: 'format',
  value: ({ isParquet }) => (isParquet ? 'PARQUET' : 'NATIVE'),
  words: ['format'],
  feature: 'FORMAT PARQUET',
  parse: ({ cursor }) => ({ isParquet: cursor.requireWord('parquet', 'native') === 'parquet' }),
  check({ isParquet, wal }, position) {
    if (isParquet && !wal) throw new RejectionError(position, 'FORMAT PARQUET is only supported on WAL tables');
  },
  print: ({ isParquet }) => (isParquet ? ' FORMAT PARQUET' : ''),
  features: [{ name: 'FORMAT PARQUET', pattern: /parquet/i, isIn: ({ isParquet }) => isParquet, without: () => '' }],
  alter: {
    actions: ['format'],
    sets: ['format'],
    syntax: {
      'set format'(cursor, _, { object: { partitionBy, wal } }) {
        const isParquet = cursor.requireWord('parquet', 'native') === 'parquet';
        const needs = partitionBy === 'NONE' ? 'partitioned' : wal === false && 'WAL';
        if (isParquet && needs) throw cursor.error(`FORMAT PARQUET is only supported on ${needs} tables`);
        return { action: 'format', isParquet };
      },
    },
    print: ({ isParquet }) => `SET FORMAT ${isParquet ? 'PARQUET' : 'NATIVE'}`,
    permissions: ['SET TABLE FORMAT'],
    between: ({ isParquet }, current) =>
      current.isParquet === isParquet ? undefined : { action: 'format', isParquet },
  },
});

/** A table without partitions never uses WAL. */
export const WAL = defineProperty<Pick<TableDefinition, 'partitionBy' | 'wal' | 'timestamp'>>()({
  name: 'WAL',
  value: ({ partitionBy, wal }) => (partitionBy === 'NONE' ? undefined : wal ? 'enabled' : 'bypassed'),
  words: ['wal', 'bypass'],
  parse({ cursor, token, definition: { partitionBy } }) {
    const wal = isWord(token, 'wal');
    if (wal && partitionBy === 'NONE') throw cursor.error('WAL Write Mode can only be used on partitioned tables');
    const mode = wal ? token : cursor.next();
    if (isWord(mode, 'wal')) return { wal };
    throw cursor.errorAt(mode, ` invalid syntax, should be BYPASS WAL but was BYPASS ${mode ?? ''}`);
  },
  whenAbsent: ({ definition: { partitionBy }, context: { defaults } }) => ({
    wal: defaults.wal && partitionBy !== 'NONE',
  }),
  print({ wal, timestamp, partitionBy }, { form }) {
    if (!timestamp && partitionBy === 'NONE') return '';
    return wal ? (form === '9.3' ? '' : ' WAL') : ' BYPASS WAL';
  },
  unalterable: { reason: 'ALTER TABLE … SET TYPE has an effect only after a restart of the server' },
});

/** The server prints a comma before IN VOLUME, which its own parser does not accept. */
export const VOLUME = defineProperty<{ readonly volume?: string | undefined }>()({
  name: 'volume',
  value: ({ volume }) => volume ?? 'none',
  words: ['in'],
  parse({ cursor }) {
    cursor.expect('volume');
    return { volume: unquoteToken(cursor.require('path for volume')) };
  },
  print: ({ volume }, { quoted }) =>
    volume === undefined ? '' : `${quoted ? '' : ','} IN VOLUME ${quoted ? quoteName(volume) : volume}`,
  unalterable: { needsNewTable: true },
});
