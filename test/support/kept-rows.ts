/*! Tables with rows on some days, and a materialized view over them: the schemas of tests about what plans keep. */
import { waitUntilApplied, waitUntilInvalid, waitUntilRefreshed, waitUntilTrue } from './background.js';
import { type Holdings, takeHoldings } from './holdings.js';
import type { Run } from './in-process.js';
import { execute, type Server } from './server.js';

export const rowsOn = (days: readonly string[], rest: string, columns = 'x INT'): string[] => [
  `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) ${rest} WAL`,
  `INSERT INTO t (ts, x) VALUES ${days.map((day, i) => `('${day}T12:00', ${70_000 + i})`).join(', ')}`,
];
export const table = (rest: string, columns = 'x INT'): string =>
  `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) ${rest} WAL;`;

/** 31 days lie between the end of the first day and the last row, and the month of the first day has 31. */
export const LONG_MONTH = ['2024-01-01', '2024-01-31', '2024-02-01'];

export const day = (rest: string): string => `PARTITION BY DAY ${rest}`;
export const SUM =
  'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY';

export async function make(server: Server, statements: readonly string[]): Promise<Holdings> {
  for (const statement of statements) {
    await execute(server, statement);
    await waitUntilApplied(server);
    if (statement.startsWith('CREATE MATERIALIZED')) await waitUntilRefreshed(server);
    if (statement.includes('DROP PARTITION')) await waitUntilInvalid(server);
    if (statement.includes('TABLE t SET TTL 1 DAY')) await waitUntilTrue(server, 'SELECT count() = 2 FROM t');
  }
  return takeHoldings(server);
}

export const namesOf = (messages: string): string[] => [
  ...new Set([...messages.matchAll(/--allow-loss (\S+)/g)].map(([, name]) => String(name))),
];

/** The statements of the file `plan`, without comments. */
export const readPlan = async (run: Run): Promise<string[]> =>
  (await run('cat plan')).stdout.split('\0').map(text => text.replace(/^--.*\n/gm, '').trim());

/** Executes the statements of the file `plan` up to the first with a text: somebody has killed sqlapply. @throws if none has it */
export async function executeUntil(server: Server, run: Run, text: string): Promise<void> {
  const plan = await readPlan(run);
  const last = plan.findIndex(statement => statement.includes(text));
  if (last < 0) throw new Error(`no statement of the plan has ${text}`);
  for (const statement of plan.slice(0, last + 1)) await execute(server, statement);
}
