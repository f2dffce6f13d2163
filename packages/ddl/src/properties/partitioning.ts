/*! The designated timestamp, and PARTITION BY. */
import { foldCase } from '@sqlpipe/sql';
import type { MaterializedViewDefinition, PartitionUnit } from '../definition.js';
import type { ClauseReader } from '../grammar/clause-reader.js';
import { parseLiteral, quoteName } from '../grammar/names.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { isTimestamp } from '../grammar/types.js';
import { property } from '../property.js';

const UNITS: ReadonlySet<string> = new Set<PartitionUnit>(['NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR']);

/** The designated timestamp of a table. A query may have one, so that it is not known where a table is created from a query. */
export const TIMESTAMP = property<{ readonly timestamp?: string | undefined; readonly query?: string | undefined }>({
  name: 'designated timestamp',
  value: ({ timestamp, query }) =>
    timestamp === undefined ? (query === undefined ? 'none' : undefined) : foldCase(timestamp),
  parse: parseTimestampClause,
  print: ({ timestamp }, { quoted }) => (timestamp ? ` timestamp(${quoted ? quoteName(timestamp) : timestamp})` : ''),
  unalterable: 'needs a new table',
});

/** The designated timestamp of a materialized view, which no server prints. */
export const VIEW_TIMESTAMP = property<{ readonly timestamp?: string | undefined }>({
  name: 'designated timestamp',
  value: ({ timestamp }) => timestamp && foldCase(timestamp),
  isHidden: true,
  parse: parseTimestampClause,
});

/** A server prints the partitioning of a table only after its designated timestamp. */
export const PARTITIONING = property<
  Pick<MaterializedViewDefinition, 'partitionBy' | 'timestamp'> & { readonly kind: string }
>({
  name: 'partitioning',
  value: ({ partitionBy }) => partitionBy,
  parse: parsePartitioning,
  print: ({ kind, partitionBy, timestamp }) =>
    partitionBy === undefined || (kind === 'table' && !timestamp) ? '' : ` PARTITION BY ${partitionBy}`,
  unalterable: 'needs a new table',
});

function parseTimestampClause(reader: ClauseReader) {
  if (!reader.begins('timestamp')) return undefined;
  const { cursor, definition, columns, isQuery } = reader;
  cursor.expect('(');
  const { name, position } = parseLiteral(cursor);
  cursor.require("')'");
  if (definition.kind === 'table' && !isQuery) {
    const column = columns.find(name);
    if (!column) throw new RejectionError(position, `invalid designated timestamp column [name=${name}]`);
    if (!isTimestamp(column.type))
      throw new RejectionError(position, `TIMESTAMP column expected [actual=${column.type}, columnName=${name}]`);
  }
  reader.position = position;
  return { timestamp: name };
}

/** Why a view cannot be without partitions. */
const NO_PARTITIONS: Readonly<Record<string, string>> = {
  'materialized view': 'materialized view has to be partitioned',
  'live view': 'live view PARTITION BY NONE is not supported; live views must be partitioned',
};

function parsePartitioning(reader: ClauseReader) {
  if (!reader.begins('partition')) return undefined;
  const { cursor, definition, isQuery } = reader;
  cursor.expect('by');
  const { name, position } = parseLiteral(cursor);
  if (definition.kind === 'table' && !isQuery && definition.timestamp === undefined)
    throw new RejectionError(position, 'partitioning is possible only on tables with designated timestamps');
  const partitionBy = name.toUpperCase() as PartitionUnit;
  const forbidden = NO_PARTITIONS[definition.kind];
  if (!UNITS.has(partitionBy))
    throw new RejectionError(
      position,
      `${forbidden === undefined ? "'NONE', " : ''}'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected`,
    );
  if (partitionBy === 'NONE' && forbidden !== undefined) throw new RejectionError(position, forbidden);
  reader.position = position;
  return { partitionBy };
}
