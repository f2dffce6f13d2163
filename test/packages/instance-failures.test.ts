import { BestEffortClient, type ConnectionConfig, InstanceError } from '../../packages/instance/src/index.js';
import {
  type Answer,
  chunk,
  HTML,
  head,
  LAST_CHUNK,
  reply,
  replying,
  rowsBody,
  send,
  sendAndClose,
  TEXT,
} from '../faults/faulty-server.js';
import { connectTo, readRows, TARGET } from '../support/client.js';
import { test } from '../support/test.js';

const NO = '{"query":"x","error":"table already exists","position":13}';

type Failure = [name: string, answer: Answer, message: RegExp, target?: Partial<ConnectionConfig>];

/**
 * Replies, by the code of the error and whether the statement may have been executed. That each other one is noticed, with its
 * message, is in the tables of faults of sources and of targets.
 */
const FAILURES: [code: string, mayHaveRun: boolean, ...Failure[]][] = [
  [
    'DENIED',
    false,
    ['status 401', replying('Unauthorized\r\n', 401, TEXT), /401.*"Unauthorized".*HELP/],
    ['status 407', replying('', 407, TEXT), /the proxy requires credentials/],
  ],
  [
    'PROTOCOL',
    false,
    ['status 404', replying('Not Found\r\n', 404, TEXT), /404.*"Not Found": no QuestDB server there/],
    ['status 400 without JSON', replying('no\x1b[2J', 400, TEXT), /400.*"no\\x1b\[2J"/],
    [
      'a redirect to another host',
      replying('', 302, 'Location: https://u:secret@login.test/?t=secret'),
      /redirect \(302\) to https:\/\/login.test, and redirects/,
    ],
    [
      'a redirect to a path',
      replying('', 301, 'Location: /elsewhere'),
      /redirect \(301\) to another path of the server; does the address lack a path prefix/,
    ],
  ],
  [
    'PROTOCOL',
    true,
    ['a login page', replying('<!doctype html>\n<form>', 200, HTML), /"<!doctype html>\\n<form>".*login page/],
    ['an empty body', replying(''), /the reply is empty/],
    ['truncated JSON', replying('{"dataset":[["a"'), /the reply is truncated/],
    [
      'a truncated reply with Connection: close',
      sendAndClose(Buffer.concat([head(200, 'Connection: close'), chunk('{"ddl":"OK"}')])),
      /the reply is (truncated|malformed)/,
    ],
    [
      'a second reply inside the first',
      send(Buffer.concat([head(), chunk('{"dataset":[["a"],'), reply(NO, 400), LAST_CHUNK])),
      /the reply is malformed \(/,
    ],
    ['a reply that is not HTTP', send('SSH-2.0-OpenSSH_9.6\r\n'), /does not speak HTTP/],
  ],
  ['UNREACHABLE', false, ['status 414', replying('', 414, TEXT), /too large for a proxy/]],
  [
    'UNREACHABLE',
    true,
    ['status 500', replying('{"error":"boom"}', 500), /500: boom/],
    ['a connection closed without a reply', socket => socket.end(), /closed before a reply arrived/],
    ['no reply within the timeout', () => {}, /no answer within 0\.1 s.*--timeout/, { timeout: 100 }],
    [
      'a reply that stops',
      send(Buffer.concat([head(), chunk('{"ddl"')])),
      /no further row and no end of the reply within 1 s/,
      { timeout: 1000 }, // the first bytes arrive within this time on a busy machine too
    ],
  ],
];

for (const [code, mayHaveRun, ...failures] of FAILURES)
  for (const [name, answer, message, target] of failures)
    test(`${name}: the same error for rows, tables and statements`, async t => {
      const { db } = await connectTo(t, answer, target);
      const execute = () => db.execute('q');
      for (const ask of [() => readRows(db), () => db.queryRows('q'), execute]) {
        const error = await t.throwsAsync(ask, { instanceOf: InstanceError });
        t.is(error.code, code as never);
        t.regex(error.message, message);
        t.true(error.message.startsWith('INSTANCE: '));
        t.notRegex(error.message, /[\0-\x1f\x7f-\x9f]/);
        t.is(error.mayHaveRun, mayHaveRun && ask === execute, 'a query changes nothing');
      }
    });

test('an error that does not say so is about a statement that has not run', t =>
  t.false(new InstanceError('UNREACHABLE', 'INSTANCE: refused').mayHaveRun));

const NOT_FOUND = reply('Not Found', 404, TEXT);

test('an instance without /api/v1/sql/execute is queried through /exec from then on', async t => {
  const { db, requests } = await connectTo(t, (socket, { line }) =>
    socket.write(line.startsWith('GET /exec?') ? reply(rowsBody('a')) : NOT_FOUND),
  );
  t.deepEqual(await readRows(db), ['a']);
  t.deepEqual(await db.queryRows('x'), [['a']]);
  const paths = requests.map(({ line }) => line.replace(/^GET (.*)\?.*/, '$1'));
  t.deepEqual(paths, ['/api/v1/sql/execute', '/exec', '/exec']);
});

test('a 404 on both paths means not executed; the message names both paths', async t => {
  const { db, requests } = await connectTo(t, socket => socket.end(NOT_FOUND));
  const error = (await t.throwsAsync(db.execute('a'), { instanceOf: InstanceError })) as InstanceError;
  t.like(error, { code: 'PROTOCOL', mayHaveRun: false });
  t.regex(error.message, / Tried: http:\/\/127.0.0.1:\d+\/api\/v1\/sql\/execute, http:\/\/127.0.0.1:\d+\/exec$/);
  t.is(requests.length, 2);
});

for (const status of [302, 401, 429, 503])
  test(`a ${status} reply does not settle which path the server has`, async t => {
    const answers = [reply('', status, 'Retry-After: 1000'), NOT_FOUND, reply('{"ddl":"OK"}')];
    const { db } = await connectTo(t, (socket, { nth }) => socket.write(answers[nth] ?? NOT_FOUND));
    await t.throwsAsync(db.execute('a'));
    t.deepEqual(await db.execute('a'), { ok: true });
  });

test('a query that may fail hides failures of the instance, and no bugs', async t => {
  const bestEffort = new BestEffortClient(TARGET);
  t.teardown(() => bestEffort.close());
  t.is(await bestEffort.queryRows('q'), undefined);
  const bug = new BestEffortClient(TARGET).attempt(async () => {
    throw new TypeError('a bug');
  });
  await t.throwsAsync(bug, { instanceOf: TypeError });
});
