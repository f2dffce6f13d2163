import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { chunk, head, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { certificateAuthority } from '../support/certificates.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { listen } from '../support/listen.js';
import { freePort } from '../support/ports.js';
import { startProgram } from '../support/program.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

/** Longer than any test may take, so that waiting for a mistake would fail the test. */
const FOREVER = '3600';

const FILES = { 'a.sql': 'CREATE TABLE a (x INT);' };

const startSqlapply = (t: ExecutionContext, ...args: string[]) =>
  startProgram(t, ['sqlapply', '-v', ...args, 'a.sql'], FILES);

/** The same in this process, until its end. */
async function apply(t: ExecutionContext, ...args: string[]) {
  const run = await inProcess(t, {}, FILES);
  const { code, stderr: log } = await run(`sqlapply -v ${args.join(' ')} a.sql`);
  return { code, log };
}

test('--wait waits for a server that starts late', async t => {
  const port = await freePort();
  const { firstLine, ended } = await startSqlapply(t, '--wait', FOREVER, `127.0.0.1:${port}`);
  t.is(
    await firstLine,
    `sqlapply: http://127.0.0.1:${port}: connection refused; is the server running, and is the port right?; waiting up to 3600 s`,
  );
  const { execute } = await startSqlserve(t, ['--port', String(port)]);
  t.deepEqual(await ended, [0, null]);
  t.like(await execute('SELECT table_name FROM tables()'), { dataset: [['a']] });
});

/** Replies of a server or a proxy that is not ready; each is for one connection or request. */
const STARTING: [what: string, answer: (socket: Socket) => unknown][] = [
  ['reset', socket => socket.resetAndDestroy()],
  ['close', socket => socket.end()],
  ['503', socket => socket.end(reply('starting', 503, 'Content-Type: text/plain'))],
  ['502', socket => socket.end(reply('<html>', 502, 'Content-Type: text/html'))],
  ['500', socket => socket.end(reply('{"error":"boom"}', 500))],
  ['cut', socket => socket.end(Buffer.concat([head(), chunk('{"query":"x","col')]))],
];

test('--wait retries after resets, 5xx and truncated replies, and the statement is sent once', async t => {
  const { url, requests } = await startFaultyServer(t, (socket, { nth, statement }) => {
    const [, answer] = STARTING[nth] ?? [];
    if (answer) answer(socket);
    else socket.write(reply(statement.startsWith('CREATE') ? '{"ddl":"OK"}' : rowsBody('QuestDB 9.3.4')));
  });
  const { code, log } = await apply(t, '--no-verify', '--wait', FOREVER, url);
  t.is(code, 0, log);
  t.is(requests.filter(({ statement }) => statement.startsWith('CREATE')).length, 1);
  const early = requests.slice(0, STARTING.length);
  t.true(early.every(({ statement }) => statement === 'SELECT build()'));
});

test('--wait ends with any error message of the server, since the server is running', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) =>
    socket.write(statement.startsWith('CREATE') ? reply('{"ddl":"OK"}') : reply('{"error":"no","position":0}', 400)),
  );
  t.like(await apply(t, '--no-verify', '--wait', FOREVER, url), { code: 0 });
});

test('--wait does not retry a mistake', async t => {
  const { url } = await serveHere(t, { user: 'u', password: 'p' });
  t.like(await apply(t, '--wait', FOREVER, url), { code: 77 });
  t.like(await apply(t, '--wait', FOREVER, `${url}/prefix`), { code: 76 });
  const stranger = await startFaultyServer(t, socket => socket.write('220 mail.example.com ESMTP\r\n'));
  t.like(await apply(t, '--wait', FOREVER, stranger.url), { code: 76 });
  t.like(await apply(t, '--wait', 'soon', url), { code: 64 });
});

test('--wait does not retry after an untrusted certificate', async t => {
  const { issue } = certificateAuthority(await freshFolder(t));
  const port = await listen(t, createServer(issue('IP:127.0.0.1')));
  const { code, log } = await apply(t, '--wait', FOREVER, `https://127.0.0.1:${port}`);
  t.is(code, 69);
  t.regex(log, /unknown authority/);
});

test('--wait reports the last failure when the time is up', async t => {
  for (const seconds of ['0', '1']) {
    const { code, log } = await apply(t, '--wait', seconds, '127.0.0.1:1');
    t.is(code, 69);
    t.regex(log, new RegExp(`: connection refused; .*; waited ${seconds} s; nothing was sent\\n$`));
  }
  const silent = await startFaultyServer(t, () => {});
  const { code, log } = await apply(t, '--wait', '1', silent.url);
  t.is(code, 69);
  t.regex(log, /: no answer within \S+ s; .*; waited 1 s; nothing was sent\n$/);
});

test('a signal ends --wait', async t => {
  for (const url of ['127.0.0.1:1', (await startFaultyServer(t, () => {})).url]) {
    const { child, firstLine, stderr, ended } = await startSqlapply(t, '--wait', FOREVER, '--timeout', '1', url);
    await firstLine;
    child.kill('SIGTERM');
    t.deepEqual(await ended, [null, 'SIGTERM']);
    t.regex(await stderr, /sqlapply: interrupted; nothing was sent\n$/);
  }
});
