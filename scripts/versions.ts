/*!
 * Writes docs/COMPATIBILITY.md: the results of the built programs with real servers, version by version, and the upgrade of some
 * hundred recorded objects. Versions whose jar cannot be fetched are marked. It takes a few minutes, most of them for the
 * recorded objects; two servers run at a time.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { CORPUS } from '../test/support/corpus.js';
import { openScope } from '../test/support/open-scope.js';
import { type Server, startServer } from '../test/support/server.js';
import { shell } from '../test/support/shell.js';
import { type Cells, check, STEPS } from './versions/check.js';
import { NEWER } from './versions/newer.js';
import { SAMPLE } from './versions/sample.js';
import { upgradeRecorded } from './versions/upgrade.js';

const VERSIONS = ['8.1.4', '9.0.3', '9.1.1', '9.2.3', '9.3.0', '9.3.4'];
const NEWEST = '9.3.4';
const OLDEST_OF_9 = '9.0.3';
const SCRIPT = ['--import=tsx', 'scripts/questdb.ts'];

const scope = openScope();
const start = (version: string): Promise<Server> =>
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
  const lines = [
    '# Supported versions of QuestDB',
    '',
    'Written by `make versions`, which runs the programs against real servers of the open source edition. A cell is `yes`; `no` if the',
    'version does not support it (`sqlapply` then rejects such a statement before it sends anything, and names the version); `not run`;',
    'or the error. Not run, because no server is available: 8.2, 8.3 and 10. The dump of QuestDB 10 is tested against `sqlserve` and',
    'recordings of a development build. *Rerun* means that a second `sqlapply` skips every statement.',
    '',
    row(['', ...VERSIONS]),
    row(['---', ...VERSIONS.map(() => '---')]),
    ...names.map(name => row([name, ...columns.map(cells => cells?.get(name) ?? 'not run')])),
    '',
    '- 8.1 has no `SHOW CREATE TABLE`: its statements are built from `tables()` and `table_columns()`. Before 9.2, requests go to `/exec`.',
    '- 9.0 to 9.2 print symbol capacities, `maxUncommittedRows` and `o3MaxLag`; 9.3 does not. They are copied with the statement; from 9.3,',
    '  the symbol capacities that somebody requested. `sqldiff -v` and `sqlapply -v` list the others as not compared.',
    '- `sqlapply` lists each statement that the target does not support; `--keep-going` applies the others.',
    '',
    ...NEWER,
    `## Upgrade from ${OLDEST_OF_9} to ${NEWEST}`,
    '',
    ...(await upgradeLines(newest)),
  ];
  writeFileSync('docs/COMPATIBILITY.md', `${lines.join('\n')}\n`);
  process.exitCode = lines.some(line => /failed:/.test(line)) ? 1 : 0;
} finally {
  await scope.end();
}
