import { Readable } from 'node:stream';
import { type LocatedStatement, parseSqlText, readStatementsAt } from '@sqlpipe/files';
import { MAX_RECORD } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';

/**
 * Splits `.sql` text into its statements, each with its `;`. A path can name a `.sql` file, a folder with a file per object,
 * or a stream. The inverse of `join`.
 *
 * ```ts
 * import { split } from 'sqlpipe';
 *
 * const text = "CREATE TABLE a (x INT); -- a comment; with a semicolon\nCREATE TABLE b (y INT)";
 * for await (const statement of split(text)) console.log(statement);
 * for await (const statement of split({ path: 'schema.sql' })) console.log(statement.slice(0, 21));
 * // CREATE TABLE a (x INT) -- a comment; with a semicolon
 * // ;
 * // CREATE TABLE b (y INT);
 * // CREATE TABLE trades (
 * // CREATE TABLE quotes (
 * // CREATE VIEW spreads A
 * ```
 *
 * Throws `NOINPUT`; `DAMAGED` with the file, line and column; `IO` for a folder too large for memory; or `USAGE`.
 */
export async function* split(source: string | { readonly path: string }): AsyncGenerator<string, void, undefined> {
  if (typeof source !== 'string' && typeof source?.path !== 'string')
    throw new CodedError('USAGE', 'split: give text, or an object with a path');
  const batches = typeof source === 'string' ? splitText(source) : readStatementsAt(source.path, MAX_RECORD);
  for await (const batch of batches) for (const { statement } of batch) yield statement;
}

function splitText(text: string): AsyncGenerator<LocatedStatement[]> {
  if (!text.isWellFormed()) throw new CodedError('DAMAGED', 'text: contains half of a surrogate pair');
  return parseSqlText(Readable.from([Buffer.from(text)]), 'text', MAX_RECORD);
}
