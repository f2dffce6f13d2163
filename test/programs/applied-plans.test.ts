import { waitUntilApplied, waitUntilRefreshed, waitUntilTrue } from '../support/background.js';
import { parseJsonLines } from '../support/json-lines.js';
import { LEDGER, makeLedger, shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, type Server } from '../support/server.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

testWithQuestDB('changes that lose data are left out of a plan, and sqlapply --alter sends nothing', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, {
    'after.sql': LEDGER.before
      .replace(', note VARCHAR', '')
      .replace('PARTITION BY DAY DEDUP', 'PARTITION BY DAY TTL 1 WEEK DEDUP'),
  });
  const plan = await run('sqldiff --alter after.sql $DB | tr -d "\\0"; echo ${PIPESTATUS[0]}');
  t.is(plan.stdout, '1\n');
  t.regex(
    plan.stderr,
    /left out: ALTER TABLE 'ledger' DROP COLUMN note\n {2}loses column 'note'\n {2}hint: --allow-loss drop:ledger\.note$/m,
  );
  t.regex(
    plan.stderr,
    /left out: ALTER TABLE 'ledger' SET TTL 1 WEEK\n {2}expires rows .*\n {2}hint: --allow-loss ttl:ledger$/m,
  );
  const replay = await run.exits(1, 'sqlapply --alter $DB after.sql');
  t.is(
    replay.stderr.replace(/\(.*\)|expires .*/g, '…'),
    `sqlapply: 2 changes are left out; nothing was sent
  table 'ledger': left out: ALTER TABLE 'ledger' DROP COLUMN note
    loses column 'note'
    hint: --allow-loss drop:ledger.note
  table 'ledger': left out: ALTER TABLE 'ledger' SET TTL 1 WEEK
    …
    hint: --allow-loss ttl:ledger
  hint: --keep-going applies the rest
`,
  );
  t.regex((await run('sqldump $DB')).stdout, /note VARCHAR/);
});

testWithQuestDB('a materialized view whose columns get other types is created again: a refresh empties it', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.before.replace('x LONG', 'x DOUBLE') });
  await run.ok(
    'sqldiff --alter --allow-loss values:ledger.x after.sql $DB > plan && sqlapply --allow ALTER,DROP $DB < plan',
  );
  t.regex((await run('cat plan')).stdout, /is replaced by materialized view 'hourly'; CREATE follows/);
  await waitUntilRefreshed(server);
  await run.ok('sqldiff after.sql $DB');
  await server.dropAll();
  await makeLedger(server);
  const byHand = "ALTER TABLE ledger ALTER COLUMN x TYPE DOUBLE;\nREFRESH MATERIALIZED VIEW 'hourly' FULL;";
  const failed = await run.exits(1, `sqlsplit <<< "${byHand}" | sqlapply --allow ALTER,REFRESH $DB`);
  t.regex(failed.stderr, /the refresh failed: the columns of the view may have other types/);
});

test('a plan for some kinds of objects applies, and leaves the others as they are', async t => {
  const server = await startSqlserve(t);
  const table = (columns: string) => `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const view = (column: string) => `CREATE VIEW v AS (SELECT ts, ${column} FROM t);`;
  const hourly = (of: string) => `CREATE MATERIALIZED VIEW m AS (SELECT ts, ${of}(x) s FROM t SAMPLE BY 1h);`;
  for (const statement of [table('x INT, y INT'), view('x'), hourly('sum')]) await execute(server, statement);
  const run = await shellWithFiles(t, server, {
    'wide.sql': [table('x INT, y INT, z INT'), view('y'), hourly('max')].join('\n'),
    'narrow.sql': table('y INT'),
  });
  await run.ok('sqldump $DB > before');
  for (const [option, changed] of [
    ['--include TABLES', ['ALTER TABLE']],
    ['--include VIEWS', ['ALTER VIEW']],
    ['--exclude MATERIALIZED_VIEWS,ACL', ['ALTER TABLE', 'ALTER VIEW']],
  ] as const) {
    const { stdout } = await run.ok(
      `sqldiff --alter ${option} wide.sql $DB > plan; sqldiff --alter ${option} wide.sql $DB`,
    );
    t.deepEqual(stdout.match(/^ALTER (TABLE|VIEW)/gm), [...changed], option);
    await run.ok('sqlapply --dry-run --allow-plan $DB < plan');
  }
  const dropping = await run.exits(1, 'sqldiff --alter --include TABLES --allow-loss drop:t.x narrow.sql $DB > plan');
  t.regex(dropping.stderr, /'t': left out: ALTER TABLE 't' DROP COLUMN x\n {2}invalidates .*view '[mv]'/);
  await run.ok('sqldiff --alter --include TABLES wide.sql $DB > plan && sqlapply --allow-plan $DB < plan');
  t.is((await run('sqldiff --names before $DB')).stdout, "differs: table 't'\n");
});

test('a plan is rejected if a view reads from what it changes since it was made', async t => {
  const server = await startSqlserve(t);
  const table = (columns: string) => `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const view = (kind: string, name: string, from: string) =>
    `CREATE ${kind} ${name} AS (SELECT ts, max(x) x FROM ${from} SAMPLE BY 1h);`;
  await execute(server, table('x INT, y INT'));
  await execute(server, 'CREATE TABLE u (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;');
  await execute(server, view('VIEW', 'lower', 't'));
  const run = await shellWithFiles(t, server, { 'after.sql': table('x INT, z INT') });
  await run.ok('sqldiff --alter --ignore-extra --renamed t.y=z after.sql $DB > plan');
  const apply = 'sqlapply --dry-run --allow-plan $DB < plan';
  for (const [kind, from] of [
    ['VIEW', 't'],
    ['MATERIALIZED VIEW', 't'],
    ['VIEW', 'lower'],
  ] as const) {
    await execute(server, view(kind, 'other', from));
    const stale = await run.exits(1, apply);
    t.regex(stale.stderr, /the plan was made for a different state.*nothing was sent/);
    await execute(server, `DROP ${kind} other`);
  }
  await execute(server, view('VIEW', 'other', 'u'));
  await run.ok(apply);
});

test('a dry run shows a statement on one line, its quoted names as they are', async t => {
  const server = await startSqlserve(t);
  await execute(server, "CREATE TABLE 'a  b -- c' (x INT)");
  const changes = "ALTER -- one column\nTABLE 'a  b -- c'\nADD   /* y\n*/ COLUMN y INT;";
  const run = await shellWithFiles(t, server, { 'changes.sql': changes });
  const { stdout } = await run('sqlapply --dry-run --allow ALTER $DB changes.sql');
  t.is(stdout, "would send ALTER TABLE 'a  b -- c' ADD COLUMN y INT\n");
});

testWithQuestDB('a dry run shows the effects of each change on other objects', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, {
    'changes.sql': `ALTER TABLE ledger DROP COLUMN acc;
ALTER TABLE ledger RENAME COLUMN qty TO quantity;
ALTER TABLE ledger ALTER COLUMN x TYPE BOOLEAN;
ALTER TABLE ledger ADD COLUMN z INT;`,
  });
  const dry = await run.exits(1, 'sqlapply --dry-run --allow ALTER $DB changes.sql');
  t.is(
    dry.stdout,
    `would send ALTER TABLE ledger DROP COLUMN acc
  loses column 'acc'
  removes dedup key 'acc'
  invalidates materialized view 'hourly': drop column operation
would send ALTER TABLE ledger RENAME COLUMN qty TO quantity
  invalidates view 'quantities': Invalid column: qty
would send ALTER TABLE ledger ALTER COLUMN x TYPE BOOLEAN
  rewrites column 'x'
  may lose values of column 'x': LONG to BOOLEAN; 39 of 40 values change
would send ALTER TABLE ledger ADD COLUMN z INT
would leave materialized view 'hourly' invalid
would leave view 'quantities' invalid
table 'ledger': removes dedup key 'acc'; --allow-loss keys:ledger allows it
table 'ledger': loses column 'acc'; --allow-loss drop:ledger.acc allows it
table 'ledger': may lose values of column 'x': LONG to BOOLEAN; 39 of 40 values change; --allow-loss values:ledger.x allows it
`,
  );
  const json = await run('sqlapply --dry-run --json --allow ALTER $DB changes.sql');
  const lines = parseJsonLines(json.stdout);
  const found = lines.map(({ effects = [] }) => effects.map(({ effect }: { effect: string }) => effect));
  t.deepEqual(found, [['lost', 'lost', 'invalidated'], ['invalidated'], ['rewritten', 'lost'], []]);
  t.is(
    (await run("echo 'ALTER TABLE ledger ADD COLUMN z INT;' | sqlsplit | sqlapply --dry-run --allow ALTER $DB")).code,
    0,
  );
});

testWithQuestDB('nothing is planned for a table to which the server applies no changes', async t => {
  await execute(server, 'CREATE TABLE t (ts TIMESTAMP, x DECIMAL(10,2)) timestamp(ts) PARTITION BY DAY');
  await execute(server, "INSERT INTO t VALUES ('2024-01-01', 12345678.99m)");
  await waitUntilApplied(server);
  await suspend(server, 't');
  await execute(server, 'ALTER TABLE t ADD COLUMN y INT');
  const run = await shellWithFiles(t, server, {
    'after.sql':
      'CREATE TABLE t (ts TIMESTAMP, x DECIMAL(10,2), y INT) timestamp(ts) PARTITION BY DAY; CREATE TABLE u (a INT);',
  });
  const plan = await run.exits(1, 'sqldiff --alter after.sql $DB > plan');
  t.regex(
    plan.stderr,
    /ADD COLUMN y INT\n {2}table 't' is suspended, so the server applies no change to it; repair it with ALTER TABLE 't' RESUME WAL\n/,
  );
  t.regex((await run('cat plan')).stdout, /CREATE TABLE u/);
});

testWithQuestDB('a rebuild is completed after a writer has created the table between the two renames', async t => {
  await execute(server, 'CREATE TABLE prices (price DOUBLE, ts TIMESTAMP) timestamp(ts) PARTITION BY DAY WAL');
  await execute(server, "INSERT INTO prices SELECT x, timestamp_sequence('2024-01-01', 1000000) FROM long_sequence(9)");
  await waitUntilApplied(server);
  const after = 'CREATE TABLE prices (price DOUBLE, ts TIMESTAMP) timestamp(ts) PARTITION BY HOUR WAL;';
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  const rebuild = 'sqldiff --alter --rebuild prices after.sql $DB';
  const begun = await run.bash.ok(
    `${rebuild} > plan; tr '\\0' '\\n' < plan; (sed 1d plan | sed -z '/RENAME TABLE .prices. TO/q'; printf '\\0') | sqlapply --allow all $DB && curl -sf -d 'prices price=7' $DB/write`,
  );
  t.regex(begun.stdout, /^-- nothing may write to 'prices' while this plan is applied$/m);
  const ended = await run.bash("(grep -z 'TO .prices.;' plan; printf '\\0') | sqlapply --allow all $DB");
  t.regex(ended.stderr, /new name is already in use/);

  const blocked = await run.exits(1, rebuild);
  t.regex(
    blocked.stderr,
    /^sqldiff: table 'prices': left out: rebuild of table 'prices'\n {2}a writer created 'prices' while an earlier rebuild exchanged the names; the old rows are in 'prices_before_\w+'\n {2}hint: stop the writers, rename 'prices', .*\n {2}hint: then copy .*\n$/,
  );
  t.notRegex(blocked.stdout, /DROP|RENAME/);
  await execute(server, 'RENAME TABLE prices TO meanwhile');
  await run(`${rebuild} --ignore-extra | sqlapply --allow-plan $DB`);
  t.deepEqual(await execute(server, 'SELECT count(), sum(price) FROM prices'), [[9, 45]]);
  await run.ok('sqldiff --ignore-extra after.sql $DB');
});

testWithQuestDB('a rebuild neither copies nor drops a table whose rows are not all applied', async t => {
  await execute(server, 'CREATE TABLE t (ts TIMESTAMP, x DECIMAL(10,2)) timestamp(ts) PARTITION BY DAY');
  await execute(server, "INSERT INTO t VALUES ('2024-01-01', 12345678.99m)");
  await waitUntilApplied(server);
  const run = await shellWithFiles(t, server, {
    'after.sql': 'CREATE TABLE t (ts TIMESTAMP, x DECIMAL(10,2)) timestamp(ts) PARTITION BY HOUR;',
  });
  const plan = await run('sqldiff --alter --rebuild t --drop-old after.sql $DB > plan; head -5 plan');
  t.regex(plan.stdout, /nothing may write to 't' while this plan is applied/, plan.stderr);
  await suspend(server, 't');
  await execute(server, "INSERT INTO t VALUES ('2024-01-02', 1.5m)");
  const replay = await run.exits(1, 'sqlapply --allow all --timeout 1 $DB < plan');
  t.regex(replay.stderr, /the assertion is not true: rows that were sent to 't' are not applied yet; .*RESUME WAL/);
  t.deepEqual(await execute(server, 'SELECT count() FROM t'), [[1]]);
});

/** Suspends a table with a value that does not fit: 9.3.4 accepts the change, and cannot apply it. */
async function suspend(server: Server, table: string): Promise<void> {
  await execute(server, `ALTER TABLE ${table} ALTER COLUMN x TYPE DECIMAL(4,1)`);
  await waitUntilTrue(server, 'SELECT suspended FROM wal_tables()');
}

const ENTERPRISE: [what: string, before: string, after: string, options?: string][] = [
  [
    'a renamed table with grants',
    'CREATE USER ann;\nCREATE TABLE old (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;\nCREATE VIEW v AS (select x from old);\nGRANT SELECT ON old TO ann;\nGRANT SELECT ON v TO ann;',
    'CREATE USER ann;\nCREATE TABLE fresh (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;\nCREATE VIEW v AS (select x from fresh);\nGRANT SELECT ON fresh TO ann;\nGRANT SELECT ON v TO ann;',
    '--renamed old=fresh',
  ],
  [
    'a live view, a dropped column with a grant, and a changed query',
    'CREATE USER ann;\nCREATE TABLE t (ts TIMESTAMP, x INT, y INT) timestamp(ts) PARTITION BY DAY;\nCREATE LIVE VIEW l FLUSH EVERY 5s PARTITION BY DAY START FROM BEGINNING AS (select ts, count(*) over (partition by x order by ts rows 9 preceding) n from t);\nCREATE VIEW v AS (select x from t);\nGRANT SELECT ON t(y) TO ann;',
    'CREATE USER ann;\nCREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;\nCREATE LIVE VIEW l FLUSH EVERY 7s PARTITION BY DAY START FROM BEGINNING AS (select ts, count(*) over (partition by x order by ts rows 9 preceding) n from t);\nCREATE VIEW v AS (select ts, x from t);',
    '--allow-loss drop:l --allow-loss drop:t.y',
  ],
];

for (const [what, before, after, options = ''] of ENTERPRISE)
  test(`enterprise: an --alter plan leaves no difference: ${what}`, async t => {
    const server = await serveHere(t, { edition: 'enterprise' });
    const run = await shellWithFiles(t, server, { 'before.sql': before, 'after.sql': after });
    await run('printf quest > password; chmod 600 password');
    const account = '--user admin --password-file password';
    await run.ok(`sqlapply ${account} $DB before.sql`);
    await run.ok(`sqldiff ${account} --ignore-owner --alter ${options} after.sql $DB > plan`);
    await run.ok(`sqlapply -q ${account} --allow all $DB < plan`);
    const rest = await run(`sqldiff ${account} --ignore-owner after.sql $DB`);
    t.is(rest.stdout, '');
  });
