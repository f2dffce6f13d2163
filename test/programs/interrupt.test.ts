/*! A signal ends a program soon, with that signal as its status, a summary and no temporary files. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink, watch } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { type Answer, chunk, head, reply, startFaultyServer } from '../faults/faulty-server.js';
import { freshFolder } from '../support/folder.js';
import { CACHE } from '../support/shell.js';
import { test } from '../support/test.js';

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
  /** The file names in its folder, including temporary files. */
  listFiles(): Promise<string[]>;
}

/** Starts a built program in a fresh folder. */
async function startProgram(t: ExecutionContext, program: string, ...args: string[]): Promise<Run> {
  const folder = await freshFolder(t);
  const child = spawn(resolve('node_modules/.bin', program), args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_CACHE_HOME: CACHE, TMPDIR: folder },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}); // the program may end before it has read everything
  t.teardown(() => void child.kill('SIGKILL'));
  return {
    program: child,
    stdout: buffer(child.stdout),
    stderr: text(child.stderr),
    ended: once(child, 'exit'),
    folder,
    listFiles: () => readdir(folder),
  };
}

/** A target that holds back the second statement: `reached` resolves when it arrives, to a function that sends `answer`. */
async function startTarget(t: ExecutionContext, answer: Answer) {
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
  test(`${signal} during a replay: the request in flight is finished, the rest goes to the rejects`, async t => {
    const { url, reached, sent } = await startTarget(t, socket => socket.write(reply('{"ddl":"OK"}')));
    const { program, ended, stderr, folder, listFiles } = await startProgram(
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
    setTimeout(release, 100); // after the signal
    t.deepEqual(await ended, [null, signal]);
    t.is(sent(), 2);
    t.is(
      await stderr,
      `sqlapply: interrupted: ${url}: 2 of 3 applied, 1 not reached; to continue, rerun the same command: it skips existing objects\n`,
    );
    t.deepEqual(await listFiles(), ['rest']);
    t.is(await readFile(join(folder, 'rest'), 'utf8'), `${TABLES[2]}\0`);
  });

  test(`${signal} during a replay: a request without a reply is canceled`, async t => {
    const { url, reached } = await startTarget(t, () => {});
    const { program, ended, stderr } = await startProgram(t, 'sqlapply', url);
    program.stdin.end(STREAM);
    await reached;
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.regex(
      await stderr,
      /statement 2 \(table 'b'\): whether it was applied is unknown: .*: the request was canceled\n/,
    );
    t.regex(await stderr, /: interrupted: .*: 1 of 3 applied, 1 unknown, 1 not reached; to continue, rerun the same/);
  });

  test(`${signal} while a replay waits for more input: the summary is printed`, async t => {
    const { url, reached } = await startTarget(t, socket => socket.write(reply('{"ddl":"OK"}')));
    const { program, ended, stderr } = await startProgram(t, 'sqlapply', '--stream', '--no-verify', url);
    program.stdin.write(STREAM);
    (await reached)();
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.regex(await stderr, /: interrupted: .*: [23] statements: [23] applied\n/);
  });

  test(`${signal} during a dump leaves no file`, async t => {
    const { url } = await startFaultyServer(t, socket =>
      socket.write(Buffer.concat([head(), chunk('{"dataset":[["CREATE')])),
    );
    const { program, ended, listFiles, folder } = await startProgram(t, 'sqldump', '-o', 'schema', url);
    await waitForTemporaryFile(folder);
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.deepEqual(await listFiles(), []);
  });

  test(`${signal} ends a dump to standard output while the server is silent`, async t => {
    let reach = () => {};
    const reached = new Promise<void>(resolve => {
      reach = resolve;
    });
    const { url } = await startFaultyServer(t, () => reach());
    const { program, ended, stdout } = await startProgram(t, 'sqldump', url);
    await reached;
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.is((await stdout).length, 0);
  });

  test(`${signal} while sqljoin writes its file leaves no file`, async t => {
    const { program, ended, listFiles, folder } = await startProgram(t, 'sqljoin', '-o', 'schema.sql');
    const record = `CREATE TABLE 't' (${'x INT, '.repeat(10_000)}y INT);\n\0`;
    program.stdin.end(record.repeat(1000));
    await waitForTemporaryFile(folder);
    program.kill(signal);
    t.deepEqual(await ended, [null, signal]);
    t.deepEqual(await listFiles(), []);
  });

  for (const [program, input] of [
    ['sqlsplit', STREAM.replaceAll('\0', '')],
    ['sqlgrep', STREAM],
  ] as const)
    test(`${signal} while ${program} waits for more input leaves an incomplete stream`, async t => {
      const { program: child, ended, stdout } = await startProgram(t, program);
      child.stdin.write(input);
      await once(child.stdout, 'readable');
      child.kill(signal);
      t.deepEqual(await ended, [null, signal]);
      t.not((await stdout).at(-1), 0);
    });
}

/** Waits until a folder contains a temporary file. */
async function waitForTemporaryFile(folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename?.endsWith('.tmp')) return;
}

for (const [name, ...args] of [['sqlapply', 'http://127.0.0.1:1'], ['sqljoin']] as const)
  test(`SIGKILL leaves no temporary file of ${name} while its input is spooled to disk`, async t => {
    const { program, ended, listFiles } = await startProgram(t, name, ...args);
    const record = `CREATE TABLE 't' (${'x INT, '.repeat(10_000)}y INT);\n\0`;
    program.stdin.write(record.repeat(400));
    await waitForDeletedFile(program.pid as number);
    program.kill('SIGKILL');
    t.deepEqual(await ended, [null, 'SIGKILL']);
    t.deepEqual(await listFiles(), []);
  });

test('a signal at the same moment as the end of an empty input is an interruption', async t => {
  const { program, ended, stderr } = await startProgram(t, 'sqlapply', 'http://127.0.0.1:1');
  await waitForSignalHandler(program.pid as number);
  program.kill('SIGSTOP');
  program.kill('SIGINT');
  await new Promise<void>(resolve => program.stdin.end(resolve));
  program.kill('SIGCONT');
  t.deepEqual(await ended, [null, 'SIGINT']);
  t.notRegex(await stderr, /empty input/);
});

/** Waits until a process catches SIGINT, and sleeps. */
async function waitForSignalHandler(pid: number): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const caught = BigInt(`0x${/^SigCgt:\s*(\w+)/m.exec(status)?.[1]}`);
    if (caught & 2n && /^State:\s*S/m.test(status)) return;
  }
}

/** Waits until a process has an open file that is deleted. */
async function waitForDeletedFile(pid: number): Promise<void> {
  for (;;) {
    const files = await readdir(`/proc/${pid}/fd`);
    const links = await Promise.all(files.map(file => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
    if (links.some(link => link.endsWith(' (deleted)'))) return;
    await new Promise(setImmediate);
  }
}
