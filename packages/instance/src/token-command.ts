/*! A token that a command prints, such as a password manager. */
import { promisify } from 'node:util';
import { maskSecrets, truncate } from '@sqlpipe/sql';
import { InstanceError } from './instance-error.js';

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
  const run = promisify(execFile)('/bin/sh', ['-c', command], {
    env,
    timeout,
    killSignal: 'SIGKILL',
  });
  run.child.stdin?.end();
  const { stdout } = await run.catch(error => {
    if (error.killed && error.signal === 'SIGKILL')
      throw new InstanceError(
        'CONFIG',
        `token_command of ${name} did not end within ${timeout / 1000} s; does it wait for input? --timeout waits longer`,
      );
    const stderr = maskSecrets(String(error.stderr ?? ''), [String(error.stdout ?? '').trim()]).trim();
    throw new InstanceError(
      'CONFIG',
      `token_command of ${name} failed: ${truncate(stderr || `exit status ${error.code}`, 200)}`,
    );
  });
  const token = stdout.replace(/\r?\n$/, '');
  if (token === '')
    throw new InstanceError('CONFIG', `token_command of ${name} printed nothing; it must print the token`);
  return token;
}
