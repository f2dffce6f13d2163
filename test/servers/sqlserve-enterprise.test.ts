import { admin, basic, bearer, executeAs, setUp } from '../support/principals.js';
import type { Server } from '../support/server.js';
import { serveHere } from '../support/sqlserve.js';
import { type Scope, test } from '../support/test.js';

async function startWith(scope: Scope, ...statements: string[]): Promise<Server> {
  const server = await serveHere(scope, { edition: 'enterprise' });
  await setUp(server, ...statements);
  return server;
}

test('enterprise: permissions limit statements and the contents of a dump', async t => {
  const server = await startWith(
    t,
    'create table open (ts timestamp, a int) timestamp(ts) partition by day',
    'create table closed (a int)',
    "create user bob with password 'it''s'",
    'create group readers',
    'add user bob to readers',
    'grant http to readers',
    'grant select on open(a) to readers',
  );
  t.is((await fetch(`${server.url}/exec?query=show+tables`)).status, 401);
  const bob = basic('bob', "it's");
  t.deepEqual((await executeAs(server, bob, 'show create database include (schema)')).dataset?.length, 1);
  for (const [sql, denied] of [
    ['show create database', 'LIST USERS'],
    ['create table x (a int)', 'CREATE TABLE'],
    ['drop table open', 'DROP TABLE on open'],
    ['show create table closed', 'SELECT on closed'],
    ['grant select on open to bob', 'SELECT WITH GRANT OPTION on open'],
  ] as const)
    t.like(await executeAs(server, bob, sql), { status: 403, error: `Access denied for bob [${denied}]` });
  await setUp(server, 'remove user bob from readers');
  t.like(await executeAs(server, bob, 'show tables'), { status: 403, error: 'Access denied for bob [HTTP]' });
  await setUp(server, 'alter user bob disable');
  t.is((await executeAs(server, bob, 'show tables')).status, 401);
});

test('enterprise: a table or a query needs SELECT on every column that it uses', async t => {
  const server = await startWith(
    t,
    'create table part (ts timestamp, a int, b int) timestamp(ts) partition by day',
    'create table closed (a int)',
    "create user bob with password 'bob'",
    'grant http, create table, create view, create materialized view to bob',
    'grant select on part(a) to bob',
    'grant rename column, drop column on part(a) to bob',
  );
  const bob = basic('bob', 'bob');
  for (const sql of [
    'show columns from part',
    "select * from table_columns('part')",
    'create view v1 as (select a from part where a > 1)',
    'create view v2 as (select p.a, ts from part p)',
    'create view v3 as (select * from (select a from part))',
    'create view v4 as (with closed as (select a from part) select * from closed)',
    'create view v5 as (select count() n from part)',
  ])
    t.is((await executeAs(server, bob, sql)).status, 200, sql);
  for (const [sql, denied] of [
    ['show columns from closed', 'SELECT on closed'],
    ["select * from table_columns('closed')", 'SELECT on closed'],
    ['create table t (like closed)', 'SELECT on closed'],
    ['select a from closed', 'SELECT on closed'],
    ['select count() = 0 as is_empty from closed', 'SELECT on closed'],
    ['create view w as (select b from part)', 'SELECT on part'],
    ['create view w as (select * from part)', 'SELECT on part'],
    ['create view w as (select p.* from part p)', 'SELECT on part'],
    ['create view w as (select a from part where b > 1)', 'SELECT on part'],
    ['create view w as (select x.a from part x join part y on x.a = y.b)', 'SELECT on part'],
    ['create view w as (select a from part latest on ts partition by b)', 'SELECT on part'],
    ['create table t as (select b from part)', 'SELECT on part'],
    ['create materialized view w as (select ts, max(b) m from part sample by 1h)', 'SELECT on part'],
    ['vacuum table part', 'VACUUM TABLE on part'],
    ['alter table part rename column a to c', 'RENAME COLUMN on part'],
  ])
    t.like(await executeAs(server, bob, sql ?? ''), { status: 403, error: `Access denied for bob [${denied}]` }, sql);
});

test('enterprise: an unknown permission cannot be granted', async t => {
  const server = await startWith(t);
  for (const [sql, at, error] of [
    ['grant http, selct on t to bob', 'selct', 'unknown permission [selct]'],
    ['grant create tables to bob', 'create', 'unknown permission [create tables]'],
    ['grant select, on t to bob', 'on', 'unknown permission []'],
    ['revoke sellect on t from bob', 'sellect', 'unknown permission [sellect]'],
  ] as const)
    t.like(await executeAs(server, admin, sql), { status: 400, error, position: sql.indexOf(at) }, sql);
  t.is((await executeAs(server, admin, 'grant All, dedup Enable on t to bob')).status, 200);
});

test('enterprise: an empty password is rejected with its position', async t => {
  const server = await startWith(t);
  const sql = "create user ann with password ''";
  t.like(await executeAs(server, admin, sql), { status: 400, error: 'password is empty', position: sql.indexOf("''") });
  for (const sql of ['create user ann', 'create user if not exists ann', 'create user if not exists admin'])
    t.is((await executeAs(server, admin, sql)).status, 200, sql);
  t.like(await executeAs(server, admin, "alter user ann with password ''"), {
    status: 400,
    error: 'password is empty',
  });
});

test('enterprise: WITH VERIFICATION rejects missing objects and principals', async t => {
  const server = await startWith(t, 'create user bob', 'create table there (a int)', 'create service account robot');
  for (const [sql, at, error] of [
    ['grant select on nope to bob', 'nope', 'table does not exist [table=nope]'],
    ['grant select on there, nope(a) to bob', 'nope', 'table does not exist [table=nope]'],
    ['grant select on there(b) to bob', 'there', 'column does not exist [table=there, column=b]'],
    ['grant http to nobody', 'nobody', 'entity does not exist [name=nobody]'],
    ['grant assume service account robot to nobody', 'nobody', 'entity does not exist [name=nobody]'],
  ] as const) {
    const position = sql.indexOf(at);
    t.like(await executeAs(server, admin, `${sql} with verification`), { status: 400, error, position }, sql);
    t.is((await executeAs(server, admin, sql)).status, 200, sql);
  }
  const verified = 'grant select on there(a) to bob with verification with grant option';
  t.is((await executeAs(server, admin, verified)).status, 200);
});

test('enterprise: DROP rejects a principal that is missing or of another kind', async t => {
  const server = await startWith(t, 'create user bob');
  for (const [sql, error] of [
    ['drop user nobody', 'user does not exist [name=nobody]'],
    ['drop group bob', 'group does not exist [name=bob]'],
  ] as const)
    t.like(await executeAs(server, admin, sql), { status: 400, error, position: sql.lastIndexOf(' ') + 1 }, sql);
  for (const sql of ['drop user if exists nobody', 'drop user bob'])
    t.is((await executeAs(server, admin, sql)).status, 200, sql);
});

test('enterprise: a token is valid until it is dropped', async t => {
  const server = await startWith(t, 'create service account robot', 'grant http to robot');
  const created = await executeAs(server, admin, "alter service account robot create token type rest with ttl '30d'");
  const token = created.dataset?.[0]?.[1];
  t.regex(String(token), /^qt1/);
  const login = bearer(String(token));
  t.is((await executeAs(server, login, 'show tables')).status, 200);
  for (const [end, error] of [
    ['drop token type rest nosuch', 'token does not exist'],
    ["drop token type rest 'nosuch' garbage", 'unexpected token [garbage]'],
    ['create token type rest', "'with' expected"],
    ["create token type rest with ttl '30d' garbage", 'unexpected token [garbage]'],
    ["create token type rest with ttl '59s'", /^TTL is a number and a unit/],
    ["create token type rest with ttl 'soon' refresh", /^TTL is a number and a unit/],
  ] as const) {
    const refused = await executeAs(server, admin, `alter service account robot ${end}`);
    t.is(refused.status, 400, end);
    if (typeof error === 'string') t.is(refused.error, error);
    else t.regex(refused.error ?? '', error);
  }
  t.is((await executeAs(server, login, 'show tables')).status, 200);
  const others = "alter service account robot create token type rest with ttl '1m' refresh";
  const other = bearer(String((await executeAs(server, admin, others)).dataset?.[0]?.[1]));
  await executeAs(server, admin, `alter service account robot drop token type rest '${token}'`);
  t.is((await executeAs(server, login, 'show tables')).status, 401);
  t.is((await executeAs(server, other, 'show tables')).status, 200);
  await executeAs(server, admin, 'alter service account robot drop token type rest');
  t.is((await executeAs(server, other, 'show tables')).status, 401);
});

test('enterprise: live views are created, listed and shown as by QuestDB 10', async t => {
  const query = 'SELECT ts, count(*) OVER (PARTITION BY sym ORDER BY ts ROWS 3 PRECEDING) n FROM base';
  const server = await startWith(
    t,
    'CREATE TABLE base (ts TIMESTAMP, sym SYMBOL, x INT) timestamp(ts) PARTITION BY DAY',
    "CREATE USER ann WITH PASSWORD 'x'",
    `CREATE LIVE VIEW lv FLUSH EVERY 1_500ms START FROM '2026-04-01' AS ${query} OWNED BY ann`,
    `CREATE LIVE VIEW IF NOT EXISTS other FLUSH EVERY 2s START FROM NOW IN MEMORY 1m AS (${query})`,
    'ALTER LIVE VIEW lv RESUME WAL',
    'GRANT DROP LIVE VIEW ON other TO ann',
    'GRANT SELECT ON base(* EXCLUDE (x)) TO ann',
  );
  const run = (sql: string) => executeAs(server, admin, sql);
  const printed = `CREATE LIVE VIEW 'lv' FLUSH EVERY 1500ms IN MEMORY 1500ms PARTITION BY DAY START FROM '2026-04-01T00:00:00.000000Z' AS (\n${query}\n)\nOWNED BY 'ann';`;
  t.deepEqual((await run('SHOW CREATE LIVE VIEW lv')).dataset, [[printed]]);
  const dump = (await run('SHOW CREATE DATABASE INCLUDE (LIVE_VIEWS)')).dataset?.flat() ?? [];
  t.deepEqual([dump.length, dump[0]], [2, printed]);
  t.like((await run('SHOW CREATE DATABASE INCLUDE (SCHEMA)')).dataset, { length: 3 });
  t.deepEqual((await run('SELECT table_name, table_type FROM tables()')).dataset, [
    ['base', 'T'],
    ['lv', 'L'],
    ['other', 'L'],
  ]);
  await run('ALTER TABLE base RENAME COLUMN sym TO symbol');
  await run(`CREATE LIVE VIEW fresh FLUSH EVERY 2s START FROM NOW AS (${query.replace('sym', 'symbol')})`);
  const listed = await run(
    'SELECT view_name, base_table_name, view_status, invalidation_reason, flush_every_interval, flush_every_interval_unit, in_memory_interval, in_memory_interval_unit, view_lower_bound_timestamp FROM live_views()',
  );
  const reason = 'rename column operation [column=sym]';
  t.deepEqual(listed.dataset, [
    ['lv', 'base', 'invalid', reason, 1500, 'MILLISECOND', 1500, 'MILLISECOND', '2026-04-01T00:00:00.000000Z'],
    ['other', 'base', 'invalid', reason, 2, 'SECOND', 1, 'MINUTE', null],
    ['fresh', 'base', 'active', null, 2, 'SECOND', 2, 'SECOND', null],
  ]);
  const ann = basic('ann', 'x');
  await run('GRANT HTTP TO ann');
  for (const [sql, denied] of [
    [`CREATE LIVE VIEW no FLUSH EVERY 1s START FROM NOW AS (${query})`, 'CREATE LIVE VIEW'],
    ['DROP LIVE VIEW fresh', 'DROP LIVE VIEW on fresh'],
    ['ALTER TABLE base SET FORMAT PARQUET', 'SET TABLE FORMAT on base'],
  ] as const)
    t.like(await executeAs(server, ann, sql), { status: 403, error: `Access denied for ann [${denied}]` });
  t.like(await executeAs(server, ann, 'DROP LIVE VIEW other'), { status: 200 });
  t.like(await executeAs(server, ann, 'DROP LIVE VIEW lv'), { status: 200 }, 'its owner');
});
