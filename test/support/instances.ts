/*! The two servers that must behave the same in a pipeline: sqlserve, and a real QuestDB. */
import { borrowQuestDB, startQuestDB, testWithQuestDB } from './questdb.js';
import type { Server } from './server.js';
import { startSqlserve } from './sqlserve.js';
import { type Scope, test } from './test.js';

export interface Service {
  name: string;
  /** Like `test`, but skipped if the server is not available. */
  test: typeof testWithQuestDB;
  /** Starts an empty instance, with `QDB_…` settings. */
  start(scope: Scope, env?: NodeJS.ProcessEnv): Promise<Server>;
}

/** Makes something for each key when it is first asked for, and then returns the same. */
export function perKey<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return key => {
    const found = made.get(key) ?? make(key);
    made.set(key, found);
    return found;
  };
}

export const sqlserve: Service = {
  name: 'sqlserve',
  test,
  start: (scope, env) => (env ? startSqlserve(scope, [], env) : startSqlserve(scope)),
};

export const questdb: Service = {
  name: 'QuestDB',
  test: testWithQuestDB,
  start: (scope, env) => (env ? startQuestDB(scope, env) : borrowQuestDB(scope)),
};
