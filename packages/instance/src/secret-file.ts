/*! Files that hold secrets: taken only when nobody else can read them too. */
import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { InstanceError } from './error.js';

const OTHERS_READ = 0o044;

/**
 * The one line of a file that holds a single secret (UTF-8). Throws `CONFIG` when it can't be read, or others can.
 *
 * @param what how to call it in a message: `--password-file`
 */
export async function readSecretLine(path: string, what: string): Promise<string> {
  const secret = (await readSecretFile(path, what)).replace(/\r?\n$/, '');
  if (secret === '') throw new InstanceError('CONFIG', `${what} ${path} is empty: it has to hold the secret`);
  if (/[\r\n]/.test(secret))
    throw new InstanceError(
      'CONFIG',
      `${what} ${path} has more than one line: it has to hold the secret and nothing else`,
    );
  return secret;
}

async function readSecretFile(path: string, what: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    refuseShared(await file.stat(), path, what);
    return await file.readFile('utf8');
  } catch (error) {
    throw error instanceof InstanceError ? error : cantRead(what, path, error);
  } finally {
    await file?.close();
  }
}

/** Throws `CONFIG` for a file that others can read. A pipe, as the shell's `<(…)` makes, is no file and is taken. */
export function refuseShared(stats: Stats, path: string, what: string): void {
  if (stats.isFile() && (stats.mode & OTHERS_READ) !== 0)
    throw new InstanceError('CONFIG', `${what} ${path} can be read by others: chmod 600 it`);
}

/** Why a file can't be read, in words. */
export function cantRead(what: string, path: string, error: unknown): InstanceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : message;
  return new InstanceError('CONFIG', `can't read ${what} ${path}: ${why}`);
}
