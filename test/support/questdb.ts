/*! Starts a real QuestDB for tests, with scripts/questdb.ts. */
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { DEFAULT_VERSION, explainMissing, fetchJar } from '../../scripts/questdb/java.js';
import { fileScope, type Scope } from './scope.js';
import { type Server, startServer } from './server.js';
import { test } from './test.js';

const SCRIPT = [fileURLToPath(new URL('../../scripts/questdb.js', import.meta.url))];

/** Where servers keep their data: in memory if there is room, since half of what a server does for a table is making files. */
export const DATA = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();

/** Whether a folder exists, on a file system with a gibibyte left, of which a server needs a few percent. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 2 ** 30;
}

/**
 * Starts an empty QuestDB 9.3.4, or `QUESTDB_VERSION`, with additional `QDB_…` variables. This takes two seconds: if
 * possible, the tests of a file share one.
 */
export const startQuestDB = (scope: Scope, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  startServer(scope, process.execPath, SCRIPT, { TMPDIR: DATA, ...env });

/** Starts a QuestDB with the data in a folder. `end('SIGUSR2')` ends it without a shutdown. */
export const startQuestDBIn = (scope: Scope, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  startServer(scope, process.execPath, [...SCRIPT, '--in', folder], env);

const hasJava = spawnSync('java', ['-version']).status === 0;

function findMissing(version: string): string | undefined {
  if (!hasJava) return 'java is not on the PATH';
  try {
    fetchJar(version);
    return undefined;
  } catch (error) {
    return explainMissing(error);
  }
}

/**
 * Like `test`, for tests that need a real QuestDB of a version. They are skipped if it is not available; in CI they fail.
 */
export function testWithVersion(version: string): typeof test | typeof test.skip {
  const missing = findMissing(version);
  if (missing !== undefined)
    console.error(`Tests against a real QuestDB are ${process.env.CI ? 'failing' : 'skipped'}: ${missing}`);
  return missing === undefined || process.env.CI ? test : test.skip;
}

/** Like `test`, for tests that need a real QuestDB of the default version. */
export const testWithQuestDB = testWithVersion(process.env.QUESTDB_VERSION ?? DEFAULT_VERSION);

/** Makes a function that empties the one QuestDB of a test file, and starts it if necessary. */
export function sharedQuestDB(): () => Promise<Server> {
  const file = fileScope();
  let started: Promise<Server> | undefined;
  return async () => {
    started ??= startQuestDB(file);
    const server = await started;
    await server.dropAll();
    return server;
  };
}
