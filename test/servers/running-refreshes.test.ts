/*! Refreshes that take a while on a real server: they are seen from the views above, which wait for them. */
import { connect, fetchRunningRefreshes, resolveInstance } from '../../packages/instance/src/index.js';
import { waitUntilApplied, waitUntilRefreshed, waitUntilTrue } from '../support/background.js';
import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { execute } from '../support/server.js';

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

testWithQuestDB(
  'a view that a plan creates is refreshed if the refresh of a lower view has made it invalid',
  async t => {
    await server.dropAll();
    const [low, high] = ['min(x)', 'max(n)'].map(
      (what, i) =>
        `CREATE MATERIALIZED VIEW ${'mn'[i]} WITH BASE ${'tm'[i]} AS (SELECT ts, ${what} n FROM ${'tm'[i]} SAMPLE BY 1d)`,
    );
    const [table = ''] = SLOW_VIEW;
    for (const statement of [table, low, high]) await execute(server, `${statement}`);
    await waitUntilRefreshed(server);
    let isCreated = false;
    const { url, queries } = await recordingProxy(t, server, query => {
      if (/^CREATE MATERIALIZED VIEW 'n'/m.test(query)) isCreated = true;
      if (!isCreated || !/last_refresh_start_timestamp.*lower\(view_name\) = 'n'/.test(query)) return undefined;
      isCreated = false; // the server reports it once
      const state = ['invalid', 'truncate operation', null, null];
      return [200, { columns: state.map(String).map(name => ({ name })), dataset: [state], count: 1 }];
    });
    const run = await inProcess(t, {}, {});
    await run.ok(
      `sqldump --text ${server.url} | sed 's/min(x)/max(x)/' > wanted.sql; sqlapply --alter ${url} wanted.sql`,
    );
    t.is(queries.filter(query => query === "REFRESH MATERIALIZED VIEW 'n' FULL").length, 1, queries.join('\n'));
    t.deepEqual(await execute(server, 'SELECT count(), max(n) FROM n'), [[1, 20000]]);
  },
);

testWithQuestDB('a refresh of a suspended view is not awaited, and the message says how to resume it', async t => {
  await server.dropAll();
  const [table = '', , low = ''] = SLOW_VIEW;
  for (const statement of [table, 'CREATE TABLE k (x INT)', low]) await execute(server, statement);
  const { url } = await recordingProxy(t, server, query => {
    if (query.startsWith('REFRESH')) return [200, { ddl: 'OK' }]; // accepted, and never applied
    const row = [1, 2, true];
    const columns = row.map(String).map(name => ({ name }));
    return /FROM wal_tables\(\) WHERE lower\(name\) = 'm'/.test(query)
      ? [200, { columns, dataset: [row], count: 1 }]
      : undefined;
  });
  const refresh = { text: 'REFRESH MATERIALIZED VIEW m FULL;', options: '--allow all --timeout 20' };
  const { code, stderr } = await runSqlapply(t, url, refresh);
  t.is(code, 69, stderr);
  t.regex(stderr, /not applied: it is suspended; use ALTER MATERIALIZED VIEW 'm' RESUME WAL/);
});
