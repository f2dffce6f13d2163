/*! Output to the file or stream that an option names. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { writeFileAtomic } from './write-file.js';

/** Whether an option that names a file means standard output. */
export const isStdout = (path: string | undefined): path is undefined | '-' => path === undefined || path === '-';

/** Whether two options name the same file, however it is spelt, or both name standard output. */
export async function isSameOutput(one: string | undefined, other: string | undefined): Promise<boolean> {
  if (isStdout(one) || isStdout(other)) return isStdout(one) && isStdout(other);
  if (resolve(one) === resolve(other)) return true;
  const [a, b] = await Promise.all([one, other].map(path => stat(path).catch(() => undefined)));
  return a?.isFile() === true && a.dev === b?.dev && a.ino === b.ino;
}

/** Whether statements are written there as text: on a terminal, and into a `.sql` file. Otherwise they are a stream. */
export const isTextOutput = (path: string | undefined, stdout: { readonly isTTY?: boolean }): boolean =>
  isStdout(path) ? stdout.isTTY === true : path.endsWith('.sql');

/**
 * Writes to standard output if the path is `-` or missing, otherwise to a file with `writeFileAtomic`.
 * @param write writes the content; it need not end the stream
 * @param interrupted returns the signal that ends the writing of a file; not called for standard output, where nothing
 * has to be removed and a signal can simply end the process
 * @throws any error of `write` and of `writeFileAtomic`
 */
export async function writeOutput(
  path: string | undefined,
  stdout: Writable,
  write: (out: Writable & { isTTY?: boolean }) => Promise<unknown>,
  interrupted?: () => AbortSignal,
  mode?: number,
): Promise<void> {
  if (isStdout(path)) await write(stdout);
  else await writeFileAtomic(path, write, interrupted?.(), mode);
}
