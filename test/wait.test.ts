/*! sqlapply --wait: what passes by itself is waited for, a mistake is not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { chunk, head, reply, rowsBody, startFaultyServer } from './faults/faulty-server.js';
import { certificateAuthority } from './support/certificates.js';
import { freshFolder } from './support/folder.js';
import { freePort } from './support/ports.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const SQLAPPLY = resolve('node_modules/.bin/sqlapply');

/** Longer than any test may take: what should not be waited for would fail by that. */
const FOREVER = '3600';

/** sqlapply with a file of one table. */
async function start(t: ExecutionContext, ...args: string[]) {
  const folder = await freshFolder(t);
  writeFileSync(join(folder, 'a.sql'), 'CREATE TABLE a (x INT);');
  const child = spawn(SQLAPPLY, ['-v', ...args, 'a.sql'], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const stderr = text(child.stderr);
  const ended = Promise.all([once(child, 'close'), stderr]).then(([[code, signal], said]) => ({ code, signal, said }));
  /** Resolves when it has said that it waits. */
  const waits = once(createInterface(child.stderr), 'line');
  return { child, waits, ended };
}

const apply = async (t: ExecutionContext, ...args: string[]) => (await start(t, ...args)).ended;

test('a server that starts late is waited for', async t => {
  const port = await freePort();
  const { waits, ended } = await start(t, '--wait', FOREVER, `127.0.0.1:${port}`);
  const [line] = await waits;
  t.is(
    line,
    `sqlapply: http://127.0.0.1:${port}: connection refused; is the server running, and is the port right?; waiting up to 3600 s`,
  );
  const { execute } = await startSqlserve(t, ['--port', String(port)]);
  t.like(await ended, { code: 0 });
  t.like(await execute('SELECT table_name FROM tables()'), { dataset: [['a']] });
});

/** What a server, or something in front of it, does before it is ready; each answers one connection or request. */
const STARTING: [what: string, answer: (socket: Socket) => unknown][] = [
  ['reset', socket => socket.resetAndDestroy()],
  ['close', socket => socket.end()],
  ['503', socket => socket.end(reply('starting', 503, 'Content-Type: text/plain'))],
  ['502', socket => socket.end(reply('<html>', 502, 'Content-Type: text/html'))],
  ['500', socket => socket.end(reply('{"error":"boom"}', 500))],
  ['cut', socket => socket.end(Buffer.concat([head(), chunk('{"query":"x","col')]))],
];

test('resets, 5xx and cut replies are waited for, and the statement is sent once', async t => {
  const { url, requests } = await startFaultyServer(t, (socket, { nth, statement }) => {
    const [, answer] = STARTING[nth] ?? [];
    if (answer) answer(socket);
    else socket.write(reply(statement.startsWith('CREATE') ? '{"ddl":"OK"}' : rowsBody('QuestDB 9.3.4')));
  });
  const { code, said } = await apply(t, '--no-verify', '--wait', FOREVER, url);
  t.is(code, 0, said);
  t.is(requests.filter(({ statement }) => statement.startsWith('CREATE')).length, 1);
  const early = requests.slice(0, STARTING.length);
  t.true(early.every(({ statement }) => statement === 'SELECT build()'));
});

test('an error message is an answer: the server is there', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) =>
    socket.write(statement.startsWith('CREATE') ? reply('{"ddl":"OK"}') : reply('{"error":"no","position":0}', 400)),
  );
  t.like(await apply(t, '--no-verify', '--wait', FOREVER, url), { code: 0 });
});

test('a mistake is not waited for', async t => {
  const { url } = await startSqlserve(t, [], { QDB_HTTP_USER: 'u', QDB_HTTP_PASSWORD: 'p' });
  t.like(await apply(t, '--wait', FOREVER, url), { code: 77 });
  t.like(await apply(t, '--wait', FOREVER, `${url}/prefix`), { code: 76 });
  const stranger = await startFaultyServer(t, socket => socket.write('220 mail.example.com ESMTP\r\n'));
  t.like(await apply(t, '--wait', FOREVER, stranger.url), { code: 76 });
  t.like(await apply(t, '--wait', 'soon', url), { code: 64 });
});

test('a certificate that is not trusted is not waited for', async t => {
  const { key, cert } = certificateAuthority(await freshFolder(t)).issue('IP:127.0.0.1');
  const server = createServer({ key, cert }).listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await once(server, 'listening');
  const { code, said } = await apply(
    t,
    '--wait',
    FOREVER,
    `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
  t.is(code, 69);
  t.regex(said, /unknown authority/);
});

test('when the time is up, the last failure is the message', async t => {
  for (const seconds of ['0', '1']) {
    const { code, said } = await apply(t, '--wait', seconds, '127.0.0.1:1');
    t.is(code, 69);
    t.regex(said, new RegExp(`: connection refused; .*; waited ${seconds} s; nothing was sent\\n$`));
  }
  const silent = await startFaultyServer(t, () => {});
  const { code, said } = await apply(t, '--wait', '1', silent.url);
  t.is(code, 69);
  t.regex(said, /: no answer within \S+ s; .*; waited 1 s; nothing was sent\n$/);
});

test('a signal ends the waiting', async t => {
  for (const url of ['127.0.0.1:1', (await startFaultyServer(t, () => {})).url]) {
    const { child, waits, ended } = await start(t, '--wait', FOREVER, '--timeout', '1', url);
    await waits;
    child.kill('SIGTERM');
    const { signal, said } = await ended;
    t.is(signal, 'SIGTERM');
    t.regex(said, /sqlapply: interrupted; nothing was sent\n$/);
  }
});
