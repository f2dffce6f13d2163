/*! What rebuilds keep: rows in a new table that was not finished, and what views have computed from values. */
import { readdir } from 'node:fs/promises';
import { waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { freshFolder } from '../support/folder.js';
import { takeHoldings } from '../support/holdings.js';
import { day, executeUntil, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

testWithQuestDB('the new table of an unfinished rebuild is dropped only if it has no rows of its own', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const run = await shellWithFiles(t, server, { 'after.sql': table('PARTITION BY HOUR', 'x LONG, y INT') });
  const rebuild = 'sqldiff --alter --rebuild t after.sql $DB';
  await run.ok(`${rebuild} > plan`);
  // Only the CREATE and the INSERT: the name of the new table has a hash that nobody can guess.
  const unfinished = await run('sqlgrep "*_new_*" < plan > begin; sqlapply -q --allow all $DB < begin');
  const [name = ''] = [...(await takeHoldings(server)).keys()].filter(each => each !== 't');
  t.regex(name, /^t_new_\w{8}$/, unfinished.stderr);
  for (const row of ["('2024-02-01', 1, NULL)", `('${LONG_MONTH[0]}T12:00', 70000, 2)`]) {
    await execute(server, `TRUNCATE TABLE '${name}'`);
    await execute(server, `INSERT INTO '${name}' VALUES ${row}`);
    await waitUntilApplied(server);
    const { stderr } = await run.exits(1, `${rebuild} | sqlapply -q --allow-plan $DB`);
    t.regex(stderr, new RegExp(`'${name}'.* has (?:rows that 't' does not have.* need into 't', then|1 value)`));
    t.is((await takeHoldings(server)).get(name)?.rows, 1);
  }
  await execute(server, `TRUNCATE TABLE '${name}'`);
  await execute(server, `INSERT INTO '${name}' SELECT ts, x, NULL FROM t LIMIT 2`);
  await waitUntilApplied(server);
  await run.ok(`${rebuild} | sqlapply -q --allow-plan $DB`);
  const holdings = await takeHoldings(server);
  t.deepEqual([holdings.get('t')?.rows, holdings.has(name)], [LONG_MONTH.length, false]);
});

testWithQuestDB('a rebuild that changes values names the views that are computed from them', async t => {
  const run = await shellWithFiles(t, server, { 'after.sql': `${table('PARTITION BY HOUR', 'x INT')}\n${SUM};` });
  for (const [numbers, losses] of [
    [[1.5, 2.5], ['history:m']],
    [[1, 2], []],
  ] as const) {
    await server.dropAll();
    const rows = numbers.map((number, i) => `('2024-01-0${i + 1}', ${number})`).join();
    await make(server, [table(day(''), 'x DOUBLE'), `INSERT INTO t VALUES ${rows}`, SUM]);
    await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
    const { stderr } = await run('sqldiff --alter --rebuild t after.sql $DB | sqlapply -q --allow-plan $DB');
    t.deepEqual(namesOf(stderr), [...losses], stderr);
    await waitUntilTrue(server, `SELECT sum(n) = ${numbers[0] + numbers[1]} FROM m`);
  }
});

testWithQuestDB('a rebuild with a rename in a comment is finished by the same file', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const after = table('PARTITION BY HOUR', 'y INT -- renamed from x\n');
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  const rebuild = 'sqldiff --alter --rebuild t after.sql $DB | sqlapply -q --allow-plan $DB';
  await run.ok(rebuild);
  t.is((await takeHoldings(server)).size, 2);
  await run.ok(rebuild.replace('--rebuild', '--drop-old --rebuild'));
  t.deepEqual([...(await takeHoldings(server)).keys()], ['t']);
});

testWithQuestDB('a dry run of a plan that renames or rebuilds something ends like the plan', async t => {
  const [before, view] = [rowsOn(LONG_MONTH, day('')), 'CREATE VIEW v AS (select ts, x from t)'];
  const renamed = table(day('')).replace('TABLE t', 'TABLE tt').replace('x INT', 'price INT');
  for (const [what, statements, options, after] of [
    ['a table and a column', before, '--renamed t=tt --renamed t.x=price', renamed],
    ['an old table', before, '--rebuild t --drop-old', table('PARTITION BY HOUR')],
    ['a plain view', [...before, view], '--renamed v=vv', `${table(day(''))}\n${view.replace('v', 'vv')};`],
  ] as const) {
    await server.dropAll();
    await make(server, statements);
    const run = await shellWithFiles(t, server, { 'after.sql': after });
    await run.ok(`sqldiff --alter ${options} -o plan after.sql $DB`);
    const alter = options.startsWith('--renamed') ? [`--alter ${options} $DB after.sql`] : [];
    for (const command of ['--allow-plan $DB plan', ...alter]) {
      const { code, stdout, stderr } = await run(`sqlapply --dry-run ${command}`);
      t.is(code, 0, `${what}: ${stdout}${stderr}`);
    }
    t.is((await run('sqlapply -q --allow-plan $DB plan')).code, 0, what);
  }
});

testWithQuestDB(
  'a rebuild of a table with an array is finished wherever it stopped, and drops the old table',
  async t => {
    const columns = 'x INT, w DOUBLE[], z DOUBLE[][]';
    const run = await shellWithFiles(t, server, { 'after.sql': table('PARTITION BY HOUR', columns) });
    const rebuild = 'sqldiff --alter --rebuild t --drop-old -o plan after.sql $DB';
    for (const stop of ['CREATE TABLE', 'INSERT INTO', 'RENAME TABLE']) {
      await server.dropAll();
      const rows = "INSERT INTO t VALUES ('2024-02-02', 1, ARRAY[1.5, null, 1e-7], ARRAY[[1.0], [2.0]])";
      await make(server, [...rowsOn(LONG_MONTH, day(''), columns), rows]);
      await run.ok(rebuild);
      await executeUntil(server, run, stop);
      await waitUntilApplied(server);
      await t.notThrowsAsync(run.ok(`${rebuild} && sqlapply -q --allow-plan $DB plan`), stop);
      const holdings = await takeHoldings(server);
      t.deepEqual([[...holdings.keys()], holdings.get('t')?.rows], [['t'], LONG_MONTH.length + 1], stop);
    }
  },
);

testWithQuestDB('a rebuild begins only if all rows can be copied', async t => {
  const columns = (time: string, rest: string) =>
    `CREATE TABLE t (ts TIMESTAMP, x INT, u TIMESTAMP) TIMESTAMP(${time}) ${rest} WAL;`;
  const rows = "INSERT INTO t VALUES ('2024-01-01', 1, NULL), ('2024-01-30', 2, '2024-01-01'), ('2024-02-20', 3, NULL)";
  const cases: [before: string, after: string, losses: string[], problem: RegExp][] = [
    [
      columns('ts', 'PARTITION BY MONTH TTL 1 MONTH'),
      columns('ts', 'PARTITION BY DAY TTL 1 MONTH'),
      ['ttl:t'],
      /'t' has 1 row older than its TTL/,
    ],
    [
      columns('ts', 'PARTITION BY DAY'),
      columns('u', 'PARTITION BY DAY'),
      [],
      /column 'u' of 't' is NULL in 2 rows, but a designated timestamp cannot be NULL/,
    ],
  ];
  for (const [before, after, losses, problem] of cases) {
    await server.dropAll();
    await make(server, [before, rows]);
    const run = await shellWithFiles(t, server, { 'before.sql': before, 'after.sql': after });
    const apply = (options: string, b = '$DB') =>
      run(`sqldiff --alter --rebuild t ${options} after.sql ${b} > plan; sqlapply -q --allow-plan $DB plan`);
    const careful = await apply('');
    t.regex(careful.stderr, problem);
    t.deepEqual(namesOf(careful.stderr.replace(/plan again with .*/, '')), losses, careful.stderr);
    const unasked = await apply('', 'before.sql');
    t.regex(unasked.stderr, problem);
    t.regex(unasked.stderr, /the assertion is not true/);
    const found = [...(await takeHoldings(server))].map(([name, { rows }]) => `${name} ${rows}`);
    t.deepEqual(found, ['t 3']);
    for (const name of losses) {
      t.like(await apply(`--drop-old --allow-loss ${name}`), { code: 0, stderr: '' });
      await waitUntilTrue(server, 'SELECT count() = 2 FROM t');
    }
  }
  await make(server, ["UPDATE t SET u = '2024-01-02' WHERE u IS NULL"]);
  const run = await shellWithFiles(t, server, { 'after.sql': columns('u', 'PARTITION BY DAY') });
  await run.ok('sqldiff --alter --rebuild t after.sql $DB | sqlapply -q --allow-plan $DB');
  t.is((await takeHoldings(server)).get('t')?.rows, 3);
});

testWithQuestDB('columns may have the aliases of the questions that a plan asks', async t => {
  const stored = (unit: string) =>
    `CREATE TABLE t (ts TIMESTAMP, newest INT, sqlpipe_side INT, sqlpipe__more DOUBLE) TIMESTAMP(ts) PARTITION BY ${unit} WAL;`;
  const view =
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, max(newest) newest, sum(sqlpipe_side) SQLPIPE_SIDE, sum(sqlpipe__more) sqlpipe_more from t sample by 1h) PARTITION BY DAY TTL 100 DAYS';
  await make(server, [
    stored('DAY'),
    "INSERT INTO t VALUES ('2024-01-01', 1, 2, 3.5), ('2024-01-02', 4, 5, 6.5)",
    view,
  ]);
  const run = await shellWithFiles(t, server, { 'after.sql': `${stored('HOUR')}\n${view};` });
  const { code, stderr } = await run(
    'sqldiff --alter --rebuild t --drop-old after.sql $DB > plan; sqlapply -q --allow-plan $DB plan',
  );
  t.deepEqual([code, stderr], [0, '']);
  await waitUntilTrue(server, 'SELECT count() = 2 FROM m');
  t.deepEqual([...(await takeHoldings(server)).keys()].toSorted(), ['m', 't']);
});

testWithQuestDB('a table in a volume is rebuilt in it, and no volume is assumed that B does not use', async t => {
  const folder = await freshFolder(t);
  const withVolume = await startQuestDB(t, { QDB_CAIRO_VOLUMES: `cold -> ${folder}` });
  const table = (partition: string, volume: string) =>
    `CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY ${partition} WAL IN VOLUME ${volume};`;
  const run = await shellWithFiles(t, withVolume, {
    'before.sql': table('DAY', 'cold'),
    'after.sql': table('MONTH', 'cold'),
    'elsewhere.sql': table('DAY', 'warm'),
  });
  await run.ok('sqlapply $DB before.sql');
  await execute(withVolume, "INSERT INTO t VALUES ('2024-01-01', 1)");
  const moved = await run.exits(1, 'sqldiff --alter --rebuild t elsewhere.sql $DB');
  t.regex(moved.stderr, /left out: rebuild of table 't'\n {2}it is not known whether the server has a volume 'warm'\n/);
  await run.ok('sqldiff --alter --rebuild t after.sql $DB > plan');
  await run.ok('sqlapply --allow-plan $DB < plan; sqldiff --ignore-extra after.sql $DB');
  t.is((await readdir(folder)).length, 2);
  const dry = await run('echo "CREATE TABLE u (x INT) IN VOLUME warm;" > u.sql; sqlapply --dry-run $DB u.sql');
  t.regex(dry.stdout, /unknown/);
});
