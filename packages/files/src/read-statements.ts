import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { decodeRecords, type ReadOptions, StreamError } from '@sqlpipe/records';
import { SplitError, Splitter, significantTokens } from '@sqlpipe/sql';
import { CodedError, formatError } from '@sqlpipe/text';
import { readFolder } from './schema-folder.js';
import { type LocatedStatement, parseSqlFile, parseSqlText } from './sql-text.js';

/**
 * Reads the statements of a folder that `writeFolder` wrote, of a stream file, or of `.sql` text, in batches. A file `*.sql` without a NUL
 * is text; any other file is a stream.
 * @param maxRecord the maximum length of a record in bytes, and of a statement in UTF-16 code units
 * @param isText whether a file must be text, whatever its name is
 * @throws StreamError, DuplicateNameError, CodedError; its code is `NOINPUT` if the file cannot be opened
 */
export async function* readStatementsAt(path: string, maxRecord: number, { isText = false } = {}) {
  const stats = await stat(path).catch(error => rethrowWithPath(error, path));
  if (stats.isDirectory()) yield await readFolder(path, maxRecord);
  else if (isText || (await detectText(path))) yield* withPath(parseSqlFile(path, maxRecord), path);
  else
    for await (const statement of withPath(decodeRecords(createReadStream(path), { maxRecord }), path))
      yield [{ statement, path }];
}

async function detectText(path: string): Promise<boolean> {
  if (!path.endsWith('.sql')) return false;
  for await (const chunk of withPath(createReadStream(path), path)) if ((chunk as Buffer).includes(0)) return false;
  return true;
}

async function* withPath<T>(items: AsyncIterable<T>, path: string): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    rethrowWithPath(error as NodeJS.ErrnoException, path);
  }
}

/** Rethrows an error with the path. A failure to open a file gets the code `NOINPUT`. */
function rethrowWithPath(error: NodeJS.ErrnoException, path: string): never {
  if (error instanceof StreamError) throw new StreamError(`${path}: ${error.message}`, { cause: error });
  if (error.syscall === 'open' || error.syscall === 'stat')
    throw new CodedError('NOINPUT', formatError(error), { cause: error });
  if (error.syscall) error.path ??= path;
  throw error;
}

const STDIN_NAME = 'standard input';

/** The number of bytes that are searched for a NUL and for a second statement. */
const HEAD_LENGTH = 64 * 1024;

/** Reads standard input in batches; statements of a stream have no line. @throws StreamError, CodedError; errors of the input */
export async function* readStandardInput(input: Readable, options: ReadOptions): AsyncGenerator<LocatedStatement[]> {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]();
  async function* readAll(first: Buffer): AsyncGenerator<Buffer> {
    if (first.length) yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  try {
    const first = await readFirst(chunks);
    const bytes = readAll(first);
    if (looksLikeText(first.subarray(0, HEAD_LENGTH))) yield* parseSqlText(bytes, STDIN_NAME, options.maxRecord);
    else for await (const statement of decodeRecords(bytes, options)) yield [{ statement, path: STDIN_NAME }];
  } finally {
    input.destroy(); // a pending read would keep the process alive
  }
}

/** Reads until it is known what the input is: up to a NUL, `HEAD_LENGTH` bytes, or the end. */
async function readFirst(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for (let size = 0; size < HEAD_LENGTH && !read.at(-1)?.includes(0); ) {
    const { done, value } = await chunks.next();
    if (done) break;
    read.push(value);
    size += value.length;
  }
  return Buffer.concat(read);
}

/** Whether the input is text: a second statement begins before any NUL. What cannot be split is text too, and is rejected later. */
function looksLikeText(head: Buffer): boolean {
  if (head.includes(0)) return false;
  const splitter = new Splitter();
  try {
    const [first] = splitter.write(head.toString());
    const [next] = significantTokens(splitter.remainder); // perhaps the `-` or `/` of a truncated comment
    return first !== undefined || (splitter.held !== undefined && next?.type === 'word');
  } catch (error) {
    if (error instanceof SplitError) return true;
    throw error;
  }
}
