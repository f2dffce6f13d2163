import type { Server } from './server.js';
import { startSqlserve } from './sqlserve.js';
import { fileScope, test } from './test.js';

/** The sqlserve of a test file, which is empty when a test begins. Call it at the top of the file. */
export function sharedSqlserve(): Server {
  const file = fileScope();
  const server = {} as Server;
  test.before(async () => void Object.assign(server, await startSqlserve(file)));
  test.beforeEach(() => server.dropAll());
  return server;
}
