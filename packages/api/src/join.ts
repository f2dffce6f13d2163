import { Readable } from 'node:stream';
import { printSqlText, writeFolder } from '@sqlpipe/files';
import { collectStatements } from '@sqlpipe/schema';
import { openSchema, type SchemaSource } from './schema.js';

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
 * Throws `REJECTED` or `DAMAGED` before it writes into `folder`, and what reading the schema throws.
 */
export async function join(schema: SchemaSource, { folder }: { readonly folder?: string } = {}): Promise<string> {
  const statements = await collectStatements((await openSchema(schema)).statements);
  if (folder !== undefined) await writeFolder(folder, Readable.from(statements));
  return statements.map(printSqlText).join('');
}
