/*! sqlsort: a schema in any order is sorted as its dump, and cycles and conflicts are reported. */
import { Schema } from '@sqlpipe/schema';
import { formatDot } from '../../packages/sqlsort/src/graph.js';
import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { serveHere } from '../support/sqlserve.js';
import { test, testWith } from '../support/test.js';

const server = sharedSqlserve();

const ROUND_TRIP = `set -o pipefail
sqldump -q $SRC > dump
sort -z dump | sqlsort | cmp - dump; sort -zr dump | sqlsort | cmp - dump; sort -zR dump | sqlsort | cmp - dump
cat dump dump | sqlsort | cmp - dump`;

test('an empty schema stays empty', async t => {
  const run = await inProcess(t, { SRC: server.url });
  t.is(await run.silent(`${ROUND_TRIP}; printf '\\0' | cmp - dump`), '');
});

test('statements in any order can be replayed after sorting', async t => {
  const run = await inProcess(t, { DST: server.url });
  const script = `set -o pipefail; sqlsplit <<'END' | sqlsort | sqlapply $DST
CREATE VIEW a AS (SELECT * FROM b);
CREATE MATERIALIZED VIEW b AS (SELECT ts, max(v) v FROM c SAMPLE BY 1h) PARTITION BY DAY;
CREATE TABLE c (ts TIMESTAMP, v INT) TIMESTAMP(ts) PARTITION BY DAY;
END`;
  t.is(await run.silent(script), '');
});

const ENTERPRISE = [
  ...['zoe', '"a b"', 'Bob', '"select"'].map(name => `CREATE USER ${name}`),
  ...['traders', 'Admins'].map(name => `CREATE GROUP ${name}`),
  ...['ingest', '_robot'].map(name => `CREATE SERVICE ACCOUNT ${name}`),
  "CREATE TABLE t (ts TIMESTAMP, v INT) timestamp(ts) PARTITION BY DAY OWNED BY 'a b'",
  'CREATE VIEW a AS (SELECT * FROM t) OWNED BY traders',
  'ADD USER zoe TO traders, Admins',
  'ADD USER "a b" TO traders',
  'ADD USER "select" TO traders',
  'ADD USER Bob TO Admins',
  'GRANT ASSUME SERVICE ACCOUNT ingest TO zoe WITH GRANT OPTION',
  'GRANT ASSUME SERVICE ACCOUNT _robot TO traders',
  'GRANT SELECT, INSERT ON t TO zoe',
  'GRANT UPDATE ON t(v) TO "a b"',
  'GRANT SELECT ON ALL TABLES TO "select"',
  'GRANT HTTP, CREATE TABLE TO Bob',
];

test('enterprise: principals are sorted first, access control last', async t => {
  const enterprise = await serveHere(t, { edition: 'enterprise' });
  const run = await inProcess(t, { SRC: enterprise.url, ...loginAs() });
  await run.ok(`sqlsplit <<'END' | sqlapply -q $SRC\n${ENTERPRISE.join(';\n')}\nEND`);
  t.is(await run.silent(`${ROUND_TRIP}; grep -z . dump | sed -zn 16q1; test $? = 1`), '');
});

for (const { title, input, output: message } of cases('sqlsort-rejected'))
  test(title, async t => {
    const run = await inProcess(t, { STREAM: input.replaceAll('\n', '') });
    const { code, stdout, stderr } = await run('printf \'%b\' "$STREAM" | sqlsort');
    t.deepEqual([code, stderr], [65, `sqlsort: ${message}\n`]);
    t.is(stdout, `-- sqlsort: incomplete: ${message}\n`);
  });

test('statements that create nothing come last, in their order and with duplicates', async t => {
  const run = await inProcess(t);
  const { stdout } = await run(
    String.raw`printf 'DROP TABLE x;\0ALTER TABLE b;\0DROP TABLE x;\0CREATE TABLE a (x INT);\0' | sqlsort | tr -d '\n\0'`,
  );
  t.is(stdout, 'CREATE TABLE a (x INT);DROP TABLE x;ALTER TABLE b;DROP TABLE x;');
});

/** A pipeline from a schema of names with special characters of Graphviz, Mermaid and terminals. */
const withHostileNames = (pipeline: string) => `sqlsplit <<'END' | ${pipeline}
CREATE TABLE fx_trades (x INT);
CREATE VIEW "a&amp;b #1 <b>" AS (SELECT * FROM fx_trades);
CREATE MATERIALIZED VIEW m WITH BASE fx_trades REFRESH IMMEDIATE AS (SELECT * FROM "a&amp;b #1 <b>");
CREATE LIVE VIEW "_l\\N\x1b" AS (SELECT * FROM fx_trades);
CREATE TABLE "direction LR" (x INT);
GRANT SELECT ON m TO bob;
END`;

for (const { title: format, input: graph } of cases('graphs'))
  test(`--graph ${format}`, async t => {
    const run = await inProcess(t);
    const { stdout, stderr } = await run(withHostileNames(`sqlsort --graph ${format}`));
    t.deepEqual([stderr, stdout.trimEnd()], ['', graph.trimEnd()]);
  });

test('--graph of an empty schema, and of a truncated stream', async t => {
  const run = await inProcess(t);
  t.is((await run(String.raw`printf '\0' | sqlsort --graph dot`)).stdout, 'digraph schema {\n  rankdir=LR;\n}\n');
  t.is((await run(String.raw`printf '\0' | sqlsort --graph mermaid`)).stdout, 'flowchart LR\n');
  const cut = await run(`printf 'CREATE' | sqlsort --graph dot`);
  t.deepEqual([cut.code, cut.stdout], [65, '']);
});

test('the graph of 150,000 objects does not overflow the call stack', t => {
  const tables = Array.from({ length: 150_000 }, (_, i) => `CREATE TABLE 't${i}' (x INT);`);
  t.is(formatDot(new Schema(tables)).split('\n').length, tables.length + 4);
});

const withGraphviz = testWith('dot');
withGraphviz('Graphviz shows names unchanged', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run(
    withHostileNames(`sqlsort --graph dot | dot -Tsvg | sed -n 's/.*<text[^>]*>\\(.*\\)<.*/\\1/p'`),
  );
  t.is(stderr, '');
  const found = stdout.trim().split('\n').sort();
  t.deepEqual(found, [String.raw`_l\N\x1b`, 'a&amp;amp;b #1 &lt;b&gt;', 'direction LR', 'fx_trades', 'm']);
});
