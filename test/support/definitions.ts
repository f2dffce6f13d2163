/*! Generates random valid definitions of all four kinds, with every property of the model. */
import {
  type Column,
  type Definition,
  type Index,
  type LiveViewDefinition,
  type MaterializedViewDefinition,
  quoteName,
  type Refresh,
  type TableDefinition,
  type ViewDefinition,
} from '@sqlpipe/ddl';
import { foldCase, NameMap } from '@sqlpipe/sql';
import type { Arbitrary } from 'fast-check';
import { fc } from './seed.js';

/** Characters that are invalid in names of objects and columns; all control characters are excluded. */
const FORBIDDEN = /[\0-\x1f\x7f\ufeff?.,'"\\/:()+\-*%~]/;

/** Characters that need quotes, keywords, and letters of several scripts. */
const PIECES = [...' ;`&|^<=>[]!#$@{}_éΣς表ẞ🎈', ...'order SELECT index DOUBLE[] public if null Time --'.split(' ')];

const name: Arbitrary<string> = fc
  .oneof(
    { weight: 3, arbitrary: fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,5}$/) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map(all => all.join('')),
    },
  )
  .filter(text => !FORBIDDEN.test(text) && text.trim() === text && text.isWellFormed());

const columnName = name.filter(text => !text.includes('`'));

const optional = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });

const PLAIN_TYPES = (
  'BOOLEAN BYTE SHORT CHAR INT LONG LONG128 LONG256 FLOAT DOUBLE DATE STRING VARCHAR BINARY UUID IPv4 ' +
  'GEOHASH(5c) GEOHASH(33b) DECIMAL(18,3) DECIMAL(7,0) DECIMAL(76,10) DOUBLE[] DOUBLE[][]'
).split(' ');

const PARQUET = ['default, zstd(3)', 'default, snappy, bloom_filter', 'bloom_filter'];

const powerOfTwo = (most: number): Arbitrary<number> => fc.integer({ min: 1, max: most }).map(power => 2 ** power);

const plainColumn = fc.record({ type: fc.constantFrom(...PLAIN_TYPES), parquet: fc.constantFrom('', '', ...PARQUET) });

const symbolColumn = (names: string[]): Arbitrary<Pick<Column, 'type' | 'cached' | 'capacity' | 'index' | 'parquet'>> =>
  fc.record({
    type: fc.constant('SYMBOL'),
    cached: fc.boolean(),
    capacity: optional(powerOfTwo(20)),
    index: optional(index(names)),
    parquet: fc.constantFrom('', 'rle_dictionary, lz4_raw'),
  }) as Arbitrary<Pick<Column, 'type' | 'cached' | 'capacity' | 'index' | 'parquet'>>;

const index = (names: string[]): Arbitrary<Index> =>
  fc.oneof(
    powerOfTwo(20).map((capacity): Index => ({ type: 'BITMAP', capacity })),
    fc.record({
      type: fc.constantFrom('POSTING', 'POSTING DELTA', 'POSTING EF'),
      covered: fc.subarray(names, { maxLength: 2 }),
    }),
  );

const columnNames = fc.uniqueArray(columnName, { minLength: 3, maxLength: 7, selector: foldCase });

const columnsOf = (names: string[]): Arbitrary<Column[]> => {
  const typed = names.map((name, i) => {
    const described: Arbitrary<Partial<Column>> =
      i === 0
        ? fc.record({
            type: fc.constantFrom('TIMESTAMP', 'TIMESTAMP_NS'),
            parquet: fc.constantFrom('', 'plain, gzip(9)'),
          })
        : i === 1
          ? symbolColumn(names.slice(0, 3))
          : fc.oneof(plainColumn, symbolColumn(names.slice(0, 2)), fc.constant({ type: 'TIMESTAMP' }));
    return described.map((column): Column => ({ cached: true, dedup: false, parquet: '', ...column, name }) as Column);
  });
  return fc.tuple(...typed).chain(all => fc.shuffledSubarray(all, { minLength: all.length }));
};

/** Partitioning, with a TTL that is a multiple of the partition size. */
const stored = fc.constantFrom(
  { partitionBy: 'HOUR', ttl: 25 },
  { partitionBy: 'HOUR', ttl: 0 },
  { partitionBy: 'DAY', ttl: 0 },
  { partitionBy: 'DAY', ttl: 14 * 24 },
  { partitionBy: 'DAY', ttl: -7 },
  { partitionBy: 'WEEK', ttl: 3 * 168 },
  { partitionBy: 'MONTH', ttl: -24 },
  { partitionBy: 'MONTH', ttl: 0 },
  { partitionBy: 'YEAR', ttl: -12 },
) as Arbitrary<{ partitionBy: TableDefinition['partitionBy']; ttl: number }>;

const policy = fc.constantFrom(
  { after: { 'TO PARQUET': -12, 'DROP LOCAL': -24 } },
  { after: { 'TO REMOTE': -36 } },
  { after: { 'TO PARQUET': -12, 'TO REMOTE': -24, 'DROP LOCAL': -36, 'DROP REMOTE': -48 } },
  { after: { 'TO PARQUET': -12 }, disabled: true },
);

const owner = optional(fc.constantFrom('admin', 'Zoë', 'etl user'));
const volume = optional(fc.constantFrom('cold', 'my volume'));

const settings = fc.record({
  shape: stored,
  hasTimestamp: fc.boolean().map(no => !no),
  isPartitioned: fc.constantFrom(true, true, true, false),
  policy: optional(policy),
  wal: fc.constantFrom(true, true, false),
  isParquet: fc.boolean(),
  isDeduplicated: fc.boolean(),
  parameters: fc.record({ rows: optional(fc.nat(2 ** 31 - 1)), lag: optional(fc.nat(10 ** 9)) }),
  volume,
  owner,
});

export const tables: Arbitrary<TableDefinition> = columnNames.chain(names =>
  fc
    .record({ name, columns: columnsOf(names), set: settings, keys: fc.subarray(names) })
    .map(({ name, columns, set, keys }) => {
      const timestamp = set.hasTimestamp ? names[0] : undefined;
      const isPartitioned = timestamp !== undefined && set.isPartitioned;
      const wal = isPartitioned && set.wal;
      const isDeduplicated = wal && set.isDeduplicated;
      const isKey = ({ name, type }: Column) => name === timestamp || (keys.includes(name) && !type.endsWith('[]'));
      const hasPolicy = isPartitioned && set.policy !== undefined;
      return {
        kind: 'table',
        name,
        columns: columns.map(column => covering({ ...column, dedup: isDeduplicated && isKey(column) }, timestamp)),
        timestamp,
        partitionBy: isPartitioned ? set.shape.partitionBy : 'NONE',
        ttl: isPartitioned && !hasPolicy ? set.shape.ttl : 0,
        policy: hasPolicy ? set.policy : undefined,
        wal,
        isParquet: wal && set.isParquet,
        volume: set.volume,
        maxUncommittedRows: set.parameters.rows,
        o3MaxLag: set.parameters.lag,
        owner: set.owner,
      };
    }),
);

/** Adds the timestamp as the last covered column, as the server does for an index that covers columns. */
function covering(column: Column, timestamp: string | undefined): Column {
  const covered = column.index?.capacity === undefined ? (column.index?.covered ?? []) : [];
  if (timestamp === undefined || covered.length === 0 || covered.includes(timestamp)) return column;
  return { ...column, index: { type: column.index?.type ?? '', covered: [...covered, timestamp] } };
}

/** Queries with a single blank between two tokens. Words in upper case are keywords. */
const QUERIES = [
  'SELECT ts , price FROM trades',
  "SELECT * FROM trades WHERE pair = 'a;b' AND price > 1.5 ORDER BY ts DESC LIMIT 10",
  'WITH big AS ( SELECT * FROM trades WHERE price > ( 1 + 2 ) * 3 ) SELECT ts , price AS "Order" FROM big',
  "SELECT CAST ( price AS INT ) AS p , ts :: LONG AS l , 'it is -- no comment' AS s FROM trades",
  'DECLARE @x := 5 SELECT ts , CASE WHEN price > @x THEN 1 ELSE 0 END AS isBig FROM trades LATEST ON ts PARTITION BY pair',
  'SELECT a . ts , b . price FROM trades AS a ASOF JOIN quotes AS b ON ( pair ) WHERE a . price IS NOT NULL',
  'SELECT Timestamp , Time AS First FROM trades UNION ALL SELECT x , y FROM trades',
];

const SAMPLINGS = [
  'SELECT ts , max ( price ) AS high FROM trades SAMPLE BY 1h',
  'SELECT ts , pair , avg ( price ) AS a FROM trades WHERE price > 0 SAMPLE BY 30s FILL ( PREV )',
  "SELECT ts , last ( price ) AS l FROM trades SAMPLE BY 1d ALIGN TO CALENDAR TIME ZONE 'Europe/London'",
  "SELECT timestamp_floor ( '10m' , ts ) AS ts , sum ( price ) AS s FROM trades GROUP BY ts",
];

/** A query whose sampling interval, if it has one, can be found only with the definitions of what it reads. */
const UNSAMPLED = 'SELECT ts , price FROM trades';

/** Tables that take their columns from another table or a query. */
const derivedTables: Arbitrary<TableDefinition> = fc
  .record({
    name,
    from: fc.oneof(fc.record({ like: name }), fc.record({ query: fc.constantFrom(...QUERIES) })),
    maxUncommittedRows: optional(fc.nat(2 ** 31 - 1)),
    volume,
    owner,
  })
  .map(({ name, from, owner, ...clauses }) => ({
    ...{ kind: 'table', name, columns: [], partitionBy: 'NONE', ttl: 0, wal: false, isParquet: false, owner },
    ...('like' in from ? from : { ...from, ...clauses }),
  }));

export const views: Arbitrary<ViewDefinition> = fc.record({
  kind: fc.constant('view'),
  name,
  body: fc.constantFrom(...QUERIES, ...SAMPLINGS),
  owner,
});

const START = '2025-01-01T00:00:00.000000Z';
const timeZone = optional(fc.constantFrom('Europe/London', 'UTC'));

const refresh: Arbitrary<Refresh> = fc
  .record({
    type: fc.constantFrom('IMMEDIATE', 'MANUAL', 'EVERY'),
    deferred: fc.boolean(),
    every: fc.constantFrom('1h', '10m', '1d', '2w'),
    start: fc.constantFrom(undefined, START, '2025-06-30T12:30:01.500000Z'),
    period: fc.constantFrom(undefined, undefined, { length: '1h' }, { length: '1d', delay: '2h' }),
    timeZone,
  })
  .map(({ type, deferred, every, start, period, timeZone }) => {
    const starts = type === 'EVERY' && !period ? start : undefined;
    return {
      type: type as Refresh['type'],
      deferred,
      every: type === 'EVERY' ? every : undefined,
      start: starts,
      timeZone: period || starts ? timeZone : undefined,
      period: period && { delay: undefined, ...period },
    };
  });

const ruleNames = fc.array(columnName.map(quoteName), { maxLength: 2 }).map(keys => keys.join(', '));

/** Rules of EXPIRE ROWS as they are printed. */
const rule = fc
  .record({
    keep: fc.oneof(
      fc.constantFrom('LATEST', "WHEN c < 0 AND note = 'a  b'", 'WHEN "a b" IN ( 1 , 2 )'),
      columnName.map(column => `LATEST ON ${quoteName(column)}`),
      fc.tuple(fc.constantFrom('HIGHEST', '2 LOWEST'), columnName).map(([order, by]) => `${order} ${quoteName(by)}`),
    ),
    keys: ruleNames,
    cleanup: fc.constantFrom('', ' CLEANUP EVERY 30m', ' CLEANUP EVERY 1M'),
  })
  .map(({ keep, keys, cleanup }) =>
    keep.startsWith('WHEN') ? keep + cleanup : `KEEP ${keep}${keys && ` PARTITION BY ${keys}`}${cleanup}`,
  );

export const materializedViews: Arbitrary<MaterializedViewDefinition> = fc
  .record({
    name,
    base: fc.constantFrom('trades', 'Quotes', 'order book'),
    refresh,
    body: fc.constantFrom(...SAMPLINGS, UNSAMPLED),
    shape: stored,
    timestamp: optional(fc.constantFrom('ts', 'order')),
    indexes: fc.constantFrom(...[{}, { pair: 64 }, { a: 256, B: 1024 }].map(each => new NameMap(Object.entries(each)))),
    expire: optional(rule),
    volume,
    owner,
  })
  .map(({ shape, refresh, ...rest }) => ({
    kind: 'materialized view',
    ...rest,
    ...shape,
    refresh: rest.body === UNSAMPLED && refresh.period ? { ...refresh, ...SAMPLE_BY_INTERVAL } : refresh,
  }));

const SAMPLE_BY_INTERVAL = { period: 'sample by interval', timeZone: undefined } as const;

const liveViews: Arbitrary<LiveViewDefinition> = fc.record({
  kind: fc.constant('live view'),
  name,
  flush: fc.constantFrom('5s', '100ms'),
  inMemory: fc.constantFrom('5s', '1h', '2d'),
  partitionBy: fc.constantFrom(undefined, 'DAY', 'HOUR'),
  ttl: fc.constantFrom(0, 14 * 24),
  start: fc.constantFrom('NOW', 'BEGINNING', "'2025-01-01'"),
  body: fc.constantFrom(...QUERIES),
  owner,
});

export const definitions: Arbitrary<Definition> = fc.oneof(
  { weight: 4, arbitrary: tables },
  { weight: 1, arbitrary: derivedTables },
  { weight: 1, arbitrary: views },
  { weight: 2, arbitrary: materializedViews },
  { weight: 1, arbitrary: liveViews },
);
