/*! Ways to lose rows that a plan accounts for: what it asks first, where it stops, and what it leaves alone. */
import { waitUntilApplied, waitUntilInvalid, waitUntilTrue } from '../support/background.js';
import { findMissing, takeHoldings, waitForHoldings } from '../support/holdings.js';
import { day, LONG_MONTH, make, namesOf, readPlan, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

testWithQuestDB('a view that was refreshed only for a range has a history too', async t => {
  const deferred = SUM.replace(' AS', ' REFRESH MANUAL DEFERRED AS');
  await make(server, rowsOn(LONG_MONTH, day('')));
  await execute(server, deferred);
  await execute(server, "REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-03-01'");
  await waitUntilTrue(server, 'SELECT count() = 3 FROM m');
  const run = await shellWithFiles(t, server, {
    'same.sql': `${table(day(''))}\n${deferred.replace('sum(x)', 'sum(x) + 0')};`,
    'expired.sql': `${table(day('TTL 1 DAY'))}\n${deferred.replace('sum(x)', 'sum(x) + 1')};`,
  });
  await run.ok('sqlapply -q --alter $DB same.sql');
  t.is((await takeHoldings(server)).get('m')?.rows, 3, 'it is filled again');
  await execute(server, 'ALTER TABLE t SET TTL 1 DAY');
  await waitUntilTrue(server, 'SELECT count() = 2 FROM t');
  const careful = await run('sqlapply -q --alter $DB expired.sql');
  t.deepEqual(namesOf(careful.stderr), ['history:m'], careful.stderr);
  t.is((await takeHoldings(server)).get('m')?.rows, 3);
});

testWithQuestDB('an invalid view that a plan was not given is neither repaired nor in the way', async t => {
  await make(server, [...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'), SUM, 'ALTER TABLE t SET TTL 1 DAY']);
  await execute(server, 'ALTER TABLE t DROP COLUMN y');
  await waitUntilInvalid(server);
  const before = await takeHoldings(server);
  const run = await shellWithFiles(t, server, {
    'new.sql': 'CREATE TABLE j (ts TIMESTAMP) TIMESTAMP(ts);',
    'base.sql': table(day('TTL 1 DAY')),
  });
  const unchanged = await run('sqldiff --alter --ignore-extra base.sql $DB | tr "\\0" "\\n"');
  t.deepEqual([unchanged.code, unchanged.stdout.trim()], [0, ''], unchanged.stderr);
  await run.ok('sqlapply --alter $DB new.sql');
  const now = await takeHoldings(server);
  t.deepEqual([findMissing(before, now), now.get('m')?.rows, now.has('j')], [[], 3, true]);
  const ignored = await run('sqldiff --alter --ignore m --ignore-extra new.sql $DB | tr "\\0" "\\n"');
  t.notRegex(ignored.stdout, /REFRESH/);
});

testWithQuestDB('the old table of a rebuild is dropped only if the new one has each of its rows', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const run = await shellWithFiles(t, server, { 'after.sql': table('PARTITION BY HOUR') });
  const rebuild = '--rebuild t --drop-old after.sql $DB';
  await run.ok(`sqldiff --alter ${rebuild} > plan`);
  await run.ok('sqlapply -q --allow-plan $DB < plan');
  t.deepEqual([...(await takeHoldings(server)).keys()], ['t']);

  await server.dropAll();
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run.ok('sqldiff --alter --rebuild t after.sql $DB > plan; sqlapply -q --allow-plan $DB < plan');
  const [old = ''] = [...(await takeHoldings(server)).keys()].filter(name => name !== 't');
  // As many rows in both, but not the same ones.
  await execute(server, `INSERT INTO '${old}' VALUES ('2024-02-01', 1)`);
  await execute(server, "INSERT INTO t VALUES ('2024-02-01', 2)");
  await waitUntilApplied(server);
  t.is((await run(`sqldiff --alter ${rebuild} > plan`)).code, 0, 'an interrupted rebuild is not forgotten');
  const stopped = await run.exits(1, 'sqlapply -q --allow-plan $DB < plan');
  t.regex(
    stopped.stderr,
    new RegExp(
      `'${old}' has rows that 't' does not have, or holds some rows more often than 't'; compare the two tables, ` +
        `insert the missing rows that you need into 't', then send DROP TABLE '${old}';`,
    ),
  );
  t.is((await takeHoldings(server)).get(old)?.rows, 4);
  await execute(server, "INSERT INTO t VALUES ('2024-02-01', 1)");
  await waitUntilApplied(server);
  await run.ok(`sqldiff --alter ${rebuild} | sqlapply -q --allow-plan $DB`);
  t.deepEqual([...(await takeHoldings(server)).keys()], ['t']);
});

testWithQuestDB('a rebuild says that its new keys make rows overwrite each other', async t => {
  await make(server, [...rowsOn(LONG_MONTH, day('')), `INSERT INTO t VALUES ('${LONG_MONTH[0]}T12:00', 1)`]);
  const keyed = `${table('PARTITION BY HOUR').replace(/;$/, '')} DEDUP UPSERT KEYS(ts);`;
  const run = await shellWithFiles(t, server, { 'after.sql': keyed });
  const leftOut =
    /left out: rebuild of table 't'\n {2}the copy would lack 1 row: rows with the same dedup keys \(ts\) overwrite each other\n$/;
  t.regex((await run.exits(1, 'sqldiff --alter --rebuild t after.sql $DB')).stderr, leftOut);
  await execute(server, 'ALTER TABLE t DEDUP ENABLE UPSERT KEYS(ts)'); // the server keeps the rows that it has
  await waitUntilApplied(server);
  t.regex((await run.exits(1, 'sqldiff --alter --rebuild t after.sql $DB')).stderr, leftOut, 'older than the keys');
  await execute(server, 'ALTER TABLE t DEDUP DISABLE');
  await waitUntilApplied(server);
  const { stderr } = await run.exits(
    1,
    'sqldump -q -o b.sql $DB; sqldiff --alter --rebuild t after.sql b.sql | sqlapply -q --timeout 1 --allow-plan $DB',
  );
  t.regex(
    stderr,
    /\(SELECT\): the assertion is not true: 't' has 4 rows, 't_new_\w+' has 3; rows with the same dedup keys/,
  );
  t.regex(
    stderr,
    /dedup keys \(ts\) overwrite each other.*\n[^]*3 of 6 applied, 1 rejected, 2 not reached; nothing was lost\n.*make the plan again with sqldiff --alter\n$/,
  );
  t.is((await takeHoldings(server)).get('t')?.rows, 4);
});

testWithQuestDB('the history of a view with a limit, or with new periods, is not computed again', async t => {
  const run = await shellWithFiles(t, server, {
    'after.sql': table(day(''), 'x LONG'),
    'periods.sql': `${table(day(''), 'x LONG')} ${SUM.replace(' AS', ' REFRESH IMMEDIATE PERIOD (LENGTH 1d) AS')};`,
  });
  for (const [file, name, ...statements] of [
    ['after.sql', 'm', ...rowsOn(LONG_MONTH, day('')), SUM, 'ALTER MATERIALIZED VIEW m SET REFRESH LIMIT 1 DAY'],
    ['periods.sql', 'm', ...rowsOn(LONG_MONTH, day('')), 'INSERT INTO t VALUES (now(), 1)', SUM],
  ] as const) {
    await server.dropAll();
    const before = await make(server, statements);
    const { stderr } = await run(`sqldiff --alter --ignore-extra ${file} $DB | sqlapply -q --allow-plan $DB`);
    t.deepEqual(namesOf(stderr), [`history:${name}`], stderr);
    t.is((await takeHoldings(server)).get(name)?.rows, before.get(name)?.rows);
  }
});

testWithQuestDB('the way back of a plan stops if something was written into what the plan created', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const after = [
    table(day(''), 'x INT, y BYTE'),
    'CREATE TABLE j (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY WAL;',
  ];
  const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
  await run.ok('sqldiff --alter --undo back -o plan after.sql $DB && sqlapply -q --allow-plan $DB plan');
  for (const [insert, undo, reason] of [
    ["INSERT INTO j VALUES ('2024-03-01', 1)", 'TRUNCATE TABLE j', /'j' has 1 row, which would be lost/],
    [
      "INSERT INTO t VALUES ('2024-03-01', 1, 2)",
      'UPDATE t SET y = 0::byte',
      /column 'y' of 't' has 1 value, which would be lost/,
    ],
  ] as const) {
    await execute(server, insert);
    await waitUntilApplied(server);
    const stopped = await run.exits(1, 'sqlapply -q --allow-plan $DB back');
    t.regex(stopped.stderr, reason);
    t.is((await takeHoldings(server)).size, 2);
    await execute(server, undo);
    await waitUntilApplied(server);
  }
  await run.ok('sqlapply -q --allow-plan $DB back');
  t.deepEqual([...(await takeHoldings(server)).keys()], ['t']);
});

testWithQuestDB('a plan that was interrupted after a rename is completed by the same command', async t => {
  const after = [table(day(''), 'y INT'), `${SUM.replace('sum(x)', 'sum(y)')};`];
  const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
  const alter = 'sqldiff --alter --renamed t.x=y after.sql $DB > plan';
  for (const isExpired of [false, true]) {
    await server.dropAll();
    const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
    await run.ok(alter);
    const statements = await readPlan(run);
    const isAsked = statements.findIndex(text => text.includes('nothing_is_lost'));
    const isRenamed = statements.findIndex(text => text.includes('RENAME COLUMN'));
    t.true(isAsked >= 0 && isAsked < isRenamed, 'asked as long as it can be');
    await execute(server, 'ALTER TABLE t RENAME COLUMN x TO y');
    await waitUntilInvalid(server);
    if (isExpired) {
      await execute(server, 'ALTER TABLE t SET TTL 1 DAY');
      await waitUntilTrue(server, 'SELECT count() = 2 FROM t');
      await execute(server, 'ALTER TABLE t SET TTL 0 DAYS');
      await waitUntilApplied(server);
    }
    const again = await run(alter);
    t.deepEqual(namesOf(again.stderr), isExpired ? ['history:m'] : [], again.stderr);
    await run.ok('sqlapply -q --allow-plan $DB < plan');
    const names = { object: () => undefined, column: () => 'y', isRedefined: () => false };
    if (!isExpired) await waitForHoldings(server, before, names);
    t.is((await takeHoldings(server)).get('m')?.rows, 3);
  }
});

testWithQuestDB('a view that is as broken in both schemas does not stop the plan for the others', async t => {
  const views = ['CREATE VIEW v AS (select x from j)', 'CREATE VIEW w AS (select x from v)'];
  await make(server, [
    ...rowsOn(LONG_MONTH, day('')),
    'CREATE TABLE j (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL', // its DROP waits for no reader
    ...views,
    'DROP TABLE j',
  ]);
  const run = await shellWithFiles(t, server, {
    'after.sql': [table(day(''), 'x INT, y INT'), ...views.map(view => `${view};`)].join('\n'),
  });
  const { stderr } = await run.exits(1, 'sqldiff --alter after.sql $DB > plan');
  t.regex(stderr, /view 'v': left out: .*\n.*\n {2}hint: --ignore v /);
  t.regex(stderr, /view 'w': left out: /);
  await run.ok('sqlapply -q --allow-plan $DB < plan');
  t.true((await takeHoldings(server)).get('t')?.columns.has('y'));
});

testWithQuestDB('a dry run names transactions that RESUME WAL skips', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const run = await shellWithFiles(t, server, {});
  const resume = (from: string) =>
    run(`sqlsplit <<< "ALTER TABLE t RESUME WAL ${from};" | sqlapply --dry-run --allow ALTER $DB`);
  t.is((await resume('')).code, 0);
  const { code, stdout } = await resume('FROM TRANSACTION 2');
  t.is(code, 1);
  t.regex(stdout, /table 't': skips transactions .*; --allow-loss drop:t allows it/);
});

testWithQuestDB('tables whose names are exchanged by comments are left as they are', async t => {
  const other = 'CREATE TABLE j (ts TIMESTAMP, y DOUBLE) TIMESTAMP(ts) PARTITION BY DAY WAL';
  const before = await make(server, [...rowsOn(LONG_MONTH, day('')), other]);
  const after = [
    `-- renamed from j\n${table(day(''), 'y DOUBLE')}`,
    `-- renamed from t\n${table(day('')).replace('TABLE t', 'TABLE j')}`,
  ];
  const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
  t.regex(
    (await run.exits(1, 'sqldiff --alter --allow-loss drop:t.x --allow-loss drop:j.y after.sql $DB > plan')).stderr,
    /table 't': left out: .*\n {2}.*A has a 'j' too$/m,
  );
  await run.ok('sqlapply -q --allow-plan $DB < plan');
  t.deepEqual(findMissing(before, await takeHoldings(server)), []);
});

testWithQuestDB('columns of each type that a plan has added go again if nothing was written into them', async t => {
  const types =
    'BOOLEAN BYTE CHAR LONG FLOAT DATE SYMBOL VARCHAR UUID IPv4 LONG256 BINARY GEOHASH(8c) DOUBLE[] DOUBLE[][]';
  const columns = `${types} DECIMAL(40,2)`.split(' ').map((type, i) => `c${i} ${type}`);
  const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), ['x INT', ...columns].join(', ')) });
  for (const [value, code] of Object.entries({ NULL: 0, 'ARRAY[]': 1 })) {
    await server.dropAll();
    await make(server, rowsOn(LONG_MONTH, day('')));
    await run.ok('sqldiff --alter --undo undo after.sql $DB | sqlapply -q --allow-plan $DB');
    await make(server, [`INSERT INTO t (ts, c13) VALUES ('2024-02-02', ${value})`]);
    const undone = await run('sqlapply -q --allow-plan $DB undo');
    t.is(undone.code, code, undone.stderr);
    t.is((await takeHoldings(server)).get('t')?.columns.has('c13'), code === 1);
  }
});

testWithQuestDB('a plan for an invalid view that B spells in another case can be applied', async t => {
  const changed = table(day(''), 'x LONG');
  await make(server, [...rowsOn(LONG_MONTH, day('')), SUM.replace('VIEW m', 'VIEW M')]);
  await execute(server, 'ALTER TABLE t ALTER COLUMN x TYPE LONG');
  await waitUntilInvalid(server);
  const run = await shellWithFiles(t, server, { 'after.sql': `${changed}\n${SUM.replace('sum(x)', 'sum(x) + 0')};` });
  await t.notThrowsAsync(run.ok('sqldiff --alter after.sql $DB | sqlapply -q --allow-plan $DB'));
  await waitUntilTrue(server, 'SELECT count() = 3 FROM m');
});

testWithQuestDB('a column that is a dedup key takes the key along, wherever the column stands', async t => {
  const keyed = (columns: string, keys: string) =>
    `${table(day(''), columns).slice(0, -1)} DEDUP UPSERT KEYS(${keys});`;
  const run = await shellWithFiles(t, server, {
    'dropped.sql': keyed('x INT', 'ts'),
    'moved.sql': keyed('k INT, x INT', 'ts, k'),
  });
  const rows = [keyed('x INT, k INT', 'ts, k').slice(0, -1), "INSERT INTO t VALUES ('2024-01-01', 1, 1)"];
  await make(server, rows);
  const careful = await run('sqldiff --alter --allow-loss drop:t.k dropped.sql $DB > plan');
  t.deepEqual(namesOf(careful.stderr), ['keys:t'], careful.stderr);
  await run.ok('sqlapply -q --allow-plan $DB plan');
  t.true((await takeHoldings(server)).get('t')?.columns.has('k'));
  const allowed = '--allow-loss drop:t.k --allow-loss keys:t';
  await run.ok(`sqldiff --alter ${allowed} dropped.sql $DB | sqlapply -q --allow-plan $DB`);

  await server.dropAll();
  await make(server, rows);
  await run.ok('sqldiff --alter --rebuild t --drop-old moved.sql $DB | sqlapply -q --allow-plan $DB');
  t.deepEqual([...(await takeHoldings(server)).keys()], ['t']);
});

testWithQuestDB('a rebuild with renames is completed by the same command, wherever it was interrupted', async t => {
  const wanted = table('PARTITION BY HOUR', 'y INT').replace('TABLE t', 'TABLE j');
  const run = await shellWithFiles(t, server, { 'after.sql': wanted });
  const alter = 'sqldiff --alter --renamed t=j --renamed t.x=y --rebuild j --drop-old after.sql $DB > plan';
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run.ok(alter);
  const statements = await readPlan(run);
  const exchange = statements.flatMap((text, i) => (/^RENAME TABLE .*_(?:before|new)_/.test(text) ? [i] : []));
  t.is(exchange.length, 2);
  for (const last of exchange) {
    await server.dropAll();
    const before = await make(server, rowsOn(LONG_MONTH, day('')));
    await make(
      server,
      statements.slice(0, last + 1).filter(text => !text.startsWith('SELECT')),
    );
    await run.ok(alter);
    await run.ok('sqlapply -q --allow-plan $DB plan');
    t.deepEqual([...(await takeHoldings(server)).keys()], ['j']);
    await waitForHoldings(server, before, { object: () => 'j', column: () => 'y', isRedefined: () => false });
  }
});

testWithQuestDB('what is ignored of an object that is made again stays as it is', async t => {
  const other = (item: string) =>
    `${SUM.replace('sum(x)', item).replace(' AS', ' REFRESH MANUAL DEFERRED AS')} TTL 1 DAY;`;
  const run = await shellWithFiles(t, server, {
    'query.sql': `${table(day(''))}\n${other('sum(x) + 0')}`,
    'type.sql': `${table(day(''), 'x DOUBLE')}\n${other('sum(x)')}`,
    'table.sql': table('PARTITION BY HOUR TTL 1 HOUR'),
  });
  for (const file of ['query.sql', 'type.sql']) {
    await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
    const alter = `sqldiff --alter --ignore 'm: refresh' --ignore 'm: TTL' ${file} $DB`;
    await run.ok(`${alter} | sqlapply -q --allow-plan $DB`);
    await waitUntilTrue(server, 'SELECT count() = 3 FROM m');
    // For a moment, the server does not list a view that it has just filled (observed on 9.3.4).
    await waitUntilTrue(server, "SELECT count() = 1 FROM materialized_views() WHERE refresh_type = 'immediate'");
    await server.dropAll();
  }
  await make(server, rowsOn(LONG_MONTH, day('')));
  await run.ok("sqldiff --alter --rebuild t --drop-old --ignore 't: TTL' table.sql $DB | sqlapply -q --allow-plan $DB");
  t.is((await takeHoldings(server)).get('t')?.rows, 3);
});

testWithQuestDB('a conversion that changes no value stops if somebody writes one that it would change', async t => {
  const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), 'x INT') });
  await make(server, [...rowsOn(LONG_MONTH, day(''), 'x LONG'), SUM]);
  const alter = 'sqldiff --alter --ignore-extra after.sql $DB > plan';
  for (const [value, code] of [
    [5_000_000_001, 1],
    [5, 0],
  ] as const) {
    await run.ok(alter);
    await run.ok('sqlapply --dry-run --allow-plan $DB plan');
    await make(server, [`INSERT INTO t VALUES ('2024-02-02', ${value})`]);
    const applied = await run('sqlapply -q --allow-plan $DB plan');
    t.is(applied.code, code, applied.stderr);
    if (code === 1) {
      // The view would lose the sum of this value.
      t.regex(applied.stderr, /materialized view 'm' holds rows that its query no longer returns; make the plan again/);
      await make(server, ["ALTER TABLE t DROP PARTITION LIST '2024-02-02'"]);
    }
  }
});
