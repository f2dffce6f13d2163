/*! A token that a command prints: a password manager's, or whatever else keeps it. */
import { promisify } from 'node:util';
import { excerpt } from '@sqlpipe/sql';
import { InstanceError } from './error.js';

/**
 * The one line that a shell command prints. Its stdin is empty, because ours may be a statement stream.
 * Throws `CONFIG` where it fails, with what it said on stderr.
 */
export async function runTokenCommand(
  command: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { execFile } = await import('node:child_process'); // few runs need it
  const run = promisify(execFile)('/bin/sh', ['-c', command], { env });
  run.child.stdin?.end();
  const { stdout } = await run.catch(error => {
    const said = String(error.stderr ?? '').trim() || `exit status ${error.code}`;
    throw new InstanceError('CONFIG', `token_command of ${name} failed: ${excerpt(said, 200)}`);
  });
  const token = stdout.replace(/\r?\n$/, '');
  if (token === '')
    throw new InstanceError('CONFIG', `token_command of ${name} printed nothing: it has to print the token`);
  return token;
}
