/*! Plans for which no server was asked about rows: their assertions decide when they are applied. */
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { takeHoldings } from '../support/holdings.js';
import { make } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const emptyServer = sharedQuestDB();

const PLAIN = 'CREATE TABLE t (ts TIMESTAMP, x INT, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY WAL;';
const COUNT =
  'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE AS (select ts, s, count() c from t sample by 1h) PARTITION BY DAY;';

testWithQuestDB('what a refresh in full leaves out is not lost by a plan for which no server was asked', async t => {
  const server = await emptyServer();
  const rows = ["INSERT INTO t VALUES ('2024-01-01T00:10', 1, 'a'), ('2024-01-02T00:10', 1, 'a'), (now(), 2, 'b')"];
  for (const [setting, message] of [
    ['SET REFRESH LIMIT 2 DAYS', /'m' has a refresh limit/],
    ['SET REFRESH IMMEDIATE PERIOD (LENGTH 1d)', /'m' has 1 row of a period that has not ended/],
  ] as const) {
    await server.dropAll();
    await make(server, [PLAIN, COUNT, ...rows]);
    await waitUntilTrue(server, 'SELECT count() = 3 FROM m');
    await execute(server, `ALTER MATERIALIZED VIEW m ${setting}`);
    const run = await shellWithFiles(t, server, { 'wider.sql': PLAIN.replace('s SYMBOL', 's SYMBOL, n INT') });
    const { stderr } = await run(`sqldump --text $DB | sed -n '/VIEW/,$p' >> wider.sql
      sqldiff --alter --undo undo.sql -o plan.sql wider.sql $DB; sqlapply --allow-plan $DB plan.sql; sqlapply --allow-plan $DB undo.sql`);
    t.regex(stderr, message);
    t.is((await takeHoldings(server)).get('m')?.rows, 3, stderr);
  }
});

testWithQuestDB(
  'a row of a view that its query gives less often stops a plan for which no server was asked',
  async t => {
    const server = await emptyServer();
    const joined = 'CREATE TABLE d (ts TIMESTAMP, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY WAL;';
    const view =
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, c from (select ts, s, count() c from t where s in (select s from d) sample by 1h)) PARTITION BY DAY;';
    await make(server, [
      PLAIN,
      joined,
      "INSERT INTO t VALUES ('2024-01-01T00:10', 1, 'a'), ('2024-01-01T00:20', 1, 'b')",
      "INSERT INTO d VALUES ('2024-01-01', 'a'), ('2024-01-02', 'b')",
      view,
    ]);
    await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
    await execute(server, "ALTER TABLE d DROP PARTITION LIST '2024-01-02'");
    await waitUntilApplied(server);
    const schema = [PLAIN, joined, view].join('\n');
    const run = await shellWithFiles(t, server, { 'b.sql': schema, 'a.sql': schema.replace(' x INT,', '') });
    const { code, stderr } = await run(
      'sqldiff --alter --allow-loss drop:t.x -o plan.sql a.sql b.sql; sqlapply --allow-plan $DB plan.sql',
    );
    t.is(code, 1, stderr);
    t.regex(stderr, /'m' holds rows that its query no longer returns/);
    t.is((await takeHoldings(server)).get('m')?.rows, 2);
  },
);

testWithQuestDB('the way back keeps a new view with two equal rows of which its query returns one', async t => {
  const server = await emptyServer();
  await make(server, [PLAIN, "INSERT INTO t VALUES ('2020-01-01', 5, 'a'), ('2020-01-02', 5, 'b')"]);
  const view =
    'CREATE MATERIALIZED VIEW m AS (select ts, x from (select ts, s, max(x) x from t sample by 1M)) PARTITION BY YEAR;';
  const run = await shellWithFiles(t, server, { 'a.sql': `${PLAIN}\n${view}` });
  await run('sqldiff --alter --undo undo.sql -o plan.sql a.sql $DB; sqlapply --allow-plan $DB plan.sql');
  await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
  await execute(server, "ALTER TABLE t DROP PARTITION LIST '2020-01-01'");
  await waitUntilApplied(server);
  const { code, stderr } = await run('sqlapply --allow-plan $DB undo.sql');
  t.is(code, 1, stderr);
  t.regex(stderr, /'m' holds rows that its query no longer returns/);
  t.is((await takeHoldings(server)).get('m')?.rows, 2);
});
