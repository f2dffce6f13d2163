/*! The upgrade of recorded objects from an old server to a new one, and what was not among them. */
import type { Server } from '../../test/support/server.js';
import { fill } from '../conformance/copy.js';
import { CORPUS, scenarios } from '../conformance/corpus.js';
import { Database } from '../conformance/database.js';
import type { Shell } from './check.js';

/** Of each so many recordings one is made: they come in families of near copies. */
const STRIDE = 5;

/** Copies what the old server accepts of the recordings; the lines of the report. */
export async function upgradeRecorded(old: Server, newest: Server, run: Shell): Promise<string[]> {
  await Promise.all([old.empty(), newest.empty()]);
  const source = new Database(old.url);
  const all = scenarios(CORPUS ?? '').filter(
    ({ settings }, i) => i % STRIDE === 0 && Object.keys(settings).length === 0,
  );
  const result = { objects: 0, equal: 0, notTaken: [], short: [] };
  const left = await fill(source, all, result);
  await source.settle();
  const made = await source.objects();
  const { code, stdout, stderr } = await run(`sqldump -o dump.stream $OLD
sqlapply --keep-going --report report $NEW < dump.stream
echo "$(grep -c '"result":"applied"' report) applied"
sqlapply --report report $NEW < dump.stream
echo "$(grep -c '"result":"same"' report) the same when the dump was applied again"
sqldiff $OLD $NEW`);
  return [
    `Of ${all.length} recordings of what 9.3.4 accepts (every ${STRIDE}th), ${all.length - left.length - result.notTaken.length} were made on the old server,`,
    `${result.notTaken.length} were rejected by it, and ${left.length} were left out, as their names were in use by others. The ${made.length} objects, copied:`,
    '',
    ...stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map(line => `- ${line}`),
    `- ${await countSameColumns(made, source, new Database(newest.url))} with the same \`table_columns()\`: types, indexes, capacities, keys`,
    `- \`sqldiff\` of the two servers: ${code === 0 ? 'no difference' : `failed: status ${code}: ${stderr}`}`,
    '',
    'What the old server rejected, by its message:',
    '',
    ...countReasons(result.notTaken),
  ];
}

/** Past all our programs. */
async function countSameColumns(names: readonly string[], a: Database, b: Database): Promise<number> {
  const columns = (database: Database, name: string) =>
    database.execute(
      `SELECT "column", type, indexed, indexBlockCapacity, symbolCached, symbolCapacity, designated, upsertKey FROM table_columns('${name}')`,
    );
  let same = 0;
  for (const name of names)
    if (JSON.stringify(await columns(a, name)) === JSON.stringify(await columns(b, name))) same++;
  return same;
}

function countReasons(notTaken: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of notTaken) {
    const reason = line.slice(line.indexOf(': ') + 2).replace(/(?<=column type: ).*/, type => type.toUpperCase());
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([reason, n]) => `- ${n}: \`${reason}\``);
}
