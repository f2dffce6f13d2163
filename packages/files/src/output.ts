/*! Where a program's option says that its output goes. */
import type { Writable } from 'node:stream';
import { replaceFile } from './replace.js';

/** Whether an option that names a file means standard output. */
export const isStdout = (path: string | undefined): boolean => path === undefined || path === '-';

/**
 * Has standard output written where the path is `-` or missing, else a file as `replaceFile` does.
 * @param write writes the content; it need not end the stream
 * @throws what `write` and `replaceFile` throw
 */
export async function writeOutput(
  path: string | undefined,
  stdout: Writable,
  write: (out: Writable & { isTTY?: boolean }) => Promise<unknown>,
  interrupted?: AbortSignal,
  mode?: number,
): Promise<void> {
  if (path === undefined || path === '-') await write(stdout);
  else await replaceFile(path, write, interrupted, mode);
}
