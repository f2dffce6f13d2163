/*! sqlserve for tests: the built program, on a port that the system picks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ServeOptions, serve } from '@sqlpipe/api';
import { startServer as startServerHere } from '@sqlpipe/server';
import type { Scope } from './scope.js';
import { borrowServer, type Server, type ServerProcess, serverAt, startServer } from './server.js';

export const SQLSERVE = 'packages/sqlserve/bin/sqlserve.js';

export const CREATE_TRADES =
  'create table trades (ts timestamp, s symbol index, v double) timestamp(ts) partition by day ttl 14 days';

const requiring = (name: string): string => `--require=${resolve('test/support', name)}`;
const ENDS_WITH_STDIN = requiring('end-with-stdin.cjs');
/** Node's options for a server with users: with real hashes, most of its time would be theirs. */
const QUICK_HASHES = requiring('quick-hashes.cjs');

/**
 * Starts an empty sqlserve with additional arguments and environment variables. `SCRYPT_N` makes passwords harder to guess.
 * Without a list of arguments, it is one that other tests have used, and cannot be ended.
 */
export function startSqlserve(scope: Scope): Promise<Server>;
export function startSqlserve(scope: Scope, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<ServerProcess>;
export function startSqlserve(scope: Scope, args?: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const pool = process.env.SQLSERVE_POOL;
  if (pool && !args) return borrowServer(scope, pool);
  return startServer(scope, SQLSERVE, ['--port', '0', ...(args ?? [])], {
    ...env,
    NODE_OPTIONS: `${ENDS_WITH_STDIN} ${args?.includes('enterprise') ? QUICK_HASHES : ''}`,
  });
}

/** Starts an empty sqlserve in the process of the test, which is faster than one of its own. */
export async function serveHere(scope: Scope, options: ServeOptions): Promise<Server> {
  const { url, close } = await serve(options);
  scope.teardown(close);
  return serverAt(url);
}

/** Starts a server with its schema in a folder, in the process of the test. `end` ends it before its scope. */
export async function serveFolder(
  scope: Scope,
  data: string,
  edition: 'oss' | 'enterprise' = 'enterprise',
): Promise<Server & Pick<ServerProcess, 'end'>> {
  const { url, close } = await startServerHere({ edition, address: '127.0.0.1', port: 0, data });
  scope.teardown(close);
  return { ...serverAt(url), end: close };
}

export async function failToStart(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ status: number; message: string }> {
  const child = spawn(SQLSERVE, ['--port', '0', ...args], { env: { ...process.env, ...env }, timeout: 300_000 });
  const [[status], message] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  return { status, message };
}

export const readDump = async (server: Server): Promise<unknown[]> =>
  (await server.execute('SHOW CREATE DATABASE')).dataset?.flat() ?? [];
