/*! Plans that are made again after an interruption, from the schema that the first plan has left. */
import { planChanges } from '@sqlpipe/plan';
import { changesOf, engineWith } from '../support/plans.js';
import { test } from '../support/test.js';

test('after a rebuild has renamed the timestamp, the expired rows of a view over an invalid view are counted', async t => {
  const table = 'CREATE TABLE t (time TIMESTAMP, x INT) timestamp(time) PARTITION BY DAY;';
  const stored =
    "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH MANUAL AS (select ts, sum(x) n from v sample by 1h) PARTITION BY DAY TTL 1 DAY;";
  const asked: string[] = [];
  const askRow = async (query: string) => {
    asked.push(query);
    return [0];
  };
  const health = { invalid: new Map(['v', 'm'].map(name => [name, 'Invalid column: ts'])) };
  const { omissions } = await planChanges(
    [table, 'CREATE VIEW v AS (select time ts, x from t);', stored],
    [table, 'CREATE VIEW v AS (select ts, x from t);', stored],
    { renamed: ['t.ts=time'], askRow, health },
  );
  t.deepEqual(omissions, []);
  t.regex(asked.join('\n'), /max\("ts"\) newest/);
});

test('a view that a plan has dropped is created after the views below it, which the next plan recreates', async t => {
  const tables = (type: string) => [
    'CREATE TABLE a (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;',
    `CREATE TABLE b (ts TIMESTAMP, y ${type}) timestamp(ts) PARTITION BY DAY WAL;`,
  ];
  const stored = (name: string, base: string, query: string) =>
    `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' REFRESH IMMEDIATE AS (select ${base}.ts, ${query} sample by 1d) PARTITION BY DAY;`;
  const views = [
    stored('low', 'a', 'last(y) n from a asof join b'),
    stored('middle', 'low', 'last(n) n from low'),
    stored('high', 'middle', 'last(n) n from middle'),
  ];
  const [before, after] = [
    [...tables('INT'), ...views],
    [...tables('LONG'), ...views],
  ];
  const first = changesOf(await planChanges(after, before));
  const engine = engineWith(before);
  const dropped = first.indexOf("DROP MATERIALIZED VIEW 'high';");
  t.true(dropped >= 0, first.join('\n'));
  for (const statement of first.slice(0, dropped + 1)) engine.execute(statement);
  const next = await planChanges(after, engine.statements());
  t.deepEqual(next.omissions, []);
  t.deepEqual(changesOf(next), first.slice(dropped + 1));
});
