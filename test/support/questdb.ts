/*! A real QuestDB for tests, by way of scripts/questdb.ts. */
import { spawnSync } from 'node:child_process';
import type { Scope } from './scope.js';
import { type Server, startServer } from './server.js';
import { test } from './test.js';

const SCRIPT = ['--import=tsx', 'scripts/questdb.ts'];

/** Starts an empty QuestDB 9.3.4, or of `QUESTDB_VERSION`, with extra `QDB_…` variables. It takes two seconds: share one per file where that does. */
export const startQuestDB = (scope: Scope, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  startServer(scope, process.execPath, SCRIPT, env);

/** Starts a QuestDB on what the folder holds; `end('SIGUSR2')` is its sudden death. */
export const startQuestDBIn = (scope: Scope, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  startServer(scope, process.execPath, [...SCRIPT, '--in', folder], env);

function whyNot(version?: string): string | undefined {
  if (spawnSync('java', ['-version']).status !== 0) return 'java is not on the PATH';
  const env = { ...process.env, ...(version && { QUESTDB_VERSION: version }) };
  const fetched = spawnSync(process.execPath, [...SCRIPT, '--jar'], { encoding: 'utf8', env });
  return fetched.status === 0 ? undefined : fetched.stderr.trim();
}

/**
 * As `test`, for what needs a real QuestDB of a version: skipped where none can be had, except in CI, where that is a
 * failure. One after the other, because tests of a file share servers and the machine.
 */
export function testWithVersion(version?: string): typeof test | typeof test.skip {
  const missing = whyNot(version);
  if (missing !== undefined)
    console.error(`Tests against a real QuestDB are ${process.env.CI ? 'failing' : 'skipped'}: ${missing}`);
  return missing === undefined || process.env.CI ? test : test.skip;
}

/** As `test`, for what needs a real QuestDB of the version that is the default. */
export const testWithQuestDB = testWithVersion();
