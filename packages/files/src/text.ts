/*! `.sql` text: statements, each with its `;`, a blank line between; what `tr '\0' '\n'` makes of a stream. */
import type { Writable } from 'node:stream';
import { escapeLines, SplitError, Splitter } from '@sqlpipe/sql';
import { decodeUtf8, EncodingError } from './decode-utf8.js';

/** A `.sql` text that can't be read; the message starts with its name, line and column. */
export class TextError extends Error {
  override name = 'TextError';
  readonly code = 'DAMAGED';
}

/** A normalized statement as `.sql` text, followed by a blank line. */
export const formatSqlText = (statement: string): string => `${statement}\n\n`;

/**
 * Writes statements, one or many at once, as `.sql` text, UTF-8; none at all make one LF, as `tr` makes of the lone NUL.
 * On a terminal what could move its cursor is escaped. `out` is not ended. @throws whatever `statements` throws, and what writing says
 */
export async function writeSqlText(
  statements: AsyncIterable<string | string[]>,
  out: Writable & { isTTY?: boolean },
): Promise<void> {
  const shown = out.isTTY ? escapeLines : (text: string) => text;
  let text = '';
  let empty = true;
  for await (const batch of statements) {
    for (const statement of [batch].flat()) text += formatSqlText(statement);
    empty &&= !text;
    if (text.length < CHUNK) continue;
    await write(out, shown(text));
    text = '';
  }
  await write(out, empty ? '\n' : shown(text));
}

/** Statements are written this many UTF-16 code units at a time. */
const CHUNK = 64 * 1024;

const write = (out: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    out.write(text, error => (error ? reject(error) : resolve()));
  });

/** A statement of a file, and where it is. */
export interface LocatedStatement {
  statement: string;
  /** The file. */
  path: string;
  /** The line of the file that the statement starts on, its comments included; undefined for a stream, which has none. */
  line?: number;
}

/**
 * The statements of a `.sql` text normalized (see `Splitter`), in batches of those that end in a chunk. A byte order
 * mark at its start is dropped.
 *
 * @param bytes UTF-8, in chunks cut anywhere
 * @param name what the text is called in messages
 * @param maxLength the longest statement, in UTF-16 code units
 * @throws TextError where a quote, comment or parenthesis is left open, where bytes are not UTF-8, or at a NUL
 */
export async function* parseSqlText(
  bytes: AsyncIterable<Buffer>,
  name: string,
  maxLength?: number,
): AsyncGenerator<string[]> {
  for await (const batch of parseLocatedText(bytes, name, maxLength)) yield batch.map(({ statement }) => statement);
}

/** As `parseSqlText`, each statement with its line. `name` is the path of the file. @throws as `parseSqlText` */
export async function* parseLocatedText(
  bytes: AsyncIterable<Buffer>,
  name: string,
  maxLength?: number,
): AsyncGenerator<LocatedStatement[]> {
  const splitter = new Splitter(maxLength);
  const located = (statement: string): LocatedStatement => ({ statement, path: name, line: splitter.startLine });
  try {
    for await (const chunk of decodeUtf8(bytes)) yield Array.from(splitter.each(chunk), located);
    yield splitter.end().map(located); // one at most
  } catch (error) {
    if (error instanceof SplitError)
      throw new TextError(`${name}:${error.line}:${error.column}: ${error.message}`, { cause: error });
    if (error instanceof EncodingError) throw new TextError(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}
