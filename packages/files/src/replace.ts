/*! Files that appear whole or not at all. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/**
 * Has a file written under a temporary name beside `path`, and renames it when all is on the disk.
 * When that fails, what was at `path` is as it was and nothing else is left.
 *
 * @param write writes the content; it need not end the stream
 * @throws whatever `write` throws, and errors of the file system
 */
export async function replaceFile(path: string, write: (file: Writable) => Promise<unknown>): Promise<void> {
  const temporary = `${path}.${Math.random().toString(36).slice(2, 10)}.tmp`;
  const file = createWriteStream(temporary, { flags: 'wx', flush: true });
  const closed = finished(file);
  closed.catch(() => {}); // told below
  try {
    await Promise.race([write(file), closed]); // a file that can't be opened ends first
    file.end();
    await closed;
    await rename(temporary, path);
  } catch (error) {
    file.destroy();
    await rm(temporary, { force: true });
    if ((error as NodeJS.ErrnoException).path === temporary) Object.assign(error as Error, { path });
    throw error;
  }
}
