/*! A signal ends a program soon, with that signal as its status, a summary and no temporary files. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { main as sqlapply } from '../../packages/sqlapply/src/main.js';
import { type Answer, chunk, head, reply, startFaultyServer } from '../faults/faulty-server.js';
import { deferred } from '../support/deferred.js';
import { freshFolder } from '../support/folder.js';
import { freePort } from '../support/ports.js';
import { startProgram, waitForProcess } from '../support/program.js';
import { test } from '../support/test.js';

const TABLES = ['a', 'b', 'c'].map(name => `CREATE TABLE '${name}' ( \n\tx INT\n);\n`);
const STREAM = TABLES.map(table => `${table}\0`).join('');

/** A target that holds back the second statement: `reached` resolves when it arrives, to a function that sends `answer`. */
async function startTarget(t: ExecutionContext, answer: Answer) {
  const { promise: reached, resolve: reach } = deferred<() => void>();
  const { url, requests } = await startFaultyServer(t, (socket, request) => {
    if (request.statement.startsWith("CREATE TABLE 'b'")) reach(() => answer(socket, request));
    else socket.write(reply('{"ddl":"OK"}'));
  });
  const sent = () => requests.filter(({ statement }) => statement.startsWith('CREATE')).length;
  return { url, reached, sent };
}

// One function catches all three.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`${signal} during a replay: the request in flight is finished, the rest goes to the rejects`, async t => {
    const { url, reached, sent } = await startTarget(t, socket => socket.write(reply('{"ddl":"OK"}')));
    const command = ['sqlapply', '--no-verify', '--rejects', 'rest', url];
    const { child, interrupt, ended, stderr, folder, listFiles } = await startProgram(t, command);
    child.stdin.end(STREAM);
    const release = await reached;
    await interrupt(signal);
    release();
    t.deepEqual(await ended, [null, signal]);
    t.is(sent(), 2);
    t.is(
      await stderr,
      `sqlapply: interrupted: ${url}: 2 of 3 applied, 1 not reached\n  hint: to continue, rerun the same command: it skips equal objects\n`,
    );
    t.deepEqual(await listFiles(), ['rest']);
    t.is(await readFile(join(folder, 'rest'), 'utf8'), `${TABLES[2]}\0`);
  });

test('SIGTERM during a replay: a request without a reply is canceled', async t => {
  const { url, reached } = await startTarget(t, () => {});
  const { child, ended, stderr } = await startProgram(t, ['sqlapply', url]);
  child.stdin.end(STREAM);
  await reached;
  child.kill('SIGTERM');
  t.deepEqual(await ended, [null, 'SIGTERM']);
  t.regex(await stderr, /statement 2 \(table 'b'\): whether it was applied is unknown: .*: the request was canceled\n/);
  t.regex(
    await stderr,
    /: interrupted: .*: 1 of 3 applied, 1 unknown, 1 not reached\n {2}hint: to continue, rerun the same/,
  );
});

test('SIGTERM while a replay waits for more input: the summary is printed', async t => {
  const { url, reached } = await startTarget(t, socket => socket.write(reply('{"ddl":"OK"}')));
  const { child, ended, stderr } = await startProgram(t, ['sqlapply', '--stream', '--no-verify', url]);
  child.stdin.write(STREAM);
  (await reached)();
  child.kill('SIGTERM');
  t.deepEqual(await ended, [null, 'SIGTERM']);
  t.regex(await stderr, /: interrupted: .*: [23] statements: [23] applied\n/);
});

test('SIGTERM while sqlapply waits for a token ends it at once', async t => {
  const fifo = join(await freshFolder(t), 'token');
  execFileSync('mkfifo', [fifo]);
  const { child, ended } = await startProgram(t, ['sqlapply', '--token-file', fifo, 'http://127.0.0.1:1']);
  const writer = await open(fifo, 'w'); // resolves when the program has opened it
  child.kill('SIGTERM');
  t.deepEqual(await ended, [null, 'SIGTERM']);
  await writer.close();
});

test('after a signal that arrives before the target is opened, sqlapply does not read its input', async t => {
  let isRead = false;
  const type = { isFIFO: () => true, isSocket: () => false, isDirectory: () => false };
  const status = await sqlapply({
    args: ['http://127.0.0.1:1'],
    env: {},
    stdin() {
      isRead = true;
      return Readable.from([Buffer.from(STREAM)]);
    },
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    fstat: () => type,
    catchSignals: () => AbortSignal.abort('SIGTERM'),
    onUncaught() {},
  });
  t.deepEqual([status, isRead], [143, false]);
});

test('SIGTERM during a dump leaves no file', async t => {
  const { url } = await startFaultyServer(t, socket =>
    socket.write(Buffer.concat([head(), chunk('{"dataset":[["CREATE')])),
  );
  const { child, ended, listFiles, folder } = await startProgram(t, ['sqldump', '-o', 'schema', url]);
  await waitForTemporaryFile(folder);
  child.kill('SIGTERM');
  t.deepEqual(await ended, [null, 'SIGTERM']);
  t.deepEqual(await listFiles(), []);
});

test('SIGTERM ends a dump to standard output while the server is silent', async t => {
  const { promise: reached, resolve: reach } = deferred();
  const { url } = await startFaultyServer(t, () => reach());
  const { child, ended, stdout } = await startProgram(t, ['sqldump', url]);
  await reached;
  child.kill('SIGTERM');
  t.deepEqual(await ended, [null, 'SIGTERM']);
  t.is((await stdout).length, 0);
});

const LONG_RECORD = `CREATE TABLE 't' (${'x INT, '.repeat(10_000)}y INT);\n\0`;

test('SIGTERM while sqljoin writes its file leaves no file', async t => {
  for (;;) {
    const { child, ended, listFiles, folder } = await startProgram(t, ['sqljoin', '-o', 'schema.sql']);
    child.stdin.end(LONG_RECORD.repeat(1000));
    await Promise.race([waitForTemporaryFile(folder), ended]);
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    const files = await listFiles();
    if (code !== 0) t.is(signal, 'SIGTERM');
    if (files.length === 0) return;
    t.deepEqual(files, ['schema.sql']); // it was faster than the test
    t.is((await readFile(`${folder}/schema.sql`, 'utf8')).match(/;$/gm)?.length, 1000);
  }
});

for (const [program, input] of Object.entries({ sqlsplit: STREAM.replaceAll('\0', ''), sqlgrep: STREAM }))
  test(`SIGTERM while ${program} waits for more input leaves an incomplete stream`, async t => {
    const { child, ended, stdout } = await startProgram(t, [program]);
    child.stdin.write(input);
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    t.deepEqual(await ended, [null, 'SIGTERM']);
    t.not((await stdout).at(-1), 0);
  });

async function waitForTemporaryFile(folder: string): Promise<void> {
  while (!(await readdir(folder)).some(file => /\.tmp$|^schema/.test(file))) await new Promise(setImmediate);
}

for (const command of [['sqlapply', 'http://127.0.0.1:1'], ['sqljoin']])
  test(`SIGKILL leaves no temporary file of ${command[0]} while its input is spooled to disk`, async t => {
    const { child, pid, ended, listFiles } = await startProgram(t, command);
    child.stdin.write(LONG_RECORD.repeat(400));
    await waitForDeletedFile(pid);
    child.kill('SIGKILL');
    t.deepEqual(await ended, [null, 'SIGKILL']);
    t.deepEqual(await listFiles(), []);
  });

test('^C ends the pause before a retry', async t => {
  const address = `127.0.0.1:${await freePort()}`;
  for (const command of [
    ['sqlapply', '--retries', '1000', address, 'a.sql'],
    ['sqldump', '--retries', '1000', '-o', 'dump', address],
    ['sqldump', '--retries', '1000', address],
  ]) {
    const program = await startProgram(t, command, { 'a.sql': 'CREATE TABLE a (x INT);' });
    await program.firstLine;
    program.child.kill('SIGINT');
    t.deepEqual(await program.ended, [null, 'SIGINT']);
    t.regex(await program.stderr, /connection refused; .*; retrying in 1 s \(1 of 1000\)\n/);
    t.deepEqual(await program.listFiles(), ['a.sql']);
  }
});

const SIGINT = 1n << 1n;

test('a signal at the same moment as the end of an empty input is an interruption', async t => {
  const { child, pid, ended, stderr } = await startProgram(t, ['sqlapply', 'http://127.0.0.1:1']);
  await waitForProcess(pid, ({ caught, sleeps }) => (caught & SIGINT) !== 0n && sleeps);
  child.kill('SIGSTOP');
  child.kill('SIGINT');
  await new Promise<void>(resolve => child.stdin.end(resolve));
  child.kill('SIGCONT');
  t.deepEqual(await ended, [null, 'SIGINT']);
  t.notRegex(await stderr, /empty input/);
});

async function waitForDeletedFile(pid: number): Promise<void> {
  for (;;) {
    const files = await readdir(`/proc/${pid}/fd`);
    const links = await Promise.all(files.map(file => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (links.some(link => link.endsWith(' (deleted)'))) return;
    await new Promise(setImmediate);
  }
}
