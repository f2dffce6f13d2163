/*!
 * What a plan keeps as long as nobody allows a loss, and what goes when it is allowed: asked of a real QuestDB before and after,
 * never of the planner.
 */
import { waitUntilApplied, waitUntilInvalid, waitUntilNone } from '../support/background.js';
import { findMissing, type NewNames, takeHoldings, waitForHoldings } from '../support/holdings.js';
import { day, LONG_MONTH, make, namesOf, rowsOn, SHORT_MONTH, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const emptyServer = sharedQuestDB();

interface Case {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly options?: string;
  /** The names of the losses that are left out, in their order. */
  readonly losses: readonly string[];
  /** What is missing when these losses are allowed. */
  readonly missing?: readonly string[];
  readonly names?: Partial<NewNames>;
}

/** A view has rows of a base that no longer has them. */
const EXPIRED = [...rowsOn(LONG_MONTH, day('')), SUM, 'ALTER TABLE t SET TTL 1 DAY'];
const CANDLE =
  'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, first(price) open, max(price) as high, last(price) as close from t sample by 7d)';

const CASES: Record<string, Case> = {
  'a TTL of 30 days is shorter than a long month': {
    before: rowsOn(LONG_MONTH, day('TTL 1 MONTH')),
    after: [table(day('TTL 30 DAYS'))],
    losses: ['ttl:t'],
    missing: ["table 't' has rows 2, not 3"],
  },
  'a TTL of 4 weeks is shorter than a long month': {
    before: rowsOn(LONG_MONTH, day('TTL 1 MONTH')),
    after: [table(day('TTL 4 WEEKS'))],
    losses: ['ttl:t'],
    missing: ["table 't' has rows 2, not 3"],
  },
  'a TTL of 31 days is as long as a month': {
    before: rowsOn(LONG_MONTH, day('TTL 1 MONTH')),
    after: [table(day('TTL 31 DAYS'))],
    losses: [],
  },
  'a TTL of a month may be shorter than one of 29 days': {
    before: rowsOn(SHORT_MONTH, day('TTL 29 DAYS')),
    after: [table(day('TTL 1 MONTH'))],
    losses: ['ttl:t'],
    missing: ["table 't' has rows 2, not 3"],
  },
  'a TTL of a month is as long as one of 4 weeks': {
    before: rowsOn(SHORT_MONTH.slice(1), day('TTL 4 WEEKS')),
    after: [table(day('TTL 1 MONTH'))],
    losses: [],
  },
  'who allows the loss of a table has not allowed that of its column': {
    before: rowsOn(LONG_MONTH, day('')),
    after: ['CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL;'],
    options: '--allow-loss drop:t',
    losses: ['drop:t.x'],
    missing: ["table 't' has no column 'x'"],
  },
  'a rebuild that also shortens the TTL': {
    before: rowsOn(LONG_MONTH, day('')),
    after: [table('PARTITION BY HOUR TTL 1 DAY')],
    options: '--rebuild t --drop-old',
    losses: ['ttl:t'],
    missing: ["table 't' has rows 2, not 3"],
  },
  'a rebuild that drops the old table may not change values without permission': {
    before: rowsOn(LONG_MONTH, day('')),
    after: [table('PARTITION BY HOUR', 'x SHORT')],
    options: '--rebuild t --drop-old',
    losses: ['values:t.x'],
    missing: ["table 't' has other values in 'x'"],
  },
  'a rebuild that drops the old table converts to a type that can hold the values': {
    before: rowsOn(LONG_MONTH, day('')),
    after: [table('PARTITION BY HOUR', 'x LONG')],
    options: '--rebuild t --drop-old',
    losses: [],
  },
  'a rebuild that drops the old table loses the columns that only that one has': {
    before: rowsOn(LONG_MONTH, day(''), 'x INT, y INT'),
    after: [table('PARTITION BY HOUR')],
    options: '--rebuild t --drop-old',
    losses: ['drop:t.y'],
    missing: ["table 't' has no column 'y'"],
  },
  'a materialized view that reads what a joined table no longer has': {
    before: [
      ...rowsOn(LONG_MONTH, day('')),
      'CREATE TABLE j (ts TIMESTAMP, y INT) TIMESTAMP(ts) PARTITION BY DAY WAL',
      "INSERT INTO j VALUES ('2024-01-01', 1), ('2024-01-30', 2)",
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select t.ts, sum(x) n, last(y) y from t asof join j sample by 1h) PARTITION BY DAY',
      'ALTER TABLE j SET TTL 1 DAY',
    ],
    after: [
      table(day('')),
      'CREATE TABLE j (ts TIMESTAMP, y INT) TIMESTAMP(ts) PARTITION BY DAY TTL 1 DAY WAL;',
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select t.ts, sum(x) n, last(y) + 0 y from t asof join j sample by 1h) PARTITION BY DAY;',
    ],
    losses: ['history:m'],
    missing: ["materialized view 'm' has other values in 'y'"],
  },
  'a materialized view of values that a new type cannot hold': {
    before: [...rowsOn(LONG_MONTH, day('')), SUM],
    after: [table(day(''), 'x SHORT'), `${SUM};`],
    losses: ['values:t.x', 'history:m'],
    missing: ["table 't' has other values in 'x'", "materialized view 'm' has other values in 'n'"],
  },
  'a materialized view beside a column with values that a new type cannot hold': {
    before: [...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'), 'UPDATE t SET y = x', SUM],
    after: [table(day(''), 'x INT, y SHORT'), `${SUM};`],
    losses: ['values:t.y'],
    missing: ["table 't' has other values in 'y'"],
  },
  'a materialized view of values that a new type happens to hold': {
    before: [
      ...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'),
      'UPDATE t SET y = 1',
      SUM.replace('sum(x)', 'sum(x) n2, sum(y)'),
    ],
    after: [table(day(''), 'x INT, y SHORT'), `${SUM.replace('sum(x)', 'sum(x) n2, sum(y)')};`],
    losses: [],
  },
  'a weekly candle that a lost day changes by less than 0.1 %': {
    before: [
      'CREATE TABLE t (ts TIMESTAMP, x INT, price FLOAT) TIMESTAMP(ts) PARTITION BY DAY WAL',
      "INSERT INTO t VALUES ('2024-01-04', 1, 100.05), ('2024-01-05', 2, 100), ('2024-01-06', 3, 100.01)",
      `${CANDLE} PARTITION BY MONTH`,
      "ALTER TABLE t DROP PARTITION LIST '2024-01-04'",
    ],
    after: [table(day(''), 'x LONG, price FLOAT'), `${CANDLE} PARTITION BY MONTH;`],
    losses: ['history:m'],
    missing: ["materialized view 'm' has other values in 'open'"],
  },
  'a weekly candle with both zeros and no value': {
    before: [
      'CREATE TABLE t (ts TIMESTAMP, x INT, price FLOAT) TIMESTAMP(ts) PARTITION BY DAY WAL',
      "INSERT INTO t VALUES ('2024-01-04', 1, -0.0), ('2024-01-05', 2, 0.0), ('2024-01-11', 3, null)",
      `${CANDLE} PARTITION BY MONTH`,
    ],
    after: [table(day(''), 'x LONG, price FLOAT'), `${CANDLE} PARTITION BY MONTH;`],
    losses: [],
  },
  'a materialized view whose query gives one column less': {
    before: [
      ...rowsOn(LONG_MONTH, day('')),
      'CREATE VIEW v AS (select ts, sum(x) n, max(x) k from t sample by 1h)',
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select * from v) PARTITION BY DAY',
    ],
    after: [
      table(day(''), 'x LONG'),
      'CREATE VIEW v AS (select ts, sum(x) n from t sample by 1h);',
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select * from v) PARTITION BY DAY;',
    ],
    losses: [],
    names: { isRedefined: name => name === 'm' },
  },
  'the old names of a table and a column, which views of both schemas read': {
    before: [
      ...rowsOn(LONG_MONTH, day('')),
      'CREATE VIEW v AS (select ts, x from t)',
      'CREATE VIEW w AS (select x from v)',
      SUM,
    ],
    after: [
      table(day(''), 'y INT').replace('TABLE t', 'TABLE trades'),
      'CREATE VIEW v AS (select ts, y from trades);',
      'CREATE VIEW w AS (select y from v);',
      `${SUM.replace('BASE t', 'BASE trades').replace('sum(x)', 'sum(y)').replace('from t', 'from trades')};`,
    ],
    options: '--renamed t=trades --renamed t.x=y',
    losses: [],
    names: { object: () => 'trades', column: () => 'y' },
  },
  'views over a view that reads from another table, which the server would break': {
    before: [
      ...rowsOn(LONG_MONTH, day('')),
      'CREATE TABLE j (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL',
      'CREATE VIEW v AS (select ts, x from t)',
      'CREATE VIEW w AS (select ts from v)',
      'CREATE VIEW z AS (select ts from w)',
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select t.ts, count() n from t asof join w sample by 1h) PARTITION BY DAY',
    ],
    after: [
      table(day('')),
      'CREATE TABLE j (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;',
      'CREATE VIEW v AS (select ts, x from j);',
      'CREATE VIEW w AS (select ts from v);',
      'CREATE VIEW z AS (select ts from w);',
      'CREATE MATERIALIZED VIEW m WITH BASE t AS (select t.ts, count() n from t asof join w sample by 1h) PARTITION BY DAY;',
    ],
    losses: [],
  },
  'views that get other names, with a view over them': {
    before: [
      ...rowsOn(LONG_MONTH, day('')),
      'CREATE VIEW v AS (select x from t)',
      SUM,
      'CREATE VIEW z AS (select n from m)',
    ],
    after: [
      table(day('')),
      'CREATE VIEW w AS (select x from t);',
      `${SUM.replace('VIEW m', 'VIEW hourly')};`,
      'CREATE VIEW z AS (select n from hourly);',
    ],
    options: '--renamed v=w --renamed m=hourly',
    losses: [],
    names: { object: name => ({ v: 'w', m: 'hourly' })[name] },
  },
  'a materialized view that gets another name, over a base whose rows have expired': {
    before: EXPIRED,
    after: [table(day('TTL 1 DAY')), `${SUM.replace('VIEW m', 'VIEW hourly')};`],
    options: '--renamed m=hourly',
    losses: ['history:m'],
    missing: ["materialized view 'm' has rows 2, not 3"],
    names: { object: name => ({ m: 'hourly' })[name] },
  },
  'a materialized view that gets another name by a comment, and another query': {
    before: EXPIRED,
    after: [
      table(day('TTL 1 DAY')),
      `-- renamed from m\n${SUM.replace('VIEW m', 'VIEW hourly').replace('sum(x)', 'sum(x) + 0')};`,
    ],
    losses: ['history:m'],
    missing: ["materialized view 'm' has rows 2, not 3"],
    names: { object: name => ({ m: 'hourly' })[name] },
  },
  'a materialized view that gets another name, over a base that gets one too': {
    before: EXPIRED,
    after: [
      table(day('TTL 1 DAY')).replace('TABLE t', 'TABLE trades'),
      `${SUM.replace('VIEW m', 'VIEW hourly').replace('BASE t', 'BASE trades').replace('from t', 'from trades')};`,
    ],
    options: '--renamed m=hourly --renamed t=trades',
    losses: ['history:m'],
    missing: ["materialized view 'm' has rows 2, not 3"],
    names: { object: name => ({ m: 'hourly', t: 'trades' })[name] },
  },
  'a materialized view that nothing fills by itself, under another name': {
    before: [...rowsOn(LONG_MONTH, day('')), SUM.replace(' AS', ' REFRESH MANUAL AS')],
    after: [table(day('')), `${SUM.replace('VIEW m', 'VIEW hourly').replace(' AS', ' REFRESH MANUAL DEFERRED AS')};`],
    options: '--renamed m=hourly',
    losses: [],
    names: { object: name => ({ m: 'hourly' })[name] },
  },
  'a rename under a view that A lacks': {
    before: [...rowsOn(LONG_MONTH, day('')), 'CREATE VIEW v AS (select x from t)'],
    after: [table(day(''), 'y INT')],
    options: '--renamed t.x=y',
    losses: ['drop:v'],
    missing: ["view 'v' is gone"],
    names: { column: () => 'y' },
  },
};

for (const [what, each] of Object.entries(CASES))
  testWithQuestDB(`a plan keeps what nobody allowed to lose: ${what}`, async t => {
    const server = await emptyServer();
    const before = await make(server, each.before);
    const run = await shellWithFiles(t, server, { 'after.sql': each.after.join('\n') });
    const { options = '', losses, missing = [], names: known = {} } = each;
    const names = { object: () => undefined, column: () => undefined, isRedefined: () => false, ...known };
    const apply = async (allowed: string) =>
      run(`sqldiff --alter ${options} ${allowed} after.sql $DB > plan; echo $?; sqlapply -q --allow-plan $DB < plan`);
    const careful = await apply('');
    t.is(careful.code, 0, careful.stderr);
    t.is(careful.stdout.toString(), losses.length > 0 ? '1\n' : '0\n', careful.stderr);
    t.deepEqual(namesOf(careful.stderr), losses, careful.stderr);
    await waitForHoldings(server, before, names, careful.stderr);
    if (losses.length === 0) return;
    const bold = await apply(losses.map(name => `--allow-loss ${name}`).join(' '));
    t.deepEqual([bold.code, bold.stdout.toString(), bold.stderr], [0, '0\n', '']);
    // A permission is asked for only where something really goes.
    const isMissing = (line: string, found: string[]) => found.some(each => each.startsWith(line));
    await waitUntilNone(async () => {
      const found = findMissing(before, await takeHoldings(server), names);
      return missing.every(line => isMissing(line, found)) ? [] : [missing, found];
    });
  });

testWithQuestDB('a view that fails on its rows keeps those that it has, whatever is allowed', async t => {
  const server = await emptyServer();
  const view = SUM.replace('sum(x)', 'max(cast(x as decimal(2,0)))');
  await make(server, [table(day('')), "INSERT INTO t VALUES ('2024-01-01', 1), ('2024-01-02', 2)", view]);
  await execute(server, "INSERT INTO t VALUES ('2024-01-03', 1000)");
  await waitUntilInvalid(server);
  const before = await takeHoldings(server);
  t.is(before.get('m')?.rows, 2);
  const after = [table(day(''), 'x INT, y INT'), `${view};`].join('\n');
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  const plan = await run(
    'sqldiff --alter --allow-loss history:m after.sql $DB > plan; sqlapply --allow-plan $DB < plan',
  );
  t.regex(
    plan.stderr,
    /'m': left out: a repair\n {2}its query would fail again on the same rows: inconvertible value: 1000/,
  );
  t.is(plan.code, 0);
  const now = await takeHoldings(server);
  t.deepEqual([findMissing(before, now), now.get('m')?.rows], [[], 2]);
});

testWithQuestDB('only a full refresh repairs an invalid view', async t => {
  const server = await emptyServer();
  await make(server, [...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'), SUM]);
  await execute(server, 'ALTER TABLE t DROP COLUMN y');
  await waitUntilInvalid(server);
  const run = await shellWithFiles(t, server, {
    'incremental.sql': 'REFRESH MATERIALIZED VIEW m INCREMENTAL;',
    'range.sql': "REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-01-02';",
    'full.sql': 'REFRESH MATERIALIZED VIEW m FULL;',
  });
  const isForetold = async (file: string) =>
    (await run(`sqlapply --dry-run --allow REFRESH $DB ${file}`)).stdout.toString().includes('repairs');
  for (const file of ['incremental.sql', 'range.sql']) {
    t.false(await isForetold(file));
    await run(`sqlapply --allow REFRESH $DB ${file}`);
    t.is((await takeHoldings(server)).get('m')?.invalid, 'drop column operation');
  }
  t.true(await isForetold('full.sql'));
  await run.ok('sqlapply --allow REFRESH $DB full.sql');
  t.like((await takeHoldings(server)).get('m'), { rows: 3, invalid: undefined });
});

testWithQuestDB('rows that only a key of before kept apart overwrite each other', async t => {
  const server = await emptyServer();
  const keys = (names: string) =>
    `CREATE TABLE t (ts TIMESTAMP, x INT, y INT) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${names});`;
  await make(server, [keys('ts,x')]);
  const insert = async (time: string) => {
    await execute(server, `INSERT INTO t VALUES ('${time}', 1, 7), ('${time}', 2, 7)`);
    await waitUntilApplied(server);
    return (await takeHoldings(server)).get('t')?.rows;
  };
  t.is(await insert('2024-01-01'), 2);
  const run = await shellWithFiles(t, server, { 'after.sql': keys('ts,y') });
  const careful = await run('sqldiff --alter after.sql $DB | sqlapply --allow-plan $DB');
  t.deepEqual(namesOf(careful.stderr), ['keys:t']);
  t.is(await insert('2024-01-02'), 4);
  await run('sqldiff --alter --allow-loss keys:t after.sql $DB | sqlapply --allow-plan $DB');
  t.is(await insert('2024-01-03'), 5);
});

testWithQuestDB('a plan that drops a table does not drop another one of its name', async t => {
  const server = await emptyServer();
  const run = await shellWithFiles(t, server, { 'after.sql': table(day('')) });
  const extra = 'CREATE TABLE extra (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY WAL';
  for (const change of [
    ['ALTER TABLE extra ADD COLUMN b INT'],
    ['DROP TABLE extra', extra.replace('a INT', 'a LONG'), "INSERT INTO extra VALUES ('2024-01-01', 1)"],
  ]) {
    await server.dropAll();
    await make(server, [table(day('')), extra, "INSERT INTO extra VALUES ('2024-01-01', 1)"]);
    await run('sqldiff --alter --allow-loss drop:extra after.sql $DB > plan');
    for (const statement of change) await execute(server, statement);
    await waitUntilApplied(server);
    const { stderr } = await run.exits(1, 'sqlapply --allow-plan $DB < plan');
    t.regex(stderr, /the plan was made for a different state/);
    t.is((await takeHoldings(server)).get('extra')?.rows, 1);
  }
});
