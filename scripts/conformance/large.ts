/*! Large schemas, which are generated and not recorded. */
import type { Scenario } from './corpus.js';

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

const BASE = 'CREATE TABLE base (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY';

/** A table of 2,000 columns. */
const wide = `CREATE TABLE wide (ts TIMESTAMP, ${range(1999)
  .map(i => `column_${i} DOUBLE`)
  .join(', ')}) TIMESTAMP(ts) PARTITION BY DAY`;

/** A view with a body about as long as a server accepts by default: it stores the request twice in 64,448 bytes. */
const long = `CREATE VIEW long AS (SELECT ts, x FROM base WHERE x NOT IN (${range(6200).join(',')}))`;

/** Names whose alphabetical order is not the order of dependencies. */
const chainName = (i: number): string => `chain_${i % 2 ? i : 999 - i}`;
const parentName = (i: number): string => (i ? chainName(i - 1) : 'base');

/** Views over views, as deep as a server accepts: 64 on 9.3.4, `SQL model is too complex` with one more. */
const deep = range(64).map(i => `CREATE VIEW ${chainName(i)} AS (SELECT ts, x FROM ${parentName(i)})`);

/** Materialized views over materialized views, 200 deep. */
const chain = range(200).map(
  i =>
    `CREATE MATERIALIZED VIEW ${chainName(i)} AS (SELECT ts, max(x) x FROM ${parentName(i)} SAMPLE BY 1h) PARTITION BY DAY`,
);

/** 5,000 objects. Few are tables, since a server has several open files for each table. */
const many = range(500).flatMap(i => [
  `CREATE TABLE 't ${i}' (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY`,
  `CREATE MATERIALIZED VIEW 'm ${i}' AS (SELECT ts, max(x) x FROM 't ${i}' SAMPLE BY 1h)`,
  ...range(8).map(
    k =>
      `CREATE VIEW '${k % 2 ? 'a' : 'z'} ${i} ${k}' AS (SELECT ts, x FROM 'm ${i}' UNION ALL SELECT ts, x FROM 't ${i}')`,
  ),
]);

/** The scenarios, each for a separate database. */
export const large: Scenario[] = Object.entries({
  wide: [wide],
  long: [BASE, long],
  deep: [BASE, ...deep],
  chain: [BASE, ...chain],
  many,
}).map(([id, statements]) => ({ id, statements, settings: {}, renames: false }));
