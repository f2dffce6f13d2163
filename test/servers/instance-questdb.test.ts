/*! Assumptions about the server, checked with a real one: request sizes to the byte, and the limit on rows. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  connect,
  DEFAULT_REQUEST_BUFFER,
  encodeQuery,
  fetchRunningRefreshes,
  type Instance,
  InstanceError,
  resolveInstance,
} from '../../packages/instance/src/index.js';
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { sharedQuestDB, startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { runSqlapply } from '../support/replay.js';

const emptyServer = sharedQuestDB();

async function openInstance(url: string, env = {}) {
  return connect(await resolveInstance(url, { program: 'sqldump', env, warn: () => {} }));
}

/** The length of the longest statement that fits the server's buffer. */
function maxLength(db: Instance, statement: (length: number) => string): number {
  let length = 1;
  for (let step = 1 << 16; step > 0; step >>= 1)
    if (db.bufferNeeded(statement(length + step)) <= DEFAULT_REQUEST_BUFFER) length += step;
  return length;
}

testWithQuestDB('the maximum size of a request is known to the byte', async t => {
  const { url } = await emptyServer();
  for (const env of [{}, { SQLDUMP_TOKEN: 'x'.repeat(500) }])
    for (const character of ['x', 'ä', '=', ' ']) {
      const statement = (length: number) => `CREATE TABLE IF NOT EXISTS t (x INT) -- ${character.repeat(length)}`;
      const db = await openInstance(url, env);
      const length = maxLength(db, statement);
      t.deepEqual(await db.execute(statement(length)), { ok: true }, character);
      const error = await t.throwsAsync(db.execute(statement(length + 1)), { instanceOf: InstanceError });
      t.regex(error.message, /too large.*64448/, character);
      await db.close();
    }
});

/** A table as the server prints it. */
const wide = (columns: number) =>
  `CREATE TABLE 'wide' ( \n\tts TIMESTAMP,\n${Array.from({ length: columns }, (_, i) => `\tcolumn_${i} DOUBLE`).join(',\n')}\n) timestamp(ts) PARTITION BY DAY;`;

const SLOW_VIEW = [
  "CREATE TABLE t AS (SELECT timestamp_sequence('2024-01-01', 1000000L) ts, x FROM long_sequence(20000)) TIMESTAMP(ts) PARTITION BY DAY WAL",
  'CREATE TABLE k AS (SELECT x FROM long_sequence(500))',
  'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH MANUAL DEFERRED AS (SELECT t.ts, sum(sin(t.x * k.x)) s FROM t CROSS JOIN k SAMPLE BY 1h) PARTITION BY DAY',
  'CREATE VIEW v AS (SELECT * FROM m)',
  'CREATE MATERIALIZED VIEW n WITH BASE m REFRESH MANUAL DEFERRED AS (SELECT ts, sum(s) s FROM v SAMPLE BY 1d) PARTITION BY DAY',
];

async function makeSlowView() {
  const server = await emptyServer();
  const db = await openInstance(server.url);
  for (const statement of SLOW_VIEW) {
    await db.execute(statement);
    await waitUntilApplied(server);
  }
  return { server, db };
}

testWithQuestDB('a refresh in full that runs is seen from the views above', async t => {
  const { server, db } = await makeSlowView();
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), []);
  await db.execute('REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, "SELECT count() = 1 FROM materialized_views() WHERE view_status = 'refreshing'");
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), [{ view: 'm', isActive: true }]);
  t.deepEqual(await fetchRunningRefreshes(db, 'SELECT * FROM k'), []);
  await waitUntilTrue(server, "SELECT count() = 0 FROM materialized_views() WHERE view_status = 'refreshing'");
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), []);
  await db.close();
});

testWithQuestDB('a refresh waits until the views are filled that it reads, whoever has started that', async t => {
  const { server, db } = await makeSlowView();
  const refresh = { text: 'REFRESH MATERIALIZED VIEW n FULL;', options: '--allow all' };
  // The server shows this refresh as running for ever.
  await db.execute("REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-01-02'");
  await waitUntilTrue(server, 'SELECT count() = 6 FROM m');
  t.is((await runSqlapply(t, server.url, refresh)).code, 0);
  t.deepEqual(await db.queryRows('SELECT count() FROM n'), [[1]]);
  await db.execute('REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT count() = 0 FROM m');
  t.is((await runSqlapply(t, server.url, refresh)).code, 0);
  t.deepEqual(await db.queryRows('SELECT count() FROM n'), [[1]]);
  await db.close();
});

testWithQuestDB('statements may be larger than with curl --data-urlencode, by the documented sizes', async t => {
  const { url } = await emptyServer();
  const curlSends = (statement: string) =>
    spawnSync('curl', ['-sG', `${url}/api/v1/sql/execute`, '--data-urlencode', `query=${statement}`]).status === 0;
  t.deepEqual([1230, 1231].map(wide).map(curlSends), [true, false]);
  const db = await openInstance(url);
  t.teardown(() => db.close());
  await db.execute(wide(1329));
  await t.throwsAsync(db.execute(wide(1330)), { message: /too large/ });
  for (const page of ['README.md', 'packages/sqlapply/sqlapply.1'])
    for (const columns of [1329, 1230])
      t.true(readFileSync(page, 'utf8').includes(wide(columns).length.toLocaleString('en-US')), page);
});

testWithQuestDB('a dump that the server limits to fewer rows is rejected', async t => {
  const { url } = await startQuestDB(t, { QDB_HTTP_SECURITY_MAX_RESPONSE_ROWS: '2' });
  const db = await openInstance(url);
  t.teardown(() => db.close());
  const readAll = async () => {
    for await (const _ of db.streamFirstColumn('SELECT x::varchar ddl FROM long_sequence(3)'));
  };
  t.like(await t.throwsAsync(readAll), {
    code: 'PROTOCOL',
    message: `${url}: the reply contains 2 rows, but its count is 3; try again; if it fails again, see the server's log`,
  });
  t.deepEqual(await db.queryRows('SELECT x FROM long_sequence(2)'), [[1], [2]]);
});

testWithQuestDB('every character survives a round trip through the server', async t => {
  const { url } = await emptyServer();
  const db = await openInstance(url);
  t.teardown(() => db.close());
  const all = Array.from({ length: 0x2ff }, (_, i) => String.fromCharCode(i + 1))
    .join('')
    .replaceAll("'", "''");
  const rows = await db.queryRows(`SELECT '${all}\u2028\ufeff\u{1f600}'`);
  t.is(rows[0]?.[0], `${all}\u2028\ufeff\u{1f600}`.replaceAll("''", "'"));
  t.true(encodeQuery(all).length < encodeURIComponent(all).length);
});
