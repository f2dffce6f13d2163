/*! Materialized views with periods: a refresh ends with the last complete period, so rows of the current one would be lost. */
import { waitUntilTrue } from '../support/background.js';
import { takeHoldings } from '../support/holdings.js';
import { day, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const emptyServer = sharedQuestDB();

testWithQuestDB('rows of a period that has not ended are not computed again', async t => {
  const server = await emptyServer();
  for (const zone of ['', " TIME ZONE 'Europe/Berlin'"]) {
    await server.dropAll();
    await make(server, [...rowsOn(LONG_MONTH, day('')), 'INSERT INTO t VALUES (now(), 1)']);
    const period = `REFRESH MANUAL DEFERRED PERIOD (LENGTH 1d${zone} DELAY 1h)`;
    await execute(server, SUM.replace(' AS', ` ${period} AS`));
    const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), 'x LONG') });
    for (const [end, rows, names] of [
      ['2024-03-01', 3, []],
      ['2100-01-01', 4, ['history:m']],
    ] as const) {
      await execute(server, `REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '${end}'`);
      await waitUntilTrue(server, `SELECT count() = ${rows} FROM m`);
      const { stderr } = await run('sqldiff --alter --ignore-extra after.sql $DB > plan');
      t.deepEqual(namesOf(stderr), names, stderr);
    }
  }
});

testWithQuestDB('rows of a longer period are named before a plan computes the view up to its end', async t => {
  const server = await emptyServer();
  const view = (period: string, value = 'sum(x)') =>
    `CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE PERIOD (${period}) AS (select ts, ${value} n from t sample by 1s) PARTITION BY DAY;`;
  const above =
    'CREATE MATERIALIZED VIEW m2 WITH BASE m AS (select ts, sum(n) n from m sample by 1h) PARTITION BY DAY;';
  const [wanted, longer] = [table(day(''), 'x LONG'), view('LENGTH 1d')];
  const run = await shellWithFiles(t, server, {
    'type.sql': `${wanted} ${longer} ${above}`,
    'query.sql': `${wanted} ${view('LENGTH 1d', 'sum(x) + 1')} ${above}`,
    'delay.sql': `${wanted} ${view('LENGTH 1d DELAY 1h')} ${above}`,
    'renamed.sql': `${wanted}\n-- renamed from m\n${longer.replace('VIEW m', 'VIEW mm')}\n${above.replaceAll(/\bm\b/g, 'mm')}`,
    'refresh.sql': 'ALTER MATERIALIZED VIEW m SET REFRESH PERIOD (LENGTH 1d);\nREFRESH MATERIALIZED VIEW m FULL;',
  });
  for (const [period, file] of [
    ['LENGTH 1s', 'type.sql'],
    ['SAMPLE BY INTERVAL', 'type.sql'],
    ['LENGTH 1s', 'query.sql'],
    ['LENGTH 1s', 'delay.sql'],
    ['LENGTH 1s', 'renamed.sql'],
  ] as const) {
    await server.dropAll();
    const rows = [...rowsOn(LONG_MONTH, day('')), "INSERT INTO t VALUES (dateadd('s', -10, now()), 1)"];
    const before = await make(server, [...rows, view(period), above]);
    t.is(before.get('m')?.rows, 4);
    const predicted = await run('sqlapply --dry-run --allow ALTER,REFRESH $DB refresh.sql');
    t.is(predicted.code, 1);
    t.deepEqual(namesOf(String(predicted.stdout)), ['history:m'], predicted.stderr);
    const { stderr } = await run(`sqldiff --alter ${file} $DB | sqlapply -q --allow-plan $DB`);
    t.true(
      namesOf(stderr).some(name => /^history:mm?$/.test(name)),
      stderr,
    );
    const after = await takeHoldings(server);
    t.deepEqual([after.get('m')?.rows, after.get('m2')?.rows], [4, 4], stderr);
  }
});

testWithQuestDB('rows that a view gets in a period that has not ended stop a plan that was made before', async t => {
  const server = await emptyServer();
  const view = SUM.replace(' AS', " REFRESH IMMEDIATE PERIOD (LENGTH 1d TIME ZONE 'Europe/Berlin' DELAY 1h) AS");
  const run = await shellWithFiles(t, server, {
    'b.sql': `${table(day(''))} ${view};`,
    'a.sql': `${table(day(''), 'x LONG')} ${view};`,
  });
  for (const b of ['$DB', 'b.sql']) {
    await server.dropAll();
    await make(server, [...rowsOn(LONG_MONTH, day('')), 'INSERT INTO t VALUES (now(), 1)', view]);
    const { stderr } = await run(`sqldiff --alter -o plan.sql a.sql ${b}`);
    t.deepEqual(namesOf(stderr), [], stderr);
    await execute(server, "REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2100-01-01'");
    await waitUntilTrue(server, 'SELECT count() = 4 FROM m');
    const stopped = await run('sqlapply --allow-plan $DB plan.sql');
    t.is(stopped.code, 1);
    t.regex(stopped.stderr, /'m' has 1 row of a period that has not ended/);
    t.is((await takeHoldings(server)).get('m')?.rows, 4, stopped.stderr);
  }
});
