/*! Objects that are as they should be by their definition, but that the server reports as invalid or suspended. */
import { diff, plan } from '@sqlpipe/api';
import { waitUntilApplied, waitUntilInvalid, waitUntilRefreshed } from '../support/background.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, type Server } from '../support/server.js';

const server = sharedQuestDB();

const SCHEMA = `CREATE TABLE A_costs (ts TIMESTAMP, x DECIMAL(10,2)) timestamp(ts) PARTITION BY DAY;
CREATE TABLE b_trades (ts TIMESTAMP, qty LONG) timestamp(ts) PARTITION BY DAY;
CREATE MATERIALIZED VIEW hourly WITH BASE b_trades AS (select ts, sum(qty) n from b_trades sample by 1h) PARTITION BY DAY;
`;

/** A table that is suspended, because a value does not fit, and a materialized view that is invalid, because a column was dropped. */
async function makeProblems(server: Server): Promise<void> {
  for (const statement of SCHEMA.trim().split('\n')) await execute(server, statement);
  await execute(server, "INSERT INTO A_costs VALUES ('2024-01-01', 12345678.9m)");
  await execute(server, "INSERT INTO b_trades VALUES ('2024-01-01', 7)");
  await waitUntilRefreshed(server);
  await execute(server, 'ALTER TABLE A_costs ALTER COLUMN x TYPE DECIMAL(4,2)');
  await waitUntilApplied(server);
  await execute(server, 'ALTER TABLE b_trades DROP COLUMN qty');
  await waitUntilInvalid(server);
  await execute(server, 'ALTER TABLE b_trades ADD COLUMN qty LONG');
  await waitUntilApplied(server);
}

testWithQuestDB('sqldiff and the library report what does not work, with the reasons of the server', async t => {
  await makeProblems(server);
  const run = await shellWithFiles(t, server, { 'same.sql': SCHEMA });
  const found = await run('sqldiff --label git --label prod same.sql $DB');
  const text = found.stdout;
  t.is(found.code, 1, found.stderr);
  t.regex(
    text,
    /^suspended in prod: table 'A_costs'\n {2}column conversion failed.*\ninvalid in prod: materialized view 'hourly'\n {2}drop column operation\n$/,
  );
  t.is((await run('sqldiff --names same.sql $DB | wc -l')).stdout.trim(), '2');
  const lines = (await run('sqldiff --json $DB same.sql')).stdout.trim().split('\n');
  t.like(JSON.parse(lines[0] ?? ''), { kind: 'table', name: 'A_costs', result: 'suspended', side: 'a' });
  t.deepEqual(JSON.parse(lines[1] ?? ''), {
    kind: 'materialized view',
    name: 'hourly',
    result: 'invalid',
    side: 'a',
    reason: 'drop column operation',
  });
  const { differences, problems } = await diff(SCHEMA.trim().split('\n'), { url: server.url });
  t.deepEqual(differences, []);
  const seen = problems.map(({ name, result, side }) => [name, result, side]);
  t.deepEqual(seen, [
    ['A_costs', 'suspended', 'b'],
    ['hourly', 'invalid', 'b'],
  ]);
});

testWithQuestDB('sqldump, sqlpipe check and sqldiff report plain views that a changed view has made stale', async t => {
  const schema = `CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;
CREATE TABLE u (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;
CREATE VIEW lower AS (SELECT x FROM t);
CREATE VIEW Higher AS (SELECT x FROM lower);
CREATE VIEW valid AS (SELECT x FROM u);
CREATE VIEW above_valid AS (SELECT x FROM valid);
CREATE VIEW 'x.valid' AS (SELECT x FROM valid);
CREATE VIEW 'x-valid' AS (SELECT x FROM valid);
`;
  for (const statement of schema.trim().split('\n')) await execute(server, statement);
  const run = await shellWithFiles(t, server, {});
  await run.ok('sqldump -o before.sql $DB; sqlpipe check $DB');
  await execute(server, 'ALTER VIEW lower AS (SELECT x FROM u)');
  const dumped = await run.ok('sqldump --skip-invalid -o valid.sql $DB; sqldump -o after.sql $DB');
  t.is(
    dumped.stderr.match(/view 'Higher' is invalid on the source \(it reads a view whose query has changed;/g)?.length,
    2,
  );
  t.notRegex(dumped.stderr, /valid'/);
  t.regex((await run('grep -h VIEW valid.sql after.sql | sort | uniq -u')).stdout, /^CREATE VIEW 'Higher' AS \( \n$/);
  t.regex(
    (await run.exits(1, 'sqlpipe check $DB')).stdout,
    /^user: .*(?:\n.*){2}\ninvalid: 'Higher': it reads a view.*\nstat/m,
  );
  t.regex((await run.exits(1, 'sqldiff after.sql $DB')).stdout, /^invalid in .*: view 'Higher'\n.*\n$/);
});

testWithQuestDB('a known problem is ignored and counted; --ignore-extra is silent about what only B has', async t => {
  await makeProblems(server);
  const run = await shellWithFiles(t, server, { 'same.sql': SCHEMA, 'part.sql': SCHEMA.split('\n')[1] ?? '' });
  const ignored = await run("sqldiff -v --ignore 'HOURLY: invalid' --ignore 'table: suspended' same.sql $DB");
  t.is(ignored.code, 0, ignored.stdout);
  t.regex(ignored.stderr, /^sqldiff: ignored: materialized view 'hourly': invalid$/m);
  t.regex(ignored.stderr, /0 of 3 objects differ; 2 differences ignored\n/);
  await run.ok('sqldiff --ignore-extra part.sql $DB');
  t.regex((await run('sqldiff part.sql $DB')).stdout, /^invalid in .*'hourly'$/m);
});

testWithQuestDB('--alter repairs what loses nothing, and says how the rest is repaired', async t => {
  await makeProblems(server);
  const run = await shellWithFiles(t, server, { 'same.sql': SCHEMA });
  // The column that was dropped and added again is NULL, so that a refresh would lose a sum.
  const lossy = await run('sqldiff --alter same.sql $DB | wc -c; exit ${PIPESTATUS[0]}');
  t.deepEqual([lossy.code, lossy.stdout.trim()], [1, '1'], lossy.stderr);
  t.regex(lossy.stderr, /'hourly': left out: REFRESH .*\n.*\n {2}hint: --allow-loss history:hourly\n/);
  t.regex(
    lossy.stderr,
    /table 'A_costs': left out: ALTER TABLE 'A_costs' RESUME WAL\n {2}suspended: column conv.*; remove the cause, then send this statement\n/,
  );
  const refused = await run.exits(1, 'sqlapply --alter --allow REFRESH $DB same.sql');
  t.regex(refused.stderr, /nothing was sent\n[^]*--allow-loss history:hourly\n/);
  const known = await run("sqldiff --alter --ignore '*: invalid' --ignore '*: suspended' same.sql $DB | wc -c");
  t.deepEqual([known.code, known.stderr], [0, '']);

  await execute(server, 'UPDATE b_trades SET qty = 7');
  await waitUntilApplied(server);
  const repairs = await run('sqldiff --alter same.sql $DB -o plan.sql; tail -2 plan.sql');
  t.regex(repairs.stdout, /^REFRESH MATERIALIZED VIEW 'hourly' FULL;$/m, repairs.stderr);
  const { statements, omissions } = await plan(SCHEMA.trim().split('\n'), { url: server.url });
  t.is(statements.length, 3, 'two assertions and a REFRESH');
  const seen = omissions.map(({ name }) => name);
  t.deepEqual(seen, ['A_costs']);
  const applied = await run.ok('sqlapply --alter --allow REFRESH $DB same.sql');
  t.regex(applied.stderr, /A_costs.*RESUME WAL/, 'a table that is not changed does not stop the rest');
  t.deepEqual(await execute(server, 'SELECT view_status, n FROM materialized_views() CROSS JOIN hourly'), [
    ['valid', 7],
  ]);
});

testWithQuestDB('sqlapply warns of what it skips', async t => {
  await makeProblems(server);
  const run = await shellWithFiles(t, server, { 'same.sql': SCHEMA });
  for (const option of ['', '--dry-run', '--no-verify']) {
    const { stderr } = await run.ok(`sqlapply ${option} $DB same.sql`);
    t.regex(
      stderr,
      /^sqlapply: table 'A_costs' was skipped, but is suspended on the target: column conversion failed/m,
    );
    t.regex(
      stderr,
      /^sqlapply: materialized view 'hourly' was skipped, but is invalid on the target: drop column operation$/m,
    );
  }
});
