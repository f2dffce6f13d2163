import { dump as dumpInstance } from '@sqlpipe/instance';
import { parseSelection } from '@sqlpipe/schema';
import { type Instance, type OnWarning, resolve } from './instance.js';

/** What to dump; everything by default. */
export interface DumpOptions {
  /** Kinds or categories: `table`, `TABLES`, `SCHEMA`, `ACL`, … Not together with `exclude`. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Remove OWNED BY. */
  readonly noOwner?: boolean;
  /** Leave out views that the server calls invalid. */
  readonly skipInvalid?: boolean;
  /** Accept a dump without the objects that the account may not read; `onWarning` gets each. */
  readonly partial?: boolean;
  readonly onWarning?: OnWarning;
}

/**
 * Reads the schema of an instance: one statement per object, each with its `;`, in an order that can be applied. Statements
 * that the server prints wrongly are repaired. If the loop ends without an error, the dump is complete: it has every object
 * of these kinds that the server lists.
 *
 * ```ts
 * import { dump, serve } from 'sqlpipe';
 *
 * const server = await serve({ schema: 'schema.sql' });
 * for await (const statement of dump(server.url, { include: ['VIEWS'] })) console.log(statement);
 * await server.close();
 * // CREATE VIEW 'spreads' AS (
 * // SELECT ts, ask - bid AS spread FROM quotes
 * // );
 * ```
 *
 * Throws `CONFIG`, `UNREACHABLE`, `DENIED`, `PROTOCOL` or `REJECTED`.
 */
export async function* dump(
  instance: Instance,
  { include, exclude, noOwner = false, skipInvalid = false, partial = false, onWarning = () => {} }: DumpOptions = {},
): AsyncGenerator<string, void, undefined> {
  const selection = parseSelection(include, exclude);
  const config = await resolve(instance, onWarning);
  const dumped = dumpInstance(config, { selection, noOwner, skipInvalid, partial, warn: onWarning });
  for await (const batch of dumped) yield* batch;
}
