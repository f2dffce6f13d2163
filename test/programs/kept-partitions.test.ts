/*! Partitions that plans take care of: those that a TTL has expired, and detached ones. */
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { takeHoldings } from '../support/holdings.js';
import { day, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const emptyServer = sharedQuestDB();

testWithQuestDB('rows that a view has and its own TTL expires when it is computed again are a loss', async t => {
  const server = await emptyServer();
  const short = SUM.replace(' AS', ' REFRESH MANUAL DEFERRED AS');
  for (const [ttl, days] of [
    ['TTL 1 DAY', LONG_MONTH],
    ['TTL 1 MONTH', ['2024-01-30', '2024-02-29', '2024-03-01']],
    ['TTL 1 WEEK', LONG_MONTH],
  ] as const) {
    await server.dropAll();
    await make(server, rowsOn(days, day('')));
    await execute(server, `${short} ${ttl}`);
    await execute(server, `REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '${days[1]}'`);
    await waitUntilTrue(server, 'SELECT count() = 1 FROM m');
    const run = await shellWithFiles(t, server, {
      'type.sql': `${table(day(''), 'x LONG')}\n${short} ${ttl};`,
      'name.sql': `${table(day(''))}\n-- renamed from m\n${short.replace('VIEW m', 'VIEW n')} ${ttl};`,
    });
    for (const [file, name] of [
      ['type.sql', 'ttl:m'],
      ['name.sql', 'ttl:n'],
    ]) {
      const careful = await run(`sqldiff --alter -o plan ${file} $DB`);
      t.deepEqual([careful.code, namesOf(careful.stderr)], [1, [name]], careful.stderr);
      t.regex(careful.stderr, /drops 1 row of materialized view '.' older than its TTL/);
    }
    await execute(
      server,
      'REFRESH MATERIALIZED VIEW m RANGE FROM 2024-01-01 TO 2025-01-01'.replace(/(\d{4}\S+)/g, "'$1'"),
    );
    await waitUntilTrue(server, `SELECT count() = 0 FROM m WHERE ts < '${days[0]}T23'`);
    const rest = await run('sqlapply -q --alter --allow-plan $DB type.sql');
    t.is(rest.code, 0, rest.stderr);
  }
});

testWithQuestDB('rows that the TTL of a table has expired are a loss of the UPDATE that drops them', async t => {
  const server = await emptyServer();
  const run = await shellWithFiles(t, server, {
    'type.sql': table(day('TTL 1 DAY'), 'x INT, b INT'),
    'longer.sql': table(day('TTL 2 DAYS'), 'x INT, b BYTE'),
    'kept.sql': table(day('TTL 1 DAY'), 'x INT, b BYTE, c INT'),
  });
  await make(server, rowsOn(LONG_MONTH.slice(0, 1), day('TTL 1 DAY'), 'x INT, b BYTE'));
  await make(server, ["INSERT INTO t (ts, x) VALUES ('2024-01-02', 1)"]);
  await run('sqldiff --alter -o plan type.sql $DB');
  await make(server, [
    "ALTER TABLE t DETACH PARTITION LIST '2024-01-01'",
    "INSERT INTO t (ts, x) VALUES ('2024-02-01', 1)",
    "ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'",
  ]);
  t.is((await takeHoldings(server)).get('t')?.rows, 2);
  const stopped = await run('sqlapply --allow-plan $DB plan');
  t.regex(stopped.stderr, /the assertion is not true: 't' has 1 row older than its TTL/);
  for (const file of ['type.sql', 'longer.sql']) {
    const careful = await run(`sqlapply -q --alter --allow-plan $DB ${file}`);
    t.deepEqual([careful.code, namesOf(careful.stderr)], [1, ['ttl:t']], careful.stderr);
  }
  const unchanged = await run('sqlapply -q --alter --allow-plan $DB kept.sql');
  t.is(unchanged.code, 0, unchanged.stderr);
  t.is((await takeHoldings(server)).get('t')?.rows, 2);
  const allowed = await run('sqlapply -q --alter --allow-loss drop:t.c --allow-loss ttl:t --allow-plan $DB type.sql');
  t.is(allowed.code, 0, allowed.stderr);
  t.is((await takeHoldings(server)).get('t')?.rows, 1);
});

testWithQuestDB('a type is not changed under detached partitions, which could not be attached afterwards', async t => {
  const server = await emptyServer();
  const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), 'x LONG') });
  const detach = "ALTER TABLE t DETACH PARTITION LIST '2024-01-01'";
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run('sqldiff --alter -o plan after.sql $DB');
  await make(server, [detach]);
  const stopped = await run('sqlapply --allow-plan $DB plan');
  t.regex(stopped.stderr, /'t' has detached partitions \(1\), which could not be attached afterwards; attach them/);
  const refused = await run('sqldiff --alter after.sql $DB');
  t.regex(refused.stderr, /1 partition is detached, which cannot be attached .*\n\s+hint: attach them first/);
  await make(server, ["ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'"]);
  t.is((await run('sqlapply -q --allow-plan $DB plan')).code, 0);
  await make(server, [detach, 'ALTER TABLE t ALTER COLUMN x TYPE DOUBLE']);
  await execute(server, "ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'");
  await waitUntilTrue(server, 'SELECT count() = 1 FROM wal_tables() WHERE suspended');
});

testWithQuestDB('a column is not renamed while a detached partition has its old name', async t => {
  const server = await emptyServer();
  await make(server, rowsOn(LONG_MONTH, day('')));
  await execute(server, `ALTER TABLE t DETACH PARTITION LIST '${LONG_MONTH[0]}'`);
  await waitUntilTrue(server, "SELECT count() = 1 FROM table_partitions('t') WHERE detached");
  const run = await shellWithFiles(t, server, { 'a.sql': table(day(''), 'y INT') });
  const careful = await run('sqldiff --alter --renamed t.x=y -o plan.sql a.sql $DB');
  t.is(careful.code, 1, careful.stderr);
  t.regex(
    careful.stderr,
    /RENAME COLUMN x TO y\n {2}1 partition is detached, in which a renamed column would read NULL\n {2}hint: attach/,
  );
});

testWithQuestDB('a table with detached partitions is not dropped unless it is named', async t => {
  const server = await emptyServer();
  const detach = async (name: string, ...days: readonly string[]) => {
    await execute(server, `ALTER TABLE ${name} DETACH PARTITION LIST ${days.map(each => `'${each}'`).join(', ')}`);
    await waitUntilApplied(server);
  };
  const run = await shellWithFiles(t, server, {
    'rebuilt.sql': table('PARTITION BY HOUR'),
    'created.sql': [table(day('')), table(day('')).replace('TABLE t', 'TABLE j')].join('\n'),
    'wider.sql': table(day(''), 'x INT, c VARCHAR'),
  });
  await make(server, rowsOn(LONG_MONTH, day('')));
  await detach('t', '2024-01-01');
  const rebuilt = await run('sqldiff --alter --rebuild t --drop-old rebuilt.sql $DB | sqlapply -q --allow-plan $DB');
  t.is(rebuilt.code, 1);
  t.regex(rebuilt.stderr, /'t_before_\w+' has detached partitions \(1\), which could not be attached afterwards/);

  await server.dropAll();
  await make(server, rowsOn(LONG_MONTH, day('')));
  const created = await run('sqldiff --alter --undo undo created.sql $DB | sqlapply -q --allow-plan $DB');
  t.is(created.code, 0, created.stderr);
  await make(server, ["INSERT INTO j VALUES ('2024-01-01', 1), ('2024-01-02', 1)"]);
  await detach('j', '2024-01-01');
  await execute(server, 'TRUNCATE TABLE j');
  const undone = await run('sqlapply -q --allow-plan $DB undo');
  t.is(undone.code, 1);
  t.regex(undone.stderr, /'j' has detached partitions \(1\)/);

  await server.dropAll();
  await make(server, rowsOn(LONG_MONTH, day('')));
  const wider = await run('sqldiff --alter --undo undo wider.sql $DB | sqlapply -q --allow-plan $DB');
  t.is(wider.code, 0, wider.stderr);
  await make(server, ["INSERT INTO t VALUES ('2024-01-01', 1, 'precious')"]);
  await detach('t', '2024-01-01');
  const narrower = await run('sqlapply -q --allow-plan $DB undo');
  t.is(narrower.code, 1);
  t.regex(narrower.stderr, /'t' has detached partitions \(1\)/);
});
