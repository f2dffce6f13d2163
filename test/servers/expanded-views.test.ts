/*! Materialized views over plain views. A real QuestDB and sqlserve check their queries after each plain view was replaced by its query. */
import type { ExecutionContext } from 'ava';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, type Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const questdb = sharedQuestDB();
const sqlserve = sharedSqlserve();

const HOURLY = 'select ts, sum(p) n from v sample by 1h';
const SORTED = 'select ts, sum(p) n from (v) timestamp(ts) sample by 1h';
const FILTERED = 'select ts, sum(p) n from v where x > ts sample by 1h';
const JOINED = 'select t.ts, sum(t.p) n from t join v on (s) sample by 1h';
const FUNCTION = 'non-deterministic function cannot be used in materialized view:';
const BASE = 'on base table is not supported for materialized views: t';

/** The query of a plain view, the query of a materialized view over it, and the text in the former to which the message points. */
const CASES: readonly (readonly [view: string, query: string, at?: string, message?: string])[] = [
  ['select ts, p from t where ts < now()', HOURLY, 'now', `${FUNCTION} now`],
  ['select ts, p from (select ts, p from t where p > rnd_double())', HOURLY, 'rnd', `${FUNCTION} rnd_double`],
  ['declare @x := now() select ts, p from t where ts < @x', HOURLY, 'now', `${FUNCTION} now`],
  ['with z as (select now() x from t) select ts, p from t', HOURLY],
  ['select ts, p, now() x from t', HOURLY],
  ['select ts, p, now() x from t', HOURLY.replace('v', '(select * from v)')],
  ['select ts, p, now() x from t', HOURLY.replace('sum(p)', 'max(x)'), 'now', `${FUNCTION} now`],
  ['select ts, p, now() x from t', FILTERED, 'now', `${FUNCTION} now`],
  ['select ts, p, now() x, p + 1 y from t order by x', SORTED, 'now', `${FUNCTION} now`],
  ['select ts, p, now() x from t order by 3', SORTED, 'now', `${FUNCTION} now`],
  ['select ts, p, rnd_int() x, x + 1 y from t', HOURLY.replace('sum(p)', 'max(y)'), 'rnd', `${FUNCTION} rnd_int`],
  ['select distinct ts, p, now() x from t', SORTED],
  ['select distinct ts, p, rnd_int() x from t', SORTED, 'rnd', `${FUNCTION} rnd_int`],
  ['select ts, sum(p) p, rnd_int() x from t sample by 1m', HOURLY, 'rnd', `${FUNCTION} rnd_int`],
  ['select ts, sum(p) p, max(rnd_int()) x from t sample by 1m', HOURLY],
  ['select ts, p, now() x from t union all select ts, p, now() y from t', SORTED],
  [
    'select ts, p, 1 x from t union all select ts, p, now()::int y from t',
    SORTED.replace('p', 'x'),
    'now',
    `${FUNCTION} now`,
  ],
  ['select ts, s, rnd_int() p from r', JOINED],
  ['select ts, s, rnd_int() p from r', JOINED.replace('t.p', 'v.p'), 'rnd', `${FUNCTION} rnd_int`],
  [
    'select ts, s from r where ts < now()',
    'select ts, sum(p) n from t where s in (select s from v) sample by 1h',
    'now',
    `${FUNCTION} now`,
  ],
  ['select ts, s, row_number() over (partition by s) x from r', JOINED],
  ['select ts, p, row_number() over (partition by s) x from t', HOURLY, 'row_number', `window function ${BASE}`],
  ['select ts, sum(p) p from t sample by 1m fill(null)', HOURLY, 'null', `FILL ${BASE}`],
  [
    'select ts, sum(p) p from t sample by 1m align to first observation',
    HOURLY,
    'align',
    `ALIGN TO FIRST OBSERVATION ${BASE}`,
  ],
  ['select ts, p from t union all select ts, p from r', HOURLY, 'select ts, p from r', `union ${BASE}`],
  [
    'select ts, p from (select ts, p, p + 1 from t)',
    HOURLY,
    '+ 1 from',
    "column 'p + 1' requires an explicit alias. Use: p + 1 AS your_column_name",
  ],
];

async function checkVerdicts(t: ExecutionContext, server: Server): Promise<void> {
  for (const name of ['t', 'r'])
    await server.execute(`create table ${name} (ts timestamp, s symbol, p double) timestamp(ts) partition by day wal`);
  for (const [view, query, at, message] of CASES)
    for (const isNested of [false, true]) {
      for (const name of ['v', 'v0']) await server.execute(`drop view if exists ${name}`);
      await execute(server, `create view ${isNested ? 'v0' : 'v'} as (${view})`);
      if (isNested) await execute(server, 'create view v as (select * from v0)');
      const statement = `create materialized view m with base t as (${query}) partition by day`;
      const { error, position } = await server.execute(statement);
      await server.execute('drop materialized view if exists m');
      // The compiler of the server adds the position in the plain view to the start of the query, its parser does not.
      const start = message?.startsWith(FUNCTION) ? statement.indexOf('(') + 1 : 0;
      const expected = at === undefined ? [undefined, undefined] : [message, start + view.indexOf(at)];
      t.deepEqual([error, position], expected, `${view}; ${query}`);
    }
}

testWithQuestDB('a real QuestDB expands plain views before it checks the query of a materialized view', t =>
  checkVerdicts(t, questdb),
);

test('sqlserve expands plain views before it checks the query of a materialized view', t => checkVerdicts(t, sqlserve));
