import { formatSqlText, writeFolder } from '@sqlpipe/files';
import { flatten, openSchema, type Schema } from './schema.js';

/**
 * A schema as `.sql` text, a blank line after each statement. With `folder` it is written there instead, one file per object:
 * files that differ are written, and those whose object is gone are removed. The inverse of `split`.
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
 */
export function join(schema: Schema): Promise<string>;
export function join(schema: Schema, options: { readonly folder: string }): Promise<void>;
export async function join(schema: Schema, options?: { readonly folder: string }): Promise<unknown> {
  const statements = flatten((await openSchema(schema)).statements);
  if (options) {
    await writeFolder(options.folder, statements);
    return;
  }
  let text = '';
  for await (const statement of statements) text += formatSqlText(statement);
  return text;
}
