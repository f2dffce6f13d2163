/*! Plans over views that are invalid in B. An interrupted plan may have made them invalid, but nothing shows that. */
import { planChanges } from '@sqlpipe/plan';
import { formatLoss } from '@sqlpipe/plan/text';
import { IgnoreRules } from '@sqlpipe/schema';
import { NameMap } from '@sqlpipe/sql';
import { changesOf } from '../support/plans.js';
import { test } from '../support/test.js';

test('a column that an invalid view reads stays, because a killed plan may have made the view invalid', async t => {
  const table = (...columns: string[]) =>
    `CREATE TABLE t (ts TIMESTAMP, ${columns.join(', ')}) timestamp(ts) PARTITION BY DAY WAL;`;
  const views = [
    'CREATE VIEW v AS (select ts, y z from t);',
    'CREATE MATERIALIZED VIEW low WITH BASE t REFRESH IMMEDIATE AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;',
    'CREATE MATERIALIZED VIEW high WITH BASE low REFRESH IMMEDIATE AS (select low.ts, sum(z) n from low asof join v sample by 1d) PARTITION BY DAY;',
  ];
  const options = { ignoreExtra: true, allowLoss: ['drop:t.a', 'drop:t.x', 'drop:t.y'] };
  const [wanted, wide, retyped] = [
    table('k INT'),
    table('k INT', 'a INT', 'x INT', 'y INT'),
    table('k INT', 'x DOUBLE'),
  ];
  const invalid = new NameMap([
    ['low', 'drop column operation'],
    ['high', 'base materialized view is invalidated'],
  ]);
  const repairs = ["REFRESH MATERIALIZED VIEW 'low' FULL;", "REFRESH MATERIALIZED VIEW 'high' FULL;"];
  const killed = table('k INT', 'x INT', 'y INT');
  const next = await planChanges([wanted], [killed, ...views], { ...options, health: { invalid } });
  t.deepEqual(changesOf(next), repairs);
  t.deepEqual(
    next.omissions.map(({ what }) => what),
    ["ALTER TABLE 't' DROP COLUMN x", "ALTER TABLE 't' DROP COLUMN y"],
  );
  // A column that no view reads goes, also if it is the first one.
  const all = await planChanges([wanted], [wide, ...views], { ...options, health: { invalid } });
  t.deepEqual(changesOf(all), ["ALTER TABLE 't' DROP COLUMN a;", ...repairs]);
  // No plan makes an ignored view invalid. So it may have been invalid for long, and is not in the way.
  const ignore = new IgnoreRules(['low', 'high']);
  const over = await planChanges([wanted], [killed, ...views], { ...options, ignore, health: { invalid } });
  t.deepEqual(
    over.omissions.map(({ what }) => what),
    ["ALTER TABLE 't' DROP COLUMN y"], // because of `v`
  );
  // A view whose columns would get other types cannot be refreshed.
  const typed = await planChanges([retyped], [table('k INT', 'x INT'), views[1] ?? ''], {
    ...options,
    health: { invalid },
  });
  t.deepEqual(changesOf(typed), repairs.slice(0, 1));
});

test('the refreshes of a chain of invalid views are left out with all names in one message', async t => {
  const chain = [
    'CREATE TABLE b (ts TIMESTAMP, x LONG) timestamp(ts) PARTITION BY DAY;',
    'CREATE MATERIALIZED VIEW m WITH BASE b AS (select ts, sum(x) n from b sample by 1h) PARTITION BY DAY;',
    'CREATE MATERIALIZED VIEW d WITH BASE m AS (select ts, sum(n) n from m sample by 1d) PARTITION BY MONTH;',
  ];
  const health = {
    invalid: new NameMap([
      ['m', 'rename column operation'],
      ['d', 'base materialized view is invalidated'],
    ]),
  };
  const answer = { count: 1, total: 2, first: '2024-01-01T00:00:00.000000Z', last: '2024-01-01T00:00:00.000000Z' };
  const fetchHistory = async () => ({ answer, columns: undefined });
  const { omissions } = await planChanges(chain, chain, { health, fetchHistory });
  const found = omissions.flatMap(({ losses = [] }) => losses.map(formatLoss));
  t.deepEqual(found, ['history:m', 'history:d']);
  const dropped = await planChanges([chain[0] ?? ''], chain, { fetchHistory, allowLoss: ['drop:m', 'drop:d'] });
  t.deepEqual(dropped.omissions, [], 'with a view go its rows');
  const allowed = await planChanges(chain, chain, { health, fetchHistory, allowLoss: ['history:m', 'history:d'] });
  t.deepEqual([allowed.statements.length, allowed.omissions], [2, []]);
  const changed = chain.map(statement => statement.replace('sum(x) n', 'sum(x) n, count() c'));
  const recreated = await planChanges(changed, chain, { health, fetchHistory });
  const seen = recreated.omissions.map(({ what }) => what);
  t.deepEqual(seen, ['DROP and CREATE', "REFRESH MATERIALIZED VIEW 'd' FULL"]);
});
