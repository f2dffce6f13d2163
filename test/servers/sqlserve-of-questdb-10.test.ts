/*!
 * sqlserve compared with what QuestDB's own tests and documentation say of version 10, which cannot be run here: facts in
 * test/cases/questdb-10.txt. Where two versions of them differ, the newer one counts. The agreement is logged with examples of
 * differences (all with DIFFERENCES=1) and has to reach the aims.
 */
import { readFileSync } from 'node:fs';
import { type RunningServer, startServer } from '@sqlpipe/server';
import { admin, executeAs } from '../support/principals.js';
import { Tally } from '../support/tally.js';
import { test } from '../support/test.js';

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

interface Case {
  readonly source: string;
  readonly setup: readonly string[];
  readonly statement: string;
  /** `ok`, or the message; `…` stands for any text at its start or end, or in place of it. */
  readonly message: string;
  readonly position?: number | undefined;
  /** What the statement returns. */
  readonly text?: string | undefined;
}

/**
 * Reads the table. A position is written as the text that begins there: `@` its first place in the statement, `@@` its last,
 * `@q` the first in the query of a live view, from which the server counts.
 */
function readCases(): Case[] {
  const cases: Case[] = [];
  for (const block of readFileSync('test/cases/questdb-10.txt', 'utf8').split(/^# /m).slice(1)) {
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

function readMessage(line: string, statement: string): Pick<Case, 'message' | 'position'> {
  const [, message = line, from, word = ''] = /^(.*?) @(@|q)? (.+)$/.exec(line) ?? [];
  if (word === '') return { message };
  if (from === '@') return { message, position: statement.lastIndexOf(word) };
  const query = from === 'q' ? (/ AS \(?/.exec(statement)?.index ?? 0) + ' AS '.length : 0;
  return { message, position: statement.indexOf(word, query) - query };
}

const matches = (message: string | undefined, expected: string): boolean =>
  message !== undefined &&
  (expected.startsWith('…')
    ? message.includes(expected.replaceAll('…', ''))
    : expected.endsWith('…')
      ? message.startsWith(expected.slice(0, -1))
      : message === expected);

test('statements of QuestDB 10 have the verdicts, messages and positions of its own tests', async t => {
  const servers = new Map<string, RunningServer>();
  const start = async (edition: 'open-source' | 'enterprise') => {
    const server = await startServer({ edition, questdb: '10', address: '127.0.0.1', port: 0 });
    servers.set(edition, server);
    t.teardown(() => server.close());
  };
  await start('open-source');
  await start('enterprise');
  const tally = new Tally();
  const cases = readCases();
  for (const { source, setup, statement, message, position, text } of cases) {
    const { url = '' } = servers.get(source.startsWith('enterprise') ? 'enterprise' : 'open-source') ?? {};
    await executeAs({ url }, admin, 'drop all');
    const failed: string[] = [];
    for (const each of setup) {
      const { error } = await executeAs({ url }, admin, each);
      if (error !== undefined) failed.push(`${each}: ${error}`);
    }
    const reply = await executeAs({ url }, admin, statement);
    const got = reply.error === undefined ? 'ok' : `${reply.error} at ${reply.position}`;
    const wanted = position === undefined ? message : `${message} at ${position}`;
    const difference = `${statement}\n    expected ${wanted}\n    here     ${got}${failed.map(each => `\n    set-up   ${each}`).join('')}`;
    tally.note('verdicts', (reply.error === undefined) === (message === 'ok'), difference);
    if (message !== 'ok' && message !== '…') tally.note('messages', matches(reply.error, message), difference);
    if (position !== undefined) tally.note('positions', reply.position === position, difference);
    if (text !== undefined) tally.note('texts', reply.dataset?.[0]?.[0] === text, difference);
  }
  tally.log(t);
  t.true(cases.length >= 250);
  for (const [what, aim] of Object.entries({ verdicts: 0.97, messages: 0.98, positions: 0.98, texts: 0.98 }))
    t.true(tally.share(what) >= aim, what);
});
