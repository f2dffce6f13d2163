/*! Files that hold secrets: read only when nobody else can read them too. */
import { type FileHandle, open } from 'node:fs/promises';
import { InstanceError } from './error.js';

const OTHERS_READ = 0o044;

/**
 * The text of a file of secrets (UTF-8). Throws `CONFIG` when it can't be read, or others can read it.
 * A pipe, as the shell's `<(…)` makes, is nobody's to read and is taken.
 *
 * @param what how to call it in a message: `--password-file`
 */
export async function readSecretFile(path: string, what: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const stats = await file.stat();
    if (stats.isFile() && (stats.mode & OTHERS_READ) !== 0)
      throw new InstanceError('CONFIG', `${what} ${path} can be read by others: chmod 600 it`);
    return await file.readFile('utf8');
  } catch (error) {
    throw error instanceof InstanceError ? error : cantRead(what, path, error);
  } finally {
    await file?.close();
  }
}

/** The one line of a file that holds a single secret. */
export async function readSecretLine(path: string, what: string): Promise<string> {
  const secret = (await readSecretFile(path, what)).replace(/\r?\n$/, '');
  if (secret === '') throw new InstanceError('CONFIG', `${what} ${path} is empty`);
  if (/[\r\n]/.test(secret)) throw new InstanceError('CONFIG', `${what} ${path} has more than one line`);
  return secret;
}

/** Why a file can't be read, in words. */
export function cantRead(what: string, path: string, error: unknown): InstanceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'ENOENT' ? 'no such file' : code === 'EACCES' ? 'permission denied' : message;
  return new InstanceError('CONFIG', `can't read ${what} ${path}: ${why}`);
}
