import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { freshFolder } from '../support/folder.js';
import { questdb, sqlserve } from '../support/instances.js';
import { basic, executeAs, setUp } from '../support/principals.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { CREATE_TRADES, readDump, serveFolder, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const shared = sharedSqlserve();

test('a schema is accepted, and dumped in an order that replays', async t => {
  t.deepEqual(await shared.execute(CREATE_TRADES), { ddl: 'OK' });
  t.deepEqual(await shared.execute('create view a as (select * from hourly)'), {
    query: 'create view a as (select * from hourly)',
    error: 'table does not exist [table=hourly]',
    position: 32,
  } as object);
  await shared.execute('create materialized view hourly as (select ts, max(v) as v from trades sample by 1h)');
  await shared.execute('create view a as (  select * from hourly\n)');
  t.deepEqual(await readDump(shared), [
    "CREATE TABLE 'trades' ( \n\tts TIMESTAMP,\n\ts SYMBOL INDEX CAPACITY 256,\n\tv DOUBLE\n) timestamp(ts) PARTITION BY DAY TTL 2 WEEKS;",
    "CREATE MATERIALIZED VIEW 'hourly' WITH BASE 'trades' REFRESH IMMEDIATE AS (\nselect ts, max(v) as v from trades sample by 1h\n) PARTITION BY MONTH;",
    "CREATE VIEW 'a' AS ( \nselect * from hourly\n);",
  ]);
});

test('ALTER changes the output of SHOW CREATE', async t => {
  await shared.execute(CREATE_TRADES);
  for (const change of [
    'add column n int',
    'add column m symbol nocache index capacity 100',
    'alter column n type long',
    'rename column v to price',
    'alter column s drop index',
    'alter column s nocache',
    'dedup enable upsert keys(ts, s)',
    'set ttl 3 months',
  ])
    t.deepEqual(await shared.execute(`alter table trades ${change}`), { ddl: 'OK' }, change);
  await shared.execute("rename table trades to 'old trades'");
  t.deepEqual(await readDump(shared), [
    "CREATE TABLE 'old trades' ( \n\tts TIMESTAMP,\n\ts SYMBOL NOCACHE,\n\tprice DOUBLE,\n\tn LONG,\n\tm SYMBOL NOCACHE INDEX CAPACITY 128\n) timestamp(ts) PARTITION BY DAY TTL 3 MONTHS\nDEDUP UPSERT KEYS(ts,s);",
  ]);
  t.is((await shared.execute('alter table trades drop column v')).error, 'table does not exist [table=trades]');
  t.is((await shared.execute('drop table if exists trades')).ddl, 'OK');
});

test('a table like a view has WAL, and names of columns match in any case, as in QuestDB 9.3.4', async t => {
  const server = await startSqlserve(t);
  for (const sql of [
    'create table b (ts timestamp, x int) timestamp(ts) partition by day wal',
    'create materialized view m as (select ts, max(x) x from b sample by 1h) partition by day',
    'create table l (like m)',
    'create view v as (select x + 1 y, ts from b)',
    'create table k (like V)',
    'create table c as (select ts, x from b), cast(X as long) timestamp(ts)',
    'create table d as (select ts, x from b) timestamp(TS) partition by day wal dedup upsert keys(TS, X)',
  ])
    t.is((await server.execute(sql)).error, undefined, sql);
  const shown = async (name: string) => (await server.execute(`show create table ${name}`)).dataset?.[0]?.[0];
  const parameters = await server.execute(
    "select maxUncommittedRows, o3MaxLag from tables() where table_name in ('l', 'm')",
  );
  t.deepEqual(parameters.dataset, [
    [500_000, -1],
    [500_000, -1],
  ]);
  t.is(await shown('k'), "CREATE TABLE 'k' ( \n\ty INT,\n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY N/A;");
  t.is(await shown('l'), "CREATE TABLE 'l' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;");
  t.is(
    await shown('c'),
    "CREATE TABLE 'c' ( \n\tts TIMESTAMP,\n\tx LONG\n) timestamp(ts) PARTITION BY NONE BYPASS WAL;",
  );
  t.is(
    await shown('d'),
    "CREATE TABLE 'd' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY\nDEDUP UPSERT KEYS(ts,x);",
  );
});

test('the catalogue functions list objects, and the reason for an invalid view', async t => {
  await shared.execute(CREATE_TRADES);
  await shared.execute('create view v as (select s from trades)');
  const tables = await shared.execute('select table_name, table_type from tables() order by table_name');
  t.deepEqual(tables.dataset, [
    ['trades', 'T'],
    ['v', 'V'],
  ]);
  t.regex((await shared.execute('select count() from v')).error ?? '', /stores no rows/);
  await shared.execute('drop table trades');
  const views = await shared.execute('select view_name, view_status, invalidation_reason from views()');
  t.deepEqual(views.dataset, [['v', 'invalid', 'table does not exist [table=trades]']]);
  for (const [condition, isTrue] of [
    ["view_status = 'invalid'", true],
    ["view_status <> 'invalid'", false],
    ["lower(view_name) in ('w', 'v') and view_status != 'valid'", true],
    ["view_name not in ('v') or view_name < 'a'", false],
    ["not (view_name > 'u')", false],
  ] as const) {
    const { dataset } = await shared.execute(`select view_name from views() where ${condition}`);
    t.deepEqual(dataset, isTrue ? [['v']] : [], condition);
  }
  const answer = await shared.execute("select view_name from views() where view_name ~ 'v'");
  t.regex(answer.error ?? '', /stores no rows/);
});

test('text after a semicolon prevents a statement from being executed', async t => {
  await shared.execute(CREATE_TRADES);
  for (const sql of [
    'drop table trades; drop table x',
    'drop all; create',
    'truncate table trades; x',
    'alter table trades alter column v type int; x',
  ]) {
    const [, word = ''] = /; (\w+)/.exec(sql) ?? [];
    t.like(await shared.execute(sql), { error: `unexpected token [${word}]`, position: sql.indexOf(';') + 2 });
  }
  t.is((await readDump(shared)).length, 1);
  t.deepEqual(await shared.execute('drop table trades;; -- gone'), { ddl: 'OK' });
});

test('the timestamp can be renamed without WAL, and dropped without partitions', async t => {
  await shared.execute('create table b (ts timestamp, a int) timestamp(ts) partition by day bypass wal');
  await shared.execute('create table n (ts timestamp, a int) timestamp(ts)');
  await shared.execute('alter table b rename column ts to at');
  await shared.execute('alter table n drop column ts');
  t.deepEqual(await readDump(shared), [
    "CREATE TABLE 'b' ( \n\tat TIMESTAMP,\n\ta INT\n) timestamp(at) PARTITION BY DAY BYPASS WAL;",
    "CREATE TABLE 'n' ( \n\ta INT\n);",
  ]);
});

test('catalogue functions need no SELECT, and SHOW replies as QuestDB 9.3.4 does', async t => {
  await shared.execute(CREATE_TRADES);
  await shared.execute('create view v as (select s from trades)');
  await shared.execute('create materialized view m as (select ts, max(v) as v from trades sample by 1h)');
  const values = 'table_name, maxUncommittedRows, o3MaxLag';
  for (const [sql, rows] of [
    ["table_columns('v')", [['s', 'SYMBOL', false, 0, false, 0, 0, false, false]]],
    ['show columns from v', [['s', 'SYMBOL', false, 0, false, 0, 0, false, false]]],
    ['show transaction isolation level', [['read committed']]],
    ['show max_identifier_length', [[63]]],
    ['show time zone', [['UTC']]],
    ['show parameters', []],
    [
      `select ${values} from tables() order by table_name limit 2`,
      [
        ['m', 500_000, -1],
        ['trades', 500_000, 600_000_000],
      ],
    ],
    [`select ${values} from tables() order by table_name desc limit 1`, [['v', 0, 0]]],
  ] as const)
    t.deepEqual((await shared.execute(sql)).dataset, rows as unknown as unknown[][], sql);
  t.deepEqual((await shared.execute('views()')).dataset, (await shared.execute('select * from views()')).dataset);
  t.is((await shared.execute('tables() order by table_name')).dataset?.length, 3);
});

test('tables() has the parameters of each table, in the units of QuestDB 9.3.4', async t => {
  for (const sql of [
    'create table a (ts timestamp) timestamp(ts) partition by day wal',
    'alter table a set param maxUncommittedRows = 5',
    'alter table a set param o3MaxLag = 250ms',
    'create table b (ts timestamp) timestamp(ts) partition by day wal with maxUncommittedRows=7, o3MaxLag=3s',
    'create table c (like b)',
    'create table d (ts timestamp) timestamp(ts) partition by day bypass wal',
    'alter table d set param maxUncommittedRows = 0',
    'alter table d set param o3MaxLag = 0us',
  ])
    t.deepEqual(await shared.execute(sql), { ddl: 'OK' }, sql);
  const values = 'table_name, maxUncommittedRows, o3MaxLag';
  t.deepEqual((await shared.execute(`select ${values} from tables() order by table_name`)).dataset, [
    ['a', 5, 250_000],
    ['b', 7, 3_000_000],
    ['c', 7, 3_000_000],
    ['d', 0, 0],
  ]);
});

test('/ping and / reply without a body and without a login', async t => {
  const ping = await fetch(`${shared.url}/ping`);
  const root = await fetch(`${shared.url}/`, { redirect: 'manual' });
  t.deepEqual([ping.status, await ping.text(), root.status, await root.text()], [204, '', 301, '']);
});

async function statusOf({ url }: Server, query: string, headers = ''): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.write(`GET /api/v1/sql/execute?query=${query} HTTP/1.1\r\n${headers}\r\n`);
  const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
  socket.destroy();
  return String(first).split('\r\n')[0];
}

for (const service of [sqlserve, questdb])
  service.test(`${service.name} closes the connection of a request one byte over the limit`, async t => {
    const server = await service.start(t);
    const ok = 'HTTP/1.1 200 OK';
    const select = 'select+1+--';
    // 33 bytes, `query=` and the query twice: less than 64,448. The query may be shorter, with a header: at most 64,448.
    t.is(await statusOf(server, select + '+'.repeat(32_190)), ok);
    t.is(await statusOf(server, select + '+'.repeat(32_191)), '');
    const header = (length: number) => `X: ${'x'.repeat(length)}\r\n`;
    t.is(await statusOf(server, select, header(64_376)), ok);
    t.is(await statusOf(server, select, header(64_377)), '');
    t.is(await statusOf(server, `${select}%20`, header(64_372)), ok);
    t.is(await statusOf(server, `${select}%20`, header(64_373)), '');
  });

test('--request-limit sets the limit of a request', async t => {
  // Escapes make a query shorter, so that another rule decides; 33 + 2 * 984 is 2001.
  const server = await startSqlserve(t, ['--request-limit', '2001']);
  t.is(await statusOf(server, `+${'%20'.repeat(325)}+`), 'HTTP/1.1 200 OK');
  t.is(await statusOf(server, '%20'.repeat(326)), '');
});

test('a login of the open source edition is required for every request except /settings', async t => {
  const server = await startSqlserve(t, [], { QDB_HTTP_USER: 'joe', QDB_HTTP_PASSWORD: 's3:cret' });
  const nobody = await fetch(`${server.url}/exec?query=show+tables`);
  t.deepEqual([nobody.status, await nobody.text()], [401, 'Unauthorized\r\n']);
  t.is((await executeAs(server, basic('joe', 'wrong'), 'show tables')).status, 401);
  t.is((await executeAs(server, basic('joe', 's3:cret'), 'show tables')).status, 200);
  t.is((await fetch(`${server.url}/settings`)).status, 200);
});

test('a connection that does not send HTTP, such as a TLS handshake, is closed at once', async t => {
  const { hostname, port } = new URL(shared.url);
  const hello = (to: string) => tlsConnect({ host: hostname, port: Number(to), rejectUnauthorized: false });
  await t.throwsAsync(once(hello(port), 'secureConnect'), { code: 'ECONNRESET' });
  for (const bytes of ['GARBAGE\r\n', '\n']) {
    const socket = connect(Number(port), hostname);
    socket.write(bytes);
    await once(socket.resume(), 'end');
  }
  t.pass();
});

async function fetchInvalid(server: Server): Promise<Record<string, string>> {
  const lists = ['views', 'materialized_views'].map(list =>
    server.execute(`select view_name, view_status, invalidation_reason from ${list}()`),
  );
  const rows = (await Promise.all(lists)).flatMap(({ dataset = [] }) => dataset as string[][]);
  return Object.fromEntries(rows.flatMap(([name, status, reason]) => (status === 'valid' ? [] : [[name, reason]])));
}

// Observed on 9.3.4, which reports it with a short delay.
test('invalid views report the missing column or table, and become valid when it returns', async t => {
  await setUp(
    shared,
    CREATE_TRADES,
    'create view v as (select s, v from trades where v > 0)',
    'create view w as (  select v from v)',
    'create view everything as (select * from trades)',
    'create view counted as (select count() n from trades)',
    'create materialized view m as (select ts, max(v) v from trades sample by 1h)',
    'create materialized view mm as (select ts, max(v) v from m sample by 1d)',
    'create materialized view later refresh manual deferred as (select ts, max(v) v from trades sample by 1h)',
  );
  const materialized = { m: 'rename column operation', mm: 'base materialized view is invalidated' };
  const noColumn = { v: 'Invalid column: v', w: 'Invalid column: v' };
  const noTable = 'table does not exist [table=trades]';
  for (const [sql, expected] of [
    ['alter table trades add column x int', {}],
    ['alter table trades alter column s drop index', {}],
    ['alter table trades rename column v to x2', { ...noColumn, ...materialized }],
    ['alter table trades add column v int', materialized],
    ['alter table trades drop column v', { ...noColumn, ...materialized }],
    ['rename table trades to t2', { v: noTable, w: noTable, everything: noTable, counted: noTable, ...materialized }],
    ['rename table t2 to trades', { ...noColumn, ...materialized }],
    ['create or replace view v as (select ts from trades)', { w: 'Invalid column: v', ...materialized }],
    ['drop view v', { w: 'table does not exist [table=v]', ...materialized }],
    ['create view v as (select x2 v from trades)', materialized],
    ['truncate table trades', materialized],
  ] as const) {
    t.is((await shared.execute(sql)).error, undefined, sql);
    t.deepEqual(await fetchInvalid(shared), expected, sql);
  }
  const columns = (await shared.execute('show columns from everything')).dataset?.map(([name]) => name);
  t.deepEqual(columns, ['ts', 's', 'x2', 'x']);
  t.is((await shared.execute('create view new as (select x from everything)')).ddl, 'OK');
});

test('a query on an invalid view is rejected with the reason for the invalid view', async t => {
  await shared.execute(CREATE_TRADES);
  await shared.execute('create view v as (select s, v from trades)');
  await shared.execute('create view w as (select * from v)');
  await shared.execute('alter table trades drop column v');
  t.like(await shared.execute('create view x as (select s from w)'), { error: 'Invalid column: v', position: 28 });
  await shared.execute('drop table trades');
  const error = 'table does not exist [table=trades]';
  t.like(await shared.execute('create view x as (select s from w)'), { error, position: 18 + 17 });
});

test('invalid views are invalid after a restart too', async t => {
  const folder = await freshFolder(t);
  const first = await serveFolder(t, folder, 'oss');
  await first.execute(CREATE_TRADES);
  await first.execute('create view v as (select v from trades)');
  await first.execute('create materialized view m as (select ts, max(v) v from trades sample by 1h)');
  await first.execute('alter table trades drop column v');
  const before = await fetchInvalid(first);
  t.deepEqual(before, { v: 'Invalid column: v', m: 'drop column operation' });
  await first.end();
  const second = await serveFolder(t, folder, 'oss');
  t.deepEqual(await fetchInvalid(second), before);
  await second.execute('alter table trades add column v int');
  t.deepEqual(await fetchInvalid(second), { m: 'drop column operation' });
});

test('errors in the queries of existing views have the positions of QuestDB 9.3.4', async t => {
  await shared.execute('create table t (a int, s symbol)');
  await shared.execute('create view e as (select * from t)');
  for (const [sql, position] of [
    ['create or replace view e as (select b from t)', 35],
    ['create or replace view e as   (select b from t)', 35],
    ['create or replace view e as ( select * from nope)', 43],
    ['create or replace view e as select * from nope', 42],
    ['create or replace view f as (select b from t)', 36],
    ['create or replace view e as (select a x, s x from t)', 43],
    ['create or replace view e as (select max(a) from t)', 28],
    ['create or replace view e as (select * from e)', 28],
    ['alter view e as   (select b from t)', 23],
    ['alter view e as(select b from t)', 23],
    ['alter view e as (select a x, s x from t)', 31],
    ['alter view e as (select max(a) from t)', 16],
  ] as const)
    t.is((await shared.execute(sql)).position, position, sql);
});
