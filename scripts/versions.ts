/*!
 * Writes the tables of docs/COMPATIBILITY.md: the results of the built programs with real servers, version by version, and the upgrade of
 * some hundred recorded objects. Versions whose jar cannot be fetched are marked. It takes a few minutes, most of them for the
 * recorded objects; two servers run at a time.
 */
import { execFileSync } from 'node:child_process';
import { publish } from '../bench/record.js';
import { CORPUS } from '../test/support/corpus.js';
import { openScope } from '../test/support/scope.js';
import { type Server, type ServerProcess, startServer } from '../test/support/server.js';
import { shell } from '../test/support/shell.js';
import { type Cells, check, STEPS } from './versions/check.js';
import { SAMPLE } from './versions/sample.js';
import { upgradeRecorded } from './versions/upgrade.js';

const VERSIONS = ['8.1.4', '9.0.3', '9.1.1', '9.2.3', '9.3.0', '9.3.4'];
const NEWEST = '9.3.4';
const OLDEST_OF_9 = '9.0.3';
const DOCUMENT = 'docs/COMPATIBILITY.md';
const SCRIPT = ['--import=tsx', 'scripts/questdb.ts'];

const scope = openScope();
const start = (version: string): Promise<ServerProcess> =>
  startServer(scope, process.execPath, SCRIPT, { QUESTDB_VERSION: version });

/** Undefined if the version cannot be fetched. */
async function tryVersion(version: string, newest: Server): Promise<Cells | undefined> {
  try {
    execFileSync(process.execPath, [...SCRIPT, '--jar'], { env: { ...process.env, QUESTDB_VERSION: version } });
  } catch {
    return undefined;
  }
  const old = await start(version);
  const cells = await check(version, old, newest, await shell(scope, { OLD: old.url, NEW: newest.url }));
  await old.end();
  return cells;
}

async function upgradeLines(newest: Server): Promise<string[]> {
  if (!CORPUS) return ['Not run: the recordings are missing.'];
  const old = await start(OLDEST_OF_9);
  return upgradeRecorded(old, newest, await shell(scope, { OLD: old.url, NEW: newest.url }));
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

try {
  const newest = await start(NEWEST);
  const columns: (Cells | undefined)[] = [];
  for (const version of VERSIONS) columns.push(await tryVersion(version, newest));
  const names = [...SAMPLE.map(({ name }) => name), ...Object.values(STEPS)];
  const table = [
    row(['', ...VERSIONS]),
    row(['---', ...VERSIONS.map(() => '---')]),
    ...names.map(name => row([name, ...columns.map(cells => cells?.get(name) ?? 'not run')])),
  ].join('\n');
  const upgrade = (await upgradeLines(newest)).join('\n');
  publish('versions', table, DOCUMENT);
  publish('upgrade', upgrade, DOCUMENT);
  process.exitCode = /failed:/.test(table + upgrade) ? 1 : 0;
} finally {
  await scope.end();
}
