/*! The statements of QuestDB 9.4 and 10 on the engine: what it accepts, what becomes of live views, and what it rejects. */
import { RejectionError } from '@sqlpipe/ddl/parser';
import { Engine, type EngineOptions, OpaqueError, whenReady } from '@sqlpipe/engine';
import { NameMap } from '@sqlpipe/sql';
import { test } from '../support/test.js';

const BASE = 'CREATE TABLE base (ts TIMESTAMP, sym SYMBOL, price INT, size INT) timestamp(ts) PARTITION BY DAY;';
const WINDOW = 'count(*) OVER (PARTITION BY sym ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n';
const LIVE = `CREATE LIVE VIEW lv FLUSH EVERY 1s START FROM NOW AS (SELECT ts, ${WINDOW} FROM base WHERE price > 0);`;
const SUMS = 'CREATE MATERIALIZED VIEW m AS (select ts, max(price) price from base sample by 1h) PARTITION BY DAY;';
const OVER_M = `CREATE LIVE VIEW lm FLUSH EVERY 1s START FROM NOW AS (SELECT ts, ${WINDOW.replace('sym', 'price')} FROM m);`;

const created = async (options: EngineOptions = {}, statements = [BASE, LIVE, SUMS, OVER_M]): Promise<Engine> => {
  const engine = new Engine({ rows: 'assumed', ...options });
  for (const statement of statements) await whenReady(() => engine.execute(statement));
  return engine;
};

const effectsOf = async (engine: Engine, statement: string): Promise<string[]> => {
  const { effects } = await whenReady(() => engine.execute(statement));
  return effects.filter(({ kind }) => kind === 'live view').map(({ type, text }) => `${type}: ${text}`);
};

const invalid = (name: string, reason: string) => `invalidated: invalidates live view '${name}': ${reason}`;

for (const [statement, effects] of [
  ['ALTER TABLE base DROP COLUMN price', [invalid('lv', 'drop column operation [column=price]')]],
  ['ALTER TABLE base DROP COLUMN sym', [invalid('lv', 'drop column operation [column=sym]')]],
  ['ALTER TABLE base RENAME COLUMN price TO cost', [invalid('lv', 'rename column operation [column=price]')]],
  ['ALTER TABLE base ALTER COLUMN price TYPE LONG', [invalid('lv', 'change column type operation [column=price]')]],
  ['ALTER TABLE base DROP COLUMN size', []],
  ['ALTER TABLE base RENAME COLUMN size TO quantity', []],
  ['ALTER TABLE base ALTER COLUMN size TYPE LONG', []],
  ['ALTER TABLE base ADD COLUMN more INT', []],
  ['ALTER TABLE base ALTER COLUMN sym ADD INDEX TYPE POSTING', []],
  ['ALTER TABLE base SET TTL 1 DAY', []],
  ["ALTER TABLE base DROP PARTITION LIST '2024-01-01'", []],
  ['TRUNCATE TABLE base', []],
  ["UPDATE base SET price = 1 WHERE sym = 'a'", [invalid('lv', 'update operation')]],
  ['RENAME TABLE base TO other', [invalid('lv', 'base table is dropped or renamed')]],
  ['DROP TABLE base', [invalid('lv', 'base table is dropped or renamed')]],
  ['DROP MATERIALIZED VIEW m', [invalid('lm', 'base table is dropped or renamed')]],
  ['REFRESH MATERIALIZED VIEW m FULL', [invalid('lm', 'base materialized view is refreshed in full')]],
  ['REFRESH MATERIALIZED VIEW m INCREMENTAL', []],
  ['REFRESH MATERIALIZED VIEW m STATS', []],
  ['DROP LIVE VIEW lv', ["lost: loses live view 'lv' and its rows"]],
  ['ALTER LIVE VIEW lv RESUME WAL', []],
] as const)
  test(`what becomes of live views: ${statement}`, async t => {
    t.deepEqual(await effectsOf(await created(), statement), [...effects]);
    const loaded = new Engine({ rows: 'assumed' });
    loaded.load([BASE, LIVE, SUMS, OVER_M]);
    t.deepEqual(await effectsOf(loaded, statement), [...effects], 'loaded from a dump');
  });

test('an invalid live view keeps its reason, and only a new one is valid', async t => {
  const engine = await created();
  await whenReady(() => engine.execute('ALTER TABLE base DROP COLUMN price'));
  engine.execute('ALTER TABLE base ADD COLUMN price INT');
  engine.execute('DROP TABLE base');
  engine.execute(BASE);
  t.is(engine.invalidViews().get('lv'), 'drop column operation [column=price]');
  engine.execute('DROP LIVE VIEW lv');
  await whenReady(() => engine.execute(LIVE));
  t.is(engine.invalidViews().get('lv'), undefined);
});

test('the health of a server tells which live views are invalid', async t => {
  const engine = new Engine({ health: { invalid: new NameMap([['lv', 'update operation']]) } });
  engine.load([BASE, LIVE]);
  t.is(engine.invalidViews().get('lv'), 'update operation');
});

test('a live view whose query is unknown is taken to read every column', async t => {
  const engine = new Engine({ rows: 'assumed' });
  engine.load([BASE, `${LIVE.slice(0, LIVE.indexOf('WHERE'))}NEW SYNTAX);`]);
  t.deepEqual(await effectsOf(engine, 'ALTER TABLE base DROP COLUMN size'), [
    invalid('lv', 'drop column operation [column=size]'),
  ]);
});

test('REBASE WAL loses what is not applied, and makes the views over the table invalid', async t => {
  const suspended = new NameMap([['base', 'no reason given']]);
  const engine = new Engine({ rows: 'assumed', health: { suspended } });
  engine.load([BASE, LIVE, SUMS]);
  t.throws(() => engine.execute('ALTER TABLE base ADD COLUMN x INT'), { instanceOf: OpaqueError });
  const { effects } = await whenReady(() => engine.execute('ALTER TABLE base REBASE WAL'));
  const found = effects.map(({ type, text }) => `${type}: ${text}`);
  t.deepEqual(found, [
    "lost: loses the transactions of table 'base' that are not applied",
    "invalidated: invalidates materialized view 'm': base table rebase",
    invalid('lv', 'base table rebase'),
  ]);
  await whenReady(() => engine.execute('ALTER TABLE base ADD COLUMN x INT'));
  t.throws(() => engine.execute('ALTER TABLE base REBASE WAL'), {
    message: /requires the table to be suspended first/,
  });
});

const live = (query: string, clauses = 'FLUSH EVERY 1s START FROM NOW') =>
  `CREATE LIVE VIEW x ${clauses} AS (${query})`;

test('a live view is stored as a server stores it, over a table or a materialized view', async t => {
  for (const [statement, printed] of [
    [live(`SELECT ts, ${WINDOW} FROM base`), 'FLUSH EVERY 1s IN MEMORY 1s PARTITION BY DAY START FROM NOW'],
    [
      live(`SELECT ts, ${WINDOW} FROM base`, "FLUSH EVERY 1s START FROM '2026' PARTITION BY HOUR IN MEMORY 2m"),
      "FLUSH EVERY 1s IN MEMORY 2m PARTITION BY HOUR START FROM '2026-01-01T00:00:00.000000Z'",
    ],
    [
      live(`SELECT ts, ${WINDOW} FROM nanos`, "FLUSH EVERY 1s START FROM '2026-04-01T00:00:15.000000123Z'"),
      "FLUSH EVERY 1s IN MEMORY 1s PARTITION BY HOUR START FROM '2026-04-01T00:00:15.000000123Z'",
    ],
    [
      live(`SELECT ts, ${WINDOW.replace('sym', 'price')} FROM m`),
      'FLUSH EVERY 1s IN MEMORY 1s PARTITION BY DAY START FROM NOW',
    ],
  ] as const) {
    const engine = await created();
    engine.execute('CREATE TABLE nanos (ts TIMESTAMP_NS, sym SYMBOL) timestamp(ts) PARTITION BY HOUR');
    await whenReady(() => engine.execute(statement));
    t.is(engine.statementOf('x')?.split(' AS (')[0], `CREATE LIVE VIEW 'x' ${printed}`);
    const found = engine.find('x')?.columns.map(({ name, type }) => `${name} ${type}`);
    t.deepEqual(found, [statement.includes('nanos') ? 'ts TIMESTAMP_NS' : 'ts TIMESTAMP', 'n LONG']);
  }
});

test('a column that an index in a clause covers must exist', t => {
  const statement = 'CREATE TABLE t (ts TIMESTAMP, sym SYMBOL), INDEX(sym TYPE POSTING INCLUDE (ghost)) TIMESTAMP(ts)';
  const error = t.throws(() => new Engine().execute(statement), { instanceOf: RejectionError });
  t.like(error, { message: "INCLUDE column doesn't exist [column=ghost]", position: statement.indexOf('ghost') });
});

test('live views belong to a version, not to an edition', async t => {
  const engine = await created({ version: '9.3.4' }, [BASE]);
  for (const statement of [LIVE, 'DROP LIVE VIEW lv', 'ALTER LIVE VIEW lv RESUME WAL', 'SHOW CREATE LIVE VIEW lv'])
    t.throws(() => engine.execute(statement), { instanceOf: RejectionError, message: /expected/ }, statement);
  await t.notThrowsAsync(() => created({ isEnterprise: true }));
});

test('windows may have names, and inherit from others', async t => {
  const engine = await created();
  for (const [query, columns] of Object.entries({
    'select ts, avg(price) over w s from base window w as (partition by sym order by ts)': 'ts TIMESTAMP, s DOUBLE',
    'select avg(price) over W a, avg(size) over "v" b from base window w as (partition by sym), v as (w order by ts)':
      'a DOUBLE, b DOUBLE',
    'select avg(n) over w a from (select count(*) over w n from base window w as (order by size)) window w as (order by n)':
      'a DOUBLE',
    'select avg(price) over w a from base window w as (order by ts) union all select count(*) over w from base window w as (partition by sym)':
      'a DOUBLE',
  })) {
    await whenReady(() => engine.execute(`CREATE OR REPLACE VIEW x AS (${query})`));
    const found = engine.find('x')?.columns.map(({ name, type }) => `${name} ${type}`);
    t.is(found?.join(', '), columns, query);
  }
  for (const query of [
    'select sum(nope) over w s from base window w as (order by ts)',
    'select sum(price) over w s from base window w as (order by ts',
    'select price from base window w as order by ts',
  ])
    await t.throwsAsync(() => whenReady(() => engine.execute(`CREATE OR REPLACE VIEW x AS (${query})`)), {
      instanceOf: RejectionError,
    });
  const anchored = live(
    "SELECT ts, sum(price) OVER w s FROM base WINDOW w AS (PARTITION BY sym ORDER BY ts ANCHOR DAILY '00:00')",
  );
  engine.execute('DROP VIEW x');
  await t.notThrowsAsync(() => whenReady(() => engine.execute(anchored)));
  t.deepEqual(await effectsOf(engine, 'ALTER TABLE base DROP COLUMN sym'), [
    invalid('lv', 'drop column operation [column=sym]'),
    invalid('x', 'drop column operation [column=sym]'),
  ]);
});

test('a call over a window that is not defined breaks no rule of live views', async t => {
  const engine = await created();
  await t.notThrowsAsync(() => whenReady(() => engine.execute(live('SELECT ts, row_number() OVER nope n FROM base'))));
});

test('a short text with a long window is rejected, not expanded without end', async t => {
  const engine = await created();
  const many = Array.from({ length: 3000 }, (_, i) => `sum(price) over w a${i}`).join(', ');
  const long = Array.from({ length: 3000 }, () => 'price').join(' + ');
  const query = `select ${many} from base window w as (partition by ${long})`;
  await t.throwsAsync(() => whenReady(() => engine.execute(`CREATE VIEW x AS (${query})`)), {
    message: 'SQL model is too complex',
  });
});

test('a view whose query is unknown keeps its statement after its base has changed', async t => {
  const engine = new Engine({ rows: 'assumed', health: {} });
  const view = "CREATE VIEW 'u' AS ( \nselect price from base NEW SYNTAX\n);";
  engine.load([BASE, view]);
  await whenReady(() => engine.execute('ALTER TABLE base ADD COLUMN x INT'));
  t.is(engine.statementOf('u'), view);
});
