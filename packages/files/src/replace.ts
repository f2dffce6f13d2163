/*! Files that appear whole or not at all. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a file under a temporary name beside `path` and renames it when all has come and is on the disk.
 * When that fails, what was at `path` is as it was.
 *
 * @param chunks strings (written as UTF-8) or bytes
 * @throws whatever `chunks` throws, the signal's reason, and errors of the file system
 */
export async function replaceFile(
  path: string,
  chunks: AsyncIterable<string> | AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    await pipeline(chunks, createWriteStream(temporary, { flags: 'wx', flush: true }), { signal });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
