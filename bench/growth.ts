/*! Measures how time and memory grow with a schema: our command lines and others with increasing numbers of objects. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScope } from '../test/support/scope.js';
import { startServer } from '../test/support/server.js';
import { DUMP, REPLAY } from './baselines.js';
import { type Measured, measure } from './measure.js';

/** The costs of one command line, by the number of objects. */
export interface Curve {
  script: string;
  points: [objects: number, Measured][];
}

/** Curves that belong together. */
export interface Chart {
  name: string;
  curves: Curve[];
}

/** Measures each script at each size; `prepare` returns the variables for a size. */
async function measureChart(
  name: string,
  scripts: Record<string, string>,
  sizes: readonly number[],
  rounds: number,
  prepare: (size: number) => Promise<NodeJS.ProcessEnv>,
): Promise<Chart> {
  const curves = Object.keys(scripts).map((script): Curve => ({ script, points: [] }));
  for (const size of sizes) {
    console.error(`${name}: ${size} objects`);
    const measured = await measure(Object.values(scripts), rounds, await prepare(size));
    for (const [i, one] of measured.entries()) curves[i]?.points.push([size, one]);
  }
  return { name, curves };
}

/** The charts of README: copies and dumps compared with the documented recipe, and filters. */
export async function growth(rounds: number, quick: boolean): Promise<Chart[]> {
  const scope = openScope();
  const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-growth-'));
  const instance = async (size: number): Promise<NodeJS.ProcessEnv> => {
    const { url } = await startServer(scope, process.execPath, ['--import=tsx', 'bench/stub-server.ts', `${size}`]);
    return { SRC: url, DST: url };
  };
  const streams = async (size: number): Promise<NodeJS.ProcessEnv> => {
    const records = shuffledSchema(size);
    writeFileSync(join(folder, 'a'), records.join(''));
    writeFileSync(join(folder, 'b'), shuffle(records.slice(size / 100)).join(''));
    return { A: join(folder, 'a'), B: join(folder, 'b') };
  };
  const upTo = (sizes: number[]): number[] => sizes.slice(0, quick ? 2 : undefined);
  try {
    return [
      await measureChart('copy', COPIES, upTo([1, 5, 20, 50, 200, 500]), rounds, instance),
      await measureChart('dump', DUMPS, upTo([100, 1000, 10_000, 100_000, 300_000]), rounds, instance),
      await measureChart('filters', FILTERS, upTo([1000, 10_000, 100_000]), rounds, streams),
    ];
  } finally {
    rmSync(folder, { recursive: true });
    await scope.end();
  }
}

/** @returns a chart in Markdown: a line per script, a column per size */
export function table({ curves }: Chart): string {
  const sizes = curves[0]?.points.map(([objects]) => objects.toLocaleString('en')) ?? [];
  const cell = ([, { seconds, mebibytes }]: [number, Measured]): string =>
    `${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB`;
  return [
    `| objects | ${sizes.join(' | ')} |`,
    `| --- |${' --- |'.repeat(sizes.length)}`,
    ...curves.map(({ script, points }) => `| \`${script.replaceAll('|', '\\|')}\` | ${points.map(cell).join(' | ')} |`),
  ].join('\n');
}

const COPIES = {
  'sqldump | sqlapply': 'sqldump $SRC | sqlapply $DST',
  'curl | jq | xargs curl': `${DUMP} | ${REPLAY}`,
};

const DUMPS = { sqldump: 'sqldump $SRC | cat > /dev/null', 'curl | jq': `${DUMP} | cat > /dev/null` };

const FILTERS = {
  sqlsort: 'sqlsort < $A | cat > /dev/null',
  "sqltr --rename 't_*=u_*'": "sqltr --rename 't_*=u_*' < $A | cat > /dev/null",
  'sqlsort --graph dot': 'sqlsort --graph dot < $A | cat > /dev/null',
  "sqlgrep 'v_*'": "sqlgrep 'v_*' < $A | cat > /dev/null",
  "sqlgrep --with-deps 'v_*'": "sqlgrep --with-deps 'v_*' < $A | cat > /dev/null",
  'sqldiff --names': 'sqldiff --names $A $B > /dev/null || test $? = 1',
};

/** The records of a schema of `size` objects, in random order. */
export const shuffledSchema = (size: number): string[] => shuffle(schema(size));

/** Records: half tables of ten columns, the rest views of two tables and a view, in chains of ten, and materialized views. */
function schema(size: number): string[] {
  const tables = Math.ceil(size / 2);
  const columns = Array.from({ length: 10 }, (_, c) => `\tcolumn_${c} DOUBLE`).join(',\n');
  return Array.from({ length: size }, (_, i) => {
    if (i < tables)
      return `CREATE TABLE 't_${i}' ( \n\tts TIMESTAMP,\n${columns}\n) timestamp(ts) PARTITION BY DAY;\n\0`;
    const nth = i - tables;
    const table = `t_${(nth * 7) % tables}`;
    if (nth % 10 === 9)
      return `CREATE MATERIALIZED VIEW 'm_${nth}' WITH BASE '${table}' REFRESH IMMEDIATE AS (\nSELECT ts, max(column_1) FROM ${table} SAMPLE BY 1h\n) PARTITION BY YEAR;\n\0`;
    const view = nth % 10 ? `v_${nth - 1}` : `t_${(nth * 11) % tables}`;
    return `CREATE VIEW 'v_${nth}' AS ( \nSELECT a.ts, a.column_1, b.column_2 AS second FROM ${table} a ASOF JOIN ${view} b WHERE a.column_3 > 0.5\n);\n\0`;
  });
}

/** Shuffles records, the same way in each run. */
function shuffle<T>(all: T[]): T[] {
  let state = 1;
  for (let i = all.length - 1; i > 0; i--) {
    state = (state * 48271) % 2147483647;
    const j = state % (i + 1);
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}
