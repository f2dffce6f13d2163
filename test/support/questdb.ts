/*! Starts a real QuestDB for tests, with scripts/questdb.ts. */
import { DEFAULT_VERSION, fetchJar, formatMissing } from '../../scripts/questdb/java.js';
import { borrowServer, type Server, type ServerProcess, startServer } from './server.js';
import { DATA } from './server-pool.js';
import { fileScope, type Scope, test } from './test.js';

const SCRIPT = '.cache/compiled/scripts/questdb.js';

/** Starts an empty QuestDB 9.3.4, or `QUESTDB_VERSION`, with additional `QDB_…` variables, which takes two seconds. */
export const startQuestDB = (scope: Scope, env: NodeJS.ProcessEnv): Promise<ServerProcess> =>
  startServer(scope, process.execPath, [SCRIPT], { TMPDIR: DATA, ...env });

/** Borrows an empty QuestDB with the usual settings, which no other test has until the scope ends. It cannot be ended. */
export const borrowQuestDB = (scope: Scope): Promise<Server> => borrowServer(scope, process.env.QUESTDB_POOL);

/** Starts a QuestDB with the data in a folder. `end('SIGUSR2')` ends it without a shutdown. */
export const startQuestDBIn = (scope: Scope, folder: string, env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> =>
  startServer(scope, process.execPath, [SCRIPT, '--in', folder], env);

function findMissing(version: string): string | undefined {
  if (!process.env.QUESTDB_POOL) return 'java is not on the PATH';
  try {
    fetchJar(version);
    return undefined;
  } catch (error) {
    return formatMissing(error);
  }
}

/** Like `test`, for tests that need a real QuestDB of a version. They are skipped if it is not available; in CI they fail. */
export function testWithVersion(version: string): typeof test | typeof test.skip {
  const missing = findMissing(version);
  if (missing !== undefined)
    console.error(`Tests against a real QuestDB are ${process.env.CI ? 'failing' : 'skipped'}: ${missing}`);
  return missing === undefined || process.env.CI ? test : test.skip;
}

export const testWithQuestDB = testWithVersion(process.env.QUESTDB_VERSION ?? DEFAULT_VERSION);

/** The QuestDB of a test file, which is empty when a test begins. Call it at the top of the file. */
export function sharedQuestDB(): Server {
  const file = fileScope();
  const server = {} as Server;
  if (testWithQuestDB === test) {
    test.before(async () => void Object.assign(server, await borrowQuestDB(file)));
    test.beforeEach(() => server.dropAll());
  }
  return server;
}
