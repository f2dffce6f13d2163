import { DEFAULT_ADMIN, startServer } from '@sqlpipe/server';
import { OptionsError } from './errors.js';
import type { OnWarning } from './instance.js';
import { openSchema, type Schema } from './schema.js';

/** What to serve. */
export interface ServeOptions {
  /** What the server has when it starts; nothing by default. */
  readonly schema?: Schema;
  /** `oss` by default, which is also `open-source`. `enterprise` has users, groups, service accounts and permissions. */
  readonly edition?: 'oss' | 'open-source' | 'enterprise';
  /** The release of QuestDB whose statements it accepts; `10` by default. */
  readonly questdb?: '9.3' | '9.4' | '10';
  /** The one login of the open source edition, which has none by default; the administrator of the other one, `admin` by default. */
  readonly user?: string;
  /** `quest` by default, in the enterprise edition. */
  readonly password?: string;
  readonly onWarning?: OnWarning;
}

/** A running server. It is an instance: pass it, or its `url`, to the other functions. */
export interface Server {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  /** Closes it, with all its connections. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a QuestDB-compatible server in this process, on a free port of 127.0.0.1, for tests. It stores the schema only, in
 * memory: it answers DDL and queries of the catalogue over HTTP, and has no rows.
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
 * Throws an error with the code `REJECTED` for a statement of the schema that the server rejects.
 */
export async function serve({
  schema,
  edition = 'oss',
  questdb = '10',
  onWarning,
  ...given
}: ServeOptions = {}): Promise<Server> {
  const { user, password } = edition === 'enterprise' ? { ...DEFAULT_ADMIN, ...given } : given;
  if (!user !== !password) throw new OptionsError('serve: give both user and password, or neither');
  const login = user && password ? { user, password } : undefined;
  const load = schema === undefined ? [] : [await openSchema(schema, onWarning)];
  const { url, close } = await startServer({ edition, questdb, login, address: '127.0.0.1', port: 0, load });
  return { url, ...login, close, [Symbol.asyncDispose]: close };
}
