import { once } from 'node:events';
import { Exit, type Io, UsageError } from '@sqlpipe/cli';
import { readStatementsAt, withoutLocations } from '@sqlpipe/files';
import { DEFAULT_ADMIN, type LoginCredentials, type ServerOptions, startServer } from '@sqlpipe/server';
import { MAX_RECORD } from '@sqlpipe/sql';

export interface ServeArgs extends Pick<ServerOptions, 'edition' | 'questdb' | 'port' | 'address' | 'data'> {
  readonly load: readonly string[];
  readonly requestLimit: number;
  readonly allowHost: readonly string[];
  readonly verbose?: number | undefined;
}

export async function serve({ load: files, verbose, ...options }: ServeArgs, io: Io): Promise<number> {
  const { port, requestLimit, data } = options;
  if (!Number.isInteger(port) || port > 65_535) throw new UsageError('--port must be a whole number from 0 to 65535');
  if (!Number.isInteger(requestLimit) || requestLimit < 1)
    throw new UsageError('--request-limit must be a whole number of at least 1');
  const server = await startServer({
    ...options,
    login: options.edition === 'enterprise' ? readAdmin(io.env) : readCredentials(io.env),
    naming: io.env['QDB_CAIRO_SQL_COLUMN_ALIAS_EXPRESSION_ENABLED'] === 'false' ? 'by function' : 'by expression',
    load: files.map(path => ({ label: path, statements: withoutLocations(readStatementsAt(path, MAX_RECORD)) })),
    logRequest: verbose ? io.info : undefined,
  });
  if (server.isRestored && files.length > 0) io.warn(`${data} already contains a schema; --load is ignored`);
  const signal = io.catchSignals();
  await io.write(`${server.url}\n`);
  if (!signal.aborted) await once(signal, 'abort');
  await server.close();
  return Exit.ok;
}

function readCredentials(env: NodeJS.ProcessEnv): LoginCredentials | undefined {
  const { QDB_HTTP_USER: user, QDB_HTTP_PASSWORD: password } = env;
  if (!user !== !password)
    throw new UsageError('QDB_HTTP_USER and QDB_HTTP_PASSWORD must be set together; set both or neither');
  return user && password ? { user, password } : undefined;
}

function readAdmin(env: NodeJS.ProcessEnv): LoginCredentials {
  const { QDB_ACL_ADMIN_USER: user = DEFAULT_ADMIN.user, QDB_ACL_ADMIN_PASSWORD: password = DEFAULT_ADMIN.password } =
    env;
  if (user && password) return { user, password };
  throw new UsageError('QDB_ACL_ADMIN_USER and QDB_ACL_ADMIN_PASSWORD must not be empty');
}
