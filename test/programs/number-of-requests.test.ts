/*!
 * Requests are counted: a statement that a server may have executed is not sent again, and after a failure of the instance
 * nothing more is sent, whatever the options.
 */
import type { Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { chunk, head, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { runSqlapply } from '../support/replay.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const answerWith = (bytes: string | Buffer) => (socket: Socket) => socket.end(bytes);
const JSON_ERROR = '{"error":"boom"}';

/** Replies that leave open whether the statement was executed, and the exit status for each. */
const LOST: Record<string, [status: number, answer: (socket: Socket) => unknown]> = {
  500: [69, answerWith(reply(JSON_ERROR, 500))],
  '500 on a connection that stays open': [69, socket => socket.write(reply(JSON_ERROR, 500))],
  502: [69, answerWith(reply('Bad Gateway', 502))],
  503: [69, answerWith(reply('', 503))],
  '503 with Retry-After: 0': [69, answerWith(reply('', 503, 'Retry-After: 0'))],
  504: [69, answerWith(reply('', 504))],
  408: [69, answerWith(reply('', 408))],
  'a page with 200': [76, answerWith(reply('<html>', 200))],
  'a truncated reply': [76, answerWith(Buffer.concat([head(), chunk('{"ddl":"O')]))],
  'no reply': [69, socket => socket.end()],
  'a connection reset': [69, socket => socket.resetAndDestroy()],
};

const OK = reply('{"ddl":"OK"}');
const NONE = reply('{"error":"table does not exist [table=t]","position":18}', 400);
const T = "CREATE TABLE 't' ( \n\tx INT\n);";
const AFTER = "CREATE TABLE 'after' ( \n\tx INT\n);";

/** Replays three statements: a table, the given statement, which gets the answer, and another table. */
async function replayAround(
  t: ExecutionContext,
  statement: string,
  answer: (socket: Socket) => unknown,
  { shown = NONE, options = '' }: { shown?: Buffer; options?: string } = {},
) {
  const { url, requests } = await startFaultyServer(t, (socket, request) => {
    if (request.statement === statement.slice(0, -1)) return answer(socket);
    const isQuery = /^SHOW|^SELECT/i.test(request.statement);
    return socket.write(isQuery ? shown : OK);
  });
  const text = `CREATE TABLE 'before' (x INT); ${statement} ${AFTER}`;
  const outcome = await runSqlapply(t, url, { text, options: `--no-verify ${options}` });
  const sent = requests.filter(request => `${request.statement};` === statement).length;
  return { ...outcome, sent, continued: requests.some(request => request.statement.includes("'after'")) };
}

/** The replies that are tried with more statements and options. */
const COMMON = ['500', '503', 'no reply'];

for (const [name, [status, answer]] of Object.entries(LOST)) {
  const isCommon = COMMON.includes(name);
  const grants = ['', ...(isCommon ? ['--keep-going', '--stream --if-exists skip'] : [])];
  for (const [statement, options] of [
    ...grants.map(options => ['GRANT SELECT ON t TO bob;', options] as const),
    ...(isCommon
      ? ([
          ['ALTER TABLE t ADD COLUMN y INT;', '--allow ALTER'],
          ['CREATE USER bob;', ''],
        ] as const)
      : []),
  ])
    test(`${name}: ${statement.split(' ', 2).join(' ')} ${options} is sent once, and nothing after it`, async t => {
      const { code, sent, continued, results, rejects } = await replayAround(t, statement, answer, { options });
      t.is(code, status);
      t.deepEqual([sent, continued], [1, false]);
      t.deepEqual(results, ['applied', 'unknown', 'not reached']);
      t.is(rejects, `${statement}\n\0${AFTER}\n\0`);
    });

  test(`${name}: a table that exists afterwards counts as applied and is not sent again`, async t => {
    const { code, sent, continued, results } = await replayAround(t, T, answer, { shown: reply(rowsBody(T)) });
    t.is(code, 0);
    t.deepEqual([sent, continued], [1, true]);
    t.deepEqual(results, ['applied', 'applied', 'applied']);
  });

  test(`${name}: a table that does not exist afterwards is sent once more, but not a third time`, async t => {
    const { code, sent, continued, results } = await replayAround(t, T, answer, { options: '--keep-going' });
    t.is(code, status);
    t.deepEqual([sent, continued], [2, false]);
    t.deepEqual(results, ['applied', 'failed', 'not reached']);
  });

  if (!isCommon) continue;
  test(`${name}: a table that cannot be queried afterwards is sent once`, async t => {
    const { code, sent, continued, results } = await replayAround(t, T, answer, { shown: reply(JSON_ERROR, 500) });
    t.is(code, status);
    t.deepEqual([sent, continued], [1, false]);
    t.deepEqual(results, ['applied', 'unknown', 'not reached']);
  });

  test(`${name}: a different table of that name leaves the outcome unknown`, async t => {
    const shown = reply(rowsBody(T.replace('INT', 'LONG')));
    const { code, sent, continued, results } = await replayAround(t, T, answer, { shown });
    t.is(code, status);
    t.deepEqual([sent, continued], [1, false]);
    t.deepEqual(results, ['applied', 'unknown', 'not reached']);
  });
}

for (const [name, status, answer] of [
  ['401', 77, reply('Unauthorized', 401)],
  ['404', 76, reply('Not Found', 404)],
  ['a redirect', 76, reply('', 302, 'Location: /elsewhere')],
  ['413', 69, reply('', 413)],
] as const)
  test(`${name}: the statement was not executed and has failed, and --keep-going stops too`, async t => {
    const { code, sent, continued, results } = await replayAround(t, T, answerWith(answer), {
      options: '--keep-going',
    });
    t.is(code, status);
    t.deepEqual([sent, continued], [1, false]);
    t.deepEqual(results, ['applied', 'failed', 'not reached']);
  });

test('429: the statement was not executed, so even a GRANT is sent again', async t => {
  let times = 0;
  const busyOnce = (socket: Socket) => socket.end(times++ ? OK : reply('too many', 429));
  const { code, sent, continued, results } = await replayAround(t, 'GRANT SELECT ON t TO bob;', busyOnce);
  t.is(code, 0);
  t.deepEqual([sent, continued], [2, true]);
  t.deepEqual(results, ['applied', 'applied', 'applied']);
});

for (const options of ['', '--keep-going'])
  test(`a rejection ends the run unless --keep-going is given: "${options}"`, async t => {
    const rejected = answerWith(reply('{"error":"no","position":0}', 400));
    const { code, sent, continued, results } = await replayAround(t, T, rejected, { options });
    t.is(code, 1);
    t.deepEqual([sent, continued], [1, options !== '']);
    t.deepEqual(results, ['applied', 'rejected', options ? 'applied' : 'not reached']);
  });

test('a lost reply is not settled by a user of another name or by a group', async t => {
  for (const others of [
    ['CREATE USER bobby;'],
    ['CREATE GROUP bob;'],
    ['CREATE SERVICE ACCOUNT bob;', 'CREATE USER bo;'],
  ]) {
    const [, answer] = LOST[500] as [number, (socket: Socket) => unknown];
    const { code, results } = await replayAround(t, 'CREATE USER bob;', answer, { shown: reply(rowsBody(...others)) });
    t.is(code, 69);
    t.deepEqual(results, ['applied', 'unknown', 'not reached'], others.join());
  }
});

test('a lost reply is settled by the existing user, even among others', async t => {
  const [, answer] = LOST[500] as [number, (socket: Socket) => unknown];
  const shown = reply(rowsBody('CREATE USER bobby;', 'CREATE GROUP bob;', 'CREATE USER bob;'));
  const { code, sent, results } = await replayAround(t, 'CREATE USER bob;', answer, { shown });
  t.is(code, 0);
  t.is(sent, 1);
  t.deepEqual(results, ['applied', 'applied', 'applied']);
});

test('a lost reply of an ALTER is settled by the object, if that shows the change', async t => {
  const good = await startSqlserve(t);
  await good.execute('CREATE TABLE t (x INT, y INT, ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL');
  await good.execute('CREATE TABLE n (x INT)');
  let isExecuted = true;
  const { url, requests } = await startFaultyServer(t, async (socket, request) => {
    if (!request.statement.startsWith('ALTER')) return socket.write(await forwardRequest(good, request));
    if (isExecuted) await forwardRequest(good, request);
    return socket.destroy();
  });
  const apply = (text: string) => runSqlapply(t, url, { text, options: '--allow ALTER' });
  const settled = await apply(
    'ALTER TABLE t ADD COLUMN z INT; ALTER TABLE t DROP COLUMN x; ALTER TABLE t RENAME COLUMN y TO x; ALTER TABLE t SET TTL 2 DAYS; ALTER TABLE n ADD COLUMN y INT, z LONG;',
  );
  t.is(settled.code, 0, settled.stderr);
  t.true(settled.report.every(({ result, proven }) => result === 'applied' && proven));
  const same = await apply('ALTER TABLE t DEDUP DISABLE;');
  t.deepEqual([same.code, same.results], [69, ['unknown']]);
  isExecuted = false;
  const lost = await apply('ALTER TABLE t ADD COLUMN w INT;');
  t.deepEqual([lost.code, lost.results], [69, ['unknown']]);
  t.is(requests.filter(({ statement }) => statement.startsWith('ALTER')).length, 7);
});
