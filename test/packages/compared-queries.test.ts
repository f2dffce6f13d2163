/*! Which queries are the same, by their tokens. */
import { compareStatements } from '@sqlpipe/ddl';
import { test } from '../support/test.js';

/** Pairs of view bodies, and whether they are equal. */
const BODIES: [a: string, b: string, same: boolean][] = [
  ['select Time, timestamp from t', 'SELECT Time, timestamp FROM t', true],
  ['select Time from t', 'select time from t', false],
  ['select ts Time from t', 'select ts time from t', false],
  ['select t.Timestamp from t', 'select t.timestamp from t', false],
  ['select max(price) as First from t', 'select max(price) as first from t', false],
  ['select cast(price as INT) as p from t', 'select cast(price as int) as p from t', true],
  ['select price::INT as p from t', 'select price::int as p from t', true],
  ['select * from (select price as Int) x', 'select * from (select price as int) x', false],
  ['select ts, a from t sample by 1h fill(PREV, NULL)', 'select ts, a from t sample by 1h fill(prev, null)', true],
  ['select ts, a from t sample by 1h align to CALENDAR', 'select ts, a from t sample by 1h align to calendar', true],
  ['select ts, a from t sample by 1h fill(prev)', 'select ts, a from t sample by 1h fill(null)', false],
  [
    'select sum(x) over (order by ts rows between unbounded PRECEDING and current ROW) as s from t',
    'select sum(x) over (order by ts rows between unbounded preceding and current row) as s from t',
    true,
  ],
  ["select 'A' as a from t", "select 'a' as a from t", false],
  ['select "a" from t', 'select a from t', true],
  ['select "A" from t', 'select a from t', false],
  ['select q."a" "b", "größe" from "t" q', 'select q.a b, größe from t "q"', true],
  ['select "timestamp", t."timestamp" from t', 'select timestamp, t.timestamp from t', true],
  ['with "c" as (select 1 x) select max("x") from "c"', 'with c as (select 1 x) select max(x) from c', true],
  ['select "t.a" from t', 'select t.a from t', false],
  ['select "a b" from t', 'select a b from t', false],
  ['select "null" from t', 'select null from t', false],
  ['select "true" a from t', 'select true a from t', false],
  ['select "now"() a from t', 'select now() a from t', false],
  ['select "array"[1] a from t', 'select array[1] a from t', false],
  ['select * from t "asof" join u', 'select * from t asof join u', false],
  ['select * from t "left" join u on a', 'select * from t left join u on a', false],
  ["select 'a' from t", 'select a from t', false],
  ['select a -- all of it\nfrom t', 'select a /* all of it */ from t ', true],
  ['select a - - b as c from t', 'select a - -b as c from t', true],
  ['select a from t', 'select a from t where b', false],
];

for (const [a, b, same] of BODIES)
  test(`compare: ${a} ${same ? 'equals' : 'differs from'} ${b}`, t => {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ])
      t.deepEqual(
        compareStatements(`create view v as (${one})`, `create view v as (${other})`).differences.map(
          ({ property }) => property,
        ),
        same ? [] : ['query'],
      );
  });
