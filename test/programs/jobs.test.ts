/*! `sqlapply --jobs`: independent statements overlap, dependent ones wait, and a rejection ends the run. */
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { startLatencyProxy } from '../support/latency-proxy.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const TRADING = resolve('scripts/trading.sql');
const file = fileScope();
const target = startSqlserve(file);

/** Pseudorandom delays: different for each request, the same in each run. */
function createDelays(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return (state / 2 ** 31) * 15;
  };
}

/** An empty instance behind a proxy with a different latency for each request. */
async function startFarTarget(t: Parameters<typeof startLatencyProxy>[0], seed: number) {
  const server = await target;
  await server.dropAll();
  const { url, way } = await startLatencyProxy(t, server.url, createDelays(seed));
  return { run: await inProcess(t, { FAR: url, DST: server.url, TRADING }), way };
}

for (const [seed, jobs] of [
  [1, 2],
  [2, 8],
  [3, 64],
])
  test(`--jobs ${jobs} makes the same copy`, async t => {
    const { run, way } = await startFarTarget(t, seed as number);
    t.like(await run(`sqlsplit $TRADING | sqlapply --jobs ${jobs} $FAR`), { code: 0, stderr: '' });
    t.true(way.max > 1 && way.max <= (jobs as number) + 1, `${way.max} at once`);
    const dump = await run('sqldump $DST');
    await (await target).dropAll();
    await run('sqlsplit $TRADING | sqlapply $DST');
    t.deepEqual(dump.stdout, (await run('sqldump $DST')).stdout);
  });

test('a view waits for what it names, in any case of letters, and an ALTER for all earlier statements', async t => {
  const { run } = await startFarTarget(t, 4);
  const chain = Array.from({ length: 12 }, (_, i) => `create view v${i} as (select x from ${i ? `V${i - 1}` : 'T'});`);
  const text = `create table t (x int); ${chain.join('')} alter table t add column y int; create view w as (select y from t);`;
  t.is(await run.silent(`sqlsplit <<< "${text}" | sqlapply -j 8 --allow ALTER $FAR`), '');
});

/** As many statements as are read back together. The ALTER asks for the defaults of the server, so no later statement has to. */
const BATCH = ['create table t (x int);', 'alter table t add column y int;'].concat(
  Array.from({ length: 98 }, (_, i) => `create table t${i} (x int);`),
);

for (const change of ['drop table t97', 'rename table t97 to u'])
  test(`objects are read back before a statement that changes them is sent: ${change}`, async t => {
    const server = await target;
    await server.dropAll();
    const events: string[] = [];
    const { url } = await recordingProxy(t, server, async query => {
      if (query === change) events.push('changed');
      if (query.split(' UNION ALL ').length !== BATCH.length - 1) return undefined;
      for (let i = 0; i < 100 && events.length === 0; i++) await pause(10);
      events.push('read back');
      return undefined;
    });
    const run = await inProcess(t, { DST: url });
    const options = '-j 2 --allow ALTER,DROP,RENAME';
    const { code, stderr } = await run(`sqlsplit <<< "${BATCH.join('')}${change};" | sqlapply ${options} $DST`);
    t.like({ code, stderr }, { code: 0, stderr: '' });
    t.deepEqual(events, ['read back', 'changed']);
  });

test('after a rejection no statement is started, and the results are in input order', async t => {
  const { run } = await startFarTarget(t, 5);
  const tables = (from: number) => Array.from({ length: 20 }, (_, i) => `create table t${from + i} (x int);`).join('');
  const text = `${tables(0)} create view bad as (select nope from t0); ${tables(20)}`;
  const { code, stdout, stderr } = await run(
    `sqlsplit <<< "${text}" | sqlapply -j 4 --report r $FAR; s=$?; cat r; exit $s`,
  );
  const outcomes = parseJsonLines(stdout);
  t.is(code, 1);
  t.regex(stderr, /statement 21 \(view 'bad'\): .*nope/);
  t.deepEqual(
    outcomes.map(({ n }) => n),
    Array.from({ length: 41 }, (_, i) => i + 1),
  );
  t.true(outcomes.slice(0, 20).every(({ result }) => result === 'applied'));
  t.true(outcomes.slice(24).every(({ result }) => result === 'not reached'));
  const again = await run(`sqlsplit <<< "${text.replace('nope', 'x')}" | sqlapply --if-exists skip -j 4 $FAR`);
  t.like(again, { code: 0, stderr: '' });
});

test('--jobs rejects an invalid number', async t => {
  const run = await inProcess(t);
  for (const jobs of ['0', '-1', '1.5', '65', 'many'])
    t.is((await run(`sqlapply --jobs=${jobs} localhost:1 < /dev/null`)).code, 64, jobs);
});
