/*! Runs a built program on an input and measures its processor time and memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { freshFolder } from '../../test/support/folder.js';
import { openScope } from '../../test/support/scope.js';
import type { Input } from './inputs.js';
import { startStub } from './stub.js';

/** The costs of a run, and how it ended. */
export interface Run {
  /** Processor time; other programs on the machine do not change it much. */
  seconds: number;
  /** The peak of the resident memory. */
  mebibytes: number;
  /** The exit status; null if the program was killed because it took too long. */
  status: number | null;
  stderr: string;
}

/** Seconds after which a run is killed. */
const MAX_SECONDS = 120;

/** Runs the program of an input on about this many bytes. */
export async function run({ program, stdin, file, reply }: Input, bytes: number): Promise<Run> {
  const scope = openScope();
  try {
    const folder = await freshFolder(scope);
    const url = reply ? await startStub(scope, reply(bytes)) : '';
    writeFileSync(join(folder, 'in'), stdin?.(bytes) ?? '');
    if (file) writeFileSync(join(folder, 'file.sql'), file(bytes));
    const words = { '{url}': url, '{folder}': join(folder, 'out'), '{file}': join(folder, 'file.sql') };
    const [name = '', ...args] = program.split(' ').map(word => words[word as keyof typeof words] ?? word);
    return await measure(resolve('node_modules/.bin', name), args, join(folder, 'in'));
  } finally {
    await scope.end();
  }
}

async function measure(path: string, args: string[], input: string): Promise<Run> {
  const stdin = openSync(input, 'r');
  const child = spawn(path, args, {
    // Node 20 reads these certificates at each start, which takes longer than the rest of starting.
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: undefined,
      NODE_OPTIONS: `--require ${resolve('scripts/growth/usage.cjs')}`,
    },
    stdio: [stdin, 'ignore', 'pipe', 'pipe'],
    timeout: MAX_SECONDS * 1000,
    killSignal: 'SIGKILL',
  });
  closeSync(stdin);
  const [stderr, used, [status]] = await Promise.all([
    text(child.stdio[2] as NodeJS.ReadableStream),
    text(child.stdio[3] as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  const { seconds, mebibytes } = used ? JSON.parse(used) : { seconds: MAX_SECONDS, mebibytes: Number.NaN };
  return { seconds, mebibytes, status, stderr };
}
