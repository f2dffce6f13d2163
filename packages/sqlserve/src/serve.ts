/*! Runs the server: restores its schema or loads files, then answers requests until a signal comes. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Exit, type Io, UsageError } from '@sqlpipe/cli';
import type { Edition } from './edition.js';
import { createEndpoint } from './endpoint.js';
import { createEnterprise } from './enterprise.js';
import { Journal } from './journal.js';
import { loadFiles } from './load.js';
import { createOpenSource, type LoginCredentials } from './open-source.js';
import { isLoopback } from './origin.js';
import type { HttpRequest } from './request.js';
import { createRouter } from './routes.js';
import { ServerCatalog } from './server-catalog.js';
import { Service } from './service.js';

export interface ServeOptions {
  readonly edition: 'oss' | 'enterprise';
  readonly port: number;
  readonly address: string;
  readonly data?: string | undefined;
  readonly load: readonly string[];
  readonly requestLimit: number;
  readonly allowHost: readonly string[];
  readonly verbose?: number | undefined;
}

export async function serve(
  { edition: name, port, address, data, load: files, requestLimit, allowHost, verbose }: ServeOptions,
  io: Io,
): Promise<number> {
  if (!Number.isInteger(port) || port > 65_535) throw new UsageError('--port must be a whole number from 0 to 65535');
  if (!Number.isInteger(requestLimit) || requestLimit < 1)
    throw new UsageError('--request-limit must be a whole number of at least 1');
  const admin = readAdmin(io.env);
  const edition = name === 'oss' ? createOpenSource(readCredentials(io.env)) : createEnterprise(admin);
  const naming = io.env['QDB_CAIRO_SQL_COLUMN_ALIAS_EXPRESSION_ENABLED'] === 'false' ? 'by function' : 'by expression';
  const catalog = new ServerCatalog(naming);
  let isRestored = data !== undefined;
  const begin = async () => {
    isRestored = false;
    const service = new Service({ edition, catalog });
    for (const file of files) await loadFiles(file, statement => service.execute(statement, admin.user));
  };
  const journal = data === undefined ? await begin() : await openJournal(data, catalog, edition, begin);
  edition.checkPrincipals();
  if (isRestored && files.length > 0) io.warn(`${data} already contains a schema; --load is ignored`);
  const service = new Service({ edition, catalog, journal: journal ?? undefined });

  const isPublic = !isLoopback((await lookup(address)).address);
  const hosts = isPublic && allowHost.length === 0 ? undefined : new Set(allowHost.map(host => host.toLowerCase()));
  const onRequest = verbose ? (...entry: LogEntry) => io.info(formatLogLine(...entry)) : undefined;
  const server = createEndpoint({ answer: createRouter(service, hosts), requestLimit, onRequest });
  await once(server.listen(port, address), 'listening');
  const { interrupted } = io;
  await io.print(
    `http://${address.includes(':') ? `[${address}]` : address}:${(server.address() as AddressInfo).port}\n`,
  );
  if (!interrupted.aborted) await once(interrupted, 'abort');
  server.close();
  await journal?.close();
  return Exit.ok;
}

const openJournal = (
  folder: string,
  catalog: ServerCatalog,
  edition: Edition,
  begin: () => Promise<void>,
): Promise<Journal> =>
  Journal.open(folder, {
    replay: change => ('acl' in change ? edition.replay(change.acl) : catalog.replay(change)),
    begin,
    state: () => [...catalog.snapshotChanges(), ...edition.snapshotChanges().map(acl => ({ acl }))],
  });

type LogEntry = [request: HttpRequest | undefined, status: number | undefined, milliseconds: number];

/** Omits the query, which may contain a password, and a login before the host. */
function formatLogLine(request: LogEntry[0], status: LogEntry[1], milliseconds: number): string {
  if (!request) return 'closed a connection without an answer: not a request, or longer than --request-limit';
  const path = request.path.replace(/\/\/[^/]*@/, '//').slice(0, 100);
  return `${request.method.slice(0, 20)} ${path} ${status} ${milliseconds.toFixed(1)} ms`;
}

/** The one login of the open source edition, from the variables that QuestDB reads too. */
function readCredentials({
  QDB_HTTP_USER: user,
  QDB_HTTP_PASSWORD: password,
}: NodeJS.ProcessEnv): LoginCredentials | undefined {
  if (!user !== !password)
    throw new UsageError('QDB_HTTP_USER and QDB_HTTP_PASSWORD must be set together; set both or neither');
  return user && password ? { user, password } : undefined;
}

/** The built-in administrator of the enterprise edition. */
function readAdmin({
  QDB_ACL_ADMIN_USER: user = 'admin',
  QDB_ACL_ADMIN_PASSWORD: password = 'quest',
}: NodeJS.ProcessEnv): LoginCredentials {
  if (user && password) return { user, password };
  throw new UsageError('QDB_ACL_ADMIN_USER and QDB_ACL_ADMIN_PASSWORD must not be empty');
}
