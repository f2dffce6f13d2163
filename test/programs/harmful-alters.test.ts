/*! What a dry run says of an ALTER that would lose values or damage a table, and what the ALTER then does on a real server. */
import { isSuspended, settle, waitUntilApplied, waitUntilNone, waitUntilTrue } from '../support/background.js';
import { freshFolder } from '../support/folder.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, startQuestDBIn, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

const TABLE =
  'CREATE TABLE t (ts TIMESTAMP, s STRING, n INT, x DOUBLE, d DECIMAL(10,2)) TIMESTAMP(ts) PARTITION BY DAY WAL';

async function makeTable(): Promise<void> {
  await server.dropAll();
  await execute(server, TABLE);
  await execute(server, "INSERT INTO t VALUES (0, left('😀', 1), 100, 1.5, 1.5m), (1, 'a', 7, 2.0, null)");
  await waitUntilApplied(server);
}

const to = (column: string, type: string): string => `ALTER TABLE t ALTER COLUMN ${column} TYPE ${type};`;
const DRY_RUN = 'sqlapply --dry-run --allow all';

testWithQuestDB('values that a new type cannot hold are counted in a dry run, and lost in the run', async t => {
  await makeTable();
  const run = await shellWithFiles(t, server, { 'half.sql': to('s', 'VARCHAR'), 'whole.sql': to('x', 'LONG') });
  const half = await run.exits(1, `${DRY_RUN} $DB half.sql`);
  t.regex(
    half.stdout,
    /^ {2}loses values of column 's': 1 value does not fit: half of a surrogate pair would become \?/m,
  );
  t.regex(half.stdout, /^table 't': loses .*; --allow-loss values:t\.s allows it$/m);
  const { stdout } = await run.ok(`${DRY_RUN} --json --allow-loss values:t.s $DB half.sql`);
  t.like(JSON.parse(stdout).effects.at(-1), { effect: 'lost', loss: 'values', object: 't', column: 's' });
  const whole = await run.exits(1, `${DRY_RUN} $DB whole.sql`);
  t.regex(whole.stdout, /^ {2}may lose values of column 'x': DOUBLE to LONG; 1 of 2 values change$/m);
  t.regex(whole.stdout, /^table 't': may lose .*; 1 of 2 values change; --allow-loss values:t\.x allows it$/m);
  await run.ok('sqlapply -q --allow ALTER $DB half.sql whole.sql');
  t.deepEqual(await execute(server, 'SELECT s, x FROM t'), [
    ['?', 1],
    ['a', 2],
  ]);
});

testWithQuestDB('whether a refresh of a range loses rows is unknown in a dry run', async t => {
  await server.dropAll();
  await execute(server, 'CREATE TABLE t (ts TIMESTAMP, n INT) TIMESTAMP(ts) PARTITION BY DAY WAL');
  await execute(server, "INSERT INTO t VALUES ('2024-01-01', 1), ('2024-01-05', 2)");
  const body = '(SELECT ts, sum(n) s FROM t SAMPLE BY 1M) PARTITION BY YEAR';
  await execute(server, `CREATE MATERIALIZED VIEW m REFRESH MANUAL AS ${body}`);
  await waitUntilApplied(server);
  await execute(server, 'REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT sum(s) = 3 FROM m');
  await execute(server, 'ALTER TABLE t SET TTL 1 DAY');
  await execute(server, "INSERT INTO t VALUES ('2024-01-05', 0)");
  await waitUntilTrue(server, 'SELECT sum(n) = 2 FROM t');
  const range = "RANGE FROM '2024-01-01' TO '2024-01-31';";
  const run = await shellWithFiles(t, server, { 'range.sql': `REFRESH MATERIALIZED VIEW m ${range}` });
  const { stdout } = await run.ok(`${DRY_RUN} $DB range.sql`);
  t.regex(
    stdout,
    /^unknown .*\n {2}it computes rows of the view again, and the rows that they were computed from may be gone$/m,
  );
  await run.ok('sqlapply -q --allow REFRESH $DB range.sql');
  await waitUntilTrue(server, 'SELECT sum(s) = 2 FROM m');
});

testWithQuestDB('a new type that holds all values of the column loses nothing', async t => {
  await makeTable();
  await execute(server, "UPDATE t SET s = 'é', x = 3.0");
  await waitUntilApplied(server);
  const statements = [to('s', 'VARCHAR'), to('x', 'LONG'), to('n', 'DECIMAL(3,0)'), to('d', 'DECIMAL(9,1)')];
  const run = await shellWithFiles(t, server, { 'fits.sql': statements.join('\n') });
  t.notRegex((await run.ok(`${DRY_RUN} $DB fits.sql`)).stdout, /lose|damage|unknown/);
  await run.ok('sqlapply -q --allow ALTER $DB fits.sql');
  t.deepEqual(await execute(server, 'SELECT s, x, n::INT, d FROM t'), [
    ['é', 3, 100, '1.5'],
    ['é', 3, 7, null],
  ]);
});

testWithQuestDB('a conversion that would suspend the table is damage, which no --allow-loss allows', async t => {
  for (const [statement, problem] of [
    [to('n', 'DECIMAL(2,0)'), '1 value does not fit, and the table would be suspended; UPDATE it first'],
    [to('d', 'INT'), 'the server accepts DECIMAL(10,2) to INT, but suspends a table that has rows'],
  ] as const) {
    await makeTable();
    const run = await shellWithFiles(t, server, { 'alter.sql': statement });
    const options = '--allow-loss values:t.n --allow-loss values:t.d';
    const { stdout } = await run.exits(1, `${DRY_RUN} ${options} $DB alter.sql`);
    t.true(stdout.includes(`\n  damages table 't': ${problem}\n`), stdout);
    t.true(stdout.includes(`\nwould damage table 't': ${problem}\n`), stdout);
    await execute(server, statement);
    t.true(await settle(server, 't'));
    await execute(server, 'CREATE TABLE u (ts TIMESTAMP, n INT, d DECIMAL(10,2)) TIMESTAMP(ts) PARTITION BY DAY WAL');
    const other = await shellWithFiles(t, server, { 'empty.sql': statement.replace(' t ', ' u ') });
    t.notRegex((await other.ok(`${DRY_RUN} $DB empty.sql`)).stdout, /lose|damage/);
    await other.ok('sqlapply -q --allow ALTER $DB empty.sql');
    t.false(await isSuspended(server, 'u'));
  }
});

testWithQuestDB('after statements that change the rows, the result of such an ALTER is unknown', async t => {
  await makeTable();
  const run = await shellWithFiles(t, server, {
    'renamed.sql': `RENAME TABLE t TO u; ALTER TABLE u RENAME COLUMN s TO r;${to('r', 'VARCHAR').replace(' t ', ' u ')}`,
    'updated.sql': `UPDATE t SET s = 'a';${to('s', 'VARCHAR')}`,
    'narrowed.sql': `UPDATE t SET x = 1;${to('x', 'LONG')}`,
    'filled.sql': `${TABLE.replace(' t ', ' u ')};INSERT INTO u SELECT * FROM t;${to('s', 'VARCHAR').replace(' t ', ' u ')}`,
    'created.sql': `${TABLE.replace(' t ', ' u ')};${to('s', 'VARCHAR').replace(' t ', ' u ')}`,
  });
  t.regex((await run.exits(1, `${DRY_RUN} $DB renamed.sql`)).stdout, /^table 'u': loses .* --allow-loss values:u\.r /m);
  const doubt =
    /^unknown ALTER TABLE (.*)\n {2}its result depends on rows that the statements before it would change$/m;
  for (const file of ['updated.sql', 'filled.sql']) t.regex((await run.ok(`${DRY_RUN} $DB ${file}`)).stdout, doubt);
  // A loss that the types alone make possible stays a loss.
  t.regex((await run.exits(1, `${DRY_RUN} $DB narrowed.sql`)).stdout, /^ {2}may lose values of column 'x'/m);
  t.notRegex((await run.ok(`${DRY_RUN} $DB created.sql`)).stdout, /unknown|lose/);
  const json = await run.ok(`${DRY_RUN} --json $DB updated.sql`);
  t.like(JSON.parse(json.stdout.trim().split('\n').at(-1) ?? ''), {
    result: 'unknown',
    error: 'its result depends on rows that the statements before it would change',
  });
});

const PARTITIONED = 'CREATE TABLE t (ts TIMESTAMP, n INT, k SYMBOL) TIMESTAMP(ts) PARTITION BY DAY WAL';

async function makePartitions(): Promise<void> {
  await server.dropAll();
  await execute(server, PARTITIONED);
  await execute(server, "INSERT INTO t VALUES (0, 4, 'a'), ('1970-01-02', 5, 'a'), ('1970-01-03', 6, 'a')");
  await waitUntilApplied(server);
}

const ADVICE = `use ALTER TABLE 't' CONVERT PARTITION TO NATIVE WHERE "ts" IS NOT NULL first`;

testWithQuestDB('a dry run says which ALTER damages a table with Parquet partitions', async t => {
  await makePartitions();
  await execute(server, "ALTER TABLE t CONVERT PARTITION TO PARQUET WHERE ts < '1970-01-03'");
  await waitUntilApplied(server);
  const run = await shellWithFiles(t, server, {
    'add.sql': 'ALTER TABLE t ADD COLUMN z INT;',
    'drop.sql': 'ALTER TABLE t DROP COLUMN n;',
    'rename.sql': 'RENAME TABLE t TO u; ALTER TABLE u RENAME COLUMN n TO m;',
    'type.sql': to('n', 'LONG'),
    'nothing.sql': 'ALTER TABLE t ADD COLUMN IF NOT EXISTS n INT; ALTER TABLE t ALTER COLUMN n SET PARQUET(default);',
    'native.sql': 'ALTER TABLE t CONVERT PARTITION TO NATIVE WHERE ts IS NOT NULL; ALTER TABLE t ADD COLUMN z INT;',
    'created.sql': `${PARTITIONED.replace(' t ', ' u ')}; ALTER TABLE u ADD COLUMN z INT;`,
  });
  for (const [file, problem] of [
    ['add.sql', `t': 2 partitions are Parquet, which cannot be read after a column was added; ${ADVICE}`],
    ['drop.sql', `t': 2 partitions are Parquet, which cannot be read after a column was dropped; ${ADVICE}`],
    [
      'rename.sql',
      `u': 2 partitions are Parquet, whose renamed column cannot be read after a conversion to native; ${ADVICE}`,
    ],
    ['type.sql', `t': 2 partitions are Parquet, over which a change of a type suspends the table; ${ADVICE}`],
  ] as const) {
    const { stdout } = await run.exits(1, `${DRY_RUN} --allow-loss drop:t.n $DB ${file}`);
    t.true(stdout.includes(`\n  damages table '${problem}\n`), stdout);
    t.true(stdout.includes(`\nwould damage table '${problem}\n`), stdout);
  }
  const { stdout } = await run.exits(1, `${DRY_RUN} --json $DB add.sql`);
  t.like(JSON.parse(stdout).effects, [{ effect: 'invalidated', kind: 'table', object: 't' }]);
  for (const file of ['nothing.sql', 'created.sql'])
    t.notRegex((await run.ok(`${DRY_RUN} $DB ${file}`)).stdout, /damage|unknown/);
  t.regex(
    (await run.ok(`${DRY_RUN} $DB native.sql`)).stdout,
    /^unknown ALTER TABLE t ADD COLUMN z INT\n {2}its result/m,
  );
  await execute(server, 'ALTER TABLE t DROP COLUMN n');
  await waitUntilApplied(server);
  t.truthy((await server.execute('SELECT * FROM t')).error);
});

testWithQuestDB('a dry run says which ALTER damages a table with detached partitions', async t => {
  await makePartitions();
  await execute(server, "ALTER TABLE t DETACH PARTITION LIST '1970-01-01'");
  await waitUntilTrue(server, "SELECT count() = 1 FROM table_partitions('t') WHERE detached");
  const attach = "ALTER TABLE t ATTACH PARTITION LIST '1970-01-01';";
  const rename = 'ALTER TABLE t RENAME COLUMN n TO m;';
  const run = await shellWithFiles(t, server, {
    'rename.sql': rename,
    'type.sql': to('n', 'LONG'),
    'index.sql': 'ALTER TABLE t ALTER COLUMN k ADD INDEX;',
    'add.sql': 'ALTER TABLE t ADD COLUMN z INT;',
    'attached.sql': attach + rename,
  });
  for (const [file, problem] of [
    ['rename.sql', 'in which a renamed column would read NULL'],
    ['type.sql', 'which cannot be attached after a change of a type'],
    ['index.sql', 'in which an index added now would have no files'],
  ] as const) {
    const { stdout } = await run.exits(1, `${DRY_RUN} $DB ${file}`);
    t.true(
      stdout.includes(`\nwould damage table 't': 1 partition is detached, ${problem}; attach them first\n`),
      stdout,
    );
  }
  t.notRegex((await run.ok(`${DRY_RUN} $DB add.sql`)).stdout, /damage|unknown/);
  t.regex((await run.ok(`${DRY_RUN} $DB attached.sql`)).stdout, /^unknown ALTER TABLE t RENAME COLUMN n TO m\n/m);
  for (const statement of [rename, attach]) await execute(server, statement);
  await waitUntilTrue(server, 'SELECT count() = 3 FROM t');
  t.deepEqual(await execute(server, 'SELECT m FROM t'), [[null], [5], [6]]);
});

test('sqlserve, which has no rows, loses none', async t => {
  const empty = await startSqlserve(t);
  await execute(empty, TABLE);
  const run = await shellWithFiles(t, empty, { 'alter.sql': `${to('s', 'VARCHAR')}${to('n', 'LONG')}` });
  t.notRegex((await run.ok(`${DRY_RUN} $DB alter.sql`)).stdout, /unknown|lose|damage/);
});

const BYPASS = 'ALTER TABLE t SET TYPE BYPASS WAL;';

const viewOver = (base: string, name: string, start: string): string =>
  `CREATE MATERIALIZED VIEW ${name} REFRESH ${start} AS (SELECT ts, sum(n) n FROM ${base} SAMPLE BY 1d) PARTITION BY YEAR`;

testWithQuestDB('a dry run names what a table loses without WAL, which the server changes when it starts', async t => {
  const folder = await freshFolder(t);
  const env = { QDB_DEV_MODE_ENABLED: 'true' };
  const first = await startQuestDBIn(t, folder, env);
  for (const statement of [
    'CREATE TABLE t (ts TIMESTAMP, n INT) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts)',
    "INSERT INTO t VALUES ('2024-01-01', 1)",
    viewOver('t', 'm', 'IMMEDIATE'),
    viewOver('t', 'unfilled', 'MANUAL DEFERRED'),
    viewOver('m', 'above', 'IMMEDIATE'),
  ])
    await execute(first, statement);
  await waitUntilTrue(first, 'SELECT count() = 1 FROM above');
  await execute(first, 'ALTER TABLE t SUSPEND WAL');
  await execute(first, "INSERT INTO t VALUES ('2024-01-02', 2)");
  const run = await shellWithFiles(t, first, {
    'bypass.sql': `${BYPASS} SELECT count() = 1 FROM t; REFRESH MATERIALIZED VIEW m FULL;`,
    'undone.sql': `${BYPASS} ALTER TABLE t SET TYPE WAL;`,
    'resumed.sql': `${BYPASS} ALTER TABLE t RESUME WAL; ${viewOver('t', 'later', 'IMMEDIATE')};`,
  });
  const when = 'after a restart of the server';
  const { stdout } = await run.exits(1, `${DRY_RUN} $DB bypass.sql`);
  t.is(
    stdout,
    `would send ALTER TABLE t SET TYPE BYPASS WAL
  skips transactions of table 't' that are not applied, ${when}
  switches deduplication off, ${when}
  invalidates materialized view 'm' ${when}: base table is not WAL table
  invalidates materialized view 'above' ${when}: base materialized view is invalidated
  invalidates materialized view 'unfilled' ${when}: base table is not WAL table
would send SELECT count() = 1 FROM t
would send REFRESH MATERIALIZED VIEW m FULL
  recomputes materialized view 'm' from what 't' holds
  invalidates materialized view 'above': truncate operation
would leave materialized view 'above' invalid
would leave materialized view 'unfilled' invalid ${when}
would leave materialized view 'm' invalid ${when}
table 't': skips transactions of table 't' that are not applied, ${when}; --allow-loss drop:t allows it
table 't': switches deduplication off, ${when}; --allow-loss keys:t allows it
`,
  );
  for (const [file, status, end] of [
    ['undone.sql', 0, 'would send ALTER TABLE t SET TYPE WAL'],
    ['resumed.sql', 1, `would leave materialized view 'later' invalid ${when}`],
  ] as const) {
    const { stdout } = await run.exits(status, `${DRY_RUN} --allow-loss keys:t $DB ${file}`);
    t.true(stdout.endsWith(`\n${end}\n`), stdout);
  }
  await run.ok("echo 'ALTER TABLE t SET TYPE BYPASS WAL;' | sqlsplit | sqlapply -q --allow ALTER $DB");
  await first.end();
  const second = await startQuestDBIn(t, folder, env);
  await execute(second, "INSERT INTO t VALUES ('2024-01-01', 3)");
  t.deepEqual(await execute(second, 'SELECT n FROM t'), [[1], [3]]);
  await waitUntilNone(() => execute(second, "SELECT * FROM materialized_views() WHERE view_status <> 'invalid'"));
  t.deepEqual(
    await execute(second, 'SELECT view_name, invalidation_reason FROM materialized_views() ORDER BY view_name'),
    [
      ['above', 'base materialized view is invalidated'],
      ['m', 'base table is not WAL table'],
      ['unfilled', 'base table is not WAL table'],
    ],
  );
});
