import { freshFolder } from '../support/folder.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { CREATE_TRADES, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const shared = sharedSqlserve();

/** The reason for each invalid view, materialized or not. */
async function fetchInvalid(server: Server): Promise<Record<string, string>> {
  const lists = ['views', 'materialized_views'].map(list =>
    server.execute(`select view_name, view_status, invalidation_reason from ${list}()`),
  );
  const rows = (await Promise.all(lists)).flatMap(({ dataset = [] }) => dataset as string[][]);
  return Object.fromEntries(rows.flatMap(([name, status, reason]) => (status === 'valid' ? [] : [[name, reason]])));
}

// Observed on 9.3.4, which reports it with a short delay.
test('invalid views report the missing column or table, and become valid when it returns', async t => {
  for (const sql of [
    CREATE_TRADES,
    'create view v as (select s, v from trades where v > 0)',
    'create view w as (  select v from v)',
    'create view everything as (select * from trades)',
    'create view counted as (select count() n from trades)',
    'create materialized view m as (select ts, max(v) v from trades sample by 1h)',
    'create materialized view mm as (select ts, max(v) v from m sample by 1d)',
    'create materialized view later refresh manual deferred as (select ts, max(v) v from trades sample by 1h)',
  ]) {
    t.is((await shared.execute(sql)).error, undefined, sql);
  }
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
  const first = await startSqlserve(t, ['--data', folder]);
  await first.execute(CREATE_TRADES);
  await first.execute('create view v as (select v from trades)');
  await first.execute('create materialized view m as (select ts, max(v) v from trades sample by 1h)');
  await first.execute('alter table trades drop column v');
  const before = await fetchInvalid(first);
  t.deepEqual(before, { v: 'Invalid column: v', m: 'drop column operation' });
  await first.end();
  const second = await startSqlserve(t, ['--data', folder]);
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
  ] as const) {
    t.is((await shared.execute(sql)).position, position, sql);
  }
});

test('a view cannot depend on itself', async t => {
  for (const sql of [CREATE_TRADES, 'create view v as (select s from trades)', 'create view w as (select s from v)'])
    t.is((await shared.execute(sql)).error, undefined, sql);
  const itself = "circular dependency detected: view 'v' cannot reference itself";
  t.is((await shared.execute('create or replace view v as (select * from v)')).error, itself);
  t.like(await shared.execute('alter view v as (select * from w)'), {
    error: "circular dependency detected: 'v' cannot depend on 'w' because 'w' already depends on 'v'",
    position: 16,
  });
});
