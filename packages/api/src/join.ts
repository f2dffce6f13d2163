import { Readable } from 'node:stream';
import { formatSqlText, writeFolder } from '@sqlpipe/files';
import { collectStatements } from '@sqlpipe/schema';
import { openSchema, type Schema } from './schema.js';

/**
 * Returns a schema as `.sql` text, with a blank line after each statement. With `folder` it is written there too, one file
 * per object. Only files that differ are written. Files whose object is gone are removed. The inverse of `split`.
 *
 * ```ts
 * import { join, split } from 'sqlpipe';
 *
 * await join('schema.sql', { folder: 'schema' });
 * for await (const statement of split({ path: 'schema' })) console.log(statement.slice(0, 21));
 * console.log(await join(['CREATE TABLE a (x INT)', 'CREATE TABLE b (y INT)']));
 * // CREATE TABLE quotes (
 * // CREATE VIEW spreads A
 * // CREATE TABLE trades (
 * // CREATE TABLE a (x INT);
 * //
 * // CREATE TABLE b (y INT);
 * ```
 *
 * Throws what reading the schema throws; see `dump` and `split`. With `folder` it also throws errors with these codes, and
 * writes nothing then:
 *
 * - `REJECTED` for a statement that creates no object, because it has no file;
 * - `DAMAGED` if two statements create the same object, or if another file has the name that an object needs.
 */
export async function join(schema: Schema, { folder }: { readonly folder?: string } = {}): Promise<string> {
  const statements = await collectStatements((await openSchema(schema)).statements);
  if (folder !== undefined) await writeFolder(folder, Readable.from(statements));
  return statements.map(formatSqlText).join('');
}
