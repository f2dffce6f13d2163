/*! Plans that are made again after an interruption, from the schema that the first plan has left. */
import { planChanges } from '@sqlpipe/plan';
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
