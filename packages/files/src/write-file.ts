/*! Files that appear whole or not at all. */
import type { Stats } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { addAbortSignal, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isatty } from 'node:tty';

/** A place where no file can be written. */
export class FileError extends Error {
  override name = 'FileError';
  readonly code = 'IO';
}

/** A file that is on disk under a temporary name, ready to be renamed. */
export interface Staged {
  /** Renames it; where that fails nothing is left of it. */
  commit(): Promise<void>;
  /** Removes it, unless it has taken its place. */
  discard(): Promise<void>;
}

/** Whether a name is that of the temporary file of a `.sql` file; a writer that was killed leaves one. */
export const isStaged = (name: string): boolean => /\.sql\.[a-z\d]{1,8}\.tmp$/.test(name);

/**
 * Has a file written under a temporary name beside `path`. When that fails nothing is left.
 *
 * @param write writes the content; it need not end the stream
 * @param interrupted ends the writing when it is aborted, wherever it is
 * @param mode the file's permissions
 * @throws whatever `write` throws, and errors of the file system
 */
export async function stageFile(
  path: string,
  write: (file: Writable) => Promise<unknown>,
  interrupted?: AbortSignal,
  mode?: number,
): Promise<Staged> {
  const temporary = `${path}.${Math.random().toString(36).slice(2, 10)}.tmp`;
  const discard = () => rm(temporary, { force: true }).catch(() => {});
  const discardOnError = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      await discard();
      if ((error as NodeJS.ErrnoException).path === temporary) Object.assign(error as Error, { path });
      throw error;
    }
  };
  await discardOnError(writeFile(temporary, 'wx', write, interrupted, mode));
  return { commit: () => discardOnError(rename(temporary, path)), discard };
}

/**
 * Has a file written under a temporary name beside `path`, and renames it when all is on the disk. When that fails,
 * what was at `path` is as it was and nothing else is left. A device or a pipe can't be replaced, and is written to.
 * Parameters are those of `stageFile`; a file that is there keeps of its mode what `mode` permits.
 *
 * @throws FileError for a folder, and what `stageFile` throws
 */
export async function writeFileAtomic(
  path: string,
  write: (file: Writable) => Promise<unknown>,
  interrupted?: AbortSignal,
  mode?: number,
): Promise<void> {
  const existing = await statIfExists(path);
  if (existing?.isDirectory()) throw new FileError(`${path}: is a directory; give the name of a file`);
  if (existing && !existing.isFile()) return writeFile(path, 'w', write, interrupted);
  const target = existing ? await realpath(path) : path; // a link stays one
  const staged = await stageFile(
    target,
    write,
    interrupted,
    existing ? existing.mode & (mode ?? ALL_PERMISSIONS) : mode,
  );
  await staged.commit();
}

/** Whatever a mode may permit. */
const ALL_PERMISSIONS = 0o777;

async function statIfExists(path: string): Promise<Stats | undefined> {
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
  const file = Object.assign(handle.createWriteStream({ flush: flags === 'wx' }), { isTTY: isatty(handle.fd) });
  if (interrupted) addAbortSignal(interrupted, file);
  const closed = finished(file);
  closed.catch(() => {}); // reported below
  try {
    await Promise.race([write(file), closed]);
    file.end();
    await closed;
  } catch (error) {
    file.destroy();
    const { path: known, syscall } = error as NodeJS.ErrnoException;
    if (!known && syscall === 'write') Object.assign(error as Error, { path });
    throw error;
  }
}
