/*! A built program as a process of its own, for tests that watch it or send it signals. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';
import { shellEnvironment } from './shell.js';

export interface Program {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  pid: number;
  stdout: Promise<Buffer>;
  stderr: Promise<string>;
  firstLine: Promise<string>;
  ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  folder: string;
  listFiles(): Promise<string[]>;
  /** Sends a signal, and waits until the program has handled it. */
  interrupt(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a built program in a new folder with files, which is also its home. It is killed when the scope ends. */
export async function startProgram(
  scope: Scope,
  [program = '', ...args]: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const folder = await freshFolder(scope);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const child = spawn(resolve('node_modules/.bin', program), args, {
    cwd: folder,
    env: shellEnvironment(folder, { TMPDIR: folder }),
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}); // the program may end before it has read everything
  scope.teardown(async () => void child.kill('SIGKILL'));
  const pid = child.pid as number;
  return {
    child,
    pid,
    stdout: buffer(child.stdout),
    stderr: text(child.stderr),
    firstLine: once(createInterface(child.stderr), 'line').then(([line]) => line),
    ended: once(child, 'close') as Program['ended'],
    folder,
    listFiles: () => readdir(folder),
    async interrupt(signal) {
      child.kill(signal);
      await waitForProcess(pid, ({ pending }) => pending === 0n);
      await waitForProcess(pid, ({ sleeps }) => sleeps);
    },
  };
}

/** The state of a process: the signals that it catches and that it has not received yet, and whether it waits. */
interface State {
  caught: bigint;
  pending: bigint;
  sleeps: boolean;
}

/** Waits until a process is in a state, or has ended. */
export async function waitForProcess(pid: number, isReached: (state: State) => boolean): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const mask = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)`, 'm').exec(status)?.[1] ?? '0'}`);
    const pending = mask('SigPnd') | mask('ShdPnd');
    if (!status || isReached({ caught: mask('SigCgt'), pending, sleeps: /^State:\s*S/m.test(status) })) return;
  }
}
