/*! A signal ends a program soon, by that signal, with what was done told and nothing left behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink, watch } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { type Answer, chunk, head, reply, startFaultyServer } from './faults/faulty-server.js';
import { freshFolder } from './support/folder.js';
import { CACHE } from './support/shell.js';
import { test } from './support/test.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const TABLES = ['a', 'b', 'c'].map(name => `CREATE TABLE '${name}' ( \n\tx INT\n);\n`);
const STREAM = TABLES.map(table => `${table}\0`).join('');

interface Run {
  program: ChildProcessByStdio<Writable, Readable, Readable>;
  stdout: Promise<Buffer>;
  stderr: Promise<string>;
  /** Resolves to the exit status and the signal. */
  ended: Promise<unknown[]>;
  folder: string;
  /** The names in its folder, which temporary files are in too. */
  left(): Promise<string[]>;
}

/** Starts a built program in a fresh folder. */
async function start(t: ExecutionContext, program: string, ...args: string[]): Promise<Run> {
  const folder = await freshFolder(t);
  const child = spawn(resolve('node_modules/.bin', program), args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_CACHE_HOME: CACHE, TMPDIR: folder },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}); // it ends before it has read all
  t.teardown(() => void child.kill('SIGKILL'));
  return {
    program: child,
    stdout: buffer(child.stdout),
    stderr: text(child.stderr),
    ended: once(child, 'exit'),
    folder,
    left: () => readdir(folder),
  };
}

/** A target that answers well, but for the second statement, which gets `answer` when it is released; `reached` resolves when it came. */
async function target(t: ExecutionContext, answer: Answer) {
  let reach: (release: () => void) => void = () => {};
  const reached = new Promise<() => void>(resolve => {
    reach = resolve;
  });
  const { url, requests } = await startFaultyServer(t, (socket, request) => {
    if (request.statement.startsWith("CREATE TABLE 'b'")) reach(() => answer(socket, request));
    else socket.write(reply('{"ddl":"OK"}'));
  });
  const sent = () => requests.filter(({ statement }) => statement.startsWith('CREATE')).length;
  return { url, reached, sent };
}

for (const signal of SIGNALS) {
  test(`${signal} in a replay: the request in flight is finished, the rest is kept`, async t => {
    const { url, reached, sent } = await target(t, socket => socket.write(reply('{"ddl":"OK"}')));
    const { program, ended, stderr, folder, left } = await start(
      t,
      'sqlapply',
      '--no-verify',
      '--rejects',
      'rest',
      url,
    );
    program.stdin.end(STREAM);
    const release = await reached;
    program.kill(signal);
    setTimeout(release, 100); // the signal is there first
    t.deepEqual(await ended, [null, signal]);
    t.is(sent(), 2);
    t.is(
      await stderr,
      `sqlapply: interrupted: ${url}: 2 of 3 applied, 1 not reached; to continue, rerun the same command: it skips existing objects\n`,
    );
    t.deepEqual(await left(), ['rest']);
    t.is(await readFile(join(folder, 'rest'), 'utf8'), `${TABLES[2]}\0`);
  });

  test(`${signal} in a replay: a request that is not answered is abandoned`, async t => {
    const { url, reached } = await target(t, () => {});
    const { program, ended, stderr } = await start(t, 'sqlapply', url);
    program.stdin.end(STREAM);
    await reached;
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.regex(
      await stderr,
      /statement 2 \(table 'b'\): whether it was applied is unknown: .*: the request was canceled\n/,
    );
    t.regex(await stderr, /: interrupted: .*: 1 of 3 applied.*, 1 unknown, 1 not reached/);
  });

  test(`${signal} while a replay waits for more input`, async t => {
    const { url, reached } = await target(t, socket => socket.write(reply('{"ddl":"OK"}')));
    const { program, ended, stderr } = await start(t, 'sqlapply', '--stream', '--no-verify', url);
    program.stdin.write(STREAM);
    (await reached)();
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.regex(await stderr, /: interrupted: .*: [23] statements: [23] applied\n/);
  });

  test(`${signal} in a dump leaves the file as it was`, async t => {
    const { url } = await startFaultyServer(t, socket =>
      socket.write(Buffer.concat([head(), chunk('{"dataset":[["CREATE')])),
    );
    const { program, ended, left, folder } = await start(t, 'sqldump', '-o', 'schema', url);
    await temporaryIn(folder);
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.deepEqual(await left(), []);
  });

  test(`${signal} while sqljoin writes its file`, async t => {
    const { program, ended, left, folder } = await start(t, 'sqljoin', '-o', 'schema.sql');
    const record = `CREATE TABLE 't' (${'x INT, '.repeat(10_000)}y INT);\n\0`;
    program.stdin.end(record.repeat(1000));
    await temporaryIn(folder);
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.deepEqual(await left(), []);
  });

  for (const [program, input] of [
    ['sqlsplit', STREAM.replaceAll('\0', '')],
    ['sqlgrep', STREAM],
  ] as const)
    test(`${signal} while ${program} waits for more input`, async t => {
      const { program: child, ended, stdout } = await start(t, program);
      child.stdin.write(input);
      await once(child.stdout, 'readable');
      child.kill(signal);
      t.deepEqual(await ended, [null, signal]);
      t.not((await stdout).at(-1), 0);
    });
}

/** Resolves when a temporary file is seen in a folder. */
async function temporaryIn(folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename?.endsWith('.tmp')) return;
}

for (const [name, ...args] of [['sqlapply', 'http://127.0.0.1:1'], ['sqljoin']] as const)
  test(`not even SIGKILL leaves a temporary file of ${name}, while what comes in waits on disk`, async t => {
    const { program, ended, left } = await start(t, name, ...args);
    const record = `CREATE TABLE 't' (${'x INT, '.repeat(10_000)}y INT);\n\0`;
    program.stdin.write(record.repeat(400));
    await onDisk(program.pid as number);
    program.kill('SIGKILL');
    t.deepEqual(await ended, [null, 'SIGKILL']);
    t.deepEqual(await left(), []);
  });

/** Resolves when a process has a file open that has no name any more. */
async function onDisk(pid: number): Promise<void> {
  for (;;) {
    const files = await readdir(`/proc/${pid}/fd`);
    const links = await Promise.all(files.map(file => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (links.some(link => link.endsWith(' (deleted)'))) return;
    await new Promise(setImmediate);
  }
}
