/*! Refreshes that take a while on a real server: they are seen from the views above, which wait for them. */
import { connect, fetchRunningRefreshes, resolveInstance } from '../../packages/instance/src/index.js';
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { runSqlapply } from '../support/replay.js';

const server = sharedQuestDB();

const SLOW_VIEW = [
  "CREATE TABLE t AS (SELECT timestamp_sequence('2024-01-01', 1000000L) ts, x FROM long_sequence(20000)) TIMESTAMP(ts) PARTITION BY DAY WAL",
  'CREATE TABLE k AS (SELECT x FROM long_sequence(120))',
  'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH MANUAL DEFERRED AS (SELECT t.ts, sum(sin(t.x * k.x)) s FROM t CROSS JOIN k SAMPLE BY 1h) PARTITION BY DAY',
  'CREATE VIEW v AS (SELECT * FROM m)',
  'CREATE MATERIALIZED VIEW n WITH BASE m REFRESH MANUAL DEFERRED AS (SELECT ts, sum(s) s FROM v SAMPLE BY 1d) PARTITION BY DAY',
];

testWithQuestDB('refreshes that run are seen from the views above, and a refresh of these waits for them', async t => {
  const db = connect(await resolveInstance(server.url, { program: 'sqldump', env: {}, warn() {} }));
  t.teardown(() => db.close());
  for (const statement of SLOW_VIEW) {
    await db.execute(statement);
    await waitUntilApplied(server);
  }
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), []);
  const refresh = { text: 'REFRESH MATERIALIZED VIEW n FULL;', options: '--allow all' };
  // The server shows this refresh as running for ever.
  await db.execute("REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-01-02'");
  await waitUntilTrue(server, 'SELECT count() = 6 FROM m');
  t.is((await runSqlapply(t, server.url, refresh)).code, 0);
  t.deepEqual(await db.queryRows('SELECT count() FROM n'), [[1]]);
  await db.execute('REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT count() = 0 FROM m');
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), [{ view: 'm', isActive: true }]);
  t.deepEqual(await fetchRunningRefreshes(db, 'SELECT * FROM k'), []);
  t.is((await runSqlapply(t, server.url, refresh)).code, 0);
  t.deepEqual(await db.queryRows('SELECT count() FROM n'), [[1]]);
  t.deepEqual(await fetchRunningRefreshes(db, "'N'"), []);

  const query = '(SELECT ts, sum(s) s FROM m SAMPLE BY 1d) PARTITION BY DAY';
  await db.execute('REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT count() = 0 FROM m');
  const create = { text: `CREATE MATERIALIZED VIEW created WITH BASE m REFRESH MANUAL AS ${query};` };
  t.is((await runSqlapply(t, server.url, create)).code, 0);
  await waitUntilTrue(server, 'SELECT count() = 1 FROM created');
});
