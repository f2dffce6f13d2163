/*! Short statements that need much work: sqlserve answers each in time, and the next one too. */

import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const scope = fileScope();
let server: Server;
test.before(async () => {
  server = await startSqlserve(scope);
  await server.execute('create table t (ts timestamp, a int, s symbol) timestamp(ts) partition by day');
  await server.execute('create view first as (select a from t)');
});

/** `piece` for each number, separated by commas. */
const list = (count: number, piece: (n: number) => string) => Array.from({ length: count }, (_, n) => piece(n)).join();

const declared = (count: number) => `declare @a0 := a, ${list(count, n => `@a${n + 1} := @a${n} + @a${n}`)}`;
const joined = (count: number) => list(count, n => `a${n + 1} as (select * from a${n} x join a${n} y)`);
const choice = list(30, n => `'${n}'`);

for (const [what, sql, error] of [
  ['doubling variables', `create view v as (${declared(60)} select @a60 x from t)`, /stand for too many expressions/],
  [
    'variables without an alias',
    `create view v as (${declared(60)} select @a60 from t)`,
    /stand for too many expressions/,
  ],
  [
    'variables in a cycle',
    'create view v as (declare @a := @b, @b := @a select @a x from t)',
    /nested too deeply|too many/,
  ],
  [
    'variables of a materialized view',
    `create materialized view v as (${declared(60)} select ts, @a60 from t sample by 1h)`,
    /stand for too many expressions/,
  ],
  [
    'doubling columns',
    `create view v as (with a0 as (select * from t), ${joined(60)} select * from a60)`,
    /a query of more than 20000 columns is not supported/,
  ],
  [
    'doubling queries of a materialized view',
    `create materialized view v as (with a0 as (select * from t), ${list(60, n => `a${n + 1} as (select * from a${n} union all select * from a${n})`)} select ts, sum(a) from a60 sample by 1h)`,
    /./,
  ],
  [
    'pivots',
    `create view v as (select * from t pivot (sum(a) for s in (${choice}) s in (${choice}) s in (${choice}) s in (${choice}) group by ts))`,
    /a query of more than 20000 columns is not supported/,
  ],
  ['one name many times', `create view v as (select ${list(4000, () => 'a')} from t)`, undefined],
  ['all columns many times', `create view v as (select ${list(3000, () => '*')} from t)`, undefined],
  ['parentheses', `create view v as (select ${'('.repeat(3000)}1${')'.repeat(3000)} x from t)`, /./],
] as const) {
  test(`a short statement that expands much is answered in time: ${what}`, async t => {
    const start = performance.now();
    const reply = await server.execute(sql);
    const time = performance.now() - start;
    if (error) t.regex(reply.error ?? '', error);
    else t.is(reply.error, undefined);
    t.true(time < 20_000, `${time} ms`);
    t.is((await server.execute('select build()')).dataset?.length, 1);
    await server.execute('drop view if exists v');
  });
}

test('duplicate column names get the next free number, in each way of naming', async t => {
  await server.execute('create view v as (select a, a, A as "a1", s a_3, a from t)');
  const columns = async () => (await server.execute('show columns from v')).dataset?.map(([name]) => name);
  t.deepEqual(await columns(), ['a', 'a_2', 'a1', 'a_3', 'a_4']);
  await server.execute('create or replace view v as (select *, *, a from t)');
  t.deepEqual(await columns(), ['ts', 'a', 's', 'ts1', 'a1', 's1', 'a2']);
});
