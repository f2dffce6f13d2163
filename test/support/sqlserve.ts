/*! sqlserve for tests: the built program, on a port that the system picks. */
import type { Scope } from './scope.js';
import { type Server, startServer } from './server.js';

/** Starts the built sqlserve, empty, with extra arguments and environment. */
export const startSqlserve = (
  scope: Scope,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Server> => startServer(scope, 'packages/sqlserve/bin/sqlserve.js', ['--port', '0', ...args], env);
