/*!
 * Standard input: a stream of records, or `.sql` text. Text with one statement looks like a stream that was truncated in
 * its first record. A record has no second statement, so input in which one begins before any NUL is text.
 */
import { Readable } from 'node:stream';
import { decodeRecords, type ReadOptions } from '@sqlpipe/records';
import { SplitError, Splitter, significantTokens } from '@sqlpipe/sql';
import { type LocatedStatement, parseLocatedText } from './text.js';

const NAME = 'standard input';

/** The number of bytes that are searched for a NUL and for a second statement. */
const HEAD = 64 * 1024;

/**
 * Reads the statements of standard input in batches; statements of a stream have no line.
 * @throws StreamError, TextError; any error of the input
 */
export async function* readLocatedInput(input: Readable, options: ReadOptions): AsyncGenerator<LocatedStatement[]> {
  const chunks: AsyncIterator<Buffer> = input[Symbol.asyncIterator]();
  try {
    const first = await readFirst(chunks);
    const bytes = prepend(first, chunks);
    if (isText(first.subarray(0, HEAD))) yield* parseLocatedText(bytes, NAME, options.maxRecord);
    else for await (const statement of decodeRecords(Readable.from(bytes), options)) yield [{ statement, path: NAME }];
  } finally {
    input.destroy(); // a pending read would keep the process alive
  }
}

/** Reads until it is known what the input is: up to a NUL, `HEAD` bytes, or the end. */
async function readFirst(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for (let size = 0; size < HEAD && !read.at(-1)?.includes(0); ) {
    const { done, value } = await chunks.next();
    if (done) break;
    read.push(value);
    size += value.length;
  }
  return Buffer.concat(read);
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length) yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** Whether a second statement begins before any NUL. What cannot be split is text too: it will be rejected as such. */
function isText(head: Buffer): boolean {
  if (head.includes(0)) return false;
  const splitter = new Splitter();
  try {
    const [first] = splitter.write(head.toString());
    return first !== undefined || (splitter.held !== undefined && beginsStatement(splitter.remainder));
  } catch (error) {
    if (error instanceof SplitError) return true;
    throw error;
  }
}

/** Whether a text begins with a word: not the `-` or `/` of a truncated comment. */
function beginsStatement(text: string): boolean {
  const [token] = significantTokens(text);
  return token?.type === 'word';
}
