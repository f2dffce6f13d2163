/*! `sqlapply --allow`: the verbs that are named are sent, and no others; without it those of a schema dump alone. */
import type { ExecutionContext } from 'ava';
import { startFaultyServer } from './faults/faulty-server.js';
import { passOn } from './faults/run.js';
import { type Replay, replay } from './support/replay.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const scope = fileScope();
let good: Server;

test.before(async () => {
  good = await startSqlserve(scope);
});

/** What a replay on an instance with the table `t` sent, besides questions, and what the instance has afterwards. */
interface Effect extends Replay {
  sent: string[];
  columns: unknown[] | undefined;
}

async function replayCounted(t: ExecutionContext, text: string, options = ''): Promise<Effect> {
  await good.dropAll();
  await good.execute('CREATE TABLE t (x INT)');
  const { url, requests } = await startFaultyServer(t, async (socket, request) =>
    socket.write(await passOn(good, request)),
  );
  const outcome = await replay(t, url, { text, options });
  const sent = requests.map(({ statement }) => statement).filter(statement => !/^\(?SHOW|^SELECT/.test(statement));
  const { dataset } = await good.execute('SHOW COLUMNS FROM t');
  return { ...outcome, sent, columns: dataset?.map(([name]) => name) };
}

const ADD = 'ALTER TABLE t ADD COLUMN y INT';
const DROP = 'DROP TABLE t';
const MORE = 'CREATE TABLE more (x INT)';

for (const statement of [
  ADD,
  DROP,
  'TRUNCATE TABLE t',
  'RENAME TABLE t TO u',
  'INSERT INTO t VALUES (1)',
  'UPDATE t SET x = 1',
  'REVOKE SELECT ON t FROM u',
  'SELECT 1',
  'drop table t',
])
  test(`without --allow it is not sent, nor what comes before it: ${statement}`, async t => {
    const { code, sent, columns, report } = await replayCounted(t, `${MORE}; ${statement};`);
    t.is(code, 1);
    t.deepEqual([sent, columns, report], [[], ['x'], []]);
  });

for (const allowed of ['ALTER', 'alter', 'ALTER,RENAME', 'ALTER --allow INSERT', 'all', 'ALL', 'DROP,ALL'])
  test(`--allow ${allowed} sends an ALTER`, async t => {
    const { code, sent, columns, stderr } = await replayCounted(t, `${ADD};`, `--allow ${allowed}`);
    t.is(code, 0, stderr);
    t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  });

for (const allowed of ['ALTER', 'ALTER,INSERT', 'ALTER --allow RENAME'])
  test(`--allow ${allowed} does not send a DROP, nor what comes before it`, async t => {
    const { code, sent, columns } = await replayCounted(t, `${MORE}; ${ADD}; ${DROP};`, `--allow ${allowed}`);
    t.is(code, 1);
    t.deepEqual([sent, columns], [[], ['x']]);
  });

for (const allowed of ['D', 'DROPS', 'TABLE', '"DROP TABLE"'])
  test(`--allow ${allowed} names no verb, so no DROP is sent`, async t => {
    const { code, sent, columns } = await replayCounted(t, `${MORE}; ${DROP};`, `--allow ${allowed}`);
    t.true([1, 64].includes(code), `status ${code}`);
    t.deepEqual([sent, columns], [[], ['x']]);
  });

test('--allow DROP does not send an ALTER', async t => {
  const { code, sent, columns } = await replayCounted(t, `${ADD}; ${DROP};`, '--allow DROP');
  t.is(code, 1);
  t.deepEqual([sent, columns], [[], ['x']]);
});

test('--allow all sends every verb', async t => {
  const { code, sent, columns, results } = await replayCounted(t, `${MORE}; ${ADD}; ${DROP};`, '--allow all');
  t.is(code, 0);
  t.deepEqual(sent, [MORE, ADD, DROP]);
  t.deepEqual(results, ['applied', 'applied', 'applied']);
  t.is(columns, undefined);
});

test('what is not allowed ends a replay that sends as records arrive, and is among the rejects', async t => {
  const { code, sent, columns, results, rejects } = await replayCounted(
    t,
    `${ADD}; ${DROP}; ${MORE};`,
    '--stream --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  t.deepEqual(results, ['applied', 'rejected', 'not reached']);
  t.is(rejects, `${DROP};\n\0${MORE};\n\0`);
});

test('with --keep-going what is not allowed is left out, and the status is 1', async t => {
  const { code, sent, columns, results, rejects } = await replayCounted(
    t,
    `${DROP}; ${MORE};`,
    '--keep-going --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[MORE], ['x']]);
  t.deepEqual(results, ['rejected', 'applied']);
  t.is(rejects, `${DROP};\n\0`);
});

test('a dry run refuses what would not be sent', async t => {
  const { code, sent, results } = await replayCounted(t, `${ADD}; ${DROP};`, '--dry-run --allow ALTER');
  t.is(code, 1);
  t.deepEqual(sent, []);
  t.deepEqual(results, ['would send', 'rejected']);
});
