import { type ConnectionConfig, InstanceError } from '../../packages/instance/src/index.js';
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
  sendPartAndClose,
  TEXT,
} from '../faults/faulty-server.js';
import { connectTo, readRows } from '../support/client.js';
import { test } from '../support/test.js';

const NO = '{"query":"x","error":"table already exists","position":13}';

type Failure = [name: string, answer: Answer, message: RegExp, target?: Partial<ConnectionConfig>];

/** Replies, by the code of the error and whether the statement may have been executed. */
const FAILURES: [code: string, outcomeUnknown: boolean, ...Failure[]][] = [
  [
    'DENIED',
    false,
    ['status 401', replying('Unauthorized\r\n', 401, TEXT), /401.*"Unauthorized".*HELP/],
    ['status 403 without JSON', replying('no\r\n', 403, TEXT), /403.*"no"/],
    ['status 407', replying('', 407, TEXT), /the proxy requires credentials/],
  ],
  [
    'PROTOCOL',
    false,
    ['status 404', replying('Not Found\r\n', 404, TEXT), /404.*"Not Found": no QuestDB server there/],
    ['status 405', replying('Method GET not supported', 405, TEXT), /405/],
    ['status 400 without JSON', replying('no\x1b[2J', 400, TEXT), /400.*"no\\x1b\[2J"/],
    [
      'a redirect to another host',
      replying('', 302, 'Location: https://u:secret@login.test/?t=secret'),
      /redirect \(302\) to https:\/\/login.test, which/,
    ],
    [
      'a redirect to a path',
      replying('', 301, 'Location: /elsewhere'),
      /redirect \(301\) to another path of the server; does the address lack a path prefix/,
    ],
    [
      'a redirect without a Location',
      replying('', 302, 'X: y'),
      /redirect \(302\) without a valid Location; is this a/,
    ],
  ],
  [
    'PROTOCOL',
    true,
    ['status 204', send('HTTP/1.1 204 X\r\n\r\n'), /answered 204/],
    ['a login page', replying('<!doctype html>\n<form>', 200, HTML), /"<!doctype html>\\n<form>".*login page/],
    ['an empty body', replying(''), /the reply is empty/],
    ['JSON that is no reply of QuestDB', replying('{"status":"up"}'), /no dataset|"up"/],
    ['truncated JSON', replying('{"dataset":[["a"'), /the reply is truncated/],
    ['invalid UTF-8', replying(Buffer.from('{"a":"\xff"}', 'latin1')), /not UTF-8/],
    ['the end of the connection in a reply', sendPartAndClose('{"ddl":"O'), /the reply is truncated/],
    ['complete JSON without the last chunk', sendPartAndClose('{"ddl":"OK"}'), /the reply is truncated/],
    [
      'a reply shorter than its Content-Length',
      sendAndClose('HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n{"ddl":"OK"}'),
      /the reply is truncated/,
    ],
    [
      'a truncated reply with Connection: close',
      sendAndClose(Buffer.concat([head(200, 'Connection: close'), chunk('{"ddl":"OK"}')])),
      /the reply is (truncated|malformed)/,
    ],
    ['an endless header', send(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10000)}`), /header of the reply is too large/],
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
    ['status 408', replying('', 408, TEXT), /the server timed out/],
    ['status 500', replying('{"error":"boom"}', 500), /500: boom/],
    ['status 502', replying('<h1>Bad Gateway</h1>', 502, HTML), /502.*"<h1>Bad Gateway/],
    ['a connection closed without a reply', socket => socket.end(), /closed before a reply arrived/],
    ['a connection reset without a reply', socket => socket.resetAndDestroy(), /closed before a reply arrived/],
    ['no reply within the timeout', () => {}, /no answer within 0\.3 s.*--timeout/, { timeout: 300 }],
    [
      'a reply that stops',
      send(Buffer.concat([head(), chunk('{"ddl"')])),
      /no further row and no end of the reply within 0\.3 s/,
      { timeout: 300 },
    ],
  ],
];

for (const [code, outcomeUnknown, ...failures] of FAILURES)
  for (const [name, answer, message, target] of failures)
    test(`${name}: the same error for rows, tables and statements`, async t => {
      const { db } = await connectTo(t, answer, target);
      for (const ask of [() => readRows(db), () => db.table('q'), () => db.execute('q')]) {
        const error = await t.throwsAsync(ask, { instanceOf: InstanceError });
        t.is(error.code, code as never);
        t.regex(error.message, message);
        t.true(error.message.startsWith('INSTANCE: '));
        t.notRegex(error.message, /[\0-\x1f\x7f-\x9f]/);
        t.is(error.outcomeUnknown, outcomeUnknown);
      }
    });

const NOT_FOUND = reply('Not Found', 404, TEXT);

test('an instance without /api/v1/sql/execute is queried through /exec from then on', async t => {
  const { db, requests } = await connectTo(t, (socket, { line }) =>
    socket.write(line.startsWith('GET /exec?') ? reply(rowsBody('a')) : NOT_FOUND),
  );
  t.deepEqual(await readRows(db), ['a']);
  t.deepEqual(await db.table('x'), [['a']]);
  const paths = requests.map(({ line }) => line.replace(/^GET (.*)\?.*/, '$1'));
  t.deepEqual(paths, ['/api/v1/sql/execute', '/exec', '/exec']);
});

test('a 404 on both paths means not executed; the message names both paths', async t => {
  const { db, requests } = await connectTo(t, socket => socket.end(NOT_FOUND));
  const error = (await t.throwsAsync(db.execute('a'), { instanceOf: InstanceError })) as InstanceError;
  t.like(error, { code: 'PROTOCOL', outcomeUnknown: false });
  t.regex(error.message, / Tried: http:\/\/127.0.0.1:\d+\/api\/v1\/sql\/execute, http:\/\/127.0.0.1:\d+\/exec$/);
  t.is(requests.length, 2);
});

test('a 503 reply does not settle which path the server has', async t => {
  const answers = [reply('', 503), NOT_FOUND, reply('{"ddl":"OK"}')];
  const { db } = await connectTo(t, (socket, { nth }) => socket.end(answers[nth] ?? NOT_FOUND));
  await t.throwsAsync(db.execute('a'));
  t.deepEqual(await db.execute('a'), { ok: true });
});
