/*! Files that appear whole or not at all. */
import type { Stats } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { addAbortSignal, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** A place where no file can be written. */
export class FileError extends Error {
  readonly code = 'IO';
}

/**
 * Has a file written under a temporary name beside `path`, and renames it when all is on the disk. When that fails,
 * what was at `path` is as it was and nothing else is left. A device or a pipe can't be replaced, and is written to.
 *
 * @param write writes the content; it need not end the stream
 * @param interrupted ends the writing when it is aborted, wherever it is
 * @throws FileError for a folder, whatever `write` throws, and errors of the file system
 */
export async function replaceFile(
  path: string,
  write: (file: Writable) => Promise<unknown>,
  interrupted?: AbortSignal,
): Promise<void> {
  const existing = await statIfThere(path);
  if (existing?.isDirectory()) throw new FileError(`${path}: is a directory`);
  if (existing && !existing.isFile()) return writeFile(path, 'w', write, interrupted);
  const place = existing ? await realpath(path) : path; // a link stays one
  const temporary = `${place}.${Math.random().toString(36).slice(2, 10)}.tmp`;
  try {
    await writeFile(temporary, 'wx', write, interrupted, existing?.mode);
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    const { path: failed, syscall } = error as NodeJS.ErrnoException;
    if (failed === temporary || (!failed && syscall === 'write')) Object.assign(error as Error, { path });
    throw error;
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeFile(
  path: string,
  flags: string,
  write: (file: Writable) => Promise<unknown>,
  interrupted?: AbortSignal,
  mode?: number,
): Promise<void> {
  const handle = await open(path, flags, mode); // before any work is done that a wrong path would be the end of
  const file = handle.createWriteStream({ flush: flags === 'wx' });
  if (interrupted) addAbortSignal(interrupted, file);
  const closed = finished(file);
  closed.catch(() => {}); // told below
  try {
    await Promise.race([write(file), closed]);
    file.end();
    await closed;
  } catch (error) {
    file.destroy();
    throw error;
  }
}
