/*! A client of an instance whose replies a test defines. */
import { type Client, type ConnectionConfig, connect } from '../../packages/instance/src/index.js';
import { type Answer, type Request, startFaultyServer } from '../faults/faulty-server.js';
import type { Scope } from './scope.js';

export const TARGET: ConnectionConfig = {
  label: 'INSTANCE',
  url: new URL('http://127.0.0.1:1'),
  credentialsHelp: 'HELP',
  insecure: false,
  timeout: 30_000,
  connectTimeout: 30_000,
  settings: [],
};

export async function readRows(db: Client): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of db.streamFirstColumn('q')) all.push(...batch);
  return all;
}

/** Starts an instance that answers with a function of the test, and connects to it. Both end with the scope. */
export async function connectTo(
  scope: Scope,
  answer: Answer,
  target: Partial<ConnectionConfig> = {},
): Promise<{ db: Client; url: string; requests: Request[] }> {
  const server = await startFaultyServer(scope, answer);
  const db = connect({ ...TARGET, url: new URL(server.url), ...target });
  scope.teardown(() => db.close());
  return { db, ...server };
}
