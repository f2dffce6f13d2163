/*! A schema with all kinds of features, grouped by features that some versions lack. */

/** A feature that versions may lack, and statements that need it. */
export interface Feature {
  name: string;
  statements: string[];
}

export const SAMPLE: Feature[] = [
  {
    name: 'tables',
    statements: [
      `CREATE TABLE readings (ts TIMESTAMP, site SYMBOL CAPACITY 1024 NOCACHE INDEX CAPACITY 64, "order" SYMBOL, kw DOUBLE)
        TIMESTAMP(ts) PARTITION BY DAY WAL WITH maxUncommittedRows=1234, o3MaxLag=7s DEDUP UPSERT KEYS(ts, site)`,
      'CREATE TABLE sites (site SYMBOL, "my name" STRING, place GEOHASH(5c), address IPV4, id UUID, wide LONG256)',
      'CREATE TABLE plain (ts TIMESTAMP, x LONG) TIMESTAMP(ts) PARTITION BY MONTH BYPASS WAL',
      'CREATE TABLE flat (ts TIMESTAMP, x BYTE) TIMESTAMP(ts)',
    ],
  },
  { name: 'TTL', statements: ['CREATE TABLE kept (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY TTL 2 WEEKS WAL'] },
  { name: 'arrays', statements: ['CREATE TABLE waves (ts TIMESTAMP, w DOUBLE[]) TIMESTAMP(ts) PARTITION BY HOUR WAL'] },
  {
    name: 'materialized views',
    statements: [
      `CREATE MATERIALIZED VIEW daily WITH BASE readings REFRESH MANUAL AS (
        SELECT ts, site, avg(kw) kw FROM readings SAMPLE BY 1d) PARTITION BY MONTH`,
      'CREATE MATERIALIZED VIEW hourly AS (SELECT ts, max(kw) kw FROM readings SAMPLE BY 1h) PARTITION BY DAY TTL 1 WEEK',
    ],
  },
  {
    name: 'TIMESTAMP_NS',
    statements: ['CREATE TABLE ticks (ts TIMESTAMP_NS, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL'],
  },
  {
    name: 'DECIMAL',
    statements: ['CREATE TABLE prices (ts TIMESTAMP, price DECIMAL(18,4)) TIMESTAMP(ts) PARTITION BY DAY WAL'],
  },
  {
    name: 'views',
    statements: [
      'CREATE VIEW hot AS (SELECT ts, site FROM readings WHERE kw > 5)',
      'CREATE VIEW hottest AS (SELECT * FROM hot)',
    ],
  },
  {
    name: 'PARQUET(…)',
    statements: ['CREATE TABLE packed (ts TIMESTAMP, x INT PARQUET(plain)) TIMESTAMP(ts) PARTITION BY DAY WAL'],
  },
];
