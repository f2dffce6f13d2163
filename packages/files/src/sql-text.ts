/*! `.sql` text: statements, each with its `;` and a blank line after it. `tr '\0' '\n'` turns a stream into this form. */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { writeTo } from '@sqlpipe/records';
import { SplitError, Splitter, significantTokens } from '@sqlpipe/sql';
import { CodedError, escapeLines } from '@sqlpipe/text';

/** Prints a normalized statement as `.sql` text, with a blank line after it. */
export const printSqlText = (statement: string): string => `${statement}\n\n`;

/**
 * Writes statements or batches as `.sql` text in UTF-8. Without any statement it writes one LF, which `tr` would make of the lone NUL. For
 * a terminal, control characters are escaped. `out` is not ended.
 * @throws errors of `statements` and of writing
 */
export async function writeSqlText(statements: AsyncIterable<string | string[]>, out: Writable & { isTTY?: boolean }) {
  const prepare = out.isTTY ? escapeLines : (text: string) => text;
  let text = '';
  let isEmpty = true;
  for await (const batch of statements) {
    for (const statement of [batch].flat()) text += printSqlText(statement);
    isEmpty &&= !text;
    if (text.length < 64 * 1024) continue;
    await writeTo(out, prepare(text));
    text = '';
  }
  await writeTo(out, isEmpty ? '\n' : prepare(text));
}

/** A statement and its position in a file. */
export interface LocatedStatement {
  statement: string;
  path: string;
  /** The line on which the statement, or a comment before it, starts; undefined for a stream, which has no lines. */
  line?: number;
}

/** Where a statement is. */
export type Location = Omit<LocatedStatement, 'statement'>;

/** The file and the line of a position in a statement; by default, of its first word. */
export function findLocation(statement: string, location: Location | undefined, position?: number) {
  if (location?.line === undefined) return location;
  const [first] = significantTokens(statement);
  const before = statement.slice(0, position ?? first?.start ?? 0);
  return { path: location.path, line: location.line + before.split('\n').length - 1 };
}

/** Yields the statements alone. */
export async function* withoutLocations(batches: AsyncIterable<LocatedStatement[]>): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map(({ statement }) => statement);
}

/** Reads a `.sql` file. The last statement must have its `;`: a file cut inside a statement often ends with a valid shorter one. */
export const parseSqlFile = (path: string, maxLength?: number): AsyncGenerator<LocatedStatement[]> =>
  parseSqlText(createReadStream(path), path, maxLength, { requiresSemicolon: true });

/** Yields one batch. If reading the statements fails, the batch has those before the error. */
function* inOneBatch(statements: Iterable<string>, locate: (statement: string) => LocatedStatement) {
  const batch: LocatedStatement[] = [];
  try {
    for (const statement of statements) batch.push(locate(statement));
  } finally {
    yield batch;
  }
}

/**
 * Reads the normalized statements of a `.sql` text; each batch has those that end in one chunk. A byte order mark at the start is dropped.
 * @param maxLength the maximum length of a statement, in UTF-16 code units
 * @throws CodedError with the place, for an unclosed quote, comment or parenthesis, for bytes that are not UTF-8, and for a NUL
 */
export async function* parseSqlText(
  bytes: AsyncIterable<Buffer>,
  name: string,
  maxLength?: number,
  { requiresSemicolon = false } = {},
): AsyncGenerator<LocatedStatement[]> {
  const splitter = new Splitter(maxLength);
  const locate = (statement: string): LocatedStatement => ({ statement, path: name, line: splitter.startLine });
  try {
    for await (const chunk of decodeUtf8(bytes, name)) yield* inOneBatch(splitter.write(chunk), locate);
    yield* inOneBatch(splitter.end({ requiresSemicolon }), locate);
  } catch (error) {
    if (!(error instanceof SplitError)) throw error;
    const { line, column, message } = error;
    const locatedMessages = [{ path: name, line, message }];
    throw new CodedError('DAMAGED', `${name}:${line}:${column}: ${message}`, { cause: error, locatedMessages });
  }
}

const encodingError = (path: string, message: string): CodedError =>
  new CodedError('DAMAGED', `${path}: ${message}`, { locatedMessages: [{ path, message }] });

/** Decodes UTF-8 in chunks cut anywhere; a byte order mark at the start is dropped. */
async function* decodeUtf8(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  let partial: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of bytes) {
    const all = partial.length ? Buffer.concat([partial, chunk]) : chunk;
    // The last character may have up to three bytes so far.
    const ends = [0, 1, 2, 3].map(cut => all.subarray(0, Math.max(all.length - cut, 0)));
    const text = ends.find(isUtf8) ?? all;
    yield decode(text, offset, name);
    partial = all.subarray(text.length);
    offset += text.length;
  }
  yield decode(partial, offset, name);
}

function decode(bytes: Buffer, offset: number, name: string): string {
  if (!isUtf8(bytes)) {
    const redecoded = Buffer.from(bytes.toString()); // the first byte that differs is not valid UTF-8
    const at = offset + bytes.findIndex((byte, index) => byte !== redecoded[index]);
    throw encodingError(name, `not UTF-8, at byte ${at}; iconv converts other encodings`);
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0)
    throw encodingError(name, `a NUL at byte ${offset + nul}: this is a statement stream already, or not text`);
  const text = bytes.toString();
  const hasMark = offset === 0 && text.startsWith('\ufeff');
  return hasMark ? text.slice(1) : text;
}
