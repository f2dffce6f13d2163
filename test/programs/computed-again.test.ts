/*! Materialized views that a plan computes again: over types and objects that they did not have, and after an interruption. */
import { waitUntil, waitUntilApplied, waitUntilInvalid, waitUntilTrue, waitUntilValid } from '../support/background.js';
import { findMissing, takeHoldings, waitForHoldings } from '../support/holdings.js';
import { day, executeUntil, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

const viewOf = (query: string, rest = ''): string =>
  `CREATE MATERIALIZED VIEW m WITH BASE t ${rest}AS (${query}) PARTITION BY DAY`;
const JOINED = 'CREATE TABLE j (ts TIMESTAMP, x INT, y LONG) TIMESTAMP(ts) PARTITION BY DAY WAL';
const JOINED_ROWS = "INSERT INTO j VALUES ('2023-12-31', 70000, 1), ('2023-12-31', 70001, 1), ('2023-12-31', 70002, 1)";

testWithQuestDB('a dry run names the rows that a refresh loses because a plain view has another query', async t => {
  const plain = (name: string, from: string, rest = '') => `VIEW ${name} AS (select ts, x from ${from}${rest})`;
  const stored = viewOf('select ts, sum(x) n from w sample by 1h');
  const views = [`CREATE ${plain('v', 't')}`, `CREATE ${plain('w', 'v')}`, stored];
  await make(server, [...rowsOn(LONG_MONTH, day('')), ...views]);
  const run = await shellWithFiles(t, server, {});
  const refresh = 'REFRESH MATERIALIZED VIEW m FULL;';
  const predict = (...statements: string[]) =>
    `sqlsplit <<< "${statements.join('; ')}; ${refresh}" | sqlapply --dry-run --allow all $DB`;
  await run.ok(predict(`ALTER ${plain('w', 't')}`));
  await run.ok(predict(`ALTER ${plain('w', 'v', ' where x > 0')}`));
  for (const changes of [
    [`ALTER ${plain('w', 'v', ' where x > 70000')}`],
    [`ALTER ${plain('v', 't', ' where x > 70000')}`, `ALTER ${plain('w', 'v')}`],
    ['DROP VIEW w', `CREATE ${plain('w', 'v', ' where x <> 70001')}`],
  ]) {
    const { stdout } = await run.exits(1, predict(...changes));
    t.regex(stdout, /loses rows that its query no longer returns: 1 of 3, .*; --allow-loss history:m/);
  }
});

const DATEADD = "select ts, max(dateadd('s', x, ts)) n";

testWithQuestDB('a type over which the server rejects the query of a view is left out', async t => {
  const cases = [
    ['a function', 'x LONG', viewOf(`${DATEADD} from t sample by 1h`)],
    ['a join', 'x LONG', viewOf('select t.ts, count() n from t join j on t.x = j.x sample by 1h')],
    ['a plain view', 'x LONG', viewOf(`${DATEADD} from v sample by 1h`)],
    ['a table of its own', 'x LONG', viewOf(`with t as (select * from t) ${DATEADD} from t sample by 1h`)],
    ['a sum', 'x BOOLEAN', viewOf('select ts, sum(x) n from t sample by 1h')],
  ] as const;
  for (const [what, column, view] of cases) {
    await server.dropAll();
    const plain = 'CREATE VIEW v AS (select ts, x from t)';
    const before = await make(server, [...rowsOn(LONG_MONTH, day('')), JOINED, JOINED_ROWS, plain, view]);
    t.is(before.get('m')?.rows, 3, what);
    const wanted = [table(day(''), column), `${JOINED};`, `${plain};`, `${view};`].join('\n');
    const run = await shellWithFiles(t, server, { 'wanted.sql': wanted });
    const careful = await run.exits(1, 'sqldiff --alter wanted.sql $DB > plan');
    // A view whose columns get other types is created again, and a CREATE that the server rejects is no loss that can be allowed.
    const needed = column === 'x BOOLEAN' ? 'values:t.x' : 'history:m';
    t.deepEqual(namesOf(careful.stderr), [needed], careful.stderr);
    await run.exits(1, 'sqlapply -q --alter --keep-going --allow-loss values:t.x $DB wanted.sql');
    t.deepEqual(findMissing(before, await takeHoldings(server)), [], what);
    // Nobody was asked while this plan was made. If values may change, a view over them is kept.
    const blind = await run(
      'sqldump --text $DB > b.sql; sqldiff --alter --allow-loss values:t.x wanted.sql b.sql > plan; sqlapply --allow-plan $DB plan',
    );
    if (needed === 'values:t.x') t.deepEqual(namesOf(blind.stderr), ['history:m'], blind.stderr);
    else {
      t.is(blind.code, 1, blind.stderr);
      t.regex(
        blind.stderr,
        /statement \d \(SELECT\): .*(no matching function|type mismatch|unexpected argument)/,
        what,
      );
    }
    t.deepEqual(findMissing(before, await takeHoldings(server)), [], what);
  }
});

testWithQuestDB('a view whose types are not known is made again over a column that gets another type', async t => {
  for (const [item, from, to] of [
    ['avg(x)', 'DECIMAL(12,2)', 'DECIMAL(14,4)'],
    ['sum(2m * x)', 'DECIMAL(12,2)', 'DECIMAL(14,4)'],
    ['bit_and(x)', 'INT', 'LONG'],
  ] as const) {
    await server.dropAll();
    const views = [
      viewOf(`select ts, ${item} n from t sample by 1h`),
      'CREATE MATERIALIZED VIEW m2 WITH BASE m AS (select ts, max(n) n from m sample by 1d) PARTITION BY DAY',
    ];
    const before = await make(server, [...rowsOn(LONG_MONTH, day(''), `x ${from}`), ...views]);
    const run = await shellWithFiles(t, server, {
      'wanted.sql': [table(day(''), `x ${to}`), ...views.map(each => `${each};`)].join('\n'),
    });
    await t.notThrowsAsync(run.ok('sqldiff --alter wanted.sql $DB | sqlapply -q --allow-plan $DB'));
    await waitForHoldings(server, before, undefined, item);
  }
});

testWithQuestDB('a type over which the server accepts the query is changed without a loss', async t => {
  for (const [clause, source] of [
    ['', "'t'"],
    [`WITH "u" AS (select ts, x from 't')\n`, 'u'], // the planner writes such a clause too
  ]) {
    await server.dropAll();
    const query = `${clause}select a.ts, max(a.x) n, last(b.s) s from ${source} a asof join v b sample by 1h`;
    const objects = ["CREATE VIEW v AS (select ts, s from 't')", viewOf(query, 'REFRESH MANUAL ')];
    const before = await make(server, [...rowsOn(LONG_MONTH, day(''), 'x INT, s SYMBOL'), ...objects]);
    const wanted = [table(day(''), 'x LONG, s VARCHAR'), ...objects.map(each => `${each};`)].join('\n');
    const run = await shellWithFiles(t, server, { 'wanted.sql': wanted });
    await run.ok('sqldiff --alter wanted.sql $DB > plan && sqlapply --allow-plan $DB plan');
    t.regex((await run('cat plan')).stdout, /is_computable/);
    await waitForHoldings(server, before);
  }
});

testWithQuestDB('a view with a new query that the server rejects is not dropped', async t => {
  const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
  const wanted = `${table(day(''))}\n${SUM.replace('sum(x)', 'max(no_such_function(x))')};`;
  const former = `${table(day(''))}\n${SUM};`;
  const run = await shellWithFiles(t, server, { 'wanted.sql': wanted, 'former.sql': former });
  const { stderr } = await run('sqlapply -q --alter --keep-going $DB wanted.sql');
  t.regex(stderr, /left out: DROP and CREATE.*\n.*the server rejects the query of materialized view 'm'/);
  t.deepEqual(namesOf(stderr), [], stderr);
  const unasked = await run('sqldiff --alter wanted.sql former.sql -o plan; sqlapply -q --allow-plan $DB plan');
  t.regex(unasked.stderr, /statement 1 \(SELECT\): unknown function name/);
  t.deepEqual(findMissing(before, await takeHoldings(server)), []);
});

testWithQuestDB('a view over a plain view with a query that no materialized view can have is not dropped', async t => {
  const plain = 'CREATE VIEW v AS (select ts, x from t)';
  const stored = viewOf('select ts, sum(x) n from v sample by 1h');
  for (const query of [
    'select ts, x from t where ts < now()',
    'select ts, x from t where x <> rnd_int()',
    'select ts, x, row_number() over (partition by x) r from t',
    'select ts, sum(x) x from t sample by 1m fill(null)',
    'select ts, sum(x) x from t sample by 1m align to first observation',
  ]) {
    await server.dropAll();
    await make(server, [...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'), plain, stored]);
    const wanted = [table(day('')), `${plain.replace(/[(].*/, `(${query})`)};`, `${stored};`].join('\n');
    const run = await shellWithFiles(t, server, { 'wanted.sql': wanted });
    const plan = () => run('sqldiff --alter --allow-loss drop:t.y wanted.sql $DB > plan');
    t.regex((await plan()).stderr, /left out: /, query);
    await run.ok('sqlapply -q --allow-plan $DB < plan');
    await plan();
    await run.ok('sqlapply -q --allow-plan $DB < plan');
    // A new row shows whether the server can still refresh the view.
    await execute(server, "INSERT INTO t (ts, x) VALUES ('2024-02-02', 70000)");
    await waitUntilTrue(server, 'SELECT count() > 3 FROM m');
  }
});

testWithQuestDB('a new or empty view is left out if the server rejects its query over what stays', async t => {
  const former = 'select ts, count() n from t sample by 1h';
  const query = 'select ts, sum(x) n from t sample by 1h';
  const empty = (each: string) => viewOf(each, 'REFRESH MANUAL DEFERRED ');
  for (const [there, view] of [
    [[], viewOf(query)],
    [[], 'CREATE VIEW m AS (select ts, sum(x) n from t)'],
    [[empty(former)], empty(query)],
    [['CREATE VIEW m AS (select ts, count() n from t)'], 'CREATE VIEW m AS (select ts, sum(x) n from t)'],
  ] as const) {
    await server.dropAll();
    await make(server, rowsOn(LONG_MONTH, day(''), 'x INT, y UUID'));
    for (const statement of there) await execute(server, statement);
    const after = [table(day(''), 'x INT, y INT, z INT'), `${view.replace('(x)', '(y)')};`, 'CREATE TABLE u (x INT);'];
    const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
    const { stderr } = await run.exits(1, 'sqldiff --alter after.sql $DB > plan');
    t.regex(stderr, /the server rejects the query of (?:materialized )?view 'm'/);
    await run.ok('sqlapply -q --allow-plan $DB plan');
  }
});

testWithQuestDB('a plan interrupted between DROP and CREATE of a view is completed by the same command', async t => {
  const upper = (base: string, refresh: string): string =>
    `CREATE MATERIALIZED VIEW u WITH BASE ${base} ${refresh} AS (select ts, sum(n) n from ${base} sample by 1d) PARTITION BY DAY`;
  for (const [refresh, name] of [
    ['REFRESH IMMEDIATE', 'm'],
    ['REFRESH MANUAL', 'm'],
    ['REFRESH MANUAL', '"my m"'],
  ] as const)
    for (const isExpired of [false, true]) {
      await server.dropAll();
      const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM, upper('m', refresh)]);
      if (isExpired) await execute(server, 'ALTER TABLE t SET TTL 1 DAY');
      if (isExpired) await execute(server, 'ALTER TABLE t SET TTL 0 DAYS');
      await execute(server, 'DROP MATERIALIZED VIEW m');
      await waitUntilInvalid(server);
      const lower = SUM.replace('VIEW m', `VIEW ${name}`);
      const wanted = `${table(day(''))}\n${lower};\n${upper(name, refresh)};`;
      const run = await shellWithFiles(t, server, { 'wanted.sql': wanted });
      const renamed = name === 'm' ? '' : `--renamed 'm=${name}'`;
      const again = await run(`sqldiff --alter ${renamed} wanted.sql $DB > plan`);
      t.deepEqual(namesOf(again.stderr), isExpired ? ['history:u'] : [], again.stderr);
      if (isExpired) continue;
      await run.ok('sqlapply -q --allow-plan $DB < plan');
      const upperBefore = new Map([...before].filter(([object]) => object === 'u'));
      await waitForHoldings(server, upperBefore, undefined, `${refresh} ${name}`);
    }
});

const SUM_OF_SUM =
  'CREATE MATERIALIZED VIEW m2 WITH BASE m AS (select ts, sum(n) n from m sample by 1d) PARTITION BY DAY';

testWithQuestDB('invalid views over a table or a view that a plan is given are repaired', async t => {
  for (const views of ['', `${SUM};`]) {
    await server.dropAll();
    const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM, SUM_OF_SUM]);
    await execute(server, 'ALTER TABLE t ALTER COLUMN x TYPE LONG');
    await waitUntilTrue(server, "SELECT count() = 2 FROM materialized_views() WHERE view_status = 'invalid'");
    const run = await shellWithFiles(t, server, { 'after.sql': `${table(day(''), 'x LONG')}\n${views}` });
    await t.notThrowsAsync(run.ok('sqldiff --alter --ignore-extra after.sql $DB | sqlapply -q --allow-plan $DB'));
    await waitUntilValid(server);
    await waitForHoldings(server, before);
  }
});

testWithQuestDB('a type is not changed under a view whose query cannot be judged', async t => {
  const joined = (type: string) =>
    `CREATE TABLE j (ts TIMESTAMP, f ${type}, id INT) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  // The parser of queries does not know TIMESTAMP WITH TIME ZONE before a text.
  const query = "sum(j.f) n from t asof join j where t.ts > timestamp with time zone '2020-01-01T00:00:00+01:00'";
  const view = SUM.replace('sum(x) n from t', query).replace('select ts', 'select t.ts');
  await make(server, [
    ...rowsOn(LONG_MONTH, day('')),
    joined('INT'),
    "INSERT INTO j VALUES ('2024-01-01', 1, 70000)",
    view,
  ]);
  const run = await shellWithFiles(t, server, {
    'after.sql': [table(day(''), 'x INT, y INT'), joined('DOUBLE'), `${view};`].join('\n'),
  });
  const { stderr } = await run.ok('sqldiff --alter after.sql $DB > plan; echo $?; sqlapply -q --allow-plan $DB < plan');
  t.is(stderr.match(/left out/g)?.length, 1, stderr);
  t.regex(stderr, /left out: ALTER TABLE 'j' ALTER COLUMN f TYPE DOUBLE\n.*invalidates materialized view 'm'/);
});

testWithQuestDB('a plan that drops a column of a joined table and renames another one has a way back', async t => {
  const joined = (columns: string) => `CREATE TABLE j (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const view = (column: string) =>
    SUM.replace('sum(x) n from t', `string_agg(j.${column}::string, ',') n from t asof join j`).replace(
      'select ts',
      'select t.ts',
    );
  await make(server, [
    ...rowsOn(LONG_MONTH, day('')),
    joined('y INT, m STRING'),
    "INSERT INTO j VALUES ('2024-01-01', 1, 'a')",
    view('y'),
  ]);
  const run = await shellWithFiles(t, server, {
    'after.sql': [table(day('')), joined('z INT'), `${view('z')};`].join('\n'),
  });
  await run.ok(
    'sqldiff --alter --renamed j.y=z --allow-loss drop:j.m --undo undo after.sql $DB | sqlapply -q --allow-plan $DB',
  );
  await t.notThrowsAsync(run.ok('sqlapply -q --allow-plan $DB undo'));
});

testWithQuestDB('a table from which a materialized view is built does not become a view', async t => {
  const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
  const after = ['CREATE TABLE u (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;', 'CREATE VIEW t AS (u);'];
  const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
  const { stderr } = await run.exits(
    1,
    'sqldiff --alter --ignore-extra --allow-loss drop:t --allow-loss history:m after.sql $DB > plan',
  );
  t.regex(stderr, /table 't': left out: DROP TABLE 't'\n.*invalidates materialized view 'm'/);
  await run.ok('sqlapply -q --allow-plan $DB < plan');
  await waitUntilValid(server);
  t.deepEqual(findMissing(before, await takeHoldings(server)), []);
});

testWithQuestDB('a rebuild stops before it copies times that do not fit into a decimal', async t => {
  const before = await make(server, [
    'CREATE TABLE t (ts TIMESTAMP, x DATE) TIMESTAMP(ts) PARTITION BY DAY WAL',
    "INSERT INTO t VALUES ('2024-01-01', 1700000004215L::DATE)",
  ]);
  const run = await shellWithFiles(t, server, { 'after.sql': table(day(''), 'x DECIMAL(10,2)') });
  const misfit = /1 value does not fit/;
  t.regex((await run('sqldiff --alter --rebuild t after.sql $DB > plan')).stderr, misfit);
  // No server was asked while this plan was made.
  const { stderr } = await run.exits(
    1,
    'sqldump --text $DB > b.sql; sqldiff --alter --rebuild t after.sql b.sql | sqlapply -q --timeout 1 --allow-plan $DB',
  );
  t.regex(stderr, misfit);
  t.deepEqual([...(await takeHoldings(server))], [...before]);
});

testWithQuestDB('a rebuild killed between its renames is completed under views that were never filled', async t => {
  await make(server, rowsOn(LONG_MONTH, day('')));
  const views = [SUM.replace(' AS', ' REFRESH IMMEDIATE DEFERRED AS'), SUM_OF_SUM];
  for (const view of views) await execute(server, view);
  const after = ['CREATE TABLE t (x INT, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL', ...views];
  const run = await shellWithFiles(t, server, { 'after.sql': after.map(statement => `${statement};`).join('\n') });
  const rebuild = 'sqldiff --alter --rebuild t after.sql $DB > plan';
  await run.ok(rebuild);
  await executeUntil(server, run, "RENAME TABLE 't' TO");
  await waitUntilApplied(server);
  await waitUntilInvalid(server);
  await run.ok(rebuild);
  await t.notThrowsAsync(run.ok('sqlapply -q --allow-plan $DB < plan'));
  await waitUntilValid(server);
});

testWithQuestDB('a view refreshed for a range only is computed as soon as its base changes', async t => {
  const view = SUM.replace(' AS', ' REFRESH IMMEDIATE DEFERRED AS');
  const wanted = `${table(day(''), 'x INT, y INT')}\n${view};`;
  const run = await shellWithFiles(t, server, { 'wanted.sql': wanted });
  const isTrue = async (query: string) => (await execute(server, query))[0]?.[0] === true;
  const isInvalid = () => isTrue("SELECT count() = 1 FROM materialized_views() WHERE view_status = 'invalid'");
  // A server that is slow to report the INSERT to its views computes the new view at once. Then DROP PARTITION makes it invalid.
  for (;;) {
    await server.dropAll();
    await make(server, rowsOn(LONG_MONTH, day('')));
    await execute(server, view);
    await execute(server, `REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2025-01-01'`);
    await waitUntilTrue(server, 'SELECT count() = 3 FROM m');
    await execute(server, `ALTER TABLE t DROP PARTITION LIST '${LONG_MONTH[1]}'`);
    await waitUntilApplied(server);
    const careful = await run('sqlapply -q --alter $DB wanted.sql');
    if (await isInvalid()) continue;
    t.deepEqual([careful.code, namesOf(careful.stderr)], [1, ['history:m']], careful.stderr);
    await execute(server, 'ALTER TABLE t ADD COLUMN y INT');
    await waitUntil('computed', async () => (await isTrue('SELECT count() = 2 FROM m')) || (await isInvalid()));
    if (!(await isInvalid())) break;
  }
});

testWithQuestDB('a plan killed before it filled a view below another one is completed without a loss', async t => {
  const manual = (query: string) =>
    `CREATE MATERIALIZED VIEW u WITH BASE m REFRESH MANUAL DEFERRED AS (${query} from m sample by 1d) PARTITION BY DAY`;
  const former = manual('select ts, sum(n) n, max(n) x');
  const top =
    'CREATE MATERIALIZED VIEW w WITH BASE u REFRESH IMMEDIATE DEFERRED AS (select ts, sum(n) n from u sample by 1d) PARTITION BY DAY';
  await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
  for (const [name, view] of Object.entries({ u: former, w: top })) {
    await execute(server, view);
    await execute(server, `REFRESH MATERIALIZED VIEW ${name} FULL`);
    await waitUntilTrue(server, `SELECT count() > 0 FROM ${name}`);
  }
  const before = await takeHoldings(server);
  const after = [table(day('')), `${SUM};`, `${manual('select ts, sum(n) n')};`, `${top};`].join('\n');
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  await run.ok('sqldiff --alter -o plan after.sql $DB');
  await executeUntil(server, run, 'CREATE MATERIALIZED VIEW');
  await t.notThrowsAsync(run.ok('sqldiff --alter after.sql $DB | sqlapply -q --allow-plan $DB'));
  await waitUntilValid(server);
  await waitForHoldings(server, new Map([...before].filter(([name]) => name === 'w')));
});

testWithQuestDB('a view that a comment renames has its rows again after the way back', async t => {
  const view = viewOf('select ts, sum(x) n from t sample by 1h', 'REFRESH MANUAL DEFERRED ');
  await make(server, rowsOn(LONG_MONTH, day('')));
  await execute(server, view);
  await execute(server, 'REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT count() > 0 FROM m');
  const before = await takeHoldings(server);
  const renamed = view.replace('VIEW m', 'VIEW m9');
  const run = await shellWithFiles(t, server, { 'after.sql': `${table(day(''))}\n-- renamed from m\n${renamed};` });
  await run.ok('sqldiff --alter --undo undo after.sql $DB | sqlapply -q --allow-plan $DB');
  await t.notThrowsAsync(run.ok('sqlapply -q --allow-plan $DB undo'));
  await waitForHoldings(server, before);
});

testWithQuestDB('a view that was never refreshed is repaired, because a change of its base fills it', async t => {
  const view = viewOf('select ts, count() n from t sample by 1h', 'REFRESH IMMEDIATE DEFERRED ');
  await make(server, rowsOn(LONG_MONTH, day(''), 'x INT, y SHORT'));
  await execute(server, view);
  const run = await shellWithFiles(t, server, { 'after.sql': `${table(day(''), 'x INT, y LONG')}\n${view};` });
  await run.ok('sqldiff --alter after.sql $DB > plan && sqlapply -q --allow-plan $DB plan');
  t.regex((await run('cat plan')).stdout, /UPDATE 't'[^]*REFRESH MATERIALIZED VIEW 'm' FULL/);
  await waitUntilValid(server);
});

testWithQuestDB('a table with the name of a mark is not dropped if it has rows', async t => {
  const view =
    'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH MANUAL DEFERRED AS (select ts, count() c from t sample by 1h) PARTITION BY DAY;';
  await make(server, rowsOn(LONG_MONTH.slice(0, 1), day('')));
  await execute(server, view);
  await execute(server, 'REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilTrue(server, 'SELECT count() = 1 FROM m');
  await make(server, ['CREATE TABLE m_unfilled_62c66a7a (a INT)', 'INSERT INTO m_unfilled_62c66a7a VALUES (1)']);
  const run = await shellWithFiles(t, server, {
    'a.sql': `${table(day(''))}\n${view.replace('count() c', 'sum(x) c')}`,
  });
  const { stderr } = await run('sqldiff --alter -o plan.sql a.sql $DB; sqlapply --allow-plan $DB plan.sql');
  t.regex(stderr, /'m_unfilled_62c66a7a' has 1 row, which would be lost/);
  t.is((await takeHoldings(server)).get('m_unfilled_62c66a7a')?.rows, 1);
});
