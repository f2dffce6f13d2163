/*! How a table is written and where it is stored, and whose it is. */

import { foldCase } from '@sqlpipe/sql';
import type { PartitionUnit } from '../definition.js';
import { parseFormat, parseInterval } from '../grammar/create-table.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { LAST_WITHOUT } from '../grammar/features.js';
import { parseInt32 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { quoteName } from '../reserved-names.js';
import { type PrintOptions, property } from './property.js';

/** FORMAT: whether new partitions are written as Parquet. */
export const FORMAT = property<{ readonly parquet: boolean }, { readonly change: 'format'; readonly parquet: boolean }>(
  {
    name: 'format',
    value: ({ parquet }) => (parquet ? 'PARQUET' : 'NATIVE'),
    print: ({ parquet }) => (parquet ? ' FORMAT PARQUET' : ''),
    feature: {
      name: 'FORMAT PARQUET',
      lastWithout: LAST_WITHOUT.format,
      word: /parquet/i,
      isIn: ({ parquet }) => parquet,
      isDispensable: true,
    },
    alter: {
      changes: ['format'],
      sets: ['format'],
      isKnown: ({ has }) => has('format'),
      syntax: {
        'set format'(cursor, _, { object: { partitionBy, wal } }) {
          const { parquet, position } = parseFormat(cursor);
          const needs = partitionBy === 'NONE' ? 'partitioned' : wal === false && 'WAL';
          if (parquet && needs)
            throw new RejectionError(position, `FORMAT PARQUET is only supported on ${needs} tables`);
          return { change: 'format', parquet };
        },
      },
      print: ({ parquet }) => `SET FORMAT ${parquet ? 'PARQUET' : 'NATIVE'}`,
      permission: () => 'SET TABLE FORMAT',
      find: ({ parquet }, now) => (now.parquet === parquet ? undefined : { change: 'format', parquet }),
    },
  },
);

/** WAL or BYPASS WAL. A table without partitions never uses WAL. */
export const WAL = property<{
  readonly partitionBy: PartitionUnit;
  readonly wal: boolean;
  readonly timestamp?: string | undefined;
}>({
  name: 'WAL',
  value: ({ partitionBy, wal }) => (partitionBy === 'NONE' ? undefined : wal ? 'enabled' : 'bypassed'),
  print({ wal, timestamp }, { form }) {
    if (!timestamp) return '';
    return wal ? (form === '9.0' ? ' WAL' : '') : ' BYPASS WAL';
  },
  unalterable: 'ALTER TABLE … SET TYPE has an effect only after a restart of the server',
});

export interface Parameters {
  readonly maxUncommittedRows?: number | undefined;
  /** In microseconds. */
  readonly o3MaxLag?: number | undefined;
}

/** A parameter that WITH sets. */
const parameter = (name: keyof Parameters, unit: string) =>
  property<Parameters, { readonly change: 'parameter'; readonly name: keyof Parameters; readonly value: number }>({
    name,
    value: ({ [name]: value }) => (value === undefined ? undefined : `${value}${unit}`),
    isHidden: true,
    alter: {
      changes: ['parameter'],
      sets: [name],
      syntax: { 'set param': parseParameter },
      print: ({ name, value }) => `SET PARAM ${name} = ${value}${name === 'o3MaxLag' ? 'us' : ''}`,
      apply: (table, { name, value }) => ({ ...table, [name]: value }),
      permission: () => 'SET TABLE PARAM',
      find({ [name]: value }, { [name]: now }) {
        const isOther = value !== undefined && now !== undefined && value !== now;
        return isOther ? { change: 'parameter', name, value } : undefined;
      },
    },
  });

function parseParameter(cursor: Cursor) {
  const position = cursor.readOffset;
  const name = cursor.requireNoSemicolon('param name');
  if (cursor.requireNoSemicolon("'='") !== '=') throw new RejectionError(cursor.at, "'=' expected");
  const value = cursor.next() ?? '';
  const change = 'parameter' as const;
  if (isWord(name, 'o3maxlag')) return { change, name: 'o3MaxLag' as const, value: parseInterval(value, position) };
  if (!isWord(name, 'maxuncommittedrows')) throw new RejectionError(position, `unknown parameter '${name}'`);
  const rows = parseInt32(value);
  if (rows === undefined) throw new RejectionError(position, `invalid value [value=${value},parameter=${name}]`);
  if (rows < 0) throw new RejectionError(position, 'maxUncommittedRows must be non negative');
  return { change, name: 'maxUncommittedRows' as const, value: rows };
}

/** QuestDB 9.0 to 9.2 print both parameters. */
export const MAX_UNCOMMITTED_ROWS = {
  ...parameter('maxUncommittedRows', ''),
  print: ({ maxUncommittedRows, o3MaxLag }: Parameters, { form }: PrintOptions) =>
    form === '9.3' || maxUncommittedRows === undefined || o3MaxLag === undefined
      ? ''
      : `\nWITH maxUncommittedRows=${maxUncommittedRows}, o3MaxLag=${o3MaxLag}us`,
};

export const O3_MAX_LAG = parameter('o3MaxLag', 'us');

/** IN VOLUME. The server prints a comma before it, which its own parser does not accept. */
export const VOLUME = property<{ readonly volume?: string | undefined }>({
  name: 'volume',
  value: ({ volume }) => volume ?? 'none',
  print: ({ volume }, { quoted }) =>
    volume === undefined ? '' : `${quoted ? '' : ','} IN VOLUME ${quoted ? quoteName(volume) : volume}`,
  unalterable: 'needs a new table',
});

/**
 * OWNED BY. It is documented only where an enterprise server prints it for tables: on a line of its own, at the very end. Views follow
 * the same rule here.
 */
export const OWNER = property<{ readonly owner?: string | undefined }>({
  name: 'owner',
  value: ({ owner }) => owner && foldCase(owner),
  print: ({ owner }) => formatOwner(owner),
  unalterable: 'no statement changes an owner',
});

export const formatOwner = (owner: string | undefined): string => (owner === undefined ? '' : `\nOWNED BY '${owner}'`);
