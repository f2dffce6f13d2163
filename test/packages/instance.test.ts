import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fetchInHalves } from '../../packages/instance/src/http/request.js';
import {
  type Client,
  connect,
  dump,
  encodeQuery,
  fetchStatements,
  InstanceError,
  poll,
  pollUntilSettled,
  toRequestText,
} from '../../packages/instance/src/index.js';
import { isChangeOfBase } from '../../packages/schema/src/index.js';
import {
  chunk,
  flood,
  HTML,
  head,
  LAST_CHUNK,
  reply,
  replying,
  rowsBody,
  send,
  startFaultyServer,
} from '../faults/faulty-server.js';
import { connectTo, readRows, TARGET } from '../support/client.js';
import { anyCharacter, fc, forAll, forAllAsync } from '../support/seed.js';
import { test } from '../support/test.js';

test('rows, a table and statements use one connection', async t => {
  const ports = new Set<number | undefined>();
  const { db, requests } = await connectTo(t, (socket, { statement }) => {
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
  for await (const batch of db.streamFirstColumn('rows')) all.push(...batch);
  t.deepEqual(all, ['CREATE TABLE a (x int);', 'b']);
  t.deepEqual(await db.queryRows('table'), [['a', 1, null, true], []]);
  t.deepEqual(await db.execute('ddl'), { ok: true });
  t.deepEqual(await db.execute('dml'), { ok: true });
  t.is(ports.size, 1);
  const found = requests.map(request => request.line.split(' ')[1]);
  t.deepEqual(found, [
    '/api/v1/sql/execute?query=rows&count=true',
    '/api/v1/sql/execute?query=table&count=true',
    '/api/v1/sql/execute?query=ddl',
    '/api/v1/sql/execute?query=dml',
  ]);
  t.deepEqual(Object.keys(requests[0]?.headers ?? {}), ['host', 'connection']);
});

test('each request has the path prefix and the credentials', async t => {
  const { db, requests, url } = await connectTo(t, replying('{"ddl":"OK"}'), { authorization: 'Bearer qt1abc' });
  await db.execute('x');
  t.is(requests[0]?.headers.authorization, 'Bearer qt1abc');
  const prefixed = connect({ ...TARGET, url: new URL(`${url}/db/one`) });
  t.teardown(() => prefixed.close());
  await prefixed.execute('x');
  t.is(requests[1]?.line, 'GET /db/one/api/v1/sql/execute?query=x HTTP/1.1');
  t.is(requests[1]?.headers.authorization, undefined);
});

test('rows may be abandoned before their end', async t => {
  const { db } = await connectTo(t, (socket, { nth }) =>
    nth === 0
      ? socket.write(Buffer.concat([head(), chunk('{"dataset":[["a"],')]))
      : socket.write(reply('{"ddl":"OK"}')),
  );
  for await (const batch of db.streamFirstColumn('q')) {
    t.deepEqual(batch, ['a']);
    break;
  }
  t.deepEqual(await db.execute('x'), { ok: true });
});

test('a connection that the server closes between requests is replaced', async t => {
  const { db, requests } = await connectTo(t, socket => socket.end(reply('{"ddl":"OK"}')));
  for (let i = 0; i < 20; i++) {
    t.deepEqual(await db.execute('x'), { ok: true });
    await new Promise(resolve => setTimeout(resolve, 1));
  }
  t.is(requests.length, 20);
});

const NO = '{"query":"x","error":"table already exists","position":13}';
const READ_ONLY = 'Could not create table, Write permission denied';
for (const [what, bytes, message, more] of [
  ['a rejection', reply(NO, 400), 'table already exists', { position: 13 }],
  [
    'a rejection with status 200',
    reply('{"error":"empty query","position":"0"}'),
    'empty query',
    { position: 0, status: 200 },
  ],
  ['a rejection beside an OK', reply('{"ddl":"OK","error":"but"}'), 'but', { status: 200 }],
  ['a rejection without a position', reply('{"error":"bad cols"}', 400), 'bad cols', {}],
  ['a read-only server with 400', reply(`{"error":"${READ_ONLY}"}`, 400), READ_ONLY, { isDenied: true }],
  ['a read-only server with 403', reply(`{"error":"${READ_ONLY}"}`, 403), READ_ONLY, { isDenied: true, status: 403 }],
] as const)
  test(what, async t => {
    const { db } = await connectTo(t, send(bytes));
    const { matches: _, ...rejection } = (await db.execute('x')) as { matches?: unknown };
    t.deepEqual(rejection, { ok: false, isDenied: false, message, status: 400, ...more } as never);
  });

test("a rejected query is an error with the server's message", async t => {
  const answer = '{"query":"q","error":"expected \'TABLE\'\\u001b[31m","position":12}';
  const { db } = await connectTo(t, replying(answer, 400));
  const expected = { code: 'REJECTED', position: 12, status: 400, serverMessage: "expected 'TABLE'\x1b[31m" };
  const message = "INSTANCE: the server rejected the request: expected 'TABLE'\\x1b[31m";
  for (const asked of [readRows(db), db.queryRows('q')]) t.like(await t.throwsAsync(asked), { ...expected, message });
});

test('an object that no reply can contain is named; other errors are not retried per object', async t => {
  const bad = (statement: string) => statement.includes("'v3'");
  const { db } = await connectTo(t, (socket, { statement }) =>
    socket.write(reply(bad(statement) ? '{"dataset":[["a\0"]]}' : rowsBody(...statement.split(' UNION ALL ')))),
  );
  const views = Array.from({ length: 9 }, (_, i) => ({ kind: 'view', name: `v${i}` }) as const);
  t.like(await t.throwsAsync(fetchStatements(db, views)), {
    code: 'PROTOCOL',
    message:
      "INSTANCE: view 'v3': the reply contains a NUL character (row 1); a stream cannot contain that: recreate the object without it",
  });
  const page = await connectTo(t, replying('<form>', 200, HTML));
  await t.throwsAsync(fetchStatements(page.db, views), { message: /^INSTANCE: answered 200/ });
  t.is(page.requests.length, 1);
});

test('the size of table() replies is limited, and arrays in cells are not returned', async t => {
  const bodies: Record<string, string> = {
    long: `{"dataset":[["${'a'.repeat(33 * 1024 * 1024)}"]]}`,
    keys: `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":{}`)},"dataset":[["a",[1],{}]],"1":0}`,
  };
  const { db } = await connectTo(t, (socket, { statement }) => socket.write(reply(bodies[statement] ?? '')));
  await t.throwsAsync(db.queryRows('long'), { code: 'PROTOCOL', message: /the reply is longer than 33554432 bytes/ });
  t.deepEqual(await db.queryRows('keys'), [['a', undefined, undefined]]);
});

test('a small reply that JSON.parse would accept, or that is not JSON, is rejected with the reason', async t => {
  const { db } = await connectTo(t, (socket, { statement }) => socket.write(reply(statement)));
  const reasons: Record<string, string> = {
    '{"dataset":[],"error":"x","dataset":[]}': 'contains "dataset" twice',
    '{"a":"\\"","\\u0065rror":"x","error" :"y"}': 'contains "error" twice',
    [`{"a":${'['.repeat(128)}${']'.repeat(128)}}`]: 'is nested deeper than 128 levels',
    '{"dataset":[["a"],{}]}': 'contains a dataset that is not rows of cells',
    '{"dataset":null}': 'contains a dataset that is not rows of cells',
    '{"dataset":[["a"]],"count":2}': 'contains 1 rows, but its count is 2',
    '{"dataset":[["a\\x"]]}': 'contains a string with an escape that JSON does not know',
    '{"dataset":[["a"],]}': 'is not JSON: "]" is out of place',
    '{"dataset":[]}{': 'is not JSON: "{" is out of place',
  };
  for (const [body, reason] of Object.entries(reasons))
    t.is((await t.throwsAsync(db.queryRows(body)))?.message.split(';')[0], `INSTANCE: the reply ${reason}`, body);
  const repeated = '{"timings":{"count":1,"count":1},"a":["error","error"],"b":1,"b":2,"dataset":[["a"]],"count":1}';
  t.deepEqual(await db.queryRows(repeated), [['a']]);
});

/** A cell, with the characters that also separate cells and rows. */
const cell = fc.oneof(
  fc.constantFrom(null, true, -0.5, 1e300),
  fc.array(fc.constantFrom('],[', '"', '[', ']', ',', '\\', 'a', '\u00e9', '\u{1f600}')).map(parts => parts.join('')),
  fc.constantFrom([], [1], [[1], [2]], {}, { a: '],[' }),
);

test('table() returns the rows of a reply of any length, whatever is in their cells', async t => {
  let body = '';
  const { db } = await connectTo(t, socket => socket.write(reply(body)));
  const check = async (some: unknown[][], times: number) => {
    const rows = Array.from({ length: times }, () => some).flat();
    body = JSON.stringify({ columns: [{ name: 'a' }], dataset: rows, timings: [[1], [2]], count: rows.length });
    const expected = rows.map(row =>
      row.map(value => (value !== null && typeof value === 'object' ? undefined : value)),
    );
    t.deepEqual(JSON.stringify(await db.queryRows('q')), JSON.stringify(expected));
  };
  await forAllAsync(40, fc.array(fc.array(cell)), fc.constantFrom(1, 2, 1000), check);
});

test('a reply to a statement may quote the statement, but not be much longer', async t => {
  const quoted = 'x'.repeat(100_000);
  const { db } = await connectTo(t, (socket, { statement }) =>
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

test('more definitions than requested are rejected before the end of the reply', async t => {
  const tables = ['a', 'b'].map(name => ({ kind: 'table', name }) as const);
  const { db } = await connectTo(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"dataset":[["a"]');
    flood(socket, () => ',["a"]'.repeat(1000));
  });
  await t.throwsAsync(fetchStatements(db, tables), {
    code: 'PROTOCOL',
    message: /requested 2 statements and received more/,
  });
});

test('a server without SHOW CREATE DATABASE: the message suggests --via catalogue', async t => {
  const old = `{"query":"x","error":"expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'","position":12}`;
  const { url } = await startFaultyServer(t, replying(old, 400));
  const dumped = dump({ ...TARGET, url: new URL(url) }, { via: 'database' });
  t.like(await t.throwsAsync(dumped.next()), {
    code: 'REJECTED',
    message:
      "INSTANCE: the server rejected the request: expected 'TABLE' or 'VIEW' or 'MATERIALIZED VIEW'; it has no SHOW CREATE DATABASE, so use --via catalogue",
  });
});

test('a dump whose signal has aborted before it starts asks for nothing', async t => {
  const { url, requests } = await startFaultyServer(t, replying(rowsBody('CREATE TABLE t (x INT);')));
  const dumped = dump({ ...TARGET, url: new URL(url) }, { signal: AbortSignal.abort() });
  t.like(await t.throwsAsync(dumped.next()), { code: 'UNREACHABLE', message: 'INSTANCE: the request was canceled' });
  t.is(requests.length, 0);
});

test('a query without permission is reported as DENIED', async t => {
  const { db } = await connectTo(t, replying('{"error":"Access denied for bob [LIST USERS]"}', 403));
  t.like(await t.throwsAsync(readRows(db)), {
    code: 'DENIED',
    status: 403,
    message:
      'INSTANCE: the server rejected the request: Access denied for bob [LIST USERS]; grant the permission to this user, or use another account',
  });
});

test('rows before damage in the reply are delivered', async t => {
  let restartClock = () => {};
  const { db } = await connectTo(t, socket => {
    socket.write(Buffer.concat([head(), chunk('{"dataset":[["a"],["b"],')]));
    restartClock = () => socket.write(Buffer.concat([chunk('[null]]}'), LAST_CHUNK]));
  });
  const seen: string[] = [];
  const error = await t.throwsAsync(async () => {
    for await (const batch of db.streamFirstColumn('q')) if (seen.push(...batch) === 2) restartClock();
  });
  t.like(error, {
    code: 'PROTOCOL',
    message:
      "INSTANCE: the reply contains a row whose first column is null (row 3); try again; if it fails again, see the server's log",
  });
  t.deepEqual(seen, ['a', 'b']);
});

test('the final semicolon of a statement is neither sent nor counted', async t => {
  const { db, requests } = await connectTo(t, replying('{"ddl":"OK"}'));
  for (const statement of ['a;', "a ';'", 'a -- b;\n;', 'a']) await db.execute(statement);
  const texts = requests.map(({ statement }) => statement);
  t.deepEqual(texts, ['a', "a ';'", 'a -- b;\n', 'a']);
  t.is(db.requiredBuffer('a;'), db.requiredBuffer('a'));
});

test('a batch is halved down to single objects, and not further', async t => {
  const requests: number[][] = [];
  const fetch = (rowsOfOne: number[] | undefined) => async (objects: readonly number[]) => {
    if (requests.push([...objects]) > 10) throw new Error('it is halved for ever');
    return objects.length > 1 ? undefined : rowsOfOne;
  };
  t.deepEqual(await fetchInHalves([1, 2, 3], fetch([0])), [0, 0, 0]);
  t.deepEqual(requests, [[1, 2, 3], [1, 2], [1], [2], [3]]);
  await t.throwsAsync(fetchInHalves([1], fetch(undefined)), { message: 'no rows for one object, and no error either' });
});

test('a server that is not settled yet is asked with growing pauses', async t => {
  let count = 0;
  const ask = async () => ++count;
  const busy = { queryRows: async () => [['m', 'refreshing']] } as Partial<Client> as Client;
  t.is(await pollUntilSettled(busy, 'm', ask, () => false, { timeout: 600 }), count);
  t.true(count > 1 && count < 12, `asked ${count} times`);
});

test('an interruption ends a pause between two questions', async t => {
  const interruption = new AbortController();
  let count = 0;
  const ask = async () => {
    // The pause after that is half a second.
    if (++count === 8) setImmediate(() => interruption.abort());
    return undefined;
  };
  const end = once(interruption.signal, 'abort').then(() => wait(100, 'later'));
  t.is(await Promise.race([poll({ timeout: 0, signal: interruption.signal }, ask), end]), undefined);
});

test('a large request without a reply is explained with both sizes', async t => {
  const { db } = await connectTo(t, socket => socket.end());
  const statement = `select '${'x'.repeat(40000)}'`;
  const needed = db.requiredBuffer(statement);
  const error = await t.throwsAsync(db.execute(statement), { instanceOf: InstanceError });
  t.regex(error.message, new RegExp(`too large.*${needed} bytes.*64448.*http.request.header.buffer.size`));
  t.like(error, { code: 'UNREACHABLE', mayHaveRun: true });
});

test('an encoded query decodes to the original and contains only URL characters', t =>
  forAll(100, fc.string({ unit: anyCharacter }), text => {
    const encoded = encodeQuery(text);
    t.is(new URLSearchParams(`query=${encoded}`).get('query'), text);
    t.regex(encoded, /^(?:[\w\-.~!$'()*,;:@/+]|%[\dA-F]{2})*$/);
    t.true(encoded.length <= encodeURIComponent(text).length);
  }));

test('encodeQuery encodes only characters that the server would misread', t => {
  t.is(encodeQuery("CREATE TABLE 'a' ( \n\tx INT);"), "CREATE+TABLE+'a'+(+%0A%09x+INT);");
  t.is(encodeQuery('a=b&c?d+e%f"<>#\\^`{|}[]'), 'a%3Db%26c%3Fd%2Be%25f%22%3C%3E%23%5C%5E%60%7B%7C%7D%5B%5D');
  t.is(encodeQuery('ä'), '%C3%A4');
  t.throws(() => encodeQuery('\ud800'), { instanceOf: URIError });
});

test('only after START of an ALTER, a statement is sent with its semicolon', t => {
  const alter = "ALTER MATERIALIZED VIEW m SET REFRESH EVERY 1h START '2026'";
  t.is(toRequestText(`${alter};`), `${alter};`);
  t.is(toRequestText(`${alter} -- now\n;`), `${alter} -- now\n;`);
  // 9.3.4 would store the semicolon in the body of the view.
  for (const body of ["SELECT x FROM t -- START '2026'\n", "SELECT 1 START '2026'"])
    t.is(toRequestText(`CREATE VIEW v AS ${body};`), `CREATE VIEW v AS ${body}`);
  const add = "ALTER TABLE t ADD COLUMN x INT -- START '2026'\n";
  t.is(toRequestText(`${add};`), add);
});

test('a view is invalid because of a change of its base, or because its query failed', t => {
  for (const reason of [
    'truncate operation',
    'base table is dropped or renamed',
    'base table rebase',
    'base materialized view is invalidated',
  ])
    t.true(isChangeOfBase(reason), reason);
  t.false(isChangeOfBase('[-1]: timestamp type mismatch'));
});
