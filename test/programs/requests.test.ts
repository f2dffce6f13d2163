/*!
 * Requests of `sqlapply` are counted: a statement that a server may have executed is not sent again, and after a failure of the instance
 * nothing more is sent. Definitions of the next statements are fetched together; one that a statement has changed meanwhile is not used.
 */
import type { Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { chunk, head, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
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
const LIST = reply('{"dataset":[["t","T",1]],"count":1}');
const NONE = reply('{"error":"table does not exist [table=t]","position":18}', 400);
const T = "CREATE TABLE 't' ( \n\tx INT\n);";
const AFTER = "CREATE TABLE 'after' ( \n\tx INT\n);";

/**
 * Replays three statements: a table, the given statement, which gets the answer, and another table. Resolves to the status, how often
 * the statement was sent, whether the other table was, and the three results.
 */
async function replayAround(
  t: ExecutionContext,
  statement: string,
  answer: (socket: Socket) => unknown,
  { showReply = NONE, options = '' }: { showReply?: Buffer; options?: string } = {},
) {
  const { url, requests } = await startFaultyServer(t, (socket, request) => {
    if (request.statement === statement.slice(0, -1)) return answer(socket);
    if (request.statement.includes('table_type')) return socket.write(LIST);
    const isQuery = /^SHOW|^SELECT/i.test(request.statement);
    return socket.write(isQuery ? showReply : OK);
  });
  const text = `CREATE TABLE 'before' (x INT); ${statement} ${AFTER}`;
  const { code, results, rejects } = await runSqlapply(t, url, { text, options: `--no-verify ${options}` });
  const sent = requests.filter(request => `${request.statement};` === statement).length;
  const continued = requests.some(request => request.statement.includes("'after'"));
  return { seen: [code, sent, continued, ...results], rejects };
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
      const { seen, rejects } = await replayAround(t, statement, answer, { options });
      t.deepEqual(seen, [status, 1, false, 'applied', 'unknown', 'not reached']);
      t.is(rejects, `${statement}\n\0${AFTER}\n\0`);
    });

  test(`${name}: a table that exists afterwards counts as applied and is not sent again`, async t => {
    const { seen } = await replayAround(t, T, answer, { showReply: reply(rowsBody(T)) });
    t.deepEqual(seen, [0, 1, true, 'applied', 'applied', 'applied']);
  });

  test(`${name}: a table that does not exist afterwards is sent once more, but not a third time`, async t => {
    const { seen } = await replayAround(t, T, answer, { options: '--keep-going' });
    t.deepEqual(seen, [status, 2, false, 'applied', 'failed', 'not reached']);
  });

  if (!isCommon) continue;
  for (const [title, showReply] of Object.entries({
    'a table that cannot be queried afterwards is sent once': reply(JSON_ERROR, 500),
    'a different table of that name leaves the outcome unknown': reply(rowsBody(T.replace('INT', 'LONG'))),
  }))
    test(`${name}: ${title}`, async t => {
      const { seen } = await replayAround(t, T, answer, { showReply });
      t.deepEqual(seen, [status, 1, false, 'applied', 'unknown', 'not reached']);
    });
}

for (const [name, status, answer] of [
  ['401', 77, reply('Unauthorized', 401)],
  ['404', 76, reply('Not Found', 404)],
  ['a redirect', 76, reply('', 302, 'Location: /elsewhere')],
  ['413', 69, reply('', 413)],
] as const)
  test(`${name}: the statement was not executed and has failed, and --keep-going stops too`, async t => {
    const { seen } = await replayAround(t, T, answerWith(answer), { options: '--keep-going' });
    t.deepEqual(seen, [status, 1, false, 'applied', 'failed', 'not reached']);
  });

test('429: the statement was not executed, so even a GRANT is sent again', async t => {
  let times = 0;
  const busyOnce = (socket: Socket) => socket.end(times++ ? OK : reply('too many', 429));
  const { seen } = await replayAround(t, 'GRANT SELECT ON t TO bob;', busyOnce);
  t.deepEqual(seen, [0, 2, true, 'applied', 'applied', 'applied']);
});

for (const options of ['', '--keep-going'])
  test(`a rejection ends the run unless --keep-going is given: "${options}"`, async t => {
    const rejected = answerWith(reply('{"error":"no","position":0}', 400));
    const { seen } = await replayAround(t, T, rejected, { options });
    t.deepEqual(seen, [1, 1, options !== '', 'applied', 'rejected', options ? 'applied' : 'not reached']);
  });

test('a lost reply is not settled by a user of another name or by a group', async t => {
  for (const others of [
    ['CREATE USER bobby;'],
    ['CREATE GROUP bob;'],
    ['CREATE SERVICE ACCOUNT bob;', 'CREATE USER bo;'],
  ]) {
    const [, answer] = LOST[500] as [number, (socket: Socket) => unknown];
    const { seen } = await replayAround(t, 'CREATE USER bob;', answer, { showReply: reply(rowsBody(...others)) });
    t.deepEqual(seen, [69, 1, false, 'applied', 'unknown', 'not reached'], others.join());
  }
});

test('a lost reply is settled by the existing user, even among others', async t => {
  const [, answer] = LOST[500] as [number, (socket: Socket) => unknown];
  const showReply = reply(rowsBody('CREATE USER bobby;', 'CREATE GROUP bob;', 'CREATE USER bob;'));
  const { seen } = await replayAround(t, 'CREATE USER bob;', answer, { showReply });
  t.deepEqual(seen, [0, 1, true, 'applied', 'applied', 'applied']);
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

const good = sharedSqlserve();

/** What a proxy does before it forwards a request, before it passes the reply on or another one instead, and afterwards. */
interface Hooks {
  before?(statement: string): Promise<void> | undefined;
  replace?(statement: string): string;
  reply?(statement: string): Promise<void> | Buffer | 'lost' | undefined;
  after?(statement: string): void;
}

async function startProxy(t: ExecutionContext, objects: readonly string[], hooks: Hooks) {
  for (const statement of objects) t.is((await good.execute(statement)).error, undefined, statement);
  const { before, replace = statement => statement, reply: answer, after } = hooks;
  const { url } = await startFaultyServer(t, async (socket, request) => {
    const { statement } = request;
    await before?.(statement);
    const line = `GET /exec?${new URLSearchParams({ query: replace(statement) })}`;
    const bytes = await forwardRequest(good, replace(statement) === statement ? request : { ...request, line });
    const own = await answer?.(statement);
    if (own === 'lost') return socket.destroy();
    return socket.write(own ?? bytes, () => after?.(statement));
  });
  return url;
}

const TABLES = ['CREATE TABLE a (x INT);', 'CREATE TABLE t (x INT, y INT);'];
const OLD = 'CREATE VIEW v AS (SELECT x FROM t);';

for (const change of ['CREATE OR REPLACE VIEW v AS (SELECT y FROM t);', 'ALTER TABLE t ADD COLUMN z INT;'])
  test(`a change whose reply is lost is looked for in a new definition: ${change}`, async t => {
    const isChange = (statement: string) => `${statement};` === change;
    const lose = (statement: string) => (isChange(statement) ? 'lost' : undefined);
    const url = await startProxy(t, [...TABLES, OLD], { reply: lose });
    const text = [...TABLES, change].join('\n');
    const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--allow REPLACE,ALTER' });
    t.deepEqual([code, results], [0, ['skipped', 'skipped', 'applied']], stderr);
  });

const BUSY = reply('', 503);

for (const statement of [
  'CREATE TABLE IF NOT EXISTS t (x INT, y INT);',
  'CREATE OR REPLACE VIEW v AS (SELECT y FROM t);',
  'ALTER TABLE t ADD COLUMN z INT;',
])
  test(`if the query before a statement breaks off, the statement was not sent and has failed: ${statement}`, async t => {
    const queries: string[] = [];
    const url = await startProxy(t, [...TABLES, OLD], {
      reply: query => (query.startsWith('SHOW CREATE') && queries.push(query) === 1 ? BUSY : undefined),
    });
    const { code, results, stderr } = await runSqlapply(t, url, { text: statement, options: '--allow REPLACE,ALTER' });
    t.deepEqual([code, results, queries.length], [69, ['failed'], 1], stderr);
    t.notRegex(stderr, /whether it was applied/);
  });

test('if a query after an accepted ALTER breaks off, the outcome is unknown', async t => {
  let isSent = false;
  const url = await startProxy(t, TABLES, {
    reply(statement) {
      if (statement.startsWith('ALTER')) isSent = true;
      else if (isSent) return BUSY;
      return undefined;
    },
  });
  const text = 'ALTER TABLE t ADD COLUMN z INT;';
  const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--allow ALTER' });
  t.deepEqual([code, results], [69, ['unknown']], stderr);
  t.regex(stderr, /ALTER of table 't'\): whether it was applied is unknown: .*answered 503/);
});

const MANY = Array.from({ length: 250 }, (_, i) => `CREATE TABLE t${i} (x INT);`);
const SKIPPED = MANY.map(() => 'skipped');

for (const options of ['', '--dry-run', '--jobs 8'])
  test(`a rerun needs few requests ${options}`, async t => {
    const server = await startSqlserve(t);
    t.is((await runSqlapply(t, server.url, { text: MANY.join('\n') })).code, 0);
    await server.execute('ALTER TABLE t120 ADD COLUMN y INT');
    const { url, queries } = await recordingProxy(t, server);
    const { results } = await runSqlapply(t, url, { text: MANY.join('\n'), options: `-k ${options}` });
    t.deepEqual(results, SKIPPED.with(120, 'differs'));
    t.true(queries.length < MANY.length / 2, queries.join('\n'));
    const listingQueries = queries.filter(query => /\bFROM tables\(\)/i.test(query) && !/WHERE/i.test(query));
    t.true(listingQueries.length <= 1, listingQueries.join('\n'));
  });

for (const jobs of [1, 2])
  test(`definitions that a statement of the stream changes are fetched again, with ${jobs} at once`, async t => {
    const server = await startSqlserve(t);
    const first = ['CREATE TABLE a (x INT);', 'CREATE TABLE b (x INT);', 'CREATE VIEW v AS (SELECT x FROM a);'];
    t.is((await runSqlapply(t, server.url, { text: first.join('\n') })).code, 0);
    const text = `${first.join('\n')}
    ALTER TABLE b ADD COLUMN y INT; CREATE TABLE b (x INT, y INT);
    CREATE OR REPLACE VIEW v AS (SELECT x FROM b); CREATE VIEW v AS (SELECT x FROM b);
    DROP TABLE a; CREATE TABLE a (y INT); CREATE TABLE a (y INT);`;
    const { results, stderr } = await runSqlapply(t, server.url, { text, options: `--allow all --jobs ${jobs}` });
    const [skipped, applied] = ['skipped', 'applied'];
    t.deepEqual(
      results,
      [skipped, skipped, skipped, applied, skipped, applied, skipped, applied, applied, skipped],
      stderr,
    );
  });

for (const options of ['', '--dry-run'])
  test(`a statement has the same result alone and after one whose object exists ${options}`, async t => {
    const server = await startSqlserve(t);
    const made = 'CREATE TABLE a (x INT); CREATE VIEW v AS (SELECT x FROM a);';
    t.is((await runSqlapply(t, server.url, { text: made })).code, 0);
    for (const [statement, result, error] of [
      ['CREATE VIEW v AS (SELECT x FROM a SAMPLE 1h);', 'rejected', "'by' expected"],
      ['CREATE VIEW v AS (SELECT x y FROM a);', 'differs', 'already exists with a different definition'],
      ['CREATE VIEW v AS (SELECT x FROM a);', 'skipped', undefined],
    ] as const) {
      const alone = await runSqlapply(t, server.url, { text: statement, options });
      const later = await runSqlapply(t, server.url, { text: `CREATE TABLE a (x INT); ${statement}`, options });
      for (const { report } of [alone, later]) t.like(report.at(-1), { result, error }, statement);
    }
  });

test('a view that a later statement replaces is not compared with the first one', async t => {
  const server = await startSqlserve(t);
  const text = `CREATE TABLE a (x INT, y INT); CREATE VIEW v AS (SELECT x FROM a);
    CREATE OR REPLACE VIEW v AS (SELECT y FROM a);`;
  const { code, results, stderr } = await runSqlapply(t, server.url, { text, options: '--allow REPLACE' });
  t.deepEqual([code, results], [0, ['applied', 'applied', 'applied']], stderr);
});
