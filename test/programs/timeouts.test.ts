/*! Timeouts: no server can make a program wait longer than `--timeout`. */
import type { Socket } from 'node:net';
import { type Answer, chunk, head, LAST_CHUNK, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import type { Outcome } from '../support/shell.js';
import { test } from '../support/test.js';

function drip(socket: Socket, piece: () => string | Buffer, milliseconds = 50): void {
  const dripping = setInterval(() => socket.write(piece()), milliseconds);
  socket.on('close', () => clearInterval(dripping));
}

const APPLY = "printf 'CREATE TABLE a (x INT)\\0' | sqlapply --no-verify --timeout 0.5 $URL";
const DUMP = 'sqldump --timeout 0.5 $URL';

const sendInformational: Answer = socket => drip(socket, () => 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');

const NO_END = /no further row and no end of the reply within 0\.5 s; .* --timeout waits longer/;

const dripAfter =
  (start: Buffer, piece: string): Answer =>
  socket => {
    socket.write(start);
    drip(socket, () => chunk(piece));
  };

const dripSpaces = dripAfter(head(), ' ');
const ROW = '{"dataset":[["CREATE TABLE \'a\' (x INT)"]';
const NO_ANSWER = /no answer within 0\.5 s/;

for (const [what, command, answer, message] of [
  ['a reply to a statement that drips without end', APPLY, dripSpaces, NO_END],
  ['a dump that drips before its first row', DUMP, dripSpaces, NO_END],
  ['endless informational responses to a statement', APPLY, sendInformational, NO_ANSWER],
  ['endless informational responses to a dump', DUMP, sendInformational, NO_ANSWER],
  ['a dump that drips within a row', DUMP, dripAfter(Buffer.concat([head(), chunk(`${ROW},["CREATE`)]), 'b'), NO_END],
  ['a dump that drips after its last row', DUMP, dripAfter(Buffer.concat([head(), chunk(`${ROW}]`)]), ' '), NO_END],
  ['a rejection that drips without end', APPLY, dripAfter(head(400), '{'), NO_END],
] as const)
  test(`${what} times out`, async t => {
    const { url } = await startFaultyServer(t, answer);
    const { code, stderr } = await (await inProcess(t, { URL: url }))(command);
    t.is(code, 69, stderr);
    t.regex(stderr, message);
  });

/** Dumps with longer and longer timeouts until one succeeds: a busy machine needs more than the shortest. */
async function dumpWithin(dump: (seconds: number) => Promise<Outcome>): Promise<string> {
  for (let seconds = 1; ; seconds *= 4) {
    const { code, stdout, stderr } = await dump(seconds);
    if (code === 0) return stdout;
    if (seconds > 16) throw new Error(stderr);
  }
}

test('the timeout limits the wait for each row, not the whole dump', async t => {
  const run = await inProcess(t);
  const count = await dumpWithin(async seconds => {
    const { url } = await startFaultyServer(t, socket => {
      let rows = 0;
      socket.write(Buffer.concat([head(), chunk('{"dataset":[["CREATE TABLE a0 (x INT)"]')]));
      // In all, longer than the timeout.
      const next = () => {
        if (++rows === 22) return Buffer.concat([chunk(']}'), LAST_CHUNK]);
        return rows < 22 ? chunk(`,["CREATE TABLE a${rows} (x INT)"]`) : '';
      };
      drip(socket, next, seconds * 50);
    });
    return run(`set -o pipefail; sqldump --timeout ${seconds} ${url} | tr -cd '\\0' | wc -c`);
  });
  t.is(count, '22\n');
});

test('the timeout does not limit the reader of a dump', async t => {
  const run = await inProcess(t);
  const long = Array.from({ length: 300 }, (_, i) => `CREATE TABLE 'a${i}' (${'x'.repeat(10_000)} INT)`);
  const { url } = await startFaultyServer(t, socket => socket.write(reply(rowsBody(...long))));
  const count = await dumpWithin(seconds =>
    run.bash(
      `sqldump --timeout ${seconds} ${url} | (sleep ${seconds * 1.1}; cat) | tr -cd '\\0' | wc -c; exit $PIPESTATUS`,
    ),
  );
  t.is(count, '300\n');
});

/** Replies to a dump with a view, and to auxiliary queries as given. */
const withAuxiliary =
  (auxiliary: Answer): Answer =>
  (socket, request) =>
    request.statement.startsWith('SHOW CREATE DATABASE')
      ? socket.write(reply(rowsBody("CREATE VIEW 'v' AS (SELECT 1)")))
      : auxiliary(socket, request);

for (const [how, auxiliary] of Object.entries<Answer>({
  'gets no reply': () => {},
  'gets a reply that drips': dripSpaces,
  'gets only informational responses': sendInformational,
  'gets 429 again and again': socket => socket.write(reply('busy', 429, 'Retry-After: 9')),
}))
  test(`a dump with all rows does not wait for an auxiliary query that ${how}`, async t => {
    // Under load, the time may be up before the query arrives.
    let asked = Number.POSITIVE_INFINITY;
    const timed: Answer = (...request) => {
      asked = Math.min(asked, performance.now());
      auxiliary(...request);
    };
    const { url } = await startFaultyServer(t, withAuxiliary(timed));
    const run = await inProcess(t, { URL: url });
    const { code, stdout, stderr } = await run('sqldump --timeout 0.2 $URL');
    t.true(performance.now() - asked < 5000, 'the limit of such a query without --timeout');
    t.is(code, 0, stderr);
    t.is(stdout, "CREATE VIEW 'v' AS (SELECT 1);\n\0");
  });

test('a tunnel through a proxy that never replies is limited by --connect-timeout', async t => {
  const trickles: Answer = socket => {
    socket.write('HTTP/1.1 200 OK\r\nX: ');
    drip(socket, () => 'x');
  };
  for (const answer of [() => {}, trickles]) {
    const { url } = await startFaultyServer(t, answer);
    const run = await inProcess(t, { https_proxy: url, no_proxy: '' });
    const { stderr } = await run.exits(69, 'sqldump --connect-timeout 0.2 https://db.invalid');
    t.regex(stderr, /no connection with TLS within 0\.2 s/);
  }
});
