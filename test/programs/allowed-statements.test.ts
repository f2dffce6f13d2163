/*! `sqlapply --allow`: only the named verbs are sent; without the option, only those of a schema dump. */

import type { ExecutionContext } from 'ava';
import { startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { type Replay, runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const good = sharedSqlserve();

/** The statements that a replay sent to an instance with the table `t`, without queries, and the columns of `t` afterwards. */
interface Effect extends Replay {
  sent: string[];
  columns: unknown[] | undefined;
}

async function replayAndRecord(t: ExecutionContext, text: string, options = ''): Promise<Effect> {
  await good.dropAll();
  await good.execute('CREATE TABLE t (x INT)');
  const { url, requests } = await startFaultyServer(t, async (socket, request) =>
    socket.write(await forwardRequest(good, request)),
  );
  const outcome = await runSqlapply(t, url, { text, options });
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
  test(`without --allow nothing is sent if the input contains: ${statement}`, async t => {
    const { code, sent, columns, report } = await replayAndRecord(t, `${MORE}; ${statement};`);
    t.is(code, 1);
    t.deepEqual([sent, columns, report], [[], ['x'], []]);
  });

for (const allowed of ['ALTER', 'alter', 'ALTER,RENAME', 'ALTER --allow INSERT', 'all', 'ALL', 'DROP,ALL'])
  test(`--allow ${allowed} sends an ALTER`, async t => {
    const { code, sent, columns, stderr } = await replayAndRecord(t, `${ADD};`, `--allow ${allowed}`);
    t.is(code, 0, stderr);
    t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  });

for (const allowed of ['ALTER', 'ALTER,INSERT', 'ALTER --allow RENAME'])
  test(`--allow ${allowed} sends neither a DROP nor the statements before it`, async t => {
    const { code, sent, columns } = await replayAndRecord(t, `${MORE}; ${ADD}; ${DROP};`, `--allow ${allowed}`);
    t.is(code, 1);
    t.deepEqual([sent, columns], [[], ['x']]);
  });

for (const allowed of ['D', 'DROPS', 'TABLE', '"DROP TABLE"'])
  test(`--allow ${allowed} names no verb, so a DROP is not sent`, async t => {
    const { code, sent, columns } = await replayAndRecord(t, `${MORE}; ${DROP};`, `--allow ${allowed}`);
    t.true([1, 64].includes(code), `status ${code}`);
    t.deepEqual([sent, columns], [[], ['x']]);
  });

test('--allow DROP does not send an ALTER', async t => {
  const { code, sent, columns } = await replayAndRecord(t, `${ADD}; ${DROP};`, '--allow DROP');
  t.is(code, 1);
  t.deepEqual([sent, columns], [[], ['x']]);
});

test('--allow all sends every verb', async t => {
  const { code, sent, columns, results } = await replayAndRecord(t, `${MORE}; ${ADD}; ${DROP};`, '--allow all');
  t.is(code, 0);
  t.deepEqual(sent, [MORE, ADD, DROP]);
  t.deepEqual(results, ['applied', 'applied', 'applied']);
  t.is(columns, undefined);
});

test('with --stream, a statement that is not allowed ends the run and goes to the rejects', async t => {
  const { code, sent, columns, results, rejects } = await replayAndRecord(
    t,
    `${ADD}; ${DROP}; ${MORE};`,
    '--stream --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  t.deepEqual(results, ['applied', 'rejected', 'not reached']);
  t.is(rejects, `${DROP};\n\0${MORE};\n\0`);
});

test('with --keep-going, a statement that is not allowed is left out, and the status is 1', async t => {
  const { code, sent, columns, results, rejects } = await replayAndRecord(
    t,
    `${DROP}; ${MORE};`,
    '--keep-going --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[MORE], ['x']]);
  t.deepEqual(results, ['rejected', 'applied']);
  t.is(rejects, `${DROP};\n\0`);
});

test('a dry run rejects statements that --allow does not permit', async t => {
  const { code, sent, results } = await replayAndRecord(t, `${ADD}; ${DROP};`, '--dry-run --allow ALTER');
  t.is(code, 1);
  t.deepEqual(sent, []);
  t.deepEqual(results, ['would send', 'rejected']);
});
