/*! Starts servers for tests: any program that prints its URL when it is ready, and ends on SIGTERM. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Scope } from './scope.js';
import { borrow } from './server-pool.js';

export interface Server {
  /** Base URL without a final slash, such as `http://127.0.0.1:39000`. */
  url: string;
  /** Runs one statement directly, without our programs. Resolves to the parsed reply, whatever its status is. */
  execute(sql: string): Promise<Reply>;
  /** Drops everything, which is faster than a new server. */
  dropAll(): Promise<void>;
}

export interface ServerProcess extends Server {
  /** Ends the server before its scope ends; resolves when the process has ended. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

export interface Reply {
  ddl?: string;
  error?: string;
  position?: number;
  columns?: { name: string; type: string }[];
  dataset?: unknown[][];
}

/**
 * Starts a server and waits until it has printed its URL, the first line of its stdout. The server ends with the scope,
 * and with this process if it watches its stdin. Throws its stderr if it ends before it has printed a URL.
 */
export async function startServer(
  scope: Scope,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  const ended = once(child, 'close');
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  scope.teardown(end);
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', text => {
    messages += text;
  });
  const lines = createInterface(child.stdout);
  const [url] = await Promise.race([once(lines, 'line'), ended.then(() => [])]);
  if (url === undefined) throw new Error(`${command} did not start: ${messages}`);
  return { ...serverAt(url), end };
}

/** Borrows a server of the pool at a port, empty, until the scope ends. */
export async function borrowServer(scope: Scope, port: string | undefined): Promise<Server> {
  const { url, giveBack } = await borrow(Number(port));
  scope.teardown(giveBack);
  const server = serverAt(url);
  await server.dropAll();
  return server;
}

/** Runs a statement that has to succeed. @returns its rows @throws Error with the statement and the server's message */
export async function execute(server: Server, statement: string): Promise<unknown[][]> {
  const { error, dataset } = await server.execute(statement.replace(/;$/, ''));
  if (error !== undefined) throw new Error(`${statement}: ${error}`);
  return dataset ?? [];
}

/** Requests a page. `fetch` takes three times as much of the processor, and tests send thousands of requests. */
export async function httpGet(url: string, authorization = ''): Promise<{ status: number; body: string }> {
  const request = get(url, { headers: { ...(authorization && { authorization }) } });
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  return { status: reply.statusCode ?? 0, body: await text(reply) };
}

export const serverAt = (url: string): Server => ({
  url,
  async execute(sql) {
    const { body } = await httpGet(`${url}/exec?${new URLSearchParams({ query: sql })}`);
    return JSON.parse(body) as Reply;
  },
  async dropAll() {
    let { error } = await this.execute('DROP ALL');
    if (error === "'tables' expected") ({ error } = await this.execute('DROP ALL TABLES')); // QuestDB 8
    if (error?.includes('busyReader')) return this.dropAll(); // a table without WAL that the server still reads
    if (error !== undefined) throw new Error(error);
  },
});
