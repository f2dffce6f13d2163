/*! `sqlapply --jobs`: what may overlap does, what must wait does, and a refusal still ends the run. */
import { resolve } from 'node:path';
import { startLatencyProxy } from './support/latency-proxy.js';
import { fileScope } from './support/scope.js';
import { shell } from './support/shell.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const TRADING = resolve('scripts/trading.sql');
const file = fileScope();
const target = startSqlserve(file);

/** Times that differ from request to request and not from run to run. */
function uneven(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return (state / 2 ** 31) * 15;
  };
}

/** An empty instance behind a way whose length changes from request to request. */
async function farTarget(t: Parameters<typeof startLatencyProxy>[0], seed: number) {
  const server = await target;
  await server.dropAll();
  const { url, way } = await startLatencyProxy(t, server.url, uneven(seed));
  return { run: await shell(t, { FAR: url, DST: server.url, TRADING }), way };
}

for (const [seed, jobs] of [
  [1, 2],
  [2, 8],
  [3, 64],
])
  test(`the copy is the same with ${jobs} jobs`, async t => {
    const { run, way } = await farTarget(t, seed as number);
    t.like(await run(`sqlsplit $TRADING | sqlapply --jobs ${jobs} $FAR`), { code: 0, stderr: '' });
    t.true(way.max > 1 && way.max <= (jobs as number) + 1, `${way.max} at once`);
    const dump = await run('sqldump $DST');
    await (await target).dropAll();
    await run('sqlsplit $TRADING | sqlapply $DST');
    t.deepEqual(dump.stdout, (await run('sqldump $DST')).stdout);
  });

test('a view waits for what it reads, and a statement that is no object for all', async t => {
  const { run } = await farTarget(t, 4);
  const chain = Array.from({ length: 12 }, (_, i) => `create view v${i} as (select x from ${i ? `v${i - 1}` : 't'});`);
  const text = `create table t (x int); ${chain.join('')} alter table t add column y int; create view w as (select y from t);`;
  t.like(await run(`sqlsplit <<< "${text}" | sqlapply -j 8 --allow ALTER $FAR`), { code: 0, stderr: '' });
});

test('a refusal ends the run: nothing is begun behind it, and the outcomes are in order', async t => {
  const { run } = await farTarget(t, 5);
  const tables = (from: number) => Array.from({ length: 20 }, (_, i) => `create table t${from + i} (x int);`).join('');
  const text = `${tables(0)} create view bad as (select nope from t0); ${tables(20)}`;
  const { code, stdout, stderr } = await run(
    `sqlsplit <<< "${text}" | sqlapply -j 4 --report r $FAR; s=$?; cat r; exit $s`,
  );
  const outcomes = stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
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

test('a number of jobs that is none', async t => {
  const run = await shell(t);
  for (const jobs of ['0', '-1', '1.5', '65', 'many'])
    t.is((await run(`sqlapply --jobs=${jobs} localhost:1 < /dev/null`)).code, 64, jobs);
});
