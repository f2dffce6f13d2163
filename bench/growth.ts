/*! How time and memory of filters grow with a schema: the same command lines on streams of ever more objects. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from './measure.js';

/** What to measure: command lines that read a stream from stdin. */
export const FILTERS = [
  'sqlsort',
  'sqlsort --graph dot',
  "sqlgrep 'v_*'",
  "sqlgrep --with-deps 'v_*'",
  "sqlgrep --with-dependents 't_*7'",
];

/**
 * Measures each script on a stream of each size.
 * @param sizes numbers of objects
 * @returns a table in Markdown: a line per script, a column per size
 */
export async function growth(scripts: readonly string[], sizes: readonly number[], rounds: number): Promise<string> {
  const cells = scripts.map((): string[] => []);
  const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-growth-'));
  try {
    const stream = join(folder, 'stream');
    for (const size of sizes) {
      writeFileSync(stream, shuffled(schema(size)).join(''));
      const measured = await measure(
        scripts.map(script => `${script} < ${stream} | cat > /dev/null`),
        rounds,
      );
      for (const [i, { seconds, mebibytes }] of measured.entries())
        cells[i]?.push(`${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const head = `| objects | ${sizes.join(' | ')} |\n| --- |${' --- |'.repeat(sizes.length)}`;
  return [head, ...scripts.map((script, i) => `| \`${script}\` | ${cells[i]?.join(' | ')} |`)].join('\n');
}

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

/** The same each time, and in no order that anything likes. */
function shuffled<T>(all: T[]): T[] {
  let state = 1;
  for (let i = all.length - 1; i > 0; i--) {
    state = (state * 48271) % 2147483647;
    const j = state % (i + 1);
    [all[i], all[j]] = [all[j] as T, all[i] as T];
  }
  return all;
}
