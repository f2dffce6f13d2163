import { DEFAULT_ADMIN, startServer } from '@sqlpipe/server';
import { CodedError } from '@sqlpipe/text';
import type { OnWarning } from './instance.js';
import { openSchema, type SchemaSource } from './schema.js';

/** What to serve. */
export interface ServeOptions {
  /** The schema that the server has when it starts; empty by default. */
  readonly schema?: SchemaSource;
  /** `oss` (or `open-source`) by default. `enterprise` has users, groups, service accounts and permissions. */
  readonly edition?: 'oss' | 'open-source' | 'enterprise';
  /** The version of QuestDB to emulate; `10` by default. */
  readonly questdb?: '9.3' | '9.4' | '10';
  /** The only login of the open source edition, which else requires none; the administrator (`admin`) of the enterprise edition. */
  readonly user?: string;
  /** `quest` by default in the enterprise edition. */
  readonly password?: string;
  readonly onWarning?: OnWarning;
}

/** A running server. It is an instance: pass it, or its `url`, to the other functions. */
export interface Server {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  /** Closes it, with all its connections; `await using` does so too. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a QuestDB-compatible test server in this process, on a free port of 127.0.0.1. It executes DDL over HTTP and answers
 * queries of the catalogue. It stores the schema in memory, and no rows.
 *
 * ```ts
 * import { serve } from 'sqlpipe';
 *
 * const server = await serve({ schema: 'schema.sql' });
 * const reply = await fetch(`${server.url}/exec?query=SHOW TABLES`);
 * const { dataset } = await reply.json();
 * console.log(dataset);
 * await server.close();
 * // [ [ 'trades' ], [ 'quotes' ], [ 'spreads' ] ]
 * ```
 *
 * Throws `REJECTED` for a statement that the server rejects, `USAGE`, and what reading the schema throws.
 */
export async function serve(options: ServeOptions = {}): Promise<Server> {
  const { schema, edition = 'oss', questdb = '10', onWarning } = options;
  const defaults: Partial<typeof DEFAULT_ADMIN> = edition === 'enterprise' ? DEFAULT_ADMIN : {};
  const { user = defaults.user, password = defaults.password } = options;
  if (!user !== !password) throw new CodedError('USAGE', 'serve: give both user and password, or neither');
  const login = user && password ? { user, password } : undefined;
  const load = schema === undefined ? [] : [await openSchema(schema, onWarning)];
  const { url, close } = await startServer({ edition, questdb, login, address: '127.0.0.1', port: 0, load });
  return { url, ...login, close, [Symbol.asyncDispose]: close };
}
