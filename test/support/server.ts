/*! Servers that tests talk to: any program that prints its URL when it is ready and ends on SIGTERM. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Scope } from './scope.js';

/** A running server. */
export interface Server {
  /** Base URL without a slash at the end, such as `http://127.0.0.1:39000`. */
  url: string;
  /** Runs one statement past all our programs; resolves to the parsed reply, whatever its status. */
  execute(sql: string): Promise<Reply>;
  /** Drops everything: a new database in some milliseconds. */
  empty(): Promise<void>;
  /** Ends it before its scope does; resolves when it is gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** What the service answers, as far as tests look at it. */
export interface Reply {
  ddl?: string;
  error?: string;
  /** Of an error, in the statement. */
  position?: number;
  dataset?: unknown[][];
}

/**
 * Starts a server and waits until it has printed its URL, the first line on its stdout. It ends with the scope; with this
 * process too, where it watches its stdin. Throws what it said on stderr where it ends before.
 */
export async function startServer(
  scope: Scope,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  const ended = once(child, 'close');
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  scope.teardown(end);
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', text => {
    complaint += text;
  });
  const lines = createInterface(child.stdout);
  const [url] = await Promise.race([once(lines, 'line'), ended.then(() => [])]);
  if (url === undefined) throw new Error(`${command} did not start: ${complaint}`);
  return { ...served(url), end };
}

/** A server that runs already. */
const served = (url: string): Omit<Server, 'end'> => ({
  url,
  async execute(sql) {
    const reply = await fetch(`${url}/exec?${new URLSearchParams({ query: sql })}`);
    return reply.json() as Promise<Reply>;
  },
  async empty() {
    let { error } = await this.execute('DROP ALL');
    if (error === "'tables' expected") ({ error } = await this.execute('DROP ALL TABLES')); // QuestDB 8
    if (error !== undefined) throw new Error(error);
  },
});
