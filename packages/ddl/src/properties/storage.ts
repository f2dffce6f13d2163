import { foldCase, type ObjectKind } from '@sqlpipe/sql';
import { type MaterializedViewDefinition, PARTITION_UNITS, type TableDefinition } from '../definition.js';
import type { ClauseReader } from '../parser/clause-reader.js';
import { type Cursor, isWord, RejectionError, unexpectedTokenError } from '../parser/cursor.js';
import { parseEntityName, parseLiteral, quoteName, unquoteToken } from '../parser/names.js';
import { MICROS, parseInt32, parseInt64, parseLongToken } from '../parser/numbers.js';
import { isTimestamp } from '../parser/types.js';
import { type PrintOptions, property } from '../property.js';

/** CREATE TABLE … AS without this clause may get the timestamp of its query. So its designated timestamp is not comparable. */
export const TIMESTAMP = property<{ readonly timestamp?: string | undefined; readonly query?: string | undefined }>()({
  name: 'designated timestamp',
  value: ({ timestamp, query }) =>
    timestamp === undefined ? (query === undefined ? 'none' : undefined) : foldCase(timestamp),
  words: ['timestamp'],
  parse: parseTimestampClause,
  print: ({ timestamp }, { quoted }) => (timestamp ? ` timestamp(${quoted ? quoteName(timestamp) : timestamp})` : ''),
  whyUnalterable: 'needs a new table',
});

/** No server prints the designated timestamp of a materialized view. */
export const VIEW_TIMESTAMP = property<{ readonly timestamp?: string | undefined }>()({
  name: 'designated timestamp',
  value: ({ timestamp }) => timestamp && foldCase(timestamp),
  isHidden: true,
  words: ['timestamp'],
  parse: parseTimestampClause,
  print: ({ timestamp }, { form }) =>
    form === 'complete' && timestamp !== undefined ? ` timestamp(${quoteName(timestamp)})` : '',
});

/** A server prints PARTITION BY NONE only after a designated timestamp. Other partitions are always printed, as a query may have one. */
export const PARTITIONING = property<Pick<MaterializedViewDefinition, 'partitionBy' | 'timestamp'>>()({
  name: 'partitioning',
  value: ({ partitionBy }) => partitionBy,
  words: ['partition'],
  parse: parsePartitioning,
  print: ({ partitionBy, timestamp }) =>
    partitionBy === undefined || (partitionBy === 'NONE' && !timestamp) ? '' : ` PARTITION BY ${partitionBy}`,
  whyUnalterable: 'needs a new table',
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

const NO_PARTITIONS: Readonly<Record<ObjectKind, string | undefined>> = {
  table: undefined,
  view: undefined,
  'materialized view': 'materialized view has to be partitioned',
  'live view': 'live view PARTITION BY NONE is not supported; live views must be partitioned',
};

function parsePartitioning(reader: ClauseReader) {
  const { cursor, definition, isQuery } = reader;
  cursor.expect('by');
  const { name, start } = parseLiteral(cursor);
  if (definition.kind === 'table' && !isQuery && definition.timestamp === undefined)
    throw new RejectionError(start, 'partitioning is possible only on tables with designated timestamps');
  const partitionBy = PARTITION_UNITS.find(unit => unit === name.toUpperCase());
  const forbidden = NO_PARTITIONS[definition.kind];
  if (partitionBy === undefined)
    throw new RejectionError(
      start,
      `${forbidden === undefined ? "'NONE', " : ''}'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected`,
    );
  if (partitionBy === 'NONE' && forbidden !== undefined) throw new RejectionError(start, forbidden);
  reader.position = start;
  return { partitionBy };
}

export const FORMAT = property<
  Pick<TableDefinition, 'parquet' | 'wal'>,
  { readonly action: 'format'; readonly parquet: boolean }
>()({
  name: 'format',
  value: ({ parquet }) => (parquet ? 'PARQUET' : 'NATIVE'),
  words: ['format'],
  feature: 'FORMAT PARQUET',
  parse(reader) {
    const { parquet, position } = parseFormat(reader.cursor);
    reader.position = position;
    return { parquet };
  },
  check({ parquet, wal }, position) {
    if (parquet && !wal) throw new RejectionError(position, 'FORMAT PARQUET is only supported on WAL tables');
  },
  print: ({ parquet }) => (parquet ? ' FORMAT PARQUET' : ''),
  features: [{ name: 'FORMAT PARQUET', word: /parquet/i, isIn: ({ parquet }) => parquet, without: () => '' }],
  alter: {
    actions: ['format'],
    sets: ['format'],
    syntax: {
      'set format'(cursor, _, { object: { partitionBy, wal } }) {
        const { parquet, position } = parseFormat(cursor);
        const needs = partitionBy === 'NONE' ? 'partitioned' : wal === false && 'WAL';
        if (parquet && needs) throw new RejectionError(position, `FORMAT PARQUET is only supported on ${needs} tables`);
        return { action: 'format', parquet };
      },
    },
    print: ({ parquet }) => `SET FORMAT ${parquet ? 'PARQUET' : 'NATIVE'}`,
    permissions: ['SET TABLE FORMAT'],
    between: ({ parquet }, current) => (current.parquet === parquet ? undefined : { action: 'format', parquet }),
  },
});

/** A table without partitions never uses WAL. */
export const WAL = property<Pick<TableDefinition, 'partitionBy' | 'wal' | 'timestamp'>>()({
  name: 'WAL',
  value: ({ partitionBy, wal }) => (partitionBy === 'NONE' ? undefined : wal ? 'enabled' : 'bypassed'),
  words: ['wal', 'bypass'],
  parse({ cursor, token, definition: { partitionBy } }) {
    const wal = isWord(token, 'wal');
    if (wal && partitionBy === 'NONE') throw cursor.error('WAL Write Mode can only be used on partitioned tables');
    if (!wal) expectWalAfterBypass(cursor);
    return { wal };
  },
  absent: ({ definition: { partitionBy }, context: { defaults } }) => ({ wal: defaults.wal && partitionBy !== 'NONE' }),
  print({ wal, timestamp, partitionBy }, { form }) {
    if (!timestamp && partitionBy === 'NONE') return '';
    return wal ? (form === '9.3' ? '' : ' WAL') : ' BYPASS WAL';
  },
  whyUnalterable: 'ALTER TABLE … SET TYPE has an effect only after a restart of the server',
});

type Parameters = Pick<TableDefinition, 'maxUncommittedRows' | 'o3MaxLag'>;

function expectWalAfterBypass(cursor: Cursor): void {
  const token = cursor.next();
  if (!isWord(token, 'wal'))
    throw cursor.errorAt(token, ` invalid syntax, should be BYPASS WAL but was BYPASS ${token ?? ''}`);
}

function parseFormat(cursor: Cursor): { parquet: boolean; position: number } {
  const parquet = cursor.requireWord('parquet', 'native') === 'parquet';
  return { parquet, position: cursor.start };
}

/** Parses `5s`, `250ms` or `10us` into microseconds. @throws RejectionError for anything else */
function parseLag(text: string, position: number): number {
  const digits = /^\d*/.exec(text)?.[0].length ?? 0;
  const qualifier = text.slice(digits);
  if (digits > 0 && parseInt64(text.slice(0, digits)) !== undefined) {
    const micros = MICROS.get(qualifier);
    if (micros !== undefined) return Math.floor(Number(text.slice(0, digits)) * micros);
    if (qualifier === '') throw new RejectionError(position + digits, `expected interval qualifier in ${text}`);
    if (qualifier.length > 2)
      throw new RejectionError(position + digits, `expected 1/2 letter interval qualifier in ${text}`);
  }
  throw new RejectionError(position + text.length, `invalid interval qualifier ${text}`);
}

/** Parses `n` or `n o3MaxLag x` after BATCH. @param next the word after both @returns whether there is a lag */
export function parseBatch(cursor: Cursor, next: 'table' | 'into'): boolean {
  if (parseLongToken(cursor) <= 0n) throw cursor.error('batch size must be positive integer');
  const hasLag = isWord(cursor.require(`${next} or o3MaxLag`), 'o3maxlag');
  const position = cursor.reach;
  if (hasLag) parseLag(cursor.require('lag value'), position);
  else cursor.unread();
  return hasLag;
}

const parameter = <N extends keyof Parameters>(name: N, unit: string) =>
  property<Parameters, { readonly action: 'parameter'; readonly name: keyof Parameters; readonly value: number }>()({
    name,
    value: ({ [name]: value }) => (value === undefined ? undefined : `${value}${unit}`),
    isHidden: true,
    isOptional: true,
    alter: {
      actions: ['parameter'],
      sets: [name],
      syntax: { 'set param': parseParameter },
      print: ({ name, value }) => `SET PARAM ${name} = ${value}${name === 'o3MaxLag' ? 'us' : ''}`,
      apply: (table, { name, value }) => ({ ...table, [name]: value }),
      permissions: ['SET TABLE PARAM'],
      between({ [name]: value }, { [name]: current }) {
        const isOther = value !== undefined && current !== undefined && value !== current;
        return isOther ? { action: 'parameter', name, value } : undefined;
      },
    },
  });

function parseParameter(cursor: Cursor) {
  const position = cursor.reach;
  const name = cursor.requireNoSemicolon('param name');
  if (cursor.requireNoSemicolon("'='") !== '=') throw cursor.error("'=' expected");
  const value = cursor.next() ?? '';
  const action = 'parameter' as const;
  if (isWord(name, 'o3maxlag')) return { action, name: 'o3MaxLag' as const, value: parseLag(value, position) };
  if (!isWord(name, 'maxuncommittedrows')) throw new RejectionError(position, `unknown parameter '${name}'`);
  const rows = parseInt32(value);
  if (rows === undefined) throw new RejectionError(position, `invalid value [value=${value},parameter=${name}]`);
  if (rows < 0) throw new RejectionError(position, 'maxUncommittedRows must be non negative');
  return { action, name: 'maxUncommittedRows' as const, value: rows };
}

/** QuestDB 9.0 to 9.2 print both parameters. */
export const MAX_UNCOMMITTED_ROWS = {
  ...parameter('maxUncommittedRows', ''),
  words: ['with'],
  parse: parseTableParameters,
  print({ maxUncommittedRows, o3MaxLag }: Parameters, { form }: PrintOptions) {
    const stated = [
      ...(maxUncommittedRows === undefined ? [] : [`maxUncommittedRows=${maxUncommittedRows}`]),
      // A table that was made LIKE a stored view has -1, which no statement sets.
      ...(o3MaxLag === undefined || o3MaxLag < 0 ? [] : [`o3MaxLag=${o3MaxLag}us`]),
    ];
    return form === '9.3' || stated.length < (form === '9.0' ? 2 : 1) ? '' : `\nWITH ${stated.join(', ')}`;
  },
};

export const O3_MAX_LAG = parameter('o3MaxLag', 'us');

/** `WITH maxUncommittedRows=n, o3MaxLag=x`, and a comma before IN VOLUME. */
function parseTableParameters({ cursor }: ClauseReader): Parameters {
  const parameters: Parameters = {};
  for (;;) {
    Object.assign(parameters, parseGivenParameter(cursor));
    if (!cursor.accept(',')) return parameters;
    const next = cursor.next();
    if (next === undefined) throw unexpectedTokenError(cursor.start, ',');
    cursor.unread();
    if (isWord(next, 'in')) return parameters;
  }
}

function parseGivenParameter(cursor: Cursor): Parameters {
  const name = cursor.next();
  if (cursor.next() !== '=') throw new RejectionError(cursor.reach, ' expected parameter after WITH');
  const equals = cursor.start;
  const value = cursor.next();
  if (value === undefined) throw new RejectionError(equals, "too few arguments for '=' [found=1,expected=2]");
  cursor.next();
  const position = cursor.reach;
  cursor.unread();
  if (isWord(name, 'maxuncommittedrows')) {
    const maxUncommittedRows = parseInt32(value);
    if (maxUncommittedRows !== undefined) return { maxUncommittedRows };
    throw new RejectionError(position, ` could not parse maxUncommittedRows value "${value}"`);
  }
  if (!isWord(name, 'o3maxlag')) throw new RejectionError(position, ` unrecognized ${name} after WITH`);
  return { o3MaxLag: parseLag(value, position) };
}

/** The server prints a comma before IN VOLUME, which its own parser does not accept. */
export const VOLUME = property<{ readonly volume?: string | undefined }>()({
  name: 'volume',
  value: ({ volume }) => volume ?? 'none',
  words: ['in'],
  parse(reader) {
    const { cursor } = reader;
    cursor.expect('volume');
    const alias = cursor.require('path for volume');
    reader.position = cursor.start;
    return { volume: unquoteToken(alias) };
  },
  print: ({ volume }, { quoted }) =>
    volume === undefined ? '' : `${quoted ? '' : ','} IN VOLUME ${quoted ? quoteName(volume) : volume}`,
  whyUnalterable: 'needs a new table',
});

/** The place of OWNED BY is documented for tables only: on a line of its own, at the very end. Views follow the same rule here. */
export const OWNER = property<{ readonly owner?: string | undefined }>()({
  name: 'owner',
  value: ({ owner }) => owner && foldCase(owner),
  isOptional: true,
  words: ['owned'],
  feature: 'owners',
  parse(reader) {
    reader.cursor.expect('by');
    const { name, start } = parseEntityName(reader.cursor, 'owner name');
    reader.position = start;
    return { owner: name };
  },
  print: ({ owner }) => printOwner(owner),
  whyUnalterable: 'no statement changes an owner',
});

export const printOwner = (owner: string | undefined): string => (owner === undefined ? '' : `\nOWNED BY '${owner}'`);
