/*! Input beyond a limit is a clear error: no stack trace, no abort, no silence; and sqlserve answers short statements with much work. */
import { flood, reply, startFaultyServer } from '../faults/faulty-server.js';
import type { Server } from '../support/server.js';
import { shell } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

/** Prints more statements than fit into Node's memory as limited here, with an object and a grant among them. */
const MANY = `many() { printf 'CREATE TABLE a (x INT)\\0GRANT SELECT ON a TO b\\0'; yes 'a' | head -n 200000 | tr '\\n' '\\0'; }
export NODE_OPTIONS=--max-old-space-size=64`;

for (const command of [
  'many | sqlsort > out',
  'many | sqlgrep --with-deps a > out',
  'many | sqljoin -d folder',
  'many > s; sqldiff s s',
  'many | sqljoin > s.sql; sqldiff s.sql s.sql',
])
  test(`input that exceeds the memory is an error: ${command}`, async t => {
    const { code, stderr } = await (await shell(t))(`${MANY}; ${command}`);
    t.regex(stderr, /^sql\w+: not enough memory for more than \d+ statements; set NODE_OPTIONS=\S+ to allow/);
    t.is(code, 74);
  });

test('sqlsort: a long cycle is named by some of its members', async t => {
  const circle = `node -e 'for (let i = 0; i < 1000; i++) process.stdout.write("CREATE VIEW v" + i + " AS (v" + (i + 1) % 1000 + ")\\0")'`;
  const { code, stderr } = await (await shell(t))(`${circle} | sqlsort > out`);
  t.regex(
    stderr,
    /: view 'v0' needs view 'v1', which .* needs view 'v19', which needs 980 more, which needs view 'v0'\n$/,
  );
  t.is(code, 65);
});

test('a grant on 200,000 objects does not overflow the call stack', async t => {
  const grant = `node -e 'process.stdout.write("GRANT SELECT ON " + "a,".repeat(2e5) + "a TO b\\0CREATE TABLE a (x INT)\\0")'`;
  const { code, stdout } = await (await shell(t))(
    `${grant} | sqlgrep --with-deps --kind grant | tr '\\0' '\\n' | grep -c ';$'`,
  );
  t.deepEqual([code, stdout], [0, '2\n']);
});

test('a table with a very long list of volumes is dumped unchanged', async t => {
  const row = `CREATE TABLE 't' ( \n\tx INT\n)${', IN VOLUME a'.repeat(100_000)}`;
  const { url } = await startFaultyServer(t, (socket, { statement }) =>
    socket.write(reply(JSON.stringify({ dataset: statement.startsWith('SHOW') ? [[row]] : [], count: undefined }))),
  );
  t.like(await (await shell(t, { URL: url }))('sqldump "$URL"'), { code: 0, stdout: `${row};\n\0` });
});

test('an endless dump ends sqldiff with an error about memory', async t => {
  const { url } = await startFaultyServer(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"dataset":[["CREATE TABLE t0 (x INT)"]');
    let row = 0;
    flood(socket, () => `,["CREATE TABLE t${++row} (x INT)"]`.repeat(100));
  });
  const { code, stderr } = await (await shell(t, { URL: url, NODE_OPTIONS: '--max-old-space-size=64' }))(
    `printf '\\0' | sqldiff "$URL" -`,
  );
  t.regex(stderr, /^sqldiff: not enough memory for more than \d+ statements; /);
  t.is(code, 74);
});

test('an endless reply to a statement is rejected and not read any further', async t => {
  let sent = 0;
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    if (statement.startsWith('SHOW')) return socket.write(reply('{"error":"no","position":0}', 400));
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"ddl":"OK"');
    flood(socket, () => {
      sent += 10_000;
      return ' '.repeat(10_000);
    });
  });
  const { code, stderr } = await (await shell(t, { URL: url }))(
    `printf 'GRANT SELECT ON a TO b\\0' | sqlapply --no-verify "$URL"`,
  );
  t.regex(stderr, /whether it was applied is unknown: .*: the reply is longer than \d+ bytes/);
  t.is(code, 76);
  t.true(sent < 100_000_000);
});

test('endless white space instead of rows exceeds the time for a row', async t => {
  const { url } = await startFaultyServer(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{');
    flood(socket, () => ' '.repeat(10_000));
  });
  const { code, stderr } = await (await shell(t, { URL: url }))('sqldump --timeout 0.2 "$URL"');
  t.regex(stderr, /: no further row and no end of the reply within 0\.2 s/);
  t.is(code, 69);
});

const scope = fileScope();
let server: Server;
test.before(async () => {
  server = await startSqlserve(scope);
  await server.execute('create table t (ts timestamp, a int, s symbol) timestamp(ts) partition by day');
  await server.execute('create view first as (select a from t)');
});

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
] as const)
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

test('duplicate column names get the next free number, in each way of naming', async t => {
  await server.execute('create view v as (select a, a, A as "a1", s a_3, a from t)');
  const columns = async () => (await server.execute('show columns from v')).dataset?.map(([name]) => name);
  t.deepEqual(await columns(), ['a', 'a_2', 'a1', 'a_3', 'a_4']);
  await server.execute('create or replace view v as (select *, *, a from t)');
  t.deepEqual(await columns(), ['ts', 'a', 's', 'ts1', 'a1', 's1', 'a2']);
});
