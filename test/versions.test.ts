/*! Servers of other versions: a sample of what `make versions` does in full, and what old servers answer, played. */
import { readFileSync } from 'node:fs';
import { check } from '../scripts/versions/check.js';
import { startQuestDB, testWithVersion } from './support/questdb.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { shell } from './support/shell.js';

const file = fileScope();
let newest: Promise<Server> | undefined;

/** The table in docs/COMPATIBILITY.md: by version, then by row. */
function documented(): Map<string, Map<string, string>> {
  const lines = readFileSync('docs/COMPATIBILITY.md', 'utf8').split('\n');
  const [[, ...versions] = [], , ...rows] = lines
    .filter(line => line.startsWith('| '))
    .map(line => line.slice(2, -2).split(' | '));
  return new Map(
    versions.map((version, i) => [version, new Map(rows.map(([name = '', ...cells]) => [name, cells[i] ?? '']))]),
  );
}

for (const version of ['8.1.4', '9.0.3', '9.2.3']) {
  testWithVersion(version)(`QuestDB ${version} works as docs/COMPATIBILITY.md says`, async t => {
    newest ??= startQuestDB(file);
    const [old, latest] = await Promise.all([startQuestDB(t, { QUESTDB_VERSION: version }), newest]);
    const run = await shell(t, { OLD: old.url, NEW: latest.url });
    t.deepEqual(await check(version, old, latest, run), documented().get(version));
  });
}
