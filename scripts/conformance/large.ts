/*! Large and many: what a schema may grow to, made up and not recorded. */
import type { Scenario } from './corpus.js';

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

const BASE = 'CREATE TABLE base (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY';

/** A table of 2,000 columns. */
const wide = `CREATE TABLE wide (ts TIMESTAMP, ${range(1999)
  .map(i => `column_${i} DOUBLE`)
  .join(', ')}) TIMESTAMP(ts) PARTITION BY DAY`;

/** A view's body about as long as a server takes by default: it keeps the request twice in 64,448 bytes. */
const long = `CREATE VIEW long AS (SELECT ts, x FROM base WHERE x NOT IN (${range(6200).join(',')}))`;

/** Names that run up and down, so that they are not the order by themselves. */
const chained = (i: number): string => `chain_${i % 2 ? i : 999 - i}`;
const below = (i: number): string => (i ? chained(i - 1) : 'base');

/** A view over a view as deep as a server takes it: 64 on 9.3.4, `SQL model is too complex` with one more. */
const deep = range(64).map(i => `CREATE VIEW ${chained(i)} AS (SELECT ts, x FROM ${below(i)})`);

/** A materialized view over a materialized view, 200 deep. */
const chain = range(200).map(
  i => `CREATE MATERIALIZED VIEW ${chained(i)} AS (SELECT ts, max(x) x FROM ${below(i)} SAMPLE BY 1h) PARTITION BY DAY`,
);

/** 5,000 objects. Few are tables, as a server has each of those open in several files. */
const many = range(500).flatMap(i => [
  `CREATE TABLE 't ${i}' (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY`,
  `CREATE MATERIALIZED VIEW 'm ${i}' AS (SELECT ts, max(x) x FROM 't ${i}' SAMPLE BY 1h)`,
  ...range(8).map(
    k =>
      `CREATE VIEW '${k % 2 ? 'a' : 'z'} ${i} ${k}' AS (SELECT ts, x FROM 'm ${i}' UNION ALL SELECT ts, x FROM 't ${i}')`,
  ),
]);

/** The scenarios, each for a database of its own. */
export const large: Scenario[] = Object.entries({
  wide: [wide],
  long: [BASE, long],
  deep: [BASE, ...deep],
  chain: [BASE, ...chain],
  many,
}).map(([id, statements]) => ({ id, statements, settings: {}, renames: false }));
