/*! What a change of a type does to values: each conversion that is called lossless, those that suspend a table, and Parquet. */
import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isLossless } from '@sqlpipe/ddl';
import { planChanges } from '@sqlpipe/plan';
import { canConvert } from '../../packages/ddl/src/columns/conversions.js';
import { isSuspended, settle, waitUntilApplied, waitUntilTrue } from '../support/background.js';
import { insertCells, nines, TYPES, VALUES } from '../support/column-values.js';
import { shellWithFiles } from '../support/ledger.js';
import { lossesOf, textsOf } from '../support/plans.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

/** A FLOAT that was cast back is printed with the digits of a DOUBLE. */
const rounded = (cell: unknown, type: string): unknown =>
  type === 'FLOAT' && typeof cell === 'number' ? Math.fround(cell) : cell;

testWithQuestDB('each conversion that is called lossless keeps the first, the last and the odd values', async t => {
  let tried = 0;
  for (const [i, from] of TYPES.entries()) {
    const targets = TYPES.filter(to => to !== from && isLossless(from, to));
    if (targets.length === 0) continue;
    const table = `t${i}`;
    const columns = ['old', ...targets.map((_, at) => `c${at}`)];
    const definitions = columns.map(name => `${name} ${from}`).join(', ');
    await execute(server, `CREATE TABLE ${table} (ts TIMESTAMP, ${definitions}) TIMESTAMP(ts) PARTITION BY DAY WAL`);
    await execute(server, insertCells(table, columns, from, VALUES[from] ?? []));
    for (const [at, to] of targets.entries())
      await execute(server, `ALTER TABLE ${table} ALTER COLUMN c${at} TYPE ${to}`);
    t.false(await settle(server, table), from);
    const cells = targets.map((to, at) => {
      const isCast = to.startsWith('DECIMAL') && !from.startsWith('DECIMAL');
      return `${isCast ? `CAST(c${at} AS ${from})` : `c${at}::${from}`}, c${at} IS NULL`;
    });
    const rows = await execute(server, `SELECT old, old IS NULL, ${cells.join(', ')} FROM ${table} ORDER BY ts`);
    t.is(rows.length, (VALUES[from] ?? []).length);
    for (const [n, [old, wasNull, ...converted]] of rows.entries())
      for (const [at, to] of targets.entries())
        t.deepEqual(
          [rounded(converted[2 * at], from), converted[2 * at + 1]],
          [rounded(old, from), wasNull],
          `${from} to ${to}: ${VALUES[from]?.[n]}`,
        );
    tried += targets.length;
  }
  t.true(tried > 60, `${tried} conversions`);
});

const tableOf = (type: string): string =>
  `CREATE TABLE 'my t' (ts TIMESTAMP, "a b" ${type}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;

const CONVERSIONS: [from: string, to: string, fits: string[], others: string[]][] = [
  ['BYTE', 'DECIMAL(2,0)', ['99', '-99', '0'], ['100', '-100', '-128']],
  ['SHORT', 'DECIMAL(4,1)', ['999', '-999'], ['1000', '-1000']],
  ['INT', 'DECIMAL(10,2)', ['99999999', 'null'], ['100000000', '-2147483647']],
  ['LONG', 'DECIMAL(18,0)', ['999999999999999999', 'null'], ['1000000000000000000', '-9223372036854775807']],
  ['LONG', 'DECIMAL(2,2)', ['0', 'null'], ['1', '-1']],
  ['DECIMAL(10,2)', 'DECIMAL(8,1)', ['9999999.9m', '1.50m', 'null'], ['10000000m', '1.55m', '-0.01m']],
  ['DECIMAL(10,2)', 'DECIMAL(19,0)', ['99999999.00m'], ['0.01m']],
  ['DECIMAL(18,2)', 'DECIMAL(17,2)', [nines(17, 2)], [nines(18, 2), `-${nines(18, 2)}`]],
  ['DECIMAL(76,2)', 'DECIMAL(76,0)', [nines(74, 0)], [nines(76, 2)]],
  ['DECIMAL(76,0)', 'DECIMAL(75,0)', [nines(75, 0)], [nines(76, 0)]],
  ['DECIMAL(40,30)', 'DECIMAL(12,10)', ['12.5m', '-99.9999999999m'], ['100m', '0.00000000001m']],
];

testWithQuestDB('an assertion stops the plan if a value would suspend the table, and only then', async t => {
  for (const [from, to, fits, others] of CONVERSIONS) {
    const plan = await planChanges([tableOf(to)], [tableOf(from)]);
    const [native, ...texts] = textsOf(plan);
    const [assertion = '', ...rest] = texts.slice(texts.findIndex(text => text.includes(' AS all_fit FROM ')));
    t.regex(native ?? '', /^SELECT .* AS all_native FROM table_partitions\('my t'\) WHERE isParquet;$/);
    for (const [value, isFit] of [...fits.map(v => [v, true] as const), ...others.map(v => [v, false] as const)]) {
      const label = `${from} to ${to}: ${value}`;
      await execute(server, tableOf(from));
      await execute(server, `INSERT INTO 'my t' VALUES (0::timestamp, CAST(${value} AS ${from}))`);
      await waitUntilApplied(server);
      t.deepEqual(await execute(server, native ?? ''), [[true]], label);
      t.deepEqual(await execute(server, assertion), [[isFit]], label);
      for (const statement of rest) await execute(server, statement);
      t.is(await settle(server, 'my t'), !isFit, label);
      await execute(server, "DROP TABLE 'my t'");
    }
  }
});

const PRICES = `CREATE TABLE prices (ts TIMESTAMP, "old p" DECIMAL(10,2), note VARCHAR) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
const NEW_PRICES = 'CREATE TABLE costs (ts TIMESTAMP, p DECIMAL(8,1), note INT) TIMESTAMP(ts) PARTITION BY DAY WAL;';

testWithQuestDB('values that do not fit are counted, before and after a rename, with or without a server', async t => {
  const run = await shellWithFiles(t, server, { 'old.sql': PRICES, 'new.sql': NEW_PRICES });
  await execute(server, PRICES);
  await execute(server, "INSERT INTO prices VALUES (0, 1.55m, '12'), (1, 99999999.99m, 'x'), (2, 2.5m, null)");
  await waitUntilApplied(server);
  const options =
    "--renamed prices=costs --renamed 'prices.old p=p' --allow-loss values:prices.'\"old p\"' --allow-loss values:costs.p";
  const planned = await run(`sqldiff --alter ${options} new.sql $DB > plan`);
  t.regex(planned.stderr, /2 values do not fit, and the table would be suspended; UPDATE them first/);
  t.regex(
    planned.stderr,
    /may lose values of column 'note': VARCHAR to INT; 1 of 3 values change, 1 of them to NULL\n {2}hint: --allow-loss values:/,
  );
  const offline = await run(`sqldiff --alter ${options} new.sql old.sql > plan; sqlapply --allow all $DB < plan`);
  t.regex(
    offline.stderr,
    /the assertion is not true: column '\w+' of 'costs': 2 values do not fit, and the table would be suspended/,
  );
  t.false(await isSuspended(server, 'costs'));
  await execute(server, 'UPDATE costs SET "p" = 1.5m WHERE "p" <> 2.5m');
  await waitUntilApplied(server);
  const applied = await run(
    `sqldiff --alter ${options} --allow-loss values:costs.note new.sql $DB > plan && sqlapply --allow all $DB < plan && sqldiff new.sql $DB`,
  );
  t.is(applied.code, 0, applied.stderr);
  t.deepEqual(await execute(server, 'SELECT p, note FROM costs'), [
    ['1.5', 12],
    ['1.5', null],
    ['2.5', null],
  ]);
});

testWithQuestDB(
  'half of a surrogate pair, which VARCHAR cannot hold, is counted before a change of the type',
  async t => {
    const print = (type: string) => `CREATE TABLE t (ts TIMESTAMP, s ${type}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
    for (const type of ['STRING', 'SYMBOL', 'CHAR']) {
      const run = await shellWithFiles(t, server, { 'before.sql': print(type), 'after.sql': print('VARCHAR') });
      await execute(server, print(type));
      const values = ["left('😀x', 1)", "'é'", "'?'", ...(type === 'CHAR' ? [] : ["'😀x'", "''"]), 'null'];
      await execute(
        server,
        `INSERT INTO t VALUES ${values.map((each, i) => `(${i}, CAST(${each} AS ${type}))`).join()}`,
      );
      await waitUntilApplied(server);
      const planned = await run.exits(1, 'sqldiff --alter after.sql $DB');
      t.regex(
        planned.stderr,
        /TYPE VARCHAR\n {2}1 value does not fit: half of a surrogate pair would become \?; UPDATE it first/,
      );
      const offline = await run.exits(
        1,
        'sqldiff --alter -o plan after.sql before.sql; sqlapply --allow-plan $DB plan',
      );
      t.regex(
        offline.stderr,
        /the assertion is not true: column 's' of 't': 1 value does not fit: half of a surrogate pair/,
      );
      await execute(server, `UPDATE t SET s = '?' WHERE ts = 0`);
      await waitUntilApplied(server);
      const before = await execute(server, 'SELECT s::VARCHAR FROM t');
      await run.ok('sqlapply -q --allow-plan $DB plan');
      t.deepEqual(await execute(server, 'SELECT s FROM t'), before);
      await execute(server, 'DROP TABLE t');
    }
  },
);

testWithQuestDB('rows that are older than a column without NULL keep what they read', async t => {
  const after = `CREATE TABLE t (ts TIMESTAMP, b INT, s LONG, "o k" VARCHAR) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  await execute(server, 'CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL');
  const times = 'SELECT timestamp_sequence(0, 20 * 3600000000L) FROM long_sequence(6)';
  await execute(server, `INSERT INTO t ${times}`);
  for (const column of ['b BYTE', 's SHORT', '"o k" BOOLEAN'])
    await execute(server, `ALTER TABLE t ADD COLUMN ${column}`);
  await execute(server, "INSERT INTO t VALUES ('1970-01-06T01', 7, 8, true)");
  await waitUntilApplied(server);
  await run.ok('sqldiff --alter after.sql $DB > plan && sqlapply --allow ALTER,UPDATE $DB < plan');
  t.deepEqual(await execute(server, 'SELECT b, s, "o k", count() FROM t ORDER BY b'), [
    [0, 0, 'false', 6],
    [7, 8, 'true', 1],
  ]);
  const alone = await run("echo 'ALTER TABLE u ALTER COLUMN b TYPE INT;' | sqlsplit > alter");
  t.is(alone.code, 0);
  await execute(server, 'CREATE TABLE u (ts TIMESTAMP, b BYTE) TIMESTAMP(ts) PARTITION BY DAY WAL');
  const dry = await run('sqlapply --dry-run --allow ALTER $DB < alter');
  t.is(dry.code, 1);
  t.regex(dry.stdout + dry.stderr, /in rows older than the column, 0 becomes NULL/);
});

testWithQuestDB('no value is stored before a change of a type if a partition is read-only', async t => {
  const print = (type: string) => `CREATE TABLE t (ts TIMESTAMP, b ${type}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const fill = `UPDATE 't' SET "b" = "b" WHERE "b" = 0;`;
  const run = await shellWithFiles(t, server, { 'after.sql': print('INT'), 'fill.sql': fill });
  await execute(server, print('BYTE'));
  await execute(server, "INSERT INTO t VALUES ('2024-01-01', 0), ('2024-01-02', 7)");
  await waitUntilApplied(server);
  await run.ok('sqldiff --alter -o plan after.sql $DB');
  await execute(server, "ALTER TABLE t DETACH PARTITION LIST '2024-01-01'");
  await waitUntilApplied(server);
  const [[work]] = (await execute(
    server,
    "SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.sql.copy.work.root'",
  )) as [[string]];
  const [[folder]] = (await execute(server, "SELECT directoryName FROM tables() WHERE table_name = 't'")) as [[string]];
  const [linked, partition] = [join(work, '../linked'), join(work, '../db', folder, '2024-01-01.detached')];
  await rename(partition, linked);
  t.teardown(() => rm(linked, { recursive: true }));
  await symlink(linked, partition);
  await execute(server, "ALTER TABLE t ATTACH PARTITION LIST '2024-01-01'");
  await waitUntilTrue(server, "SELECT count() = 1 FROM table_partitions('t') WHERE readOnly");
  const stopped = await run.exits(1, 'sqlapply --allow-plan $DB < plan');
  t.regex(stopped.stderr, /the assertion is not true: 't' has read-only partitions \(1\): an UPDATE would /);
  const refused = await run.exits(1, 'sqldiff --alter after.sql $DB');
  t.regex(
    refused.stderr,
    /1 partition is read-only, over which the UPDATE .*\n {2}hint: attach copies of their folders/,
  );
  const dry = await run.exits(1, 'sqlsplit fill.sql | sqlapply --dry-run --allow UPDATE $DB');
  t.regex(dry.stdout, /^would damage table 't': 1 partition is read-only, over which the UPDATE .*; attach copies /m);
  t.false(await isSuspended(server, 't'));
  await execute(server, 'UPDATE t SET b = b WHERE b = 0');
  t.true(await settle(server, 't'));
});

testWithQuestDB('over Parquet partitions no type is changed, and no column is added, dropped or renamed', async t => {
  const [before, after] = ['x INT, y INT, w INT', 'x LONG, v INT, -- renamed from w\nz INT'].map(
    columns => `CREATE TABLE 'p q' (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`,
  );
  const run = await shellWithFiles(t, server, { 'before.sql': before ?? '', 'after.sql': after ?? '' });
  await execute(server, before ?? '');
  await execute(
    server,
    "INSERT INTO 'p q' SELECT timestamp_sequence(0, 20 * 3600000000L), x::int, x::int, x::int FROM long_sequence(6)",
  );
  await execute(server, "ALTER TABLE 'p q' CONVERT PARTITION TO PARQUET WHERE ts < '1970-01-03'");
  await waitUntilApplied(server);
  const loss = '--allow-loss "drop:\'p q\'.y"';
  const { stderr } = await run(`sqldiff --alter ${loss} after.sql $DB`);
  t.is(stderr.match(/2 partitions are Parquet/g)?.length, 4, stderr);
  const offline = await run(
    `sqldiff --alter before.sql after.sql > /dev/null; sqldiff --alter ${loss} after.sql before.sql > plan; sqlapply --allow all $DB < plan`,
  );
  t.regex(offline.stderr, /the assertion is not true: 'p q' has Parquet partitions \(2\)/);
  t.false(await isSuspended(server, 'p q'));
  await execute(server, "ALTER TABLE 'p q' CONVERT PARTITION TO NATIVE WHERE ts IS NOT NULL");
  await waitUntilApplied(server);
  const applied = await run(
    `sqldiff --alter ${loss} after.sql $DB > plan && sqlapply --allow all $DB < plan && sqldiff after.sql $DB`,
  );
  t.is(applied.code, 0, applied.stderr);
  t.deepEqual(await execute(server, "SELECT sum(x), sum(v), count() FROM 'p q'"), [[21, 21, 6]]);
});

testWithQuestDB('a partition that becomes Parquet after planning stops the first change it would break', async t => {
  const printTable = (columns: string) =>
    `CREATE TABLE p (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const after = {
    add: 'x INT, y INT, z INT, w INT',
    drop: 'x INT',
    type: 'x LONG, y LONG',
    rename: 'x INT, z INT -- renamed from y\n',
  };
  for (const [change, columns] of Object.entries(after)) {
    await execute(server, printTable('x INT, y INT'));
    await execute(server, 'INSERT INTO p SELECT timestamp_sequence(0, 20 * 3600000000L), 1, 2 FROM long_sequence(6)');
    await waitUntilApplied(server);
    const run = await shellWithFiles(t, server, { 'after.sql': printTable(columns) });
    const planned = await run('sqldiff --alter --allow-loss drop:p.y after.sql $DB > plan && cat plan');
    t.is(planned.code, 0, planned.stderr);
    t.is(planned.stdout.match(/AS all_native FROM table_partitions\('p'\)/g)?.length, 1);
    t.regex(planned.stdout, /-- stops the plan if 'p' has Parquet partitions: /);
    await execute(server, "ALTER TABLE p CONVERT PARTITION TO PARQUET WHERE ts < '1970-01-03'");
    await settle(server, 'p');
    t.regex(
      (await run.exits(1, 'sqlapply --allow-plan $DB < plan')).stderr,
      /the assertion is not true: 'p' has Parquet partitions \(2\): .*; use .* CONVERT PARTITION TO NATIVE/,
      change,
    );
    t.deepEqual(await execute(server, 'SELECT sum(x), sum(y), count() FROM p'), [[6, 12, 6]], change);
    await execute(server, 'DROP TABLE p');
  }
});

test('no assertion about Parquet is needed from version 10 on, or without partitions', async t => {
  const count = async (version: string | undefined, unit: string) => {
    const [before = '', after = ''] = ['x INT', 'x LONG, y INT'].map(
      columns => `CREATE TABLE p (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY ${unit};`,
    );
    const asked: string[] = [];
    const fetchRow = async (query: string) => {
      if (query.includes('detached')) return [0];
      if (query.includes('isParquet')) asked.push(query);
      return [1];
    };
    const plan = await planChanges([after], [before], { version });
    const { omissions } = await planChanges([after], [before], { version, fetchRow });
    t.is(omissions.length > 0, asked.length > 0);
    return [textsOf(plan).filter(text => text.includes('all_native')).length, asked.length];
  };
  for (const version of [undefined, '9.0.3', '9.4.4']) t.deepEqual(await count(version, 'DAY'), [1, 1], version);
  for (const version of ['10.0.0', '10.1']) t.deepEqual(await count(version, 'DAY'), [0, 0], version);
  t.deepEqual(await count('9.3.4', 'NONE'), [0, 0]);
});

test('a narrowing needs a permission or an assertion, and no plan converts a decimal to an integer', async t => {
  for (const from of TYPES) {
    const targets = TYPES.filter(to => to !== from);
    const print = (types: readonly string[]) =>
      `CREATE TABLE t (ts TIMESTAMP, ${types.map((type, at) => `c${at} ${type}`).join(', ')}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
    const plan = await planChanges([print(targets)], [print(targets.map(() => from))]);
    const [altered, losses] = [textsOf(plan).filter(text => text.startsWith('ALTER')), lossesOf(plan)];
    for (const [at, to] of targets.entries()) {
      // An assertion checks that all values fit into a decimal.
      const isPlanned = canConvert(from, to) && (isLossless(from, to) || to.startsWith('DECIMAL'));
      const isAltered = altered.some(text => text.includes(`COLUMN c${at} TYPE`));
      t.is(isAltered, isPlanned, `${from} to ${to}`);
      t.is(losses.includes(`values:t.c${at}`), canConvert(from, to) && !isPlanned, `${from} to ${to}`);
    }
  }
});

testWithQuestDB('a rebuild stops before it creates anything if a value does not fit', async t => {
  const [before, after] = [
    'DECIMAL(10,2)) TIMESTAMP(ts) PARTITION BY DAY',
    'DECIMAL(8,1)) TIMESTAMP(ts) PARTITION BY HOUR',
  ].map(rest => `CREATE TABLE r (ts TIMESTAMP, p ${rest} WAL;`);
  const run = await shellWithFiles(t, server, { 'after.sql': after ?? '' });
  await execute(server, before ?? '');
  await execute(server, 'INSERT INTO r VALUES (0, 1.55m), (1, null)');
  await waitUntilApplied(server);
  const rebuild = 'sqldiff --alter --rebuild r after.sql $DB > plan; sqlapply --allow all $DB < plan';
  t.regex((await run(rebuild)).stderr, /left out: rebuild of table 'r'\n {2}1 value does not fit/);
  const { stderr } = await run(`sqldump --text $DB > b.sql; ${rebuild.replace('after.sql $DB', 'after.sql b.sql')}`);
  t.regex(stderr, /the assertion is not true: column 'p' of 'r': 1 value does not fit/);
  t.deepEqual(await execute(server, 'SELECT table_name FROM tables()'), [['r']]);
  await execute(server, 'UPDATE r SET p = 1.5m WHERE p IS NOT NULL');
  await waitUntilApplied(server);
  t.is((await run(rebuild)).code, 0);
  t.deepEqual(await execute(server, 'SELECT p FROM r'), [['1.5'], [null]]);
});

test('sqlserve has no rows, so that the assertions of a plan are true', async t => {
  const server = await startSqlserve(t);
  const run = await shellWithFiles(t, server, { 'old.sql': tableOf('INT'), 'new.sql': tableOf('DECIMAL(8,1)') });
  const plan = 'sqldiff --alter new.sql old.sql > plan && sqlapply --allow ALTER $DB < plan';
  t.is(await run.silent(`sqlsplit old.sql | sqlapply $DB && ${plan} && sqldiff new.sql $DB`), '');
});
