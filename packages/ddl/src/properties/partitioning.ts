/*! The designated timestamp, and PARTITION BY. */

import { foldCase } from '@sqlpipe/sql';
import type { PartitionUnit } from '../definition.js';
import { quoteName } from '../reserved-names.js';
import { property } from './property.js';

/** The designated timestamp of a table. A query may have one, so that it is not known where a table is created from a query. */
export const TIMESTAMP = property<{ readonly timestamp?: string | undefined; readonly query?: string | undefined }>({
  name: 'designated timestamp',
  value: ({ timestamp, query }) =>
    timestamp === undefined ? (query === undefined ? 'none' : undefined) : foldCase(timestamp),
  print: ({ timestamp }, { quoted }) => (timestamp ? ` timestamp(${quoted ? quoteName(timestamp) : timestamp})` : ''),
  unalterable: 'needs a new table',
});

/** The designated timestamp of a materialized view, which no server prints. */
export const VIEW_TIMESTAMP = property<{ readonly timestamp?: string | undefined }>({
  name: 'designated timestamp',
  value: ({ timestamp }) => timestamp && foldCase(timestamp),
  isHidden: true,
});

/** A server prints the partitioning of a table only after its designated timestamp. */
export const PARTITIONING = property<{
  readonly kind: string;
  readonly partitionBy?: PartitionUnit | undefined;
  readonly timestamp?: string | undefined;
}>({
  name: 'partitioning',
  value: ({ partitionBy }) => partitionBy,
  print: ({ kind, partitionBy, timestamp }) =>
    partitionBy === undefined || (kind === 'table' && !timestamp) ? '' : ` PARTITION BY ${partitionBy}`,
  unalterable: 'needs a new table',
});
