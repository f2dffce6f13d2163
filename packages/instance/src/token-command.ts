/*! A token that a command prints, such as a password manager. */
import type { ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { maskSecrets, truncate } from '@sqlpipe/text';
import { configError } from './instance-error.js';

/**
 * The one line that a shell command prints. The command's stdin is empty, because ours may be a statement stream.
 * Throws `CONFIG` if the command fails, with its stderr, or runs longer than `timeout` (milliseconds; 0 for no limit).
 */
export async function runTokenCommand(
  command: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  timeout: number,
): Promise<string> {
  const { execFile } = await import('node:child_process'); // few runs need it
  const run = promisify(execFile)('/bin/sh', ['-c', command], { env });
  run.child.stdin?.end();
  let isLate = false;
  const end = () => {
    isLate = true;
    void endWithDescendants(run.child);
  };
  const timer = timeout > 0 ? setTimeout(end, timeout) : undefined;
  const { stdout } = await run
    .finally(() => clearTimeout(timer))
    .catch(error => {
      if (isLate)
        throw configError(
          `token_command of ${name} did not end within ${timeout / 1000} s; does it wait for input? --timeout waits longer`,
        );
      const stderr = maskSecrets(String(error.stderr ?? ''), [String(error.stdout ?? '').trim()]).trim();
      throw configError(`token_command of ${name} failed: ${truncate(stderr || `exit status ${error.code}`, 200)}`);
    });
  const token = stdout.replace(/\r?\n$/, '');
  if (token === '') throw configError(`token_command of ${name} printed nothing; it must print the token`);
  return token;
}

/**
 * Ends a command and everything that it has started, and reads no more from it. A process group of its own would be simpler, but has
 * no terminal, on which a password manager may ask.
 */
async function endWithDescendants(command: ChildProcess): Promise<void> {
  const execFile = promisify((await import('node:child_process')).execFile);
  const list = await execFile('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' })); // not every system has it
  const parents = list.stdout
    .trim()
    .split('\n')
    .map(line => line.trim().split(/ +/).map(Number));
  const ended = new Set([command.pid]);
  for (const each of ended) for (const [child = 0, parent] of parents) if (parent === each) ended.add(child); // the set grows
  await execFile('/bin/sh', ['-c', 'kill -KILL "$@"', 'sh', ...Array.from(ended, String)]).catch(() => {}); // some have ended
  command.stdout?.destroy();
  command.stderr?.destroy();
}
