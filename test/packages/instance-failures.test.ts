import type { Socket } from 'node:net';
import { type ConnectionConfig, type Instance, InstanceError } from '../../packages/instance/src/index.js';
import {
  type Answer,
  chunk,
  HTML,
  head,
  LAST_CHUNK,
  reply,
  rowsBody,
  send,
  sendAndClose,
  TEXT,
} from '../faults/faulty-server.js';
import { connectTo } from '../support/client.js';
import { macro, test } from '../support/test.js';

async function readRows(db: Instance): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of db.rows('q')) all.push(...batch);
  return all;
}

const NO = '{"query":"x","error":"table already exists","position":13}';

/** Asserts the same error for rows, tables and statements; `outcomeUnknown` tells whether a statement may have been executed. */
const failsWith = macro(
  async (
    t,
    answer: Answer,
    code: string,
    outcomeUnknown: boolean,
    message: RegExp,
    target: Partial<ConnectionConfig> = {},
  ) => {
    const { db } = await connectTo(t, answer, target);
    for (const ask of [() => readRows(db), () => db.table('q'), () => db.execute('q')]) {
      const error = await t.throwsAsync(ask, { instanceOf: InstanceError });
      t.is(error.code, code as never);
      t.regex(error.message, message);
      t.true(error.message.startsWith('INSTANCE: '));
      t.notRegex(error.message, /[\0-\x1f\x7f-\x9f]/);
      t.is(error.outcomeUnknown, outcomeUnknown);
    }
  },
);

test('status 401', failsWith, send(reply('Unauthorized\r\n', 401, TEXT)), 'DENIED', false, /401.*"Unauthorized".*HELP/);
test('status 403 without JSON', failsWith, send(reply('no\r\n', 403, TEXT)), 'DENIED', false, /403.*"no"/);
test(
  'status 404',
  failsWith,
  send(reply('Not Found\r\n', 404, TEXT)),
  'PROTOCOL',
  false,
  /404.*"Not Found": no QuestDB server there/,
);

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

test('status 405', failsWith, send(reply('Method GET not supported', 405, TEXT)), 'PROTOCOL', false, /405/);
test('status 407', failsWith, send(reply('', 407, TEXT)), 'DENIED', false, /the proxy requires credentials/);
test('status 408', failsWith, send(reply('', 408, TEXT)), 'UNREACHABLE', true, /the server timed out/);
test('status 414', failsWith, send(reply('', 414, TEXT)), 'UNREACHABLE', false, /too large for a proxy/);
test('status 500', failsWith, send(reply('{"error":"boom"}', 500)), 'UNREACHABLE', true, /500: boom/);
test(
  'status 502',
  failsWith,
  send(reply('<h1>Bad Gateway</h1>', 502, HTML)),
  'UNREACHABLE',
  true,
  /502.*"<h1>Bad Gateway/,
);
test('status 204', failsWith, send('HTTP/1.1 204 X\r\n\r\n'), 'PROTOCOL', true, /answered 204/);
test(
  'status 400 without JSON',
  failsWith,
  send(reply('no\x1b[2J', 400, TEXT)),
  'PROTOCOL',
  false,
  /400.*"no\\x1b\[2J"/,
);
test(
  'a login page',
  failsWith,
  send(reply('<!doctype html>\n<form>', 200, HTML)),
  'PROTOCOL',
  true,
  /"<!doctype html>\\n<form>".*login page/,
);
test('an empty body', failsWith, send(reply('')), 'PROTOCOL', true, /the reply is empty/);
test(
  'JSON that is no reply of QuestDB',
  failsWith,
  send(reply('{"status":"up"}')),
  'PROTOCOL',
  true,
  /no dataset|"up"/,
);
test('truncated JSON', failsWith, send(reply('{"dataset":[["a"')), 'PROTOCOL', true, /the reply is truncated/);
test('invalid UTF-8', failsWith, send(reply(Buffer.from('{"a":"\xff"}', 'latin1'))), 'PROTOCOL', true, /not UTF-8/);
test(
  'a reply truncated by the end of the connection',
  failsWith,
  sendAndClose(Buffer.concat([head(), chunk('{"ddl":"O')])),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'complete JSON without the last chunk',
  failsWith,
  sendAndClose(Buffer.concat([head(), chunk('{"ddl":"OK"}')])),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'a reply shorter than its Content-Length',
  failsWith,
  sendAndClose('HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n{"ddl":"OK"}'),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'a truncated reply with Connection: close',
  failsWith,
  sendAndClose(Buffer.concat([head(200, 'Connection: close'), chunk('{"ddl":"OK"}')])),
  'PROTOCOL',
  true,
  /the reply is (truncated|malformed)/,
);
test(
  'an endless header',
  failsWith,
  (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10000)}`),
  'PROTOCOL',
  true,
  /header of the reply is too large/,
);
test(
  'a second reply inside the first',
  failsWith,
  send(Buffer.concat([head(), chunk('{"dataset":[["a"],'), reply(NO, 400), LAST_CHUNK])),
  'PROTOCOL',
  true,
  /the reply is malformed \(/,
);
test('a reply that is not HTTP', failsWith, send('SSH-2.0-OpenSSH_9.6\r\n'), 'PROTOCOL', true, /does not speak HTTP/);
test(
  'a connection closed without a reply',
  failsWith,
  socket => socket.end(),
  'UNREACHABLE',
  true,
  /closed before a reply arrived/,
);
test(
  'a connection reset without a reply',
  failsWith,
  socket => socket.resetAndDestroy(),
  'UNREACHABLE',
  true,
  /closed before a reply arrived/,
);
test('no reply within the timeout', failsWith, () => {}, 'UNREACHABLE', true, /no answer within 0\.3 s.*--timeout/, {
  timeout: 300,
});
test(
  'a reply that stops',
  failsWith,
  send(Buffer.concat([head(), chunk('{"ddl"')])),
  'UNREACHABLE',
  true,
  /no further row and no end of the reply within 0\.3 s/,
  { timeout: 300 },
);
test(
  'a redirect to another host',
  failsWith,
  send(reply('', 302, 'Location: https://u:secret@login.test/?t=secret')),
  'PROTOCOL',
  false,
  /redirect \(302\) to https:\/\/login.test, which/,
);
test(
  'a redirect to a path',
  failsWith,
  send(reply('', 301, 'Location: /elsewhere')),
  'PROTOCOL',
  false,
  /redirect \(301\) to another path on the same server, .*; does the address lack a path prefix/,
);
test(
  'a redirect without a Location',
  failsWith,
  send(reply('', 302, 'X: y')),
  'PROTOCOL',
  false,
  /redirect \(302\) without a valid Location; is this a/,
);
