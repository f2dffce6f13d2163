/*! The upgrade of recorded objects from an old server to a new one, with the objects that could not be copied. */

import type { Server } from '../../test/support/server.js';
import { fill } from '../conformance/copy.js';
import { scenarios } from '../conformance/corpus.js';
import { Database } from '../conformance/database.js';
import type { Shell } from './check.js';

/** Every STRIDEth recording is used, since adjacent recordings are similar. */
const STRIDE = 5;

/** Copies the recordings that the old server accepts; returns the lines of the report. */
export async function upgradeRecorded(old: Server, newest: Server, run: Shell): Promise<string[]> {
  await Promise.all([old.dropAll(), newest.dropAll()]);
  const source = new Database(old.url);
  const all = scenarios().filter(({ settings }, i) => i % STRIDE === 0 && Object.keys(settings).length === 0);
  const result = { objects: 0, equal: 0, notTaken: [], short: [] };
  const left = await fill(source, all, result);
  await source.settle();
  const made = await source.objects();
  const { code, stdout, stderr } = await run(`sqldump -o dump.stream $OLD
sqlapply --keep-going --report report $NEW < dump.stream
echo "$(grep -c '"result":"applied"' report) applied"
sqlapply --report report $NEW < dump.stream
echo "$(grep -c '"result":"skipped"' report) skipped when the dump was applied again"
sqldiff $OLD $NEW`);
  const differing = await compareColumns(made, source, new Database(newest.url));
  return [
    `Every ${STRIDE}th recorded statement that 9.3.4 accepts was sent to the old server. Of these ${all.length} statements,`,
    `${all.length - left.length - result.notTaken.length} were executed, ${result.notTaken.length} were rejected, and ${left.length} were skipped because their names were in use. The ${made.length} objects were then copied:`,
    '',
    ...stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map(line => `- ${line}`),
    `- \`table_columns()\` of the two servers (types, indexes, capacities, keys): ${differing.size === 0 ? 'no difference' : 'the same, but'}`,
    ...Array.from(differing, ([what, names]) => `  - ${what}: ${names.map(name => `\`${name}\``).join(', ')}`),
    `- \`sqldiff\` of the two servers: ${code === 0 ? 'no difference' : `failed: status ${code}: ${stderr}`}`,
    '',
    'Statements that the old server rejected, by message:',
    '',
    ...countReasons(result.notTaken),
  ];
}

/** The properties of columns; the block capacity is meaningless without an index. */
const PROPERTIES = ['type', 'indexed', 'block', 'symbolCached', 'symbolCapacity', 'designated', 'upsertKey'];
const BLOCK = 'CASE WHEN indexed THEN indexBlockCapacity ELSE 0 END block';

/** The objects whose columns differ, compared without our programs, by the property and its two values. */
async function compareColumns(names: readonly string[], a: Database, b: Database): Promise<Map<string, string[]>> {
  const differing = new Map<string, string[]>();
  for (const name of names) {
    const query = `SELECT "column", ${PROPERTIES.join(', ').replace('block', BLOCK)} FROM table_columns('${name}')`;
    const [inA, inB] = [await a.execute(query), await b.execute(query)];
    const found = inA.flatMap(([column, ...values], row) =>
      values.flatMap((value, i) => {
        const other = inB[row]?.[i + 1];
        return other === value && inB[row]?.[0] === column ? [] : [`${PROPERTIES[i]} ${value} became ${other}`];
      }),
    );
    for (const what of new Set(found)) differing.set(what, [...(differing.get(what) ?? []), name]);
  }
  return differing;
}

function countReasons(notTaken: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of notTaken) {
    const reason = line.slice(line.indexOf(': ') + 2).replace(/(?<=column type: ).*/, type => type.toUpperCase());
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([reason, n]) => `- ${n}: \`${reason}\``);
}
