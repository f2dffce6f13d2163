/*! One instance, asked by way of real sockets: what it says yes and no to, and each way it fails to say either. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect as connectTo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import * as api from '../packages/instance/src/index.js';
import {
  type ConnectionConfig,
  connect,
  dump,
  encodeQuery,
  fetchDefinitions,
  type Instance,
  InstanceError,
} from '../packages/instance/src/index.js';
import { type Answer, chunk, head, LAST_CHUNK, reply, rowsBody, startFaultyServer } from './faults/faulty-server.js';
import { freshFolder } from './support/folder.js';

test('the package exports', t => {
  t.deepEqual(Object.keys(api), [
    'BestEffortClient',
    'DEFAULT_REQUEST_BUFFER',
    'InstanceError',
    'connect',
    'dump',
    'encodeQuery',
    'fetchDefaults',
    'fetchDefinitions',
    'fetchPrincipals',
    'fetchRights',
    'fetchRightsOf',
    'fetchVersion',
    'hasCredentials',
    'inspect',
    'listInstances',
    'resolveInstance',
    'supportsShowCreate',
  ]);
});

/** An instance that answers so. */
async function instance(t: ExecutionContext, answer: Answer, target: Partial<ConnectionConfig> = {}) {
  const server = await startFaultyServer(t, answer);
  const db = connect({
    label: 'INSTANCE',
    url: new URL(server.url),
    credentialsHelp: 'HELP',
    insecure: false,
    timeout: 30_000,
    connectTimeout: 30_000,
    ...target,
  });
  t.teardown(() => db.close());
  return { db, ...server };
}

const sends = (bytes: string | Buffer) => (socket: Socket) => socket.write(bytes);
const sendsAndCloses = (bytes: string | Buffer) => (socket: Socket) => socket.end(bytes);

async function rows(db: Instance): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of db.rows('q')) all.push(...batch);
  return all;
}

test('rows, a table and a statement on one connection', async t => {
  const ports = new Set<number | undefined>();
  const { db, requests } = await instance(t, (socket, { statement }) => {
    ports.add(socket.remotePort);
    const bodies: Record<string, string> = {
      rows: rowsBody('CREATE TABLE a (x int);', 'b'),
      table: '{"dataset":[["a",1,null,true],[]],"count":2}',
      ddl: '{"ddl":"OK"}',
      dml: '{"dml":"OK","updated":3}',
    };
    socket.write(reply(bodies[statement] ?? ''));
  });
  const all: string[] = [];
  for await (const batch of db.rows('rows')) all.push(...batch);
  t.deepEqual(all, ['CREATE TABLE a (x int);', 'b']);
  t.deepEqual(await db.table('table'), [['a', 1, null, true], []]);
  t.deepEqual(await db.execute('ddl'), { ok: true });
  t.deepEqual(await db.execute('dml'), { ok: true });
  t.is(ports.size, 1);
  t.deepEqual(
    requests.map(request => request.line.split(' ')[1]),
    [
      '/api/v1/sql/execute?query=rows&count=true',
      '/api/v1/sql/execute?query=table&count=true',
      '/api/v1/sql/execute?query=ddl',
      '/api/v1/sql/execute?query=dml',
    ],
  );
  t.deepEqual(Object.keys(requests[0]?.headers ?? {}), ['host', 'connection']);
});

test('a path prefix and credentials go with each request', async t => {
  const { db, requests, url } = await instance(t, sends(reply('{"ddl":"OK"}')), { authorization: 'Bearer qt1abc' });
  await db.execute('x');
  t.is(requests[0]?.headers.authorization, 'Bearer qt1abc');
  const prefixed = connect({ ...TARGET, url: new URL(`${url}/db/one`) });
  t.teardown(() => prefixed.close());
  await prefixed.execute('x');
  t.is(requests[1]?.line, 'GET /db/one/api/v1/sql/execute?query=x HTTP/1.1');
  t.is(requests[1]?.headers.authorization, undefined);
});

test('a reply in bytes that trickle is a good reply', async t => {
  const { db } = await instance(t, async socket => {
    for (const byte of reply(rowsBody('ä', 'b'))) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  });
  t.deepEqual(await rows(db), ['ä', 'b']);
});

test('a reply without a length ends where the connection does', async t => {
  const { db } = await instance(t, sendsAndCloses(`HTTP/1.0 200 OK\r\n\r\n${rowsBody('a')}`));
  t.deepEqual(await rows(db), ['a']);
});

test('rows left before their end', async t => {
  const { db } = await instance(t, (socket, { nth }) =>
    nth === 0
      ? socket.write(Buffer.concat([head(), chunk('{"dataset":[["a"],')]))
      : socket.write(reply('{"ddl":"OK"}')),
  );
  for await (const batch of db.rows('q')) {
    t.deepEqual(batch, ['a']);
    break;
  }
  t.deepEqual(await db.execute('x'), { ok: true });
});

test('a connection closed between requests is no failure', async t => {
  const { db, requests } = await instance(t, socket => socket.end(reply('{"ddl":"OK"}')));
  for (let i = 0; i < 20; i++) {
    t.deepEqual(await db.execute('x'), { ok: true });
    await new Promise(resolve => setTimeout(resolve, 1));
  }
  t.is(requests.length, 20);
});

const refuses = test.macro(async (t, bytes: Buffer, expected: object) => {
  const { db } = await instance(t, sends(bytes));
  t.deepEqual(await db.execute('x'), { ok: false, denied: false, ...expected } as never);
});

const NO = '{"query":"x","error":"table already exists","position":13}';
test('a refusal', refuses, reply(NO, 400), { message: 'table already exists', position: 13, status: 400 });
test('a refusal with status 200', refuses, reply('{"error":"empty query","query":"","position":"0"}'), {
  message: 'empty query',
  position: 0,
  status: 200,
});
test('a refusal beside an OK', refuses, reply('{"ddl":"OK","error":"but"}'), { message: 'but', status: 200 });
test('a refusal without a position', refuses, reply('{"error":"bad cols"}', 400), { message: 'bad cols', status: 400 });
const READ_ONLY = '{"error":"Could not create table, Write permission denied","position":13}';
test('a read-only server, 400', refuses, reply(READ_ONLY, 400), {
  message: 'Could not create table, Write permission denied',
  position: 13,
  status: 400,
  denied: true,
});
test('a read-only server, 403', refuses, reply('{"error":"Write permission denied"}', 403), {
  message: 'Write permission denied',
  status: 403,
  denied: true,
});

test("a refusal of a query is an error with the server's words", async t => {
  const answer = '{"query":"q","error":"expected \'TABLE\'\\u001b[31m","position":12}';
  const { db } = await instance(t, sends(reply(answer, 400)));
  const expected = { code: 'REFUSED', position: 12, status: 400, serverMessage: "expected 'TABLE'\x1b[31m" };
  const message = "INSTANCE: the server rejected the request: expected 'TABLE'\\x1b[31m";
  for (const asked of [rows(db), db.table('q')]) t.like(await t.throwsAsync(asked), { ...expected, message });
});

test('an object that no reply can hold is named, and what is no matter of one object is not asked again', async t => {
  const bad = (statement: string) => statement.includes("'v3'");
  const { db } = await instance(t, (socket, { statement }) =>
    socket.write(reply(bad(statement) ? '{"dataset":[["a\0"]]}' : rowsBody(...statement.split(' UNION ALL ')))),
  );
  const views = Array.from({ length: 9 }, (_, i) => ({ kind: 'view', name: `v${i}` }) as const);
  t.like(await t.throwsAsync(fetchDefinitions(db, views)), {
    code: 'PROTOCOL',
    message:
      "INSTANCE: view 'v3': the reply contains a NUL character (row 1): a stream cannot contain that: recreate the object without it",
  });
  const page = await instance(t, sends(reply('<form>', 200, HTML)));
  await t.throwsAsync(fetchDefinitions(page.db, views), { message: /^INSTANCE: answered 200/ });
  t.is(page.requests.length, 1);
});

test('a small answer has a limit on what it holds, and what nobody asks for is not kept', async t => {
  const bodies: Record<string, string> = {
    cells: `{"dataset":[["a"${',1'.repeat(2_000_000)}]]}`,
    rows: `{"dataset":[[]${',[]'.repeat(2_000_000)}]}`,
    long: `{"dataset":[["${'a'.repeat(33 * 1024 * 1024)}"]]}`,
    keys: `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":{}`)},"dataset":[["a",[1],{}]],"1":0}`,
  };
  const { db } = await instance(t, (socket, { statement }) => socket.write(reply(bodies[statement] ?? '')));
  const values = { code: 'PROTOCOL', message: /^INSTANCE: the reply contains more than 2000000 values: / };
  await t.throwsAsync(db.table('cells'), values);
  await t.throwsAsync(db.table('rows'), values);
  await t.throwsAsync(db.table('long'), { code: 'PROTOCOL', message: /the reply is longer than 33554432 bytes/ });
  t.deepEqual(await db.table('keys'), [['a', undefined, undefined]]);
});

test('a yes or no may be as long as what it quotes, and not much longer', async t => {
  const quoted = 'x'.repeat(100_000);
  const { db } = await instance(t, (socket, { statement }) =>
    socket.write(
      statement === quoted
        ? reply(JSON.stringify({ query: statement, error: `no: ${statement}`, position: 1 }), 400)
        : reply(`{"ddl":"OK","note":"${quoted}"}`),
    ),
  );
  const { ok } = await db.execute(quoted);
  t.false(ok);
  await t.throwsAsync(db.execute('y'), { code: 'PROTOCOL', message: /the reply is longer than 6\d{4} bytes/ });
});

test('definitions that were not asked for are not waited for', async t => {
  const tables = ['a', 'b'].map(name => ({ kind: 'table', name }) as const);
  const { db } = await instance(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"dataset":[["a"]');
    const more = () => {
      while (!socket.destroyed && socket.write(',["a"]'.repeat(1000)));
    };
    socket.on('drain', more);
    more();
  });
  await t.throwsAsync(fetchDefinitions(db, tables), {
    code: 'PROTOCOL',
    message: /requested 2 definitions and received more/,
  });
});

test('a dump by a statement that the server lacks', async t => {
  const old = `{"query":"x","error":"expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'","position":12}`;
  const { url } = await startFaultyServer(t, sends(reply(old, 400)));
  const dumped = dump({ ...TARGET, url: new URL(url) }, { via: 'database' });
  t.like(await t.throwsAsync(dumped.next()), {
    code: 'REFUSED',
    message:
      "INSTANCE: the server rejected the request: expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'; it has no SHOW CREATE DATABASE, so use --via catalogue",
  });
});

test('a query that may not be asked is denied', async t => {
  const { db } = await instance(t, sends(reply('{"error":"Access denied for bob [LIST USERS]"}', 403)));
  t.like(await t.throwsAsync(rows(db)), {
    code: 'DENIED',
    status: 403,
    message:
      'INSTANCE: the server rejected the request: Access denied for bob [LIST USERS]; grant the permission to this user, or use another account',
  });
});

/** A failure looks the same from wherever it is met; `outcomeUnknown` says whether a statement may have been carried out. */
const fails = test.macro(
  async (t, answer: Answer, code: string, lost: boolean, message: RegExp, target: Partial<ConnectionConfig> = {}) => {
    const { db } = await instance(t, answer, target);
    for (const ask of [() => rows(db), () => db.table('q'), () => db.execute('q')]) {
      const error = await t.throwsAsync(ask, { instanceOf: InstanceError });
      t.is(error.code, code as never);
      t.regex(error.message, message);
      t.true(error.message.startsWith('INSTANCE: '));
      t.notRegex(error.message, /[\0-\x1f\x7f-\x9f]/);
      t.is(error.outcomeUnknown, lost);
    }
  },
);

const TEXT = 'Content-Type: text/plain';
const HTML = 'Content-Type: text/html';
test('401', fails, sends(reply('Unauthorized\r\n', 401, TEXT)), 'DENIED', false, /401.*"Unauthorized".*HELP/);
test('403 without JSON', fails, sends(reply('no\r\n', 403, TEXT)), 'DENIED', false, /403.*"no"/);
test(
  '404',
  fails,
  sends(reply('Not Found\r\n', 404, TEXT)),
  'PROTOCOL',
  false,
  /404.*"Not Found".*address of a QuestDB/,
);

const NOT_FOUND = reply('Not Found', 404, TEXT);

test('an instance without the documented path is asked by /exec, and remembered', async t => {
  const { db, requests } = await instance(t, (socket, { line }) =>
    socket.write(line.startsWith('GET /exec?') ? reply(rowsBody('a')) : NOT_FOUND),
  );
  t.deepEqual(await rows(db), ['a']);
  t.deepEqual(await db.table('x'), [['a']]);
  const paths = requests.map(({ line }) => line.replace(/^GET (.*)\?.*/, '$1'));
  t.deepEqual(paths, ['/api/v1/sql/execute', '/exec', '/exec']);
});

test('a statement that neither path takes has not been carried out, and both are named', async t => {
  const { db, requests } = await instance(t, socket => socket.end(NOT_FOUND));
  const error = (await t.throwsAsync(db.execute('a'), { instanceOf: InstanceError })) as InstanceError;
  t.like(error, { code: 'PROTOCOL', outcomeUnknown: false });
  t.regex(
    error.message,
    / Tried: http:\/\/127.0.0.1:\d+\/api\/v1\/sql\/execute, http:\/\/127.0.0.1:\d+\/exec$/,
  );
  t.is(requests.length, 2);
});

test('a proxy that is not ready is not taken for the path it would have', async t => {
  const answers = [reply('', 503), NOT_FOUND, reply('{"ddl":"OK"}')];
  const { db } = await instance(t, (socket, { nth }) => socket.end(answers[nth] ?? NOT_FOUND));
  await t.throwsAsync(db.execute('a'));
  t.deepEqual(await db.execute('a'), { ok: true });
});

test('405', fails, sends(reply('Method GET not supported', 405, TEXT)), 'PROTOCOL', false, /405/);
test('407', fails, sends(reply('', 407, TEXT)), 'DENIED', false, /the proxy requires credentials/);
test('408', fails, sends(reply('', 408, TEXT)), 'UNREACHABLE', true, /gave up waiting/);
test('414', fails, sends(reply('', 414, TEXT)), 'UNREACHABLE', false, /too large for a proxy/);
test('500', fails, sends(reply('{"error":"boom"}', 500)), 'UNREACHABLE', true, /500: boom/);
test('502', fails, sends(reply('<h1>Bad Gateway</h1>', 502, HTML)), 'UNREACHABLE', true, /502.*"<h1>Bad Gateway/);
test('204', fails, sends('HTTP/1.1 204 X\r\n\r\n'), 'PROTOCOL', true, /answered 204/);
test('400 without JSON', fails, sends(reply('no\x1b[2J', 400, TEXT)), 'PROTOCOL', false, /400.*"no\\x1b\[2J"/);
test(
  'a login page',
  fails,
  sends(reply('<!doctype html>\n<form>', 200, HTML)),
  'PROTOCOL',
  true,
  /"<!doctype html>\\n<form>".*login page/,
);
test('an empty body', fails, sends(reply('')), 'PROTOCOL', true, /the reply is empty/);
test('JSON of another kind', fails, sends(reply('{"status":"up"}')), 'PROTOCOL', true, /no dataset|"up"/);
test('cut JSON', fails, sends(reply('{"dataset":[["a"')), 'PROTOCOL', true, /the reply is truncated/);
test('bad UTF-8', fails, sends(reply(Buffer.from('{"a":"\xff"}', 'latin1'))), 'PROTOCOL', true, /not UTF-8/);
test(
  "a reply cut by the connection's end",
  fails,
  sendsAndCloses(Buffer.concat([head(), chunk('{"ddl":"O')])),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'a reply cut behind whole JSON',
  fails,
  sendsAndCloses(Buffer.concat([head(), chunk('{"ddl":"OK"}')])),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'a reply shorter than it says',
  fails,
  sendsAndCloses('HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n{"ddl":"OK"}'),
  'PROTOCOL',
  true,
  /the reply is truncated/,
);
test(
  'a reply cut in a connection that was to be closed',
  fails,
  sendsAndCloses(Buffer.concat([head(200, 'Connection: close'), chunk('{"ddl":"OK"}')])),
  'PROTOCOL',
  true,
  /the reply is (truncated|malformed)/,
);
test(
  'a header without an end',
  fails,
  (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10000)}`),
  'PROTOCOL',
  true,
  /header of the reply is too large/,
);
test(
  'a second reply inside the first',
  fails,
  sends(Buffer.concat([head(), chunk('{"dataset":[["a"],'), reply(NO, 400), LAST_CHUNK])),
  'PROTOCOL',
  true,
  /the reply is malformed \(/,
);
test('not HTTP', fails, sends('SSH-2.0-OpenSSH_9.6\r\n'), 'PROTOCOL', true, /does not speak HTTP/);
test('a connection closed without an answer', fails, socket => socket.end(), 'UNREACHABLE', true, /closed before a reply arrived/);
test(
  'a connection reset without an answer',
  fails,
  socket => socket.resetAndDestroy(),
  'UNREACHABLE',
  true,
  /closed before a reply arrived/,
);
test('silence', fails, () => {}, 'UNREACHABLE', true, /no answer within 1 s.*--timeout/, { timeout: 1000 });
test(
  'silence in a reply',
  fails,
  sends(Buffer.concat([head(), chunk('{"ddl"')])),
  'UNREACHABLE',
  true,
  /no further row and no end of the reply within 1 s/,
  { timeout: 1000 },
);
test(
  'a redirect',
  fails,
  sends(reply('', 302, 'Location: https://u:secret@login.test/?t=secret')),
  'PROTOCOL',
  false,
  /redirect \(302\) to https:\/\/login.test, which/,
);
test(
  'a redirect to a path',
  fails,
  sends(reply('', 301, 'Location: /elsewhere')),
  'PROTOCOL',
  false,
  /redirect \(301\) to another path there, .*: does the address lack a path prefix/,
);
test(
  'a redirect to nowhere',
  fails,
  sends(reply('', 302, 'X: y')),
  'PROTOCOL',
  false,
  /redirect \(302\) without a valid Location; is this a/,
);

test('rows of the reply before its damage were really there', async t => {
  let restartClock = () => {};
  const { db } = await instance(t, socket => {
    socket.write(Buffer.concat([head(), chunk('{"dataset":[["a"],["b"],')]));
    restartClock = () => socket.write(Buffer.concat([chunk('[null]]}'), LAST_CHUNK]));
  });
  const seen: string[] = [];
  const error = await t.throwsAsync(async () => {
    for await (const batch of db.rows('q')) if (seen.push(...batch) === 2) restartClock();
  });
  t.like(error, {
    code: 'PROTOCOL',
    message:
      "INSTANCE: the reply contains a row whose first column is null (row 3): try again; if it fails again, see the server's log",
  });
  t.deepEqual(seen, ['a', 'b']);
});

test('a server that is too busy is asked again, with growing pauses', async t => {
  const times: number[] = [];
  const { db } = await instance(t, (socket, { nth }) => {
    times.push(performance.now());
    socket.end(nth < 3 ? reply('exceeded connection limit', 429, TEXT) : reply('{"ddl":"OK"}'));
  });
  t.deepEqual(await db.execute('x'), { ok: true });
  const pauses = times.slice(1).map((time, i) => time - (times[i] as number));
  t.true((pauses[0] as number) > 200 && (pauses[1] as number) > 400 && (pauses[2] as number) > 900, `${pauses}`);
});

for (const [form, inOneSecond] of [
  ['a number', () => '1'],
  ['a date', () => new Date(Date.now() + 2000).toUTCString()],
] as const)
  test(`a busy server is left alone as long as it asks for, with ${form}`, async t => {
    const times: number[] = [];
    const { db } = await instance(t, (socket, { nth }) => {
      times.push(performance.now());
      socket.end(nth === 0 ? reply('', 429, `Retry-After: ${inOneSecond()}`) : reply('{"ddl":"OK"}'));
    });
    t.deepEqual(await db.execute('x'), { ok: true });
    t.true((times[1] as number) - (times[0] as number) > 900);
  });

test('a busy server that asks for an hour is not waited for', async t => {
  const { db, requests } = await instance(t, socket => socket.end(reply('', 429, 'Retry-After: 3600')));
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', outcomeUnknown: false });
  await t.throwsAsync(db.execute('x'), { message: /try again in 3600 s/ });
  t.is(requests.length, 2);
});

test('closing an instance ends its pauses', async t => {
  const { db } = await instance(t, socket => {
    socket.end(reply('', 429, 'Retry-After: 20'));
    setImmediate(() => db.close());
  });
  await t.throwsAsync(db.execute('x'), { message: /the request was canceled/ });
});

test('what follows an answer of 429 goes over a connection of its own', async t => {
  const ports: (number | undefined)[] = [];
  const { db } = await instance(t, (socket, { nth }) => {
    ports.push(socket.remotePort);
    socket.write(nth === 0 ? reply('exceeded connection limit', 429, TEXT) : reply('{"ddl":"OK"}'));
  });
  await db.execute('x');
  await db.execute('x');
  t.not(ports[0], ports[1]);
  t.is(ports[1], ports[2]);
});

test('a server that stays too busy is given up', async t => {
  const { db, requests } = await instance(t, socket => socket.end(reply('exceeded connection limit', 429, TEXT)));
  const error = await t.throwsAsync(db.execute('x'), { instanceOf: InstanceError });
  t.like(error, { code: 'UNREACHABLE', status: 429, outcomeUnknown: false });
  t.regex(error.message, /exceeded connection limit.*too busy/);
  t.is(requests.length, 6);
});

const TARGET: ConnectionConfig = {
  label: 'INSTANCE',
  url: new URL('http://127.0.0.1:1'),
  credentialsHelp: 'HELP',
  insecure: false,
  timeout: 30_000,
  connectTimeout: 30_000,
};

const unreachable = test.macro(async (t, url: string, message: RegExp) => {
  const db = connect({ ...TARGET, url: new URL(url) });
  t.teardown(() => db.close());
  const error = await t.throwsAsync(db.execute('x'), { instanceOf: InstanceError, message });
  t.like(error, { code: 'UNREACHABLE', outcomeUnknown: false });
});

test('nothing listens', unreachable, 'http://127.0.0.1:1', /^INSTANCE: connection refused; is the server running/);
test('a connection that does not come about in time', async t => {
  const { url } = await startFaultyServer(t, () => {});
  const db = connect({ ...TARGET, url: new URL(url.replace('http:', 'https:')), connectTimeout: 500 });
  t.teardown(() => db.close());
  const error = await t.throwsAsync(db.execute('x'), {
    message: /no connection with TLS within 0.5 s.*--connect-timeout/,
  });
  t.like(error, { code: 'UNREACHABLE', outcomeUnknown: false });
});

test('no such host', unreachable, 'http://nowhere.invalid:9000', /^INSTANCE: (no such host|the name of the host)/);

test('no TLS where https was asked for', async t => {
  const port = await portOf(t, createHttpServer());
  const db = connect({ ...TARGET, url: new URL(`https://127.0.0.1:${port}`) });
  t.teardown(() => db.close());
  const error = await t.throwsAsync(db.execute('x'), { message: /does not speak TLS: try http/ });
  t.like(error, { code: 'UNREACHABLE', outcomeUnknown: false });
});

test('what was in flight when the instance was closed is abandoned', async t => {
  const { db } = await instance(t, () => db.close());
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', message: 'INSTANCE: the request was canceled' });
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', outcomeUnknown: false });
});

test('a statement is sent without the semicolon that ends it, which takes no room then', async t => {
  const { db, requests } = await instance(t, sends(reply('{"ddl":"OK"}')));
  for (const statement of ['a;', "a ';'", 'a -- b;\n;', 'a']) await db.execute(statement);
  t.deepEqual(
    requests.map(({ statement }) => statement),
    ['a', "a ';'", 'a -- b;\n', 'a'],
  );
  t.is(db.bufferNeeded('a;'), db.bufferNeeded('a'));
});

test('a large request that gets no answer is explained, with both sizes', async t => {
  const { db } = await instance(t, socket => socket.end());
  const statement = `select '${'x'.repeat(40000)}'`;
  const needed = db.bufferNeeded(statement);
  const error = await t.throwsAsync(db.execute(statement), { instanceOf: InstanceError });
  t.regex(error.message, new RegExp(`too large.*${needed} bytes.*64448.*http.request.header.buffer.size`));
  t.like(error, { code: 'UNREACHABLE', outcomeUnknown: true });
});

test('an encoded query comes back as it was, and only with characters that a URL allows', t => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
      text => {
        const encoded = encodeQuery(text);
        t.is(new URLSearchParams(`query=${encoded}`).get('query'), text);
        t.regex(encoded, /^(?:[\w\-.~!$'()*,;:@/+]|%[\dA-F]{2})*$/);
        t.true(encoded.length <= encodeURIComponent(text).length);
      },
    ),
  );
});

test('what the server would take for something else is encoded, and nothing that need not be', t => {
  t.is(encodeQuery("CREATE TABLE 'a' ( \n\tx INT);"), "CREATE+TABLE+'a'+(+%0A%09x+INT);");
  t.is(encodeQuery('a=b&c?d+e%f"<>#\\^`{|}[]'), 'a%3Db%26c%3Fd%2Be%25f%22%3C%3E%23%5C%5E%60%7B%7C%7D%5B%5D');
  t.is(encodeQuery('ä'), '%C3%A4');
  t.throws(() => encodeQuery('\ud800'), { instanceOf: URIError });
});

/** A server's port, once it listens on 127.0.0.1. */
async function portOf(t: ExecutionContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A self-signed certificate for localhost, and its key, in files. */
async function certificate(t: ExecutionContext) {
  const folder = await freshFolder(t);
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  return { key: await readFile(key), cert: await readFile(cert, 'utf8') };
}

test('TLS is verified, unless it is said not to', async t => {
  const { key, cert } = await certificate(t);
  const server = createHttpsServer({ key, cert }, (_request, response) => void response.end('{"ddl":"OK"}'));
  const port = await portOf(t, server);
  const ask = async (host: string, target: Partial<ConnectionConfig>) => {
    const db = connect({ ...TARGET, url: new URL(`https://${host}:${port}`), ...target });
    t.teardown(() => db.close());
    return db.execute('x');
  };
  const unverified = await t.throwsAsync(ask('localhost', {}), { instanceOf: InstanceError });
  t.like(unverified, { code: 'UNREACHABLE', outcomeUnknown: false });
  t.regex(unverified.message, /self-signed; give its certificate authority with --cacert, or accept any/);
  t.deepEqual(await ask('localhost', { ca: cert }), { ok: true });
  t.deepEqual(await ask('localhost', { insecure: true }), { ok: true });
  const misnamed = await t.throwsAsync(ask('127.0.0.1', { ca: cert }), { instanceOf: InstanceError });
  t.regex(misnamed.message, /certificate is for other names \(DNS:localhost\)/);
});

test('http to a port that speaks TLS', async t => {
  const { key, cert } = await certificate(t);
  const port = await portOf(t, createHttpsServer({ key, cert }));
  const db = connect({ ...TARGET, url: new URL(`http://localhost:${port}`) });
  t.teardown(() => db.close());
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE' });
});

test('through a proxy: http with the whole address, https in a tunnel', async t => {
  const { key, cert } = await certificate(t);
  const plain = await startFaultyServer(t, sends(reply('{"ddl":"OK"}')));
  const secure = createHttpsServer({ key, cert }, (_request, response) => void response.end('{"ddl":"OK"}'));
  const seen: string[] = [];
  const proxy = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    httpRequest(request.url ?? '', { headers: request.headers }, answer => answer.pipe(response)).end();
  });
  proxy.on('connect', (request, client: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers.authorization}`);
    const onward = connectTo(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
  });
  const through = new URL(`http://127.0.0.1:${await portOf(t, proxy)}`);
  const ask = async (url: string) => {
    const db = connect({ ...TARGET, url: new URL(url), ca: cert, proxy: through, authorization: 'Bearer qt1abc' });
    t.deepEqual(await db.execute('x'), { ok: true });
    await db.close();
  };
  await ask(plain.url);
  t.is(plain.requests[0]?.headers.authorization, 'Bearer qt1abc');
  const port = await portOf(t, secure);
  await ask(`https://localhost:${port}`);
  t.deepEqual(seen, [`GET ${plain.url}/api/v1/sql/execute?query=x`, `CONNECT localhost:${port} undefined`]);
});

test('a proxy that is not there', async t => {
  const db = connect({ ...TARGET, proxy: new URL('http://127.0.0.1:1') });
  t.teardown(() => db.close());
  t.like(await t.throwsAsync(db.execute('x')), { code: 'UNREACHABLE', outcomeUnknown: false });
});
