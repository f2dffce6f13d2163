import type { Stats } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { addAbortSignal, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isatty } from 'node:tty';
import { CodedError } from '@sqlpipe/text';

export interface StagedOutput {
  /** Renames the file; removes it if that fails. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Stages each item, then commits all. If anything fails, discards what is not committed. */
export async function stageAndCommit<T>(items: Iterable<T>, stage: (item: T) => Promise<StagedOutput>): Promise<void> {
  const staged: StagedOutput[] = [];
  try {
    for (const item of items) staged.push(await stage(item));
    for (const each of staged) await each.commit();
  } catch (error) {
    await Promise.all(staged.map(each => each.discard()));
    throw error;
  }
}

/** The mark in the names of our temporary files, so that those of other programs are not taken for ours. */
const TEMPORARY_MARK = 'sqlpipe-';

/** Matches the name of our temporary file for a `.sql` file. A process that is killed leaves such a file. */
export const STAGED = new RegExp(`\\.sql\\.${TEMPORARY_MARK}[a-z\\d]{1,8}\\.tmp$`);

/**
 * Writes a file under a temporary name in the folder of `path`; removes it if that fails. `write` need not end the stream.
 * @param existing the file that it replaces, see `statIfExists`
 */
export async function stageFile(
  path: string,
  existing: Stats | undefined,
  write: (file: Writable) => Promise<unknown>,
  signal?: AbortSignal,
  mode?: number,
): Promise<StagedOutput> {
  const temporary = `${path}.${TEMPORARY_MARK}${Math.random().toString(36).slice(2, 10)}.tmp`;
  const discard = () => rm(temporary, { force: true }).catch(() => {});
  const fail = async (error: NodeJS.ErrnoException): Promise<never> => {
    await discard();
    if (error.path === temporary) Object.assign(error, { path });
    throw error;
  };
  const permissions = existing ? existing.mode & (mode ?? ALL_PERMISSIONS) : mode;
  await writeFile(temporary, 'wx', write, signal, permissions).catch(fail);
  return { commit: () => rename(temporary, path).catch(fail), discard };
}

const ALL_PERMISSIONS = 0o777;

export const statIfExists = (path: string): Promise<Stats | undefined> =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

async function writeFile(
  path: string,
  flags: string,
  write: (file: Writable) => Promise<unknown>,
  signal?: AbortSignal,
  mode?: number,
): Promise<void> {
  const handle = await open(path, flags, mode); // first, so that a wrong path fails before any work
  const file = Object.assign(handle.createWriteStream({ flush: flags === 'wx' }), { isTTY: isatty(handle.fd) });
  if (signal) addAbortSignal(signal, file);
  const closed = finished(file);
  closed.catch(() => {}); // reported below
  try {
    // The umask may have removed permissions. A needless chmod could fail where all files have the same permissions.
    if (mode !== undefined && ((await handle.stat()).mode & ALL_PERMISSIONS) !== mode) await handle.chmod(mode);
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

/** Whether an option that names a file means standard output. */
export const isStdout = (path: string | undefined): path is undefined | '-' => path === undefined || path === '-';

/** Whether two options name the same file, however it is spelt, or both name standard output. */
export async function detectSameOutput(one: string | undefined, other: string | undefined): Promise<boolean> {
  if (isStdout(one) || isStdout(other)) return isStdout(one) && isStdout(other);
  const [a, b] = await Promise.all([one, other].map(path => followLinks(resolve(path))));
  return a === b || detectSameFile(one, other);
}

/** The file that a link names, which need not exist; for anything else, the given path. */
async function followLinks(path: string, maxLinks = 40): Promise<string> {
  const link = maxLinks > 0 ? await readlink(path).catch(() => undefined) : undefined;
  return link === undefined ? path : followLinks(resolve(await realpath(dirname(path)), link), maxLinks - 1);
}

/** Whether an output would replace a file that is read; among the inputs, `-` is standard input. */
export async function detectInput(output: string | undefined, inputs: readonly string[]): Promise<boolean> {
  if (isStdout(output)) return false;
  const same = await Promise.all(inputs.map(path => detectSameFile(output, path === '-' ? '/dev/stdin' : path)));
  return same.includes(true);
}

/** False if the file does not exist. */
async function detectSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map(path => stat(path).catch(() => undefined)));
  return a?.isFile() === true && a.dev === b?.dev && a.ino === b.ino;
}

/** Whether statements are written as text: to a terminal, and into a `.sql` file. Otherwise they are written as a stream. */
export const isTextOutput = (path: string | undefined, stdout: { readonly isTTY?: boolean }): boolean =>
  isStdout(path) ? stdout.isTTY === true : path.endsWith('.sql');

/** An output and what writes its content; `write` need not end the stream. */
export interface Output {
  /** Standard output if it is `-` or missing. */
  readonly path: string | undefined;
  readonly write: (out: Writable & { isTTY?: boolean }) => Promise<unknown>;
}

/**
 * Writes each output to standard output if its path is `-` or missing, otherwise to a file. A file gets its name when the content of all
 * files is on disk: if writing fails, existing files are unchanged. A device or a pipe is written directly.
 * @param catchSignals returns the signal that ends the writing; not called for standard output, where a signal can simply end the process
 * @param mode the permissions of files; an existing file loses its other permissions
 * @throws CodedError for a folder; errors of `write` and of the file system
 */
export const writeOutputs = (
  outputs: readonly Output[],
  stdout: Writable,
  catchSignals?: () => AbortSignal,
  mode?: number,
): Promise<void> => stageAndCommit(outputs, output => stageOutput(output, stdout, catchSignals, mode));

/** Standard output, a device or a pipe cannot be renamed, so `commit` writes to it directly. */
async function stageOutput({ path, write }: Output, stdout: Writable, catchSignals?: () => AbortSignal, mode?: number) {
  const discard = async () => {};
  if (isStdout(path)) return { commit: async () => void (await write(stdout)), discard };
  const existing = await statIfExists(path);
  if (existing?.isDirectory()) throw new CodedError('IO', `${path}: is a directory; give the name of a file`);
  const signal = catchSignals?.();
  if (existing && !existing.isFile()) return { commit: () => writeFile(path, 'w', write, signal), discard };
  return stageFile(await followLinks(path), existing, write, signal, mode); // a link is kept
}
