import { isDeepStrictEqual } from 'node:util';
import { compareStatements } from '@sqlpipe/ddl';
import { planChanges } from '@sqlpipe/plan';
import { questdb, sqlserve } from '../support/instances.js';
import { setUp } from '../support/principals.js';
import { readServerCases } from '../support/server-cases.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { CREATE_TRADES, serveHere } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
const shared = sharedSqlserve();

test('maintenance statements that change no schema are accepted', async t => {
  await shared.execute(CREATE_TRADES);
  await shared.execute('create table n (a int)');
  await shared.execute('create view v as (select s, v from trades)');
  await shared.execute('create materialized view m as (select ts, max(v) v from trades sample by 1h)');
  for (const [sql, error, position] of [
    ['alter table trades resume wal'],
    ['alter table trades resume wal from txn 1;'],
    ['alter materialized view m resume wal from transaction 1'],
    ['refresh materialized view m stats'],
    ['alter table trades squash partitions'],
    ['compile view v;'],
    ['vacuum table trades'],
    ['alter table n resume wal', 'n is not a WAL table.', 21],
    ['alter table trades resume', "'wal' expected", 25],
    ['alter table trades resume wal from txn x', 'invalid value [value=x]', 39],
    ['alter table trades suspend wal'],
    [
      'alter table trades drop column v',
      "table 'trades' is suspended, so the server applies no change to it; repair it with ALTER TABLE 'trades' RESUME WAL",
      0,
    ],
    ['alter table trades resume wal'],
    ['alter table trades squash partitions x', 'unexpected token [x]', 37],
    ['refresh materialized view trades stats', 'materialized view name expected, got table name', 26],
    ['alter table trades rebase wal', 'REBASE WAL requires the table to be suspended first', 0],
    ['alter table n rebase wal', 'n is not a WAL table.', 21],
    ['alter table trades rebase', "'wal' expected", 25],
    ['compile view trades', 'view expected, got table', 13],
    ['compile view nope', 'view does not exist [view=nope]', 13],
    ['vacuum table nope', 'table does not exist [table=nope]', 13],
    ['vacuum trades', "'partitions' expected", 7],
  ] as const)
    t.like(await shared.execute(sql), error === undefined ? { ddl: 'OK' } : { error, position }, sql);
  await shared.execute('alter table trades suspend wal');
  const { dataset = [] } = await shared.execute('select table_name from tables() where table_suspended');
  t.deepEqual(dataset, [['trades']]);
});

test('SELECT over tables has their columns and no rows', async t => {
  await shared.execute('create table t (s symbol, x int, ts timestamp) timestamp(ts) partition by day');
  await shared.execute('create view v as (select ts, x * 2.5 d from t where x > 1)');
  await shared.execute('create view one as (select count() n from t)');
  for (const [sql, columns, timestamp] of [
    ['t', 's SYMBOL, x INT, ts TIMESTAMP', 2],
    ['public.t', 's SYMBOL, x INT, ts TIMESTAMP', 2],
    ['t CROSS JOIN v', 's SYMBOL, x INT, ts TIMESTAMP, ts1 TIMESTAMP, d DOUBLE', 2],
    ['SELECT * FROM t', 's SYMBOL, x INT, ts TIMESTAMP', 2],
    ["SELECT ts, x FROM t WHERE x > 1 AND s = 'a' ORDER BY ts LIMIT 3", 'ts TIMESTAMP, x INT', 0],
    ['SELECT * FROM v', 'ts TIMESTAMP, d DOUBLE', 0],
    ['SELECT s, count() n FROM t', 's SYMBOL, n LONG', -1],
    ['SELECT ts, max(x) m FROM t SAMPLE BY 1h', 'ts TIMESTAMP, m INT', 0],
    ['SELECT avg(x) a FROM t SAMPLE BY 1h', 'a DOUBLE', -1],
    ['SELECT x, 2147483647 i, 2147483648 l FROM t', 'x INT, i INT, l LONG', -1],
    ['SELECT t.x, v.ts AS at FROM t JOIN v ON t.ts = v.ts', 'x INT, at TIMESTAMP', -1],
    ['SELECT x FROM t UNION ALL SELECT x FROM (SELECT x FROM t)', 'x INT', -1],
  ] as const) {
    const heads = columns.split(', ').map(column => column.split(' '));
    t.deepEqual(
      await shared.execute(sql),
      { query: sql, columns: heads.map(([name, type]) => ({ name, type })), timestamp, dataset: [], count: 0 },
      sql,
    );
  }
});

test('constants and columns of a list have the heads of QuestDB 9.3.4', async t => {
  await shared.execute('create table t (x int)');
  for (const [selected, heads, row] of [
    ['1, 1.5, 5000000000', '1 INT, "1.5" DOUBLE, 5000000000 LONG', [1, 1.5, 5_000_000_000]],
    ['-1.5, table_name', '"-(1.5)" DOUBLE, table_name STRING', [-1.5, 't']],
    ["'a', 1.5 x", "'a' CHAR, x DOUBLE", ['a', 1.5]],
    ['TABLE_NAME, dedup, dedup', 'TABLE_NAME STRING, dedup BOOLEAN, dedup_2 BOOLEAN', ['t', false, false]],
  ] as const)
    t.like(
      await shared.execute(`SELECT ${selected} FROM tables()`),
      {
        columns: heads.split(', ').map(head => ({ name: head.split(' ')[0], type: head.split(' ')[1] })),
        dataset: [row],
      },
      selected,
    );
  const { columns } = (await shared.execute('SELECT *, 1.5 FROM tables()')) as { columns?: readonly unknown[] };
  t.deepEqual(columns?.at(-1), { name: '"1.5"', type: 'DOUBLE' });
});

test('what needs rows or a query engine is rejected with the reason', async t => {
  await shared.execute('create table t (s symbol, x int, ts timestamp) timestamp(ts) partition by day');
  await shared.execute('create view one as (select count() n from t)');
  for (const sql of [
    'SELECT count() FROM t',
    'SELECT count() > 0 AS is_empty FROM t',
    'SELECT max(x) AS rows_lost FROM t',
    'SELECT max(x) rows_lost, min(ts) first_lost, max(ts) last_lost FROM t',
    'SELECT max(x), min(x) FROM t',
    'SELECT * FROM one',
    'SELECT * FROM (SELECT count() FROM t)',
    'SELECT x FROM t UNION ALL SELECT 1',
    'SELECT table_name FROM tables() UNION SELECT table_name FROM tables()',
    'SELECT table_name, view_name FROM tables(), views()',
    'SELECT table_name, view_name FROM tables() CROSS JOIN views()',
    'SELECT ts, max(x) FROM t SAMPLE BY 1h FROM 0 TO 9 FILL(NULL)',
    'WITH t AS (SELECT 1 x) SELECT x FROM t',
    'SELECT unheard_of(x) FROM t',
    'SELECT 1 + 1',
    'SELECT 1e3',
    'SELECT 9007199254740993',
    'SELECT constructor()',
  ])
    t.regex(
      (await shared.execute(sql)).error ?? '',
      /^sqlserve stores no rows and has no query engine: .* real QuestDB/,
      sql,
    );
  for (const [sql, verb] of [
    ["INSERT INTO t VALUES ('a', 1, now())", 'INSERT'],
    ['UPDATE t SET x = 1', 'UPDATE'],
  ] as const) {
    const error = `this server keeps the schema and no rows, so it rejects ${verb}; use a real QuestDB for tests that need rows`;
    t.like(await shared.execute(sql), { error, position: 0 });
  }
  t.deepEqual((await shared.execute('SELECT 5 AS rows_lost')).dataset, [[5]]);
  const assertion = 'SELECT count() = 0 AS is_empty FROM nowhere';
  t.like(await shared.execute(assertion), { error: 'table does not exist [table=nowhere]', position: 36 });
  t.like(await shared.execute('SELECT nope FROM t'), { error: 'Invalid column: nope', position: 7 });
  t.like(await shared.execute('t WHERE nope = 1'), { error: 'Invalid column: nope', position: 8 });
});

test('what a planner asks about lost rows is answered, because nothing is lost', async t => {
  const schema = (type: string) => [
    `CREATE TABLE t (ts TIMESTAMP, x ${type}) timestamp(ts) PARTITION BY DAY;`,
    'CREATE MATERIALIZED VIEW m REFRESH PERIOD (LENGTH 1d) AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h) PARTITION BY DAY;',
  ];
  for (const statement of schema('INT')) await shared.execute(statement);
  const answers: [question: string, row: unknown][] = [];
  const fetchRow = async (question: string) => {
    const [row] = (await shared.execute(question)).dataset ?? [];
    if (question.includes('_lost')) answers.push([question.replace(/.* FROM /s, ''), row]);
    return row;
  };
  const columns = [
    { name: 'ts', type: 'TIMESTAMP' },
    { name: 'n', type: 'DOUBLE' },
  ] as const;
  await planChanges(schema('DOUBLE'), schema('INT'), {
    fetchRow,
    async fetchHistory(_, printQuestion) {
      await fetchRow(printQuestion('ts', columns));
      return { answer: 'none', columns };
    },
  });
  t.is(answers.length, 2);
  for (const [question, row] of answers) t.deepEqual(row, [0, null, null], question);
});

test('a query over views that name views many times is answered in time', async t => {
  await shared.execute('create table v0 (x int)');
  for (let n = 1; n <= 25; n++)
    t.like(await shared.execute(`create view v${n} as (select a.x from v${n - 1} a cross join v${n - 1} b)`), {
      ddl: 'OK',
    });
  t.like(await shared.execute('SELECT * FROM v25'), { columns: [{ name: 'x', type: 'INT' }], count: 0 });
});

test('statements are rejected with the messages of QuestDB 9.3.4', async t => {
  const older = await serveHere(scope, { questdb: '9.3' });
  for (const { source, setup, statement, message, position } of readServerCases('questdb-9')) {
    const server = source.startsWith('of 9.3') ? older : shared;
    await server.dropAll();
    await setUp(server, ...setup);
    const expected = { error: message, ...(position !== undefined && { position }) };
    t.like(await server.execute(statement), expected, statement);
  }
  const [[build] = []] = (await older.execute('select build()')).dataset ?? [];
  t.regex(String(build), /QuestDB 9\.3\.4/);
});

test('a materialized view may select from what samples, as in QuestDB 9.3.4', async t => {
  await setUp(
    shared,
    'create table t (ts timestamp, x int) timestamp(ts) partition by day',
    'create view v as (select ts, sum(x) a from t sample by 1h)',
    "create view f as (with q as (select timestamp_floor('1d', ts) d, sum(x) a from t) select * from q)",
    'create view p as (select ts, x from t)',
    'create table j (ts timestamp) timestamp(ts) partition by day',
  );
  const unselected = 'TIMESTAMP column does not exist or not present in select list ';
  const missing = 'TIMESTAMP column is not present in select list';
  for (const [query, expected] of [
    ['select * from v', 'MONTH'],
    ['select d, a from f', 'YEAR'],
    ['select * from (with q as (select * from v) select * from q)', 'MONTH'],
    ['with v as (select * from v) select * from v', 'MONTH'],
    ['with t as (select * from t) select * from t', missing],
    ['select * from p', missing],
    ['select x ts, count() n from t sample by 1h', `${unselected}[name=ts1]`],
    ['select x ts, x ts1, count() n from t sample by 1h', `${unselected}[name=ts2]`],
    ['select j.ts, count() n from t asof join j sample by 1h', `${unselected}[name=ts1]`],
    ['select j.ts a, count() n from t asof join j sample by 1h', `${unselected}[name=ts]`],
    ['select * from (select x ts, count() n from t sample by 1h)', `${unselected}[name=ts1]`],
    ['select ts a, x ts, count() n from t sample by 1h', 'MONTH'],
    ['select a from v', `${unselected}[name=ts]`],
  ] as const) {
    const { error } = await shared.execute(
      `create materialized view m ${query.includes('join') ? 'with base t ' : ''}as (${query})`,
    );
    const [[ddl] = []] = (await shared.execute('show create materialized view m')).dataset ?? [];
    t.is(error ?? /PARTITION BY (\w+);$/.exec(String(ddl))?.[1], expected, query);
    await shared.execute('drop materialized view if exists m');
  }
});

test('CREATE TABLE LIKE a materialized view has its symbols and indexes, as in QuestDB 9.3.4', async t => {
  await setUp(
    shared,
    'create table t (ts timestamp, s symbol, u symbol index) timestamp(ts) partition by day',
    'create materialized view m as (select ts, s, u, count() n from t sample by 1h), index(S capacity 64)',
    'create table made (like m)',
  );
  t.deepEqual((await shared.execute('show create table made')).dataset, [
    [
      "CREATE TABLE 'made' ( \n\tts TIMESTAMP,\n\ts SYMBOL NOCACHE INDEX CAPACITY 64,\n\tu SYMBOL NOCACHE,\n\tn LONG\n) timestamp(ts) PARTITION BY MONTH;",
    ],
  ]);
});

test('queries are accepted with the same columns as in QuestDB 9.3.4', async t => {
  await setUp(
    shared,
    'create table t (ts timestamp, s symbol, v double) timestamp(ts) partition by day',
    'create table u (ts timestamp, s symbol, w double) timestamp(ts) partition by day',
  );
  const pivot = "t pivot (sum(v) for s in ('a','b') group by ts)";
  for (const [sql, columns, timestamp] of [
    ['select * from t join u on (s) latest on ts partition by s', 'ts s v ts1 s1 w', 'ts'],
    ['select ts a, s b from t union all select ts x, s y from u order by b desc, a + 1', 'a b', ''],
    ['select ts a, s from t except select ts, s from u order by a', 'a s', 'a'],
    ['select s, max(ts) m from t order by 2', 's m', 'm'],
    ['select distinct ts from t order by ts', 'ts', 'ts'],
    ['select x.ts, y.ts from t x join u y on (s) order by y.ts', 'ts ts_2', 'ts_2'],
    ['select y.s, x.*, x.s, v from t x asof join u y on (s)', 's ts s1 v s_2 v1', 'ts'],
    ['select *, v s from t', 'ts s v s1', 'ts'],
    ['select ts, v, from t', 'ts v', 'ts'],
    ['declare @t := (select * from t where v > 0), @s := x.s select @s, x.v from @t x', 's v', ''],
    ['declare @t := t, @c := s select @c, v from @t', 's v', ''],
    [`select * from ${pivot}`, 'ts a b', ''],
    [`select b, a + b c from ${pivot} order by c`, 'b c', ''],
    ["select * from t pivot (sum(v) x, max(v) y for s in ('a'))", 'a_x a_y', ''],
    ['select table_name from tables', 'table_name', ''],
    ['select relname from pg_catalog.pg_class c order by c.relname', 'relname', ''],
  ] as const) {
    t.is((await shared.execute(`create view x as (${sql})`)).error, undefined, sql);
    t.is((await shared.execute('create table made as (select * from x)')).error, undefined, sql);
    const ddl = String((await shared.execute('show create table made')).dataset?.[0]?.[0]);
    const made = [...ddl.matchAll(/^\t(\S+)/gm)].map(([, name]) => name).join(' ');
    t.deepEqual([made, /timestamp\((.*)\)/.exec(ddl)?.[1] ?? ''], [columns, timestamp], sql);
    await shared.execute('drop table made');
    await shared.execute('drop view x');
  }
  for (const text of [
    'select s x from t union select s from u',
    'select case when v > 0 then s end x from t',
    "select coalesce(s, 'a') x from t",
    'select max(s) x from t',
  ]) {
    t.is((await shared.execute(`create table j as (${text})`)).error, undefined, text);
    t.regex(String((await shared.execute('show create table j')).dataset?.[0]?.[0]), /\tx STRING\n/, text);
    await shared.execute('drop table j');
  }
  for (const order of ['m', 'ts desc', '2', 's, ts']) {
    const sql = `create materialized view m as (select ts, s, max(v) m from t sample by 1h order by ${order})`;
    t.is((await shared.execute(sql)).error, undefined, sql);
    await shared.execute('drop materialized view m');
  }
  t.is((await shared.execute('alter table t add column c symbol nocache capacity 16')).error, undefined);
});

for (const service of [sqlserve, questdb])
  service.test(`${service.name} leaves out the metadata of a reply with nm=true`, async t => {
    const { url } = await service.start(t);
    const ask = async (parameters: string) => (await fetch(`${url}/exec?query=select+1+x${parameters}`)).text();
    t.is(await ask('&nm=true'), '{"dataset":[[1]],"count":1}');
    for (const parameters of ['', '&nm=false'])
      t.is(
        await ask(parameters),
        '{"query":"select 1 x","columns":[{"name":"x","type":"INT"}],"timestamp":-1,"dataset":[[1]],"count":1}',
      );
  });

/** Expressions, and the names that a server gives to their columns. */
const NAMES: readonly (readonly [expression: string, name: string])[] = [
  ['X > 1 AND y < 2 Or b', 'X > 1 and y < 2 or b'],
  ['x > 1 AND (y > 2 OR b)', 'x > 1 and (y > 2 or b)'],
  ["s LIKE 'A%'", "s like 'A%'"],
  ["s NOT ILIKE 'A%'", "not(s ilike 'A%')"],
  ['(NOT b) = b', '(not(b)) = b'],
  ['x IN (1) AND b', 'x in 1 and b'],
  ['(x + 1 NOT IN (1,2)) = b', 'not(x + 1 in (1, 2)) = b'],
  ['x NOT BETWEEN 1 AND 2 * y', 'not(x between (1, 2 * y))'],
  ['(x IS NULL) = b', 'x = NULL = b'],
  ['s IS NOT NULL', 's != NULL'],
  ['-1 - -x', '-(1) - -(x)'],
  ["s || ('A' || x) = s", "concat(s, 'A', x) = s"],
  ["CASE x WHEN 1 THEN 'A' ELSE 'B' END", "switch(x, 1, 'A', 'B')"],
  ['COUNT(DISTINCT x)', 'count_distinct(x)'],
  ['(-x)::FLOAT', '(-(x))::DOUBLE'],
  ['CAST(x AS Decimal( 10 , 2 ))', 'x::Decimal_10_2'],
  ["x + Long '1'", "x + '1'::Long"],
  ["COALESCE(TIMESTAMP '2024', NULL) = x", "COALESCE('2024'::TIMESTAMP, NULL) = x"],
  ['ARRAY[[1,2],[x,3]]', 'ARRAY[ARRAY[1, 2], ARRAY[x, 3]]'],
];

for (const service of [sqlserve, questdb])
  service.test(`${service.name} names columns after expressions`, async t => {
    const server = await service.start(t);
    await server.execute('create table q (x int, y int, b boolean, s varchar)');
    for (const [expression, name] of NAMES) {
      const { columns, error } = await server.execute(`select y, ${expression} from q`);
      t.is(columns?.[1]?.name, name, error);
    }
  });

/** Queries that are compared as equal without these quotes, and queries that say something else without them. */
const QUOTED: [query: string, same: boolean][] = [
  ['select "x" from "q"', true],
  ['select abs("x"), "x" + 1, -"x", r."größe" "y" from q "r" where "x" > 1 order by "y"', true],
  ['select sum("x") over (partition by "größe" order by "ts") from q', true],
  ['with "c" as (select 1 x) select "c"."x" from "c"', true],
  ['select "timestamp", q."timestamp" "b" from q', true],
  ['select "max"(x) from q', false],
  ['select cast(x as "long") from q', false],
  ['select "true" from q', false],
  ['select * from q "asof" join q b', false],
];

questdb.test('QuestDB reads names that need no quotes the same without them', async t => {
  const server = await questdb.start(t);
  await server.execute(
    'create table q (ts timestamp, x int, größe int, "timestamp" long, "true" int) timestamp(ts) partition by day',
  );
  for (const [query, same] of QUOTED) {
    const [quoted, bare] = [query, query.replaceAll('"', '')];
    const [one, other] = await Promise.all([quoted, bare].map(each => server.execute(each)));
    t.is(other?.error, undefined, bare);
    t.is(isDeepStrictEqual({ ...one, query }, { ...other, query }), same, query);
    const { differences } = compareStatements(`create view v as (${quoted})`, `create view v as (${bare})`);
    t.is(differences.length === 0, same, query);
  }
});

/** `ΣΣ` in lower case is `σς` as a word, and `σσ` character by character, which is how the server compares names. */
const SIGMAS = [
  'create table "ΣΣ" (x int, "ΣΣ" timestamp, "ΑΣ" symbol) timestamp("σσ") partition by day wal dedup upsert keys("σσ")',
  'create table a as (select x, "ΣΣ", "ΑΣ" from "σσ"), cast("σσ" as timestamp_ns), index("ασ") timestamp("σσ") partition by day',
  'create view v as (select "ασ", q."σσ" from "σσ" q where q."σσ" > 0 order by q."σσ")',
  'create view w as (with "ΩΣ" as (select x from "σσ") select "ωσ".x from "ωσ")',
  'create view j as (select "ΓΣ".x, "γσ"."ασ" from "σσ" "ΓΣ" join a on (x))',
  'create materialized view m with base "σσ" as (select "σσ", max(x) x from "ΣΣ" timestamp("σσ") sample by 1h) partition by day',
  'create materialized view n with base "σσ" as (with "ΩΣ" as (select "ΣΣ", max(x) x from "ΣΣ" sample by 1h) select * from "ωσ") partition by day',
  'alter table "σσ" rename column "ασ" to "ΒΣ"',
  'alter table "σσ" alter column "βσ" add index',
];

for (const service of [sqlserve, questdb])
  service.test(`${service.name} compares names character by character`, async t => {
    const server = await service.start(t);
    for (const statement of SIGMAS) t.like(await server.execute(statement), { ddl: 'OK' }, statement);
    t.regex((await server.execute('create table "σσ" (x int)')).error ?? '', /already exists/);
  });
