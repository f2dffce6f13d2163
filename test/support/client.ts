/*! A client of an instance that answers as a test says. */
import { connect, type Instance, type Target } from '../../packages/instance/src/index.js';
import { type Answer, misbehaving, type Request } from '../faults/server.js';
import type { Scope } from './scope.js';

/** Where to connect to, but for the URL. */
export const TARGET: Target = {
  label: 'INSTANCE',
  url: new URL('http://127.0.0.1:1'),
  credentialsHelp: 'HELP',
  insecure: false,
  timeout: 30_000,
  connectTimeout: 30_000,
};

/** Starts an instance that answers so, and connects to it; both end with the scope. */
export async function connectTo(
  scope: Scope,
  answer: Answer,
  target: Partial<Target> = {},
): Promise<{ db: Instance; url: string; requests: Request[] }> {
  const server = await misbehaving(scope, answer);
  const db = connect({ ...TARGET, url: new URL(server.url), ...target });
  scope.teardown(() => db.close());
  return { db, ...server };
}
