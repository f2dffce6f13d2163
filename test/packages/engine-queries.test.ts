/*!
 * What the engine knows of queries: the columns that they give, and names in any case, as observed on 9.3.4. And what statements do to
 * users, groups and their rights.
 */
import { type MaterializedViewDefinition, parseDefinition } from '@sqlpipe/ddl';
import { Engine, whenReady } from '@sqlpipe/engine';
import { findSampling } from '../../packages/ddl/src/queries/query-columns.js';
import { test } from '../support/test.js';

const TABLE = 'create table t (ts timestamp, sym symbol, f float, x int) timestamp(ts) partition by day wal';

async function engineAfter(...statements: string[]): Promise<Engine> {
  const engine = new Engine({ rows: 'assumed' });
  for (const statement of [TABLE, ...statements]) await whenReady(() => engine.execute(statement));
  return engine;
}

test('the types of columns that functions and CASE give', async t => {
  for (const [query, columns] of [
    ['select case when x > 1 then sym else sym end a from t', ['a STRING']],
    ['select sum(f) a, sum(x) b, avg(f) c from t', ['a FLOAT', 'b LONG', 'c DOUBLE']],
    ['select t.x, u.f from t asof join t u tolerance 1d', ['x INT', 'f FLOAT']],
    ['select t.x from t lt join t u tolerance 10s where t.x > 1', ['x INT']],
    ['select t.x from t asof join (select a.ts, a.x from t a join t b on (x)) tolerance 1d', ['x INT']],
    ['select 0x1F a from t', ['a LONG256']],
    ['declare @Src := t select sym from @src', ['sym SYMBOL']],
    ['declare @src := t select sym from @SRC', ['sym SYMBOL']],
    ['declare @a := @b, @b := t select sym from @a', ['sym SYMBOL']],
    ['with t as (select x y from t) select * from t', ['y INT']],
    ['with w as (select x y from t) select * from w', ['sym SYMBOL']], // a view comes before a query of WITH
  ] as const) {
    const engine = await engineAfter('create view w as (select sym from t)', `create view v as (${query})`);
    const seen = engine.find('v')?.columns.map(({ name, type }) => `${name} ${type}`);
    t.deepEqual(seen, [...columns], query);
  }
});

test('rows in descending order have no designated timestamp', async t => {
  const ascending = await engineAfter('create table u as (select * from t order by ts) partition by day');
  t.regex(ascending.statementOf('u') ?? '', /timestamp\(ts\) PARTITION BY DAY/);
  await t.throwsAsync(engineAfter('create table u as (select * from t order by ts desc) partition by day'), {
    message: 'partitioning is possible only on tables with designated timestamps',
  });
});

test('a loaded view has the timestamp that its CREATE gives it', async t => {
  const floored = "create view v as (select timestamp_floor('1h', ts) hour, sum(x) n from t)";
  for (const query of [
    "select timestamp_floor('1h', ts) hour, sum(x) n from t",
    'select hour, max(n) n from v',
    'select ts as hour, sum(x) n from t sample by 1h',
    'select sum(x) n, ts from t sample by 1h',
  ]) {
    const view = `create materialized view m with base t as (${query}) partition by day`;
    const created = (await engineAfter(floored, view)).find('m');
    const engine = new Engine();
    engine.load([TABLE, floored, view]);
    const loaded = await whenReady(() => engine.catalogue.compileAndFind('m'));
    t.is(loaded?.timestamp, created?.timestamp ?? 'none', query);
  }
});

test('a loaded view has the base that its CREATE gives it', async t => {
  const views = ['create view v as (select ts, x from t)', 'create view w as (select ts, x from v)'];
  for (const query of [
    'select ts, sum(x) n from w sample by 1h',
    'with q as (select ts, x from v) select ts, sum(x) n from q sample by 1h',
  ]) {
    const engine = new Engine({ rows: 'assumed' });
    engine.load([`create materialized view m as (${query}) partition by day`, ...views, TABLE]);
    const view = engine.find('m');
    t.is(view && 'base' in view ? view.base : undefined, 't', query);
  }
});

test('a materialized view may name the timestamp of its base in any case', async t => {
  const engine = await engineAfter('create materialized view m as (select TS as bucket, avg(f) a from t sample by 1h)');
  t.regex(engine.statementOf('m') ?? '', /PARTITION BY MONTH/);
  const { effects } = await whenReady(() => engine.execute('update t set x = 1 where x = 2'));
  const texts = effects.map(({ text }) => text);
  t.deepEqual(texts, ["rewrites rows of table 't'", "invalidates materialized view 'm': update operation"]);
});

test('the base of a materialized view is found below views that name views many times', async t => {
  const layer = (name: string, i: number) =>
    `create view ${name}${i} as (select a.ts, a.x from v${i - 1} a join w${i - 1} b on (x))`;
  const first = ['v0', 'w0'].map(name => `create view ${name} as (select ts, x from t)`);
  const views = Array.from({ length: 24 }, (_, i) => [layer('v', i + 1), layer('w', i + 1)]);
  const start = process.cpuUsage();
  const engine = await engineAfter(
    ...first,
    ...views.flat(),
    'create materialized view m with base t as (select ts, max(x) a from v24 sample by 1h)',
  );
  const m = engine.find('m');
  t.is(m?.kind === 'materialized view' ? m.base : undefined, 't');
  t.true(process.cpuUsage(start).user < 10e6); // 1 s; if each path is followed, more than a minute
});

// Observed on 9.3.4, with either setting of cairo.sql.column.alias.expression.enabled.
test('a timestamp_floor() of the timestamp decides how a materialized view is partitioned, before SAMPLE BY', async t => {
  const floor = (interval: string, of = 'ts') => `timestamp_floor('${interval}', ${of})`;
  for (const [list, timestamp, partition] of [
    ['ts', 'ts', 'MONTH'],
    [floor('1M'), 'timestamp_floor', 'YEAR'],
    [`${floor('1M')} f, ts`, 'f', 'YEAR'],
    [`TS, ${floor('1m')} f`, 'f', 'DAY'],
    [`ts, ${floor('1m', 't.ts')} f`, 'ts', 'MONTH'],
    [`ts, ${floor('1M', "dateadd('h', 1, ts)")} f`, 'f', 'YEAR'],
    [`ts, ${floor('1M', 'x::timestamp')} f`, 'ts', 'MONTH'],
    [`${floor('1M', 'x::timestamp')} f`, 'f', 'YEAR'],
    [`${floor('1M', 'x::timestamp')} f, ${floor('1m')} g`, 'g', 'DAY'],
  ]) {
    const engine = new Engine({ naming: 'by function' });
    const view = `create materialized view m as (select ${list}, max(x) x from t sample by 10m)`;
    for (const statement of [TABLE, view]) await whenReady(() => engine.execute(statement));
    const m = engine.find('m');
    t.like(m, { timestamp, partitionBy: partition }, list);
  }
});

test('SAMPLE BY needs an aggregate, which may be a function that is not known', async t => {
  for (const call of ['regr_count(f, x)', 'weighted_stddev_rel(f, x)', 'of_a_newer_version(x)', 'abs(Max(x))'])
    await t.notThrowsAsync(
      engineAfter(`create materialized view m as (select ts, ${call} a from t sample by 1d)`),
      call,
    );
  for (const value of [
    'x',
    'abs(x)',
    'x + 1',
    'cast(x as long)',
    'case when x > 1 then 2 end',
    'x in (1, 2)',
    '(x)',
    'md5(sym)',
  ])
    await t.throwsAsync(
      engineAfter(`create materialized view m as (select ts, ${value} a from t sample by 1d)`),
      { message: "at least one aggregation function must be present in 'select' clause" },
      value,
    );
});

test('SAMPLE BY may have a unit without a number', async t => {
  const engine = await engineAfter('create materialized view m as (select ts, max(x) x from t sample by h)');
  t.like(engine.find('m'), { partitionBy: 'MONTH' });
});

test('a table without WAL keeps its timestamp under a new name', async t => {
  const table = 'create table b (ts timestamp, a int) timestamp(ts) partition by day bypass wal';
  const engine = await engineAfter(table, 'alter table b rename column TS to time');
  t.regex(engine.statementOf('b') ?? '', /timestamp\(time\)/);
});

test('a column named like the suffix of a number is read after its table', async t => {
  const engine = await engineAfter(
    'create table l (f int, d int)',
    'create view v as (select l.f, l.d from l where l.f > .5f and l.d < 1d)',
  );
  t.deepEqual([...engine.invalidViews()], []);
});

test('a view reads the same source if a view under it names it in another case', async t => {
  const engine = new Engine();
  const views = ['CREATE VIEW v AS (SELECT x FROM T);', 'CREATE VIEW w AS (SELECT x FROM v);'];
  engine.load(['CREATE TABLE t (x INT);', ...views]);
  engine.catalogue.compileAndFind('w');
  await whenReady(() => engine.execute('ALTER VIEW v AS (SELECT x FROM t)'));
  t.like(engine.catalogue.compileAndFind('w'), { isStale: undefined, sources: ['T'] });
});

// Each partition was observed on 9.3.4.
test('the sampling of a query decides how a materialized view is partitioned', async t => {
  const inner = '(select ts, avg(x) v from t sample by 1h)';
  for (const [query, interval, partition] of [
    ['select ts, sum(x) n from t sample by h', '1h', 'MONTH'],
    ["select timestamp_floor('d', ts) ts, sum(x) n from t", '1d', 'YEAR'],
    ["select distinct timestamp_floor('1d', ts) d, x from t", '1d', 'YEAR'],
    ["select timestamp_floor('1h', ts) ts, avg(x) v, timestamp_floor('1d', ts) d from t", '1h', 'MONTH'],
    ["select timestamp_floor('1m', ts) ts, v from (select ts, avg(x) v from t sample by 1d)", '1m', 'DAY'],
    [`select * from ${inner} where ts = timestamp_floor('1d', ts)`, '1h', 'MONTH'],
    ["select ts, avg(x) v from t where ts > timestamp_floor('1d', ts) sample by 1h", '1h', 'MONTH'],
    [`select ts, v, dateadd('h', 1, timestamp_floor('1d', ts)) d from ${inner}`, '1h', 'MONTH'],
    [`select ts, avg(v) v from ${inner} sample by 1d`, '1d', 'YEAR'],
    [`with q as ${inner} select ts, v from q`, '1h', 'MONTH'],
    ["select ts, timestamp_floor('1d', ts) d, avg(x) v from t sample by 1h", undefined, 'YEAR'],
  ] as const) {
    t.is(findSampling(query)?.interval, interval, query);
    const engine = await engineAfter(`create materialized view m as (${query})`);
    t.like(engine.find('m'), { partitionBy: partition }, query);
    const { partitionBy } = parseDefinition(`create materialized view m as (${query})`) as MaterializedViewDefinition;
    t.is(partitionBy, interval && partition, query);
  }
  t.is(findSampling("select timestamp_floor('h', ts) ts, sum(x) n from t group by 1")?.interval, '1h');
});

/** The statements of a schema after others, each executed by an account; white space is one blank. */
async function executed(...statements: (string | readonly [account: string, statement: string])[]): Promise<string[]> {
  const engine = new Engine({ isEnterprise: true, rows: 'assumed' });
  for (const each of statements) {
    const [account, statement] = typeof each === 'string' ? [undefined, each] : each;
    await whenReady(() => engine.execute(statement, account));
  }
  return engine.statements().map(statement => statement.replace(/\s+/g, ' '));
}

test('who is dropped in another case owns nothing, and is in no group', async t => {
  t.deepEqual(
    await executed('create user ann', 'create table x (a int) owned by ann', 'drop user ANN', 'create user ann'),
    ['CREATE USER ann;', "CREATE TABLE 'x' ( a INT ) OWNED BY 'admin';"],
  );
  const group = [
    'create user ann',
    'create group devs',
    'add user ann to devs',
    'drop group DEVS',
    'create group devs',
  ];
  t.deepEqual(await executed(...group), ['CREATE USER ann;', 'CREATE GROUP devs;']);
});

const ANN = [TABLE, 'create user ann', 'grant http to ann'];

test('a column that exists gives no right to who adds it if it does not exist', async t => {
  const add = 'alter table t add column if not exists';
  const rights = async (column: string) => {
    const dump = await executed(...ANN, 'grant add column on t to ann', ['ann', `${add} ${column} int`]);
    return dump.filter(statement => statement.includes(`t(${column})`));
  };
  t.deepEqual(await rights('x'), []);
  t.is((await rights('b')).length, 1);
});

// Source: the permissions of QuestDB's documentation, and the checks of SecurityContext in 9.3.4.
test('a statement needs the documented permission, and no other', async t => {
  const setup = [
    'create view v as (select x from t)',
    'create materialized view m as (select ts, max(x) x from t sample by 1h)',
    'grant select on t to ann',
  ];
  for (const [permission, statement, on = 't'] of [
    ['INSERT', 'insert into t values (now(), null, 1, 1)'],
    ['INSERT', 'insert atomic into t select * from t'],
    ['UPDATE', 'update t set x = 1'],
    ['ATTACH PARTITION', "alter table t attach partition list '2024-01-01'"],
    ['DETACH PARTITION', "alter table t detach partition list '2024-01-01'"],
    ['DROP PARTITION', "alter table t drop partition list '2024-01-01'"],
    ['DROP PARTITION', "alter table t force drop partition list '2024-01-01'"],
    ['DROP PARTITION', 'alter table t squash partitions'],
    ['CONVERT PARTITION TO PARQUET', "alter table t convert partition to parquet list '2024-01-01'"],
    ['CONVERT PARTITION TO NATIVE', "alter table t convert partition to native where ts < '2024'"],
    ['SET PARQUET SETTINGS', 'alter table t alter column x set parquet(plain)'],
    ['SET REFRESH LIMIT', 'alter materialized view m set refresh limit 1w', 'm'],
    ['SET REFRESH TYPE', 'alter materialized view m set refresh manual', 'm'],
    ['ALTER VIEW', 'alter view v as (select ts from t)', 'v'],
    ['ALTER VIEW', 'create or replace view v as (select ts from t)', 'v'],
  ] as const) {
    const asAnn = ['ann', statement] as const;
    const denial = { message: `Access denied for ann [${permission} on ${on}]` };
    await t.throwsAsync(executed(...ANN, ...setup, asAnn), denial, statement);
    await t.notThrowsAsync(executed(...ANN, ...setup, `grant ${permission} on ${on} to ann`, asAnn), statement);
  }
});

test('the right to update a column is not one to update another', async t => {
  const update = (rights: string, sets: string) =>
    executed(...ANN, `grant update on t(${rights}) to ann`, ['ann', `update t set ${sets} where f = 1`]);
  await t.notThrowsAsync(update('x', 'x = 1'));
  await t.notThrowsAsync(update('x, f', 'X = 1, f = 2'));
  for (const sets of ['f = 1', 'x = 1, f = 2'])
    await t.throwsAsync(update('x', sets), { message: 'Access denied for ann [UPDATE on t]' }, sets);
});

test('INSERT with a query needs the right to read what the query reads', async t => {
  const insert = (...rights: string[]) =>
    executed(
      ...ANN,
      'create table u (ts timestamp, y int) timestamp(ts) partition by day wal',
      'grant insert on t to ann',
      ...rights,
      ['ann', 'insert into t (ts, x) select ts, y from u'],
    );
  await t.throwsAsync(insert(), { message: 'Access denied for ann [SELECT on u]' });
  await t.throwsAsync(insert('grant select on u(ts) to ann'), { message: 'Access denied for ann [SELECT on u]' });
  await t.notThrowsAsync(insert('grant select on u to ann'));
});

test('the query of an INSERT is checked as QuestDB 9.3.4 does', async t => {
  for (const [query, message, position] of [
    ['t select ts, nope, null from t', 'Invalid column: nope', 25],
    ['t select ts, y from nowhere', 'table does not exist [table=nowhere]', 32],
    ['nope select x from nowhere', 'table does not exist [table=nowhere]', 31],
  ] as const)
    t.like(await t.throwsAsync(engineAfter(`insert into ${query}`)), { message, position }, query);
});

// QuestDB 9.3.4 executes both.
test('WITH before INSERT and UPDATE makes no query of them', async t => {
  const wide = 'create table u (y int, z timestamp)';
  const prefix = 'with w as (select y, z from u), v as (select z ts, y from w) ';
  const engine = await engineAfter(wide);
  for (const [statement, effect] of [
    ['insert into t (ts, x) select ts, y from v', "writes rows to table 't'"],
    ['update t set x = 1', "rewrites rows of table 't'"],
  ]) {
    const { effects, reply } = await whenReady(() => engine.execute(prefix + statement));
    t.deepEqual([effects.map(({ text }) => text), reply], [[effect], { kind: 'ddl' }], statement);
    t.throws(() => new Engine().execute(prefix + statement), { message: /^this server keeps the schema and no rows/ });
  }
  for (const [statement, message, position] of [
    ['with w as (select nope from t) insert into t select * from w', 'Invalid column: nope', 18],
    ['with w as (select x from t) insert into t select ts, nope from w', 'Invalid column: ts', 49],
    ['with w as (select ts, x from t) insert into nowhere select * from w', 'table does not exist [table=nowhere]', 44],
  ] as const)
    t.like(await t.throwsAsync(engineAfter(wide, statement)), { message, position }, statement);
});

test('a reserved word in the place of an operand is rejected as QuestDB 9.3.4 does', async t => {
  for (const [before, word] of [
    ['select x * ', 'from t'],
    ['select x + ', 'FROM t'],
    ['select distinct x * sym * ', 'from t'],
    ['select x || ', 'from t'],
    ['select x :: ', 'from t'],
    ['select x * ', 'where x = 1'],
    ['select x * ', 'union select x from t'],
    ['select x from t where ', 'from'],
    ['select x from t where x > ', 'order by x'],
    ['select x from t where x = 1 and not ', 'from'],
    ['select x from t where x in ', 'from'],
    ['select x from t order by ', 'from'],
  ] as const) {
    const create = 'create view v as (';
    const message = `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${word.split(' ')[0]}"`;
    const error = await t.throwsAsync(engineAfter(`${create}${before}${word})`), undefined, before);
    t.like(error, { message, position: create.length + before.length }, before + word);
  }
  for (const [query, message] of [
    ['select x y * from t', "found [tok='*', len=1] ',', 'from' or 'over' expected"],
    ['select * x from t', 'wildcard cannot have alias'],
  ] as const)
    t.like(await t.throwsAsync(engineAfter(`create view v as (${query})`)), { message }, query);
});

test('after an operator, FROM and a parenthesis call a function', async t => {
  const tables = ['create table u as (select * from (t))', 'create table w as (select t.*, x from (t))'];
  await t.notThrowsAsync(engineAfter(...tables, 'create table c as (select count(*) n from (t))'));
  for (const query of ['select-choose * from (t)', 'select choose + from (t)', 'select choose * from (t)'])
    t.like(await t.throwsAsync(engineAfter(`create table tab as (${query})`)), {
      message: 'Invalid column: choose',
      position: 28,
    });
});

test('each view of a chain is created with as many look-ups as any other', async t => {
  const count = async (length: number): Promise<number> => {
    const engine = new Engine();
    const catalogue = engine.catalogue as { find(name: string): unknown };
    const { find } = catalogue;
    let lookups = 0;
    catalogue.find = name => {
      lookups++;
      return find.call(catalogue, name);
    };
    await whenReady(() => engine.execute('CREATE TABLE v0 (x INT)'));
    for (let i = 1; i <= length; i++)
      await whenReady(() => engine.execute(`CREATE VIEW v${i} AS (SELECT * FROM v${i - 1})`));
    t.deepEqual(engine.catalogue.sources([`v${length}`]), ['v0']);
    return lookups;
  };
  const [short, long] = [await count(50), await count(200)];
  t.true(long < 5 * short, `${short} look-ups for 50 views, ${long} for 200`);
});

test('the sources of views follow what a view under them reads', async t => {
  const engine = new Engine();
  const sourcesAfter = async (statement: string) => {
    await whenReady(() => engine.execute(statement));
    return engine.catalogue.sources(['w', 'z']);
  };
  for (const statement of [
    'CREATE TABLE a (x INT)',
    'CREATE TABLE b (x INT)',
    'CREATE VIEW v AS (SELECT x FROM a)',
    'CREATE VIEW w AS (SELECT x FROM v)',
  ])
    await whenReady(() => engine.execute(statement));
  t.deepEqual(engine.catalogue.sources(['w', 'z']), ['a', 'z']);
  t.deepEqual(await sourcesAfter('ALTER VIEW v AS (SELECT x FROM b)'), ['b', 'z']);
  t.deepEqual(await sourcesAfter('CREATE OR REPLACE VIEW v AS (SELECT a.x FROM a CROSS JOIN b)'), ['a', 'b', 'z']);
  t.deepEqual(await sourcesAfter('CREATE VIEW z AS (SELECT x FROM b)'), ['a', 'b']);
  t.deepEqual(await sourcesAfter('DROP VIEW v'), ['b', 'v']);
  t.deepEqual(await sourcesAfter('CREATE TABLE v (x INT)'), ['b', 'v']);
  const before = engine.log.savepoint();
  await sourcesAfter('DROP TABLE v');
  t.deepEqual(await sourcesAfter('CREATE VIEW v AS (SELECT x FROM a)'), ['a', 'b']);
  engine.log.rollback(before);
  t.deepEqual(engine.catalogue.sources(['w', 'z']), ['b', 'v']);
});
