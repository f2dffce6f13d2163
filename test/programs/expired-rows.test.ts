/*! Rows that a server drops or does not compute again: of partitions, of periods, and of plans for which nobody has asked it. */
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { takeHoldings, waitForHoldings } from '../support/holdings.js';
import { day, executeUntil, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

testWithQuestDB('rows that a view has and its own TTL expires when it is computed again are a loss', async t => {
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
      'refresh.sql': 'REFRESH MATERIALIZED VIEW m FULL;',
    });
    const predicted = await run.exits(1, 'sqlapply --dry-run --allow REFRESH $DB refresh.sql');
    t.regex(predicted.stdout, /drops 1 row of materialized view 'm' older than its TTL; --allow-loss ttl:m/);
    for (const [file, name] of Object.entries({ 'type.sql': 'ttl:m', 'name.sql': 'ttl:n' })) {
      const careful = await run(`sqldiff --alter -o plan ${file} $DB`);
      t.deepEqual([careful.code, namesOf(careful.stderr)], [1, [name]], careful.stderr);
      t.regex(careful.stderr, /drops 1 row of materialized view '.' older than its TTL/);
    }
    await execute(
      server,
      'REFRESH MATERIALIZED VIEW m RANGE FROM 2024-01-01 TO 2025-01-01'.replace(/(\d{4}\S+)/g, "'$1'"),
    );
    await waitUntilTrue(server, `SELECT count() = 0 FROM m WHERE ts < '${days[0]}T23'`);
    await run.ok('sqlapply --dry-run --allow REFRESH $DB refresh.sql');
    await run.ok('sqlapply -q --alter $DB type.sql');
  }
});

testWithQuestDB('a plan that gives a view a longer TTL or none refreshes it afterwards, and loses no rows', async t => {
  const view = SUM.replace(' AS', ' REFRESH MANUAL DEFERRED AS');
  const above = view
    .replace('VIEW m', 'VIEW mm')
    .replace('BASE t', 'BASE m')
    .replace('sum(x) n from t', 'sum(n) n from m');
  for (const [former, wanted] of [
    ['TTL 1 DAY', ''],
    ['TTL 1 DAY', 'TTL 1 YEAR'],
    ['TTL 2 WEEKS', 'TTL 2 MONTHS'],
  ]) {
    await server.dropAll();
    await make(server, rowsOn(LONG_MONTH, day('')));
    for (const statement of [`${view} ${former}`, above]) await execute(server, statement);
    await execute(server, `REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-01-02'`);
    await waitUntilTrue(server, 'SELECT count() = 1 FROM m');
    await execute(server, 'REFRESH MATERIALIZED VIEW mm FULL');
    await waitUntilTrue(server, 'SELECT count() = 1 FROM mm');
    const run = await shellWithFiles(t, server, {
      'a.sql': `${table(day(''), 'x LONG')} ${view} ${wanted}; ${above};`,
    });
    const plan = 'sqldiff --alter -o plan a.sql $DB';
    await run.ok(plan);
    await executeUntil(server, run, 'SET TTL');
    await t.notThrowsAsync(run.ok(`${plan} && sqlapply -q --allow-plan $DB plan && sqldiff a.sql $DB`));
    const after = await takeHoldings(server);
    t.deepEqual([after.get('m')?.rows, after.get('mm')?.rows], [3, 3]);
  }
});

testWithQuestDB('a plan killed after it dropped a view that gets a TTL fills the view above it as before', async t => {
  const views = (query: string, rest: string) => [
    `${SUM.replace(/\(.*\)/, `(${query})`)}${rest}`,
    'CREATE MATERIALIZED VIEW n WITH BASE m AS (select ts, sum(n) n from m sample by 1d) PARTITION BY MONTH',
  ];
  const before = await make(server, [
    ...rowsOn(LONG_MONTH, day('')),
    ...views('select ts, sum(x) n from t sample by 1h', ''),
  ]);
  const after = views('select ts, sum(x) n, max(x) x from t sample by 1h', ' TTL 1 DAY').map(view => `${view};`);
  const run = await shellWithFiles(t, server, { 'after.sql': [table(day('')), ...after].join('\n') });
  const plan = 'sqldiff --alter --allow-loss ttl:m -o plan after.sql $DB';
  await run.ok(plan);
  await executeUntil(server, run, "DROP MATERIALIZED VIEW 'm'");
  await t.notThrowsAsync(run.ok(`${plan} && sqlapply -q --allow-plan $DB plan`));
  await waitForHoldings(server, new Map([...before].filter(([name]) => name === 'n')));
  await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
});

testWithQuestDB('rows that the TTL of a table has expired are a loss of the UPDATE that drops them', async t => {
  const run = await shellWithFiles(t, server, {
    'type.sql': table(day('TTL 1 DAY'), 'x INT, b INT'),
    'longer.sql': table(day('TTL 2 DAYS'), 'x INT, b BYTE'),
    'kept.sql': table(day('TTL 1 DAY'), 'x INT, b BYTE, c INT'),
    'renamed.sql': `-- renamed from t\n${table(day('TTL 1 DAY'), 'x INT, b BYTE, c INT').replace('TABLE t', 'TABLE u')}`,
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
    const careful = await run(`sqlapply -q --alter $DB ${file}`);
    t.deepEqual([careful.code, namesOf(careful.stderr)], [1, ['ttl:t']], careful.stderr);
  }
  await run.ok('sqlapply -q --alter $DB kept.sql');
  t.is((await takeHoldings(server)).get('t')?.rows, 2);
  await run.ok('sqlapply -q --alter $DB renamed.sql');
  await waitUntilApplied(server);
  t.is((await takeHoldings(server)).get('u')?.rows, 2);
  await make(server, ['RENAME TABLE u TO t']);
  await run.ok('sqlapply -q --alter --allow-loss drop:t.c --allow-loss ttl:t $DB type.sql');
  t.is((await takeHoldings(server)).get('t')?.rows, 1);
});

testWithQuestDB('a type is not changed under detached partitions, which could not be attached afterwards', async t => {
  const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), 'x LONG') });
  const detach = "ALTER TABLE t DETACH PARTITION LIST '2024-01-01'";
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run('sqldiff --alter -o plan after.sql $DB');
  await make(server, [detach]);
  const stopped = await run('sqlapply --allow-plan $DB plan');
  t.regex(stopped.stderr, /'t' has detached partitions \(1\): they could not be attached afterwards; attach them/);
  const refused = await run('sqldiff --alter after.sql $DB');
  t.regex(refused.stderr, /1 partition is detached, which cannot be attached .*\n\s+hint: attach them first/);
  await make(server, ["ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'"]);
  await run.ok('sqlapply -q --allow-plan $DB plan');
  await make(server, [detach, 'ALTER TABLE t ALTER COLUMN x TYPE DOUBLE']);
  await execute(server, "ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'");
  await waitUntilTrue(server, 'SELECT count() = 1 FROM wal_tables() WHERE suspended');
});

testWithQuestDB('a column is not renamed while a detached partition has its old name', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  await execute(server, `ALTER TABLE t DETACH PARTITION LIST '${LONG_MONTH[0]}'`);
  await waitUntilTrue(server, "SELECT count() = 1 FROM table_partitions('t') WHERE detached");
  const run = await shellWithFiles(t, server, { 'a.sql': table(day(''), 'y INT') });
  const careful = await run.exits(1, 'sqldiff --alter --renamed t.x=y -o plan.sql a.sql $DB');
  t.regex(
    careful.stderr,
    /RENAME COLUMN x TO y\n {2}1 partition is detached, in which a renamed column would read NULL\n {2}hint: attach/,
  );
});

testWithQuestDB('no index is added while a partition is detached, which would have no files of it', async t => {
  await make(server, [table(day(''), 'k SYMBOL'), "INSERT INTO t VALUES ('2024-01-01', 'a'), ('2024-01-02', 'a')"]);
  const run = await shellWithFiles(t, server, { 'a.sql': table(day(''), 'k SYMBOL INDEX') });
  await run.ok('sqldiff --alter -o plan a.sql $DB');
  await make(server, ["ALTER TABLE t DETACH PARTITION LIST '2024-01-01'"]);
  const stopped = await run.exits(1, 'sqlapply --allow-plan $DB plan');
  t.regex(stopped.stderr, /the assertion is not true: 't' has detached partitions \(1\)/);
  const refused = await run.exits(1, 'sqldiff --alter a.sql $DB');
  t.regex(refused.stderr, /1 partition is detached, in which an index added now would have no files\n {2}hint: attach/);
  await make(server, ["ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'"]);
  await run.ok('sqlapply -q --allow-plan $DB plan');
  t.deepEqual(await execute(server, "SELECT count() FROM t WHERE k = 'a'"), [[2]]);
});

testWithQuestDB('a table with detached partitions is not dropped unless it is named', async t => {
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
  const rebuilt = await run.exits(
    1,
    'sqldiff --alter --rebuild t --drop-old rebuilt.sql $DB | sqlapply -q --allow-plan $DB',
  );
  t.regex(rebuilt.stderr, /'t_before_\w+' has detached partitions \(1\): they could not be attached afterwards/);

  await server.dropAll();
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run.ok('sqldiff --alter --undo undo created.sql $DB | sqlapply -q --allow-plan $DB');
  await make(server, ["INSERT INTO j VALUES ('2024-01-01', 1), ('2024-01-02', 1)"]);
  await detach('j', '2024-01-01');
  await execute(server, 'TRUNCATE TABLE j');
  const undone = await run.exits(1, 'sqlapply -q --allow-plan $DB undo');
  t.regex(undone.stderr, /'j' has detached partitions \(1\)/);

  await server.dropAll();
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run.ok('sqldiff --alter --undo undo wider.sql $DB | sqlapply -q --allow-plan $DB');
  await make(server, ["INSERT INTO t VALUES ('2024-01-01', 1, 'precious')"]);
  await detach('t', '2024-01-01');
  const narrower = await run.exits(1, 'sqlapply -q --allow-plan $DB undo');
  t.regex(narrower.stderr, /'t' has detached partitions \(1\)/);
});

testWithQuestDB('rows of a period that has not ended are not computed again', async t => {
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
    const predicted = await run.exits(1, 'sqlapply --dry-run --allow ALTER,REFRESH $DB refresh.sql');
    t.deepEqual(namesOf(predicted.stdout), ['history:m'], predicted.stderr);
    const { stderr } = await run(`sqldiff --alter ${file} $DB | sqlapply -q --allow-plan $DB`);
    const isNamed = namesOf(stderr).some(name => /^history:mm?$/.test(name));
    t.true(isNamed, stderr);
    const after = await takeHoldings(server);
    t.deepEqual([after.get('m')?.rows, after.get('m2')?.rows], [4, 4], stderr);
  }
});

testWithQuestDB('rows that a view gets in a period that has not ended stop a plan that was made before', async t => {
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
    const stopped = await run.exits(1, 'sqlapply --allow-plan $DB plan.sql');
    t.regex(stopped.stderr, /'m' has 1 row of a period that has not ended/);
    t.is((await takeHoldings(server)).get('m')?.rows, 4, stopped.stderr);
  }
});

const PLAIN = 'CREATE TABLE t (ts TIMESTAMP, x INT, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY WAL;';
const COUNT =
  'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE AS (select ts, s, count() c from t sample by 1h) PARTITION BY DAY;';

testWithQuestDB('what a refresh in full leaves out is not lost by a plan for which no server was asked', async t => {
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

testWithQuestDB('a view row that its query gives less often stops a plan for which no server was asked', async t => {
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
  const { stderr } = await run.exits(
    1,
    'sqldiff --alter --allow-loss drop:t.x -o plan.sql a.sql b.sql; sqlapply --allow-plan $DB plan.sql',
  );
  t.regex(stderr, /'m' holds rows that its query no longer returns/);
  t.is((await takeHoldings(server)).get('m')?.rows, 2);
});

testWithQuestDB('the way back keeps a new view with two equal rows of which its query returns one', async t => {
  await make(server, [PLAIN, "INSERT INTO t VALUES ('2020-01-01', 5, 'a'), ('2020-01-02', 5, 'b')"]);
  const view =
    'CREATE MATERIALIZED VIEW m AS (select ts, x from (select ts, s, max(x) x from t sample by 1M)) PARTITION BY YEAR;';
  const run = await shellWithFiles(t, server, { 'a.sql': `${PLAIN}\n${view}` });
  await run('sqldiff --alter --undo undo.sql -o plan.sql a.sql $DB; sqlapply --allow-plan $DB plan.sql');
  await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
  await execute(server, "ALTER TABLE t DROP PARTITION LIST '2020-01-01'");
  await waitUntilApplied(server);
  const { stderr } = await run.exits(1, 'sqlapply --allow-plan $DB undo.sql');
  t.regex(stderr, /'m' holds rows that its query no longer returns/);
  t.is((await takeHoldings(server)).get('m')?.rows, 2);
});
