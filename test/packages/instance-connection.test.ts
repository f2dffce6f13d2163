import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect as connectSocket, type Socket } from 'node:net';
import { type ConnectionConfig, connect, InstanceError } from '../../packages/instance/src/index.js';
import { reply, replying, sendAndClose, startFaultyServer, TEXT } from '../faults/faulty-server.js';
import { selfSigned } from '../support/certificates.js';
import { connectTo, readRows, TARGET } from '../support/client.js';
import { freshFolder } from '../support/folder.js';
import { listen } from '../support/listen.js';
import { test } from '../support/test.js';

function recordPauses() {
  const pauses: number[] = [];
  return { pauses, pause: async (milliseconds: number) => pauses.push(milliseconds) };
}

test('a server that replies 429 is retried with growing pauses', async t => {
  const { pauses, pause } = recordPauses();
  const { db } = await connectTo(
    t,
    (socket, { nth }) => socket.end(nth < 3 ? reply('exceeded connection limit', 429, TEXT) : reply('{"ddl":"OK"}')),
    { pause },
  );
  t.deepEqual(await db.execute('x'), { ok: true });
  t.deepEqual(pauses, [250, 500, 1000]);
});

test('a retry waits for its pause', async t => {
  const times: number[] = [];
  const { db } = await connectTo(t, (socket, { nth }) => {
    times.push(performance.now());
    socket.end(nth === 0 ? reply('', 429) : reply('{"ddl":"OK"}'));
  });
  t.deepEqual(await db.execute('x'), { ok: true });
  t.true((times[1] as number) - (times[0] as number) > 200);
});

for (const [form, inTwentySeconds] of [
  ['a number', () => '20'],
  ['a date', () => new Date(Date.now() + 20_000).toUTCString()],
] as const)
  test(`Retry-After is respected as ${form}`, async t => {
    const { pauses, pause } = recordPauses();
    const busy = (): Buffer => reply('', 429, `Retry-After: ${inTwentySeconds()}`);
    const { db } = await connectTo(t, (socket, { nth }) => socket.end(nth === 0 ? busy() : reply('{"ddl":"OK"}')), {
      pause,
    });
    t.deepEqual(await db.execute('x'), { ok: true });
    t.is(pauses.length, 1);
    t.true((pauses[0] as number) > 10_000 && (pauses[0] as number) <= 20_000, `${pauses}`);
  });

test('a Retry-After of an hour is an error at once', async t => {
  const { db, requests } = await connectTo(t, socket => socket.end(reply('', 429, 'Retry-After: 3600')));
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', mayHaveRun: false });
  await t.throwsAsync(db.execute('x'), { message: /try again in 3600 s/ });
  t.is(requests.length, 2);
});

test('the time limit is the limit of all pauses together, and says when to try again', async t => {
  const { pauses, pause } = recordPauses();
  const busy = sendAndClose(reply('', 429, 'Retry-After: 2'));
  const messages: string[] = [];
  const info = (message: string) => messages.push(message);
  const { db, requests } = await connectTo(t, busy, { pause, timeout: 5000, info });
  await t.throwsAsync(db.execute('x'), { message: /too busy; try again in 2 s/ });
  t.deepEqual([pauses, requests.length], [[2000, 2000], 3]);
  const message = 'INSTANCE: too busy; trying again in 2 s';
  t.deepEqual(messages, [message, message]);
});

test('closing a client ends its pauses', async t => {
  const { db } = await connectTo(t, socket => {
    socket.end(reply('', 429, 'Retry-After: 20'));
    setImmediate(() => db.close());
  });
  await t.throwsAsync(db.execute('x'), { message: /the request was canceled/ });
});

test('an interruption ends the pauses, and the next 429 is final', async t => {
  t.timeout(19_000); // a pause would take 20 s
  const interruption = new AbortController();
  const { db, requests } = await connectTo(
    t,
    socket => {
      socket.end(reply('', 429, 'Retry-After: 20'));
      setImmediate(() => interruption.abort());
    },
    { signal: interruption.signal },
  );
  await t.throwsAsync(db.execute('x'), { message: /too busy; try again in 20 s/ });
  t.true(requests.length <= 2); // one more if the pause has begun
});

test('after a 429 reply, later requests use a new connection', async t => {
  const ports: (number | undefined)[] = [];
  const { db } = await connectTo(t, (socket, { nth }) => {
    ports.push(socket.remotePort);
    socket.write(nth === 0 ? reply('exceeded connection limit', 429, TEXT) : reply('{"ddl":"OK"}'));
  });
  await db.execute('x');
  await db.execute('x');
  t.not(ports[0], ports[1]);
  t.is(ports[1], ports[2]);
});

test('a server that keeps replying 429 is given up', async t => {
  const { pauses, pause } = recordPauses();
  const busy = sendAndClose(reply('exceeded connection limit', 429, TEXT));
  const { db, requests } = await connectTo(t, busy, { pause });
  const error = await t.throwsAsync(db.execute('x'), { instanceOf: InstanceError });
  t.like(error, { code: 'UNREACHABLE', status: 429, mayHaveRun: false });
  t.regex(error.message, /exceeded connection limit.*too busy/);
  t.is(requests.length, 6);
  t.deepEqual(pauses, [250, 500, 1000, 2000, 4000]);
});

test('a failure of one request does not cancel the others of the same client', async t => {
  const rows = reply('{"dataset":[],"count":0}');
  for (const failure of [sendAndClose(''), sendAndClose(reply('', 429))]) {
    const { db } = await connectTo(t, (socket, request) =>
      request.nth === 2 ? failure(socket, request) : setTimeout(() => socket.write(rows), 20),
    );
    await db.queryRows('first');
    const all = ['a', 'b', 'c', 'd'].flatMap(query => [db.queryRows(query), readRows(db)]);
    t.deepEqual(await Promise.all(all), new Array(8).fill([]));
  }
});

test('the time limit for a connection does not include the wait for other requests of the same client', async t => {
  const rows = reply('{"dataset":[],"count":0}');
  const { db } = await connectTo(t, socket => setTimeout(() => socket.write(rows), 1000), { connectTimeout: 1500 });
  t.deepEqual(await Promise.all(['a', 'b', 'c'].map(query => db.queryRows(query))), [[], [], []]);
});

test('a TLS handshake that exceeds the connect timeout', async t => {
  const { url } = await startFaultyServer(t, () => {});
  const db = connect({ ...TARGET, url: new URL(url.replace('http:', 'https:')), connectTimeout: 100 });
  t.teardown(() => db.close());
  const error = await t.throwsAsync(db.execute('x'), {
    message: /no connection with TLS within 0.1 s.*--connect-timeout/,
  });
  t.like(error, { code: 'UNREACHABLE', mayHaveRun: false });
});

test('closing a client cancels the request in flight', async t => {
  const { db } = await connectTo(t, () => db.close());
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', message: 'INSTANCE: the request was canceled' });
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', mayHaveRun: false });
});

test('TLS is verified unless insecure is set', async t => {
  const { key, cert } = selfSigned(await freshFolder(t));
  const server = createHttpsServer({ key, cert }, (_request, response) => void response.end('{"ddl":"OK"}'));
  const port = await listen(t, server);
  const executeAt = async (host: string, target: Partial<ConnectionConfig>) => {
    const db = connect({ ...TARGET, url: new URL(`https://${host}:${port}`), ...target });
    t.teardown(() => db.close());
    return db.execute('x');
  };
  const unverified = await t.throwsAsync(executeAt('localhost', {}), { instanceOf: InstanceError });
  t.like(unverified, { code: 'UNREACHABLE', mayHaveRun: false });
  t.regex(unverified.message, /self-signed; give its certificate authority with --cacert, or accept any/);
  t.deepEqual(await executeAt('localhost', { ca: cert }), { ok: true });
  t.deepEqual(await executeAt('localhost', { insecure: true }), { ok: true });
  const misnamed = await t.throwsAsync(executeAt('127.0.0.1', { ca: cert }), { instanceOf: InstanceError });
  t.regex(misnamed.message, /certificate is for other names \(DNS:localhost\)/);
});

test('through a proxy, http sends the full URL, and https uses a tunnel', async t => {
  const { key, cert } = selfSigned(await freshFolder(t));
  const plain = await startFaultyServer(t, replying('{"ddl":"OK"}'));
  const secure = createHttpsServer({ key, cert }, (_request, response) => void response.end('{"ddl":"OK"}'));
  const seen: string[] = [];
  const proxy = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    httpRequest(request.url ?? '', { headers: request.headers }, answer => answer.pipe(response)).end();
  });
  proxy.on('connect', (request, client: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers.authorization}`);
    const onward = connectSocket(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
  });
  const through = new URL(`http://127.0.0.1:${await listen(t, proxy)}`);
  const executeAt = async (url: string) => {
    const db = connect({ ...TARGET, url: new URL(url), ca: cert, proxy: through, authorization: 'Bearer qt1abc' });
    t.deepEqual(await db.execute('x'), { ok: true });
    await db.close();
  };
  await executeAt(plain.url);
  t.is(plain.requests[0]?.headers.authorization, 'Bearer qt1abc');
  const port = await listen(t, secure);
  await executeAt(`https://localhost:${port}`);
  t.deepEqual(seen, [`GET ${plain.url}/api/v1/sql/execute?query=x`, `CONNECT localhost:${port} undefined`]);
});

test('a proxy that refuses connections', async t => {
  const db = connect({ ...TARGET, proxy: new URL('http://127.0.0.1:1') });
  t.teardown(() => db.close());
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', mayHaveRun: false });
});
