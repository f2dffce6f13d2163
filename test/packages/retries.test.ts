import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { connect, InstanceError } from '../../packages/instance/src/index.js';
import { type Answer, chunk, head, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { certificateAuthority } from '../support/certificates.js';
import { connectTo, readRows, TARGET } from '../support/client.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { listen } from '../support/listen.js';
import { freePort } from '../support/ports.js';
import { fc, forAllAsync } from '../support/seed.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

/** Options that retry without waiting, and what was said and how long the pauses would have been. */
function retrying(retries: number, onPause?: () => unknown) {
  const [messages, pauses]: [string[], number[]] = [[], []];
  const pause = async (milliseconds: number) => {
    pauses.push(milliseconds);
    await onPause?.();
  };
  return { retries, warn: (message: string) => void messages.push(message), pause, messages, pauses };
}

/** What a network or a gateway does now and then. */
const TRANSIENT: Record<string, [answer: (socket: Socket) => unknown, message: RegExp]> = {
  reset: [socket => socket.resetAndDestroy(), /the connection was closed before a reply arrived/],
  close: [socket => socket.end(), /the connection was closed before a reply arrived/],
  502: [socket => socket.end(reply('<html>', 502, 'Content-Type: text/html')), /answered 502.*the server failed/],
  503: [socket => socket.end(reply('', 503)), /answered 503.*not ready/],
  504: [socket => socket.write(reply('', 504)), /answered 504/],
  cut: [socket => socket.end(Buffer.concat([head(), chunk('{"query":"x","col')])), /the reply is truncated/],
};

const ROWS = ['a', 'b', 'c', 'd'];

/** A server that fails `times` times in that way, and then answers. */
const failing =
  (times: number, fail: (socket: Socket) => unknown): Answer =>
  (socket, { nth }) =>
    nth < times ? fail(socket) : socket.write(reply(rowsBody(...ROWS)));

for (const [name, [fail, message]] of Object.entries(TRANSIENT)) {
  test(`${name}: a query is sent again`, async t => {
    const options = retrying(2);
    const { db } = await connectTo(t, failing(2, fail), options);
    t.deepEqual(await db.queryRows('q'), [['a'], ['b'], ['c'], ['d']]);
    const again = await connectTo(t, failing(2, fail), options);
    t.deepEqual(await readRows(again.db), ROWS);
    t.deepEqual(options.pauses, [1000, 2000, 1000, 2000]);
    for (const said of options.messages) t.regex(said, message);
    t.regex(options.messages[1] ?? '', /^INSTANCE: .*; retrying in 2 s \(2 of 2\)$/);
  });

  test(`${name}: a statement that may have been executed is not sent again`, async t => {
    const options = retrying(2);
    const { db, requests } = await connectTo(t, failing(9, fail), options);
    const error = await t.throwsAsync(() => db.execute('q'), { instanceOf: InstanceError, message });
    t.true(error.mayHaveRun);
    t.deepEqual([requests.length, options.pauses.length], [1, 0]);
  });
}

test('no answer in time: a query is sent again', async t => {
  const options = retrying(9);
  const { db } = await connectTo(
    t,
    failing(1, () => {}),
    { ...options, timeout: 1000 },
  );
  t.deepEqual(await db.queryRows('q'), [['a'], ['b'], ['c'], ['d']]);
  t.regex(options.messages[0] ?? '', /no answer within 1 s; .* \(1 of 9\)$/);
});

test('a statement of which nothing was sent is sent when the server listens', async t => {
  const port = await freePort();
  let execute: ((query: string) => Promise<unknown>) | undefined;
  const options = retrying(1, async () => ({ execute } = await startSqlserve(t, ['--port', String(port)])));
  const db = connect({ ...TARGET, ...options, url: new URL(`http://127.0.0.1:${port}`) });
  t.teardown(() => db.close());
  t.like(await db.execute('CREATE TABLE t (x INT)'), { ok: true });
  t.like(await execute?.('SELECT table_name FROM tables()'), { dataset: [['t']] });
  t.regex(options.messages.join('\n'), /^INSTANCE: connection refused; .*; retrying in 1 s \(1 of 1\)$/);
});

/** What stays as it is, however often one asks. */
const LASTING: Record<string, string | Buffer> = {
  'an error message': reply('{"query":"q","error":"no","position":0}', 400),
  'a permission': reply('{"query":"q","error":"permission denied","position":0}', 403),
  401: reply('Unauthorized', 401),
  404: reply('Not Found', 404),
  500: reply('{"error":"boom"}', 500),
  'a login page': reply('<html>', 200, 'Content-Type: text/html'),
  'rows that are not complete': reply('{"dataset":[["a"]],"count":2}'),
};

for (const [name, answer] of Object.entries(LASTING))
  test(`${name} is not asked for again`, async t => {
    const options = retrying(3);
    const { db } = await connectTo(t, socket => socket.write(answer), options);
    for (const ask of [() => db.queryRows('q'), () => readRows(db)]) await t.throwsAsync(ask);
    await db.execute('q').catch(error => t.true(error instanceof InstanceError));
    t.deepEqual([options.pauses, options.messages], [[], []]);
  });

test('a certificate that is not trusted is not asked for again', async t => {
  const { issue } = certificateAuthority(await freshFolder(t));
  const port = await listen(t, createServer(issue('IP:127.0.0.1')));
  const options = retrying(3);
  const url = new URL(`https://127.0.0.1:${port}`);
  const db = connect({ ...TARGET, ...options, url });
  t.teardown(() => db.close());
  await t.throwsAsync(() => db.queryRows('q'), { message: /unknown authority/ });
  t.deepEqual(options.pauses, []);
});

test('pauses double up to half a minute, and the last failure is the one that is reported', async t => {
  const options = retrying(7);
  const { db } = await connectTo(t, socket => socket.end(), options);
  await t.throwsAsync(() => db.queryRows('q'), {
    message: /^INSTANCE: [^(]*did the server stop, or does it use https:..\?$/,
  });
  t.deepEqual(options.pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('nothing is sent again when the user interrupts the program, or closes the connection', async t => {
  const controller = new AbortController();
  const waits = (_: number, signal: AbortSignal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const interrupted = await connectTo(t, socket => socket.end(), {
    retries: 9,
    pause: waits,
    signal: controller.signal,
    warn: () => setImmediate(() => controller.abort()),
  });
  await t.throwsAsync(() => interrupted.db.queryRows('q'), { message: /closed before a reply arrived/ });
  t.is(interrupted.requests.length, 1);
  const closed = await connectTo(t, socket => socket.end(), {
    retries: 9,
    pause: waits,
    warn: () => setImmediate(() => closed.db.close()),
  });
  await t.throwsAsync(() => closed.db.queryRows('q'), { message: /closed before a reply arrived/ });
  t.is(closed.requests.length, 1);
});

test('rows of a reply that breaks off anywhere, again and again, are passed on once each, in order', async t => {
  let cuts: number[] = [];
  let body = '';
  const { url } = await startFaultyServer(t, socket => {
    const cut = cuts.shift();
    if (cut === undefined) socket.write(reply(body));
    else socket.end(Buffer.concat([head(), chunk(body.slice(0, cut % body.length))]));
  });
  await forAllAsync(
    60,
    fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 }),
    fc.array(fc.nat(), { maxLength: 4 }),
    async (rows, places) => {
      cuts = [...places];
      body = rowsBody(...rows);
      const db = connect({ ...TARGET, ...retrying(4), url: new URL(url) });
      try {
        t.deepEqual(await readRows(db), rows);
      } finally {
        await db.close();
      }
    },
  );
});

test('a reply that breaks off is not continued by one that begins with other rows', async t => {
  for (const next of [['a', 'x', 'c', 'd'], ['ab', 'c', 'd'], ['a'], []]) {
    const options = retrying(3);
    const { db } = await connectTo(
      t,
      (socket, { nth }) => {
        if (nth > 0) return socket.write(reply(rowsBody(...next)));
        return socket.end(Buffer.concat([head(), chunk('{"dataset":[["a"],["b"],')]));
      },
      options,
    );
    await t.throwsAsync(() => readRows(db), { code: 'UNREACHABLE', message: /does not begin with the same rows/ });
    t.is(options.pauses.length, 1);
  }
});

const TABLES = ROWS.map(name => `CREATE TABLE '${name}' ( \n\tx INT\n);`);

/** A source whose first dump breaks off in the middle; the next one is complete. */
function breakingSource(): Answer {
  let dumps = 0;
  return (socket, { statement }) => {
    const body = rowsBody(...TABLES);
    if (!statement.includes('DATABASE')) socket.write(reply('{"dataset":[]}'));
    else if (dumps++ > 0) socket.write(reply(body));
    else socket.end(Buffer.concat([head(), chunk(body.slice(0, body.indexOf("'c'")))]));
  };
}

test('a dump that broke off is completed, with a message; without the option it is damaged', async t => {
  const { url } = await startFaultyServer(t, breakingSource());
  const run = await inProcess(t, { URL: url });
  const { stdout, stderr } = await run.ok('sqldump --retries 1 $URL');
  t.is(stdout, TABLES.map(table => `${table}\n\0`).join(''));
  t.regex(stderr, /^sqldump: http:\S+: the reply is truncated: .*; retrying in 1 s \(1 of 1\)\n$/);
  const once = await startFaultyServer(t, breakingSource());
  const damaged = await run.exits(76, `sqldump ${once.url}`);
  t.notRegex(damaged.stderr, /retrying/);
});

test('the option is a whole number', async t => {
  const run = await inProcess(t, {});
  for (const retries of ['1.5', '-1', 'x']) {
    const { code, stderr } = await run(`sqldump --retries=${retries} 127.0.0.1:1`);
    t.true([64, 78].includes(code), stderr);
    t.regex(stderr, /retries must be a (whole|decimal) number/);
  }
});
