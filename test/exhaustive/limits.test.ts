/*! Input beyond a limit is a clear error of the built programs: no stack trace, no abort, no silence. */

import { flood, reply, startFaultyServer } from '../faults/faulty-server.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

/** Prints more statements than fit into Node's memory as limited here, with an object and a grant among them. */
const MANY = `many() { printf 'CREATE TABLE a (x INT)\\0GRANT SELECT ON a TO b\\0'; yes 'a' | head -n 200000 | tr '\\n' '\\0'; }
export NODE_OPTIONS=--max-old-space-size=64`;

for (const command of [
  'many | sqlsort > out',
  'many | sqlgrep --with-deps a > out',
  'many | sqljoin -d folder',
  'many > s; sqldiff s s',
  'many | sqljoin > s.sql; sqldiff s.sql s.sql',
])
  test(`input that exceeds the memory is an error: ${command}`, async t => {
    const { code, stderr } = await (await shell(t))(`${MANY}; ${command}`);
    t.regex(stderr, /^sql\w+: not enough memory for more than \d+ statements; set NODE_OPTIONS=\S+ to allow/);
    t.is(code, 74);
  });

test('sqlsort: a long cycle is named by some of its members', async t => {
  const circle = `node -e 'for (let i = 0; i < 1000; i++) process.stdout.write("CREATE VIEW v" + i + " AS (v" + (i + 1) % 1000 + ")\\0")'`;
  const { code, stderr } = await (await shell(t))(`${circle} | sqlsort > out`);
  t.regex(
    stderr,
    /: view 'v0' needs view 'v1', which .* needs view 'v19', which needs 980 more, which needs view 'v0'\n$/,
  );
  t.is(code, 65);
});

test('a grant on 200,000 objects does not overflow the call stack', async t => {
  const grant = `node -e 'process.stdout.write("GRANT SELECT ON " + "a,".repeat(2e5) + "a TO b\\0CREATE TABLE a (x INT)\\0")'`;
  const { code, stdout } = await (await shell(t))(
    `${grant} | sqlgrep --with-deps --kind grant | tr '\\0' '\\n' | grep -c ';$'`,
  );
  t.deepEqual([code, stdout.toString()], [0, '2\n']);
});

test('a table with a very long list of volumes is dumped unchanged', async t => {
  const row = `CREATE TABLE 't' ( \n\tx INT\n)${', IN VOLUME a'.repeat(100_000)}`;
  const { url } = await startFaultyServer(t, (socket, { statement }) =>
    socket.write(reply(JSON.stringify({ dataset: statement.startsWith('SHOW') ? [[row]] : [], count: undefined }))),
  );
  const { code, stdout } = await (await shell(t, { URL: url }))('sqldump "$URL"');
  t.is(stdout.toString(), `${row};\n\0`);
  t.is(code, 0);
});

test('an endless dump ends sqldiff with an error about memory', async t => {
  const { url } = await startFaultyServer(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"dataset":[["CREATE TABLE t0 (x INT)"]');
    let row = 0;
    flood(socket, () => `,["CREATE TABLE t${++row} (x INT)"]`.repeat(100));
  });
  const { code, stderr } = await (await shell(t, { URL: url, NODE_OPTIONS: '--max-old-space-size=64' }))(
    `printf '\\0' | sqldiff "$URL" -`,
  );
  t.regex(stderr, /^sqldiff: not enough memory for more than \d+ statements; /);
  t.is(code, 74);
});

test('an endless reply to a statement is rejected and not read any further', async t => {
  let sent = 0;
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    if (statement.startsWith('SHOW')) return socket.write(reply('{"error":"no","position":0}', 400));
    socket.write('HTTP/1.1 200 OK\r\n\r\n{"ddl":"OK"');
    flood(socket, () => {
      sent += 10_000;
      return ' '.repeat(10_000);
    });
  });
  const { code, stderr } = await (await shell(t, { URL: url }))(
    `printf 'GRANT SELECT ON a TO b\\0' | sqlapply --no-verify "$URL"`,
  );
  t.regex(stderr, /whether it was applied is unknown: .*: the reply is longer than \d+ bytes/);
  t.is(code, 76);
  t.true(sent < 100_000_000);
});

test('endless white space instead of rows exceeds the time for a row', async t => {
  const { url } = await startFaultyServer(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n{');
    flood(socket, () => ' '.repeat(10_000));
  });
  const { code, stderr } = await (await shell(t, { URL: url }))('sqldump --timeout 0.2 "$URL"');
  t.regex(stderr, /: no further row and no end of the reply within 0\.2 s/);
  t.is(code, 69);
});
