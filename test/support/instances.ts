/*! The two services that a pipeline must not be able to tell apart: sqlserve, and a real QuestDB. */
import { startQuestDB, testWithQuestDB } from './questdb.js';
import type { Scope } from './scope.js';
import type { Server } from './server.js';
import { startSqlserve } from './sqlserve.js';
import { test } from './test.js';

/** One of the services, and how tests get at it. */
export interface Service {
  name: string;
  /** As `test`; skipped where the service can't be had. */
  test: typeof testWithQuestDB;
  /** Starts an empty instance, with `QDB_…` settings. */
  start(scope: Scope, env?: NodeJS.ProcessEnv): Promise<Server>;
}

export const sqlserve: Service = {
  name: 'sqlserve',
  test,
  start: (scope, env) => startSqlserve(scope, [], env),
};

export const questdb: Service = { name: 'QuestDB', test: testWithQuestDB, start: startQuestDB };
