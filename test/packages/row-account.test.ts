/*! The account of rows while an engine executes statements, without a plan. */
import { RowAccount, whenReady } from '@sqlpipe/engine';
import { engineWith } from '../support/plans.js';
import { test } from '../support/test.js';

const table = (name: string) => `CREATE TABLE ${name} (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;`;
const view = (base: string, refresh = 'IMMEDIATE') =>
  `CREATE MATERIALIZED VIEW m WITH BASE ${base} REFRESH ${refresh} AS (select ts, sum(x) n from ${base} sample by 1h) PARTITION BY DAY;`;

const account = (...statements: string[]) => accountFrom([table('t'), table('u'), view('t')], statements);

async function accountFrom(loaded: readonly string[], statements: readonly string[]) {
  const engine = engineWith(loaded);
  const rows = new RowAccount(engine);
  for (const statement of statements) rows.recordStatement(statement, await whenReady(() => engine.execute(statement)));
  return {
    losses: rows.losses().map(({ effect: { text } }) => text),
    periodicViews: rows.recomputedViews.get('m')?.periodicViews.length,
  };
}

test('a query that a view has only between two statements changes nothing', async t => {
  const drop = 'DROP MATERIALIZED VIEW m';
  const end = [view('t'), 'REFRESH MATERIALIZED VIEW m FULL', 'TRUNCATE TABLE t'];
  const expected = { losses: ["loses all rows of table 't'"], periodicViews: 0 };
  t.deepEqual(await account(drop, ...end), expected);
  t.deepEqual(await account(drop, view('u', 'IMMEDIATE PERIOD (SAMPLE BY INTERVAL)'), drop, ...end), expected);
});

test('two views of a file that read each other lose their rows when they are recreated over a table', async t => {
  const over = (name: string, base: string) =>
    view(base).replace('VIEW m', `VIEW ${name}`).replace('sum(x) n', 'sum(x) x');
  const drops = ['DROP MATERIALIZED VIEW m', 'DROP MATERIALIZED VIEW n'];
  const cycle = [table('t'), over('m', 'n'), over('n', 'm')];
  const { losses } = await accountFrom(cycle, [...drops, over('n', 't'), over('m', 'n')]);
  t.deepEqual(losses, [
    "recomputing materialized view 'm' loses rows that only 'n' holds",
    "dropping materialized view 'n' loses rows that 'm' no longer holds",
    "recomputing materialized view 'n' loses rows that 'm' no longer holds",
  ]);
});
