/*! sqlserve against hostile clients: web pages, smuggled requests, idle and slow connections. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { startHttpServer } from '../../packages/server/src/http-server.js';
import { deferred } from '../support/deferred.js';
import { freshFolder } from '../support/folder.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, type Scope, test } from '../support/test.js';

const scope = fileScope();
const server = sharedSqlserve();

const listTables = async ({ execute }: Server): Promise<unknown[]> =>
  (await execute('show tables')).dataset?.flat() ?? [];

async function openSocket(scope: Scope, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
  socket.on('error', () => {});
  scope.teardown(async () => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket.setEncoding('latin1');
}

/** The last chunk of a reply, as QuestDB writes it, with the line end before it. */
const END = '\r\n00\r\n\r\n';

/** Reads the next reply with its head, or what has arrived of it when the connection is closed. */
function nextReply(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    const received: string[] = [];
    let tail = '';
    const done = () => {
      socket.off('data', onData).off('close', done);
      resolve(received.join(''));
    };
    const onData = (bytes: string) => {
      received.push(bytes);
      tail = (tail + bytes).slice(-END.length);
      if (tail === END) done();
    };
    socket.on('data', onData).on('close', done);
  });
}

const getRequest = (sql: string, ...headers: string[]): string =>
  [`GET /exec?${new URLSearchParams({ query: sql })} HTTP/1.1`, ...headers, '', ''].join('\r\n');

async function statusOf(to: Server, sql: string, ...headers: string[]): Promise<string | undefined> {
  const socket = await openSocket(scope, to.url);
  socket.write(getRequest(sql, ...headers));
  const status = /^HTTP\/1.1 (\d+)/.exec(await nextReply(socket))?.[1];
  socket.destroy();
  return status;
}

test('both paths execute statements', async t => {
  for (const path of ['/exec', '/api/v1/sql/execute']) {
    const reply = await fetch(`${server.url}${path}?query=select+build()`);
    t.regex(await reply.text(), /Build Information/, path);
  }
});

test('health checks are answered: constants and now()', async t => {
  t.deepEqual(await server.execute('SELECT 1'), {
    query: 'SELECT 1',
    columns: [{ name: '1', type: 'INT' }],
    timestamp: -1,
    dataset: [[1]],
    count: 1,
  });
  t.like(await server.execute("SELECT 1 AS ok, 'ab', 'c' AS c, true, -3, 0.5 AS half"), {
    columns: [
      { name: 'ok', type: 'INT' },
      { name: "'ab'", type: 'STRING' },
      { name: 'c', type: 'CHAR' },
      { name: 'true', type: 'BOOLEAN' },
      { name: '-(3)', type: 'INT' },
      { name: 'half', type: 'DOUBLE' },
    ],
    dataset: [[1, 'ab', 'c', true, -3, 0.5]],
  });
  const { columns, dataset } = (await server.execute('SELECT now()')) as { columns?: unknown; dataset?: unknown[][] };
  t.deepEqual(columns, [{ name: 'now()', type: 'TIMESTAMP' }]);
  const [[now]] = dataset as [[string]];
  t.regex(now, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  t.true(Math.abs(Date.parse(now) - Date.now()) < 60_000);
});

test('requests from pages of other origins are rejected, whatever headers they have', async t => {
  const { host } = new URL(server.url);
  for (const headers of [
    ['Origin: http://evil.example'],
    ['Origin: null'],
    ['Origin: http://localhost:1'],
    [`Origin: http://evil.example, http://${host}`],
    ['Referer: http://evil.example/page'],
    ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: same-site'],
    ['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: none', 'Origin: http://evil.example'],
  ])
    t.is(await statusOf(server, 'create table planted (a int)', `Host: ${host}`, ...headers), '403', headers.join());
  t.false((await listTables(server)).includes('planted'));
  for (const headers of [
    [`Origin: http://${host}`, 'Sec-Fetch-Site: same-origin', `Referer: http://${host}/index.html`],
    ['Sec-Fetch-Site: none'],
    [],
  ])
    t.is(await statusOf(server, 'show tables', `Host: ${host}`, ...headers), '200', headers.join());
});

test('a server on a loopback address accepts only host names of this machine', async t => {
  const others = ['evil.example', 'evil.example:9000', 'localhost.evil.example', '10.0.0.1', 'localhost, evil', ''];
  for (const host of others) t.is(await statusOf(server, 'create table rebound (a int)', `Host: ${host}`), '403', host);
  t.is(await statusOf(server, 'show tables', 'Host: localhost', 'Host: evil.example'), '403');
  t.is(await statusOf(server, 'show tables', 'Host: evil.example', 'Host: localhost'), '403');
  for (const host of ['localhost', 'LOCALHOST:9000', 'localhost.', '127.0.0.1', '127.9.9.9:1', '[::1]:9000'])
    t.is(await statusOf(server, 'show tables', `Host: ${host}`), '200', host);
  t.false((await listTables(server)).includes('rebound'));
});

test('--allow-host adds host names, and on a public address allows only those', async t => {
  const named = await startSqlserve(t, ['--allow-host', 'DB.example', '--allow-host', 'db']);
  t.is(await statusOf(named, 'show tables', 'Host: db.Example:9000'), '200');
  t.is(await statusOf(named, 'show tables', 'Host: db'), '200');
  t.is(await statusOf(named, 'show tables', 'Host: evil.example'), '403');
  const open = await startSqlserve(t, ['--address', '0.0.0.0']);
  t.is(await statusOf(open, 'show tables', 'Host: any.example'), '200');
  t.is(await statusOf(open, 'show tables', 'Host: any.example', 'Origin: http://evil.example'), '403');
  const closed = await startSqlserve(t, ['--address', '0.0.0.0', '--allow-host', 'db']);
  t.is(await statusOf(closed, 'show tables', 'Host: any.example'), '403');
});

test('the body of a request is never executed as a request', async t => {
  const hidden = getRequest('create table smuggled (a int)', 'Host: localhost');
  for (const framing of [`Content-Length: ${hidden.length}`, 'Transfer-Encoding: chunked', 'content-length: 0, 9']) {
    const socket = await openSocket(t, server.url);
    socket.write(`POST /exec HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`);
    const reply = await nextReply(socket);
    t.regex(reply, /^HTTP\/1.1 4/, framing);
    t.regex(reply, /\r\nConnection: close\r\n/, framing);
    socket.write(hidden);
    t.is(await nextReply(socket), '', framing);
  }
  t.false((await listTables(server)).includes('smuggled'));
});

test('ambiguous header lines end the connection', async t => {
  for (const line of ['Content-Length : 9', ' folded: x', 'no colon', 'Transfer-Encoding\t: chunked', ': x']) {
    const socket = await openSocket(t, server.url);
    socket.write(getRequest('create table smuggled (a int)', 'Host: localhost', line));
    t.is(await nextReply(socket), '', line);
  }
  t.false((await listTables(server)).includes('smuggled'));
});

test('idle connections do not block new ones', async t => {
  const busy = await startSqlserve(t);
  const first = await openSocket(t, busy.url);
  const closed = once(first, 'close');
  await Promise.all(Array.from({ length: 300 }, () => openSocket(t, busy.url)));
  await closed;
  t.deepEqual(await listTables(busy), []);
});

test('an unread reply delays the next request of its connection', async t => {
  const folder = await freshFolder(t);
  const file = join(folder, 'large.sql');
  const padding = 'x'.repeat(8_000_000);
  const view = (n: number) => `create view v${n} as (select a from t /* ${padding} */);`;
  await writeFile(file, `create table t (a int);${view(1)}${view(2)}`);
  const large = await startSqlserve(t, ['--load', file]);
  const socket = await openSocket(t, large.url);
  socket.write(getRequest('show create database'));
  await once(socket, 'readable');
  for (let n = 0; n < 3; n++) {
    socket.write(getRequest(`create table ahead${n} (a int)`));
    t.is((await large.execute('show tables')).dataset?.length, 3);
  }
  let replies = '';
  while (!replies.includes('"ddl":"OK"')) replies += await nextReply(socket);
  t.true(replies.length > 16_000_000);
  socket.write(getRequest('create table after (a int)'));
  t.regex(await nextReply(socket), /"ddl":"OK"/);
  const tables = await listTables(large);
  t.deepEqual(
    tables.sort(),
    ['after', 'ahead0', 't', 'v1', 'v2'],
    'the server read the requests that were sent ahead together',
  );
});

test('of requests that arrive together the first is answered; those sent meanwhile come next', async t => {
  const answers = [deferred(), deferred(), deferred()];
  const asked: (string | undefined)[] = [];
  const { port, close } = await startHttpServer({
    address: '127.0.0.1',
    port: 0,
    async answer({ parameters }) {
      const query = parameters.get('query');
      await answers[asked.push(query) - 1]?.promise;
      return { status: 200, type: 'text', body: query ?? '' };
    },
    requestLimit: 1000,
  });
  t.teardown(close);
  const socket = await openSocket(t, `http://127.0.0.1:${port}`);
  const sendTogether = (...queries: string[]) => socket.write(queries.map(query => getRequest(query)).join(''));
  sendTogether('a', 'dropped');
  while (asked.length < 1) await setImmediate();
  sendTogether('b', 'dropped');
  // The endpoint has had the time to read, and to lose, what was sent.
  for (let n = 0; n < 10; n++) await setImmediate();
  answers[0]?.resolve();
  t.regex(await nextReply(socket), /\r\na\r\n/);
  while (asked.length < 2) await setImmediate();
  answers[1]?.resolve();
  t.regex(await nextReply(socket), /\r\nb\r\n/);
  answers[2]?.resolve();
  sendTogether('c');
  t.regex(await nextReply(socket), /\r\nc\r\n/);
  t.deepEqual(asked, ['a', 'b', 'c']);
});

test('-v logs requests without queries, logins and control characters', async t => {
  const child = spawn('packages/sqlserve/bin/sqlserve.js', ['--port', '0', '-v'], { stdio: 'pipe' });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  t.teardown(() => child.kill());
  await fetch(`${url}/exec?query=${encodeURIComponent("create user x with password 'secret1'")}`);
  await fetch(`${url}/settings`);
  for (const request of [
    'GET http://me:secret2@localhost/exec?query=secret3 HTTP/1.1\r\nAuthorization: Basic c2VjcmV0\r\n\r\n',
    'G\x1b]0;ET /exec?query=x HTTP/1.1\r\n\r\n',
    'nonsense\r\n\r\n',
  ]) {
    const socket = await openSocket(t, url);
    socket.write(request);
    await nextReply(socket);
  }
  child.kill();
  const log = await text(child.stderr);
  t.deepEqual(log.replace(/[\d.]+ ms/g, 'N ms').split('\n'), [
    'sqlserve: GET /exec 400 N ms',
    'sqlserve: GET /settings 200 N ms',
    'sqlserve: GET http://localhost/exec 404 N ms',
    'sqlserve: G\\x1b]0;ET /exec 405 N ms',
    'sqlserve: closed a connection without an answer: not a request, or longer than --request-limit',
    '',
  ]);
});
