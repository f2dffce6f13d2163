/*! Statements in `test/cases`, with what a server says of each: a verdict, a message, a position. */
import { readFileSync } from 'node:fs';

/** What the table abbreviates in statements and messages. */
const ABBREVIATIONS: readonly [RegExp, string][] = [
  [/^LIVE /, 'CREATE LIVE VIEW l FLUSH EVERY 1s START FROM NOW AS '],
  [
    /\{Q\}/g,
    'AS SELECT ts, count(*) OVER (PARTITION BY qty ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) n FROM ticks',
  ],
  [/\{F\}/g, 'PARTITION BY sym ORDER BY ts ROWS 3 PRECEDING'],
  [
    /\{BARE\}/,
    'live view unbounded window must have an ANCHOR clause; bare unbounded windows are not supported. ' +
      "Add an ANCHOR to bound per-partition state, e.g. ANCHOR EXPRESSION timestamp_floor('1d', ts)",
  ],
  [
    /\{RANK (\w+)\}/,
    'live view select cannot use $1() without an anchored WINDOW; it has no finite out-of-order influence boundary. Add an ANCHOR ' +
      "to reset per segment, e.g. WINDOW w AS (PARTITION BY <key> ORDER BY <ts> ANCHOR EXPRESSION timestamp_floor('1d', <ts>))",
  ],
  [
    /\{UNBOUNDED (\w+)\}/,
    'live view select cannot use $1() over a frame starting at UNBOUNDED PRECEDING; it has no finite out-of-order influence ' +
      'boundary, so a late row would replay the whole history. Bound the frame, e.g. ROWS BETWEEN 1000 PRECEDING AND CURRENT ROW, ' +
      "or add an ANCHOR to reset per segment, e.g. WINDOW w AS (PARTITION BY <key> ORDER BY <ts> ANCHOR EXPRESSION timestamp_floor('1d', <ts>))",
  ],
  [
    /\{SCAN\}/,
    'live view select must be a simple scan of a single WAL base table; joins, subqueries, GROUP BY, ORDER BY and LIMIT are not supported yet',
  ],
  [
    /\{CACHED\}/,
    'live view select may only use window functions that support incremental refresh; this query requires caching or multi-pass evaluation',
  ],
];

const expand = (text: string): string =>
  ABBREVIATIONS.reduce((expanded, [pattern, long]) => expanded.replace(pattern, long), text);

export interface ServerCase {
  readonly source: string;
  readonly setup: readonly string[];
  readonly statement: string;
  /** `ok`, or the message; `…` stands for any text at its start or end, or in place of it. */
  readonly message: string;
  readonly position?: number | undefined;
  readonly text?: string | undefined;
}

/**
 * Reads a table. A position is written as the text that begins there: `@` its first place in the statement, `@@` its last,
 * `@q` the first in the query of a live view, from which the server counts; `@end` is the end of the statement.
 */
export function readServerCases(name: string): ServerCase[] {
  const cases: ServerCase[] = [];
  for (const block of readFileSync(`test/cases/${name}.txt`, 'utf8').split(/^# /m).slice(1)) {
    const [source = '', ...lines] = block.trim().split('\n');
    const setup: string[] = [];
    let statement = '';
    for (const line of lines.map(expand)) {
      const rest = line.slice(2);
      if (line.startsWith('+ ')) setup.push(expand(rest).replaceAll('\\n', '\n'));
      else if (line.startsWith('> '))
        cases.push({ source, setup: [...setup], statement, message: 'ok', text: JSON.parse(`"${rest}"`) });
      else if (line.startsWith('= '))
        cases.push({ source, setup: [...setup], statement, ...readMessage(rest, statement) });
      else if (line !== '') statement = line;
    }
  }
  return cases;
}

function readMessage(line: string, statement: string): Pick<ServerCase, 'message' | 'position'> {
  if (line.endsWith(' @end')) return { message: line.slice(0, -' @end'.length), position: statement.length };
  const [, message = line, from, word = ''] = /^(.*?) @(@|q)? (.+)$/.exec(line) ?? [];
  if (word === '') return { message };
  if (from === '@') return { message, position: statement.lastIndexOf(word) };
  const query = from === 'q' ? (/ AS \(?/.exec(statement)?.index ?? 0) + ' AS '.length : 0;
  return { message, position: statement.indexOf(word, query) - query };
}
