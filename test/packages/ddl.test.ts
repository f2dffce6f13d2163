/*! Comparisons case by case, also of queries by their tokens, and linear time for hostile input. */
import {
  type CompareOptions,
  compareStatements,
  flagExactItems,
  isCleanTable,
  needsQuotes,
  parseCreateStatement,
  parseDefinition,
  printDefinition,
  repair,
  SERVER_DEFAULTS,
} from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';
import { anyCharacter, fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

/** The properties in which two statements differ, each with both values; properties that cannot be compared end with `?`. */
function compare(a: string, b: string, options?: CompareOptions): string[] {
  const { differences, notComparable, isTokenComparison } = compareStatements(a, b, options);
  const texts = differences.map(({ property, a, b }) => `${property}: ${a} / ${b}`);
  return [...texts, ...notComparable.map(property => `${property}?`), ...(isTokenComparison ? ['as text'] : [])];
}

const PAIRS: [title: string, a: string, b: string, expected: string[]][] = [
  ['a name in another case', 'create table T (a int)', 'create table t (a int)', ['name: T / t']],
  ['objects of two kinds', 'create view v as (select 1)', 'create table v (a int)', ['kind: view / table']],
  [
    'column names that are equal only by Unicode case folding',
    'create table t ("ΑΣ" int, "ας" long)',
    'create table t ("ας" long, "ΑΣ" int)',
    ['column order: ΑΣ, ας / ας, ΑΣ'],
  ],
  [
    'a symbol capacity that the server does not show',
    'create table t (s symbol capacity 200)',
    "CREATE TABLE 't' ( \n\ts SYMBOL\n);",
    ["column 's' capacity?"],
  ],
  [
    'a symbol capacity that old servers show',
    'create table t (s symbol capacity 200)',
    "CREATE TABLE 't' ( \n\ts SYMBOL CAPACITY 128 CACHE\n)\nWITH maxUncommittedRows=500000, o3MaxLag=600000000us;",
    ["column 's' capacity: 256 / 128", 'maxUncommittedRows?', 'o3MaxLag?'],
  ],
  ['LIKE in another case', 'create table t (like M)', 'create table t (LIKE m)', []],
  [
    'owners of tables like one that is not known',
    'create table t (like m) owned by alice',
    'create table t (like m) owned by bob',
    ['owner: alice / bob'],
  ],
  [
    'the start of a live view in two formats',
    "create live view v flush every 5s start from '2025' as (select 1)",
    "create live view v flush every 5s start from '2025-01-01T00:00:00.000Z' as (select 1)",
    [],
  ],
  [
    'a refresh period by the sampling interval, if the query has none',
    'create materialized view m refresh manual period (sample by interval) as (select ts, x from t)',
    'create materialized view m refresh manual period (length 1h) as (select ts, x from t)',
    ['refresh period?'],
  ],
  [
    'a user with and without a password',
    'create user BOB with password secret',
    "CREATE USER 'bob';",
    ['credentials?'],
  ],
  ['two users', 'create user bob', 'create user eve', ['name: bob / eve']],
  ['a grant', 'GRANT SELECT ON t TO bob', 'GRANT  SELECT ON t -- and no more\nTO bob;', ['as text']],
  [
    'another grant',
    'grant select on t to bob',
    'grant insert on t to bob',
    ['statement: grant select on t to bob / grant insert on t to bob', 'as text'],
  ],
  ['unknown syntax', 'create table t (a int) frozen', 'CREATE TABLE t (a int)  frozen;', ['as text']],
];

for (const [title, a, b, expected] of PAIRS) test(`compare: ${title}`, t => t.deepEqual(compare(a, b), expected));

const PRINTED = "CREATE TABLE 't' ( \n\tx INT,\n\ty LONG,\n\ts SYMBOL NOCACHE INDEX CAPACITY 256\n);";

/** Queries, and how the tables that they create differ from the table above. */
const QUERIES: [query: string, clauses: string, expected: string[]][] = [
  ['select x::int as x, cast(y as long) as y, s::symbol as s from u', ', index(s)', []],
  ['select x, y, s from u', ', index(s)', ["column 'x' type?", "column 'y' type?", "column 's' type?"]],
  ['select x::int as x, y::int as y, s::symbol as s from u', ', index(s)', ["column 'y': INT / LONG"]],
  ['select x::int as x, y::int + x::short as y, s::symbol as s from u', ', index(s)', ["column 'y' type?"]],
  ['select x::int as x, (y)::long as y, f(1, 2)::symbol as s from u', ', index(s)', []],
  ['select x::int as x, s::symbol as s, y::long as y from u', ', index(s)', ['column order: s, y / y, s']],
  ['select x::int as x, y::long as y from u', '', ["column 's': none / SYMBOL"]],
  ['select * from u', ', index(s)', ["column 's' type?", 'the columns of its query?']],
  [
    'select * from u',
    ', index(s capacity 64)',
    ["column 's' index: INDEX CAPACITY 64 / INDEX CAPACITY 256", "column 's' type?", 'the columns of its query?'],
  ],
  ['select * from u', ', cast(y as int)', ["column 'y': INT / LONG", 'the columns of its query?']],
  ['select * from u', ', cast(Y as long)', ['the columns of its query?']],
  ['select x, x, y from u', '', ['the columns of its query?']],
  ['u', '', ['the columns of its query?']],
];

for (const [query, clauses, expected] of QUERIES)
  test(`compare: a table created as ${query}${clauses}`, t =>
    t.deepEqual(compare(`create table t as (${query})${clauses}`, PRINTED).sort(), expected.sort()));

/** Tables that are made from another table or from a query, as they are written and as they are printed. */
const COPIES: [written: string, printed: string][] = [
  ["create table a (like 'b c')", "CREATE TABLE 'a' (LIKE 'b c');"],
  ['create table a (like b) owned by eve', "CREATE TABLE 'a' (LIKE 'b')\nOWNED BY 'eve';"],
  ['create table a as (select 1 x)', "CREATE TABLE 'a' AS (\nselect 1 x\n);"],
  ['create table a as (t) partition by day bypass wal', "CREATE TABLE 'a' AS (\nt\n) PARTITION BY DAY BYPASS WAL;"],
  [
    'create atomic table a as (select * from t -- all\n), index("order" capacity 60), cast(y as symbol nocache), cast(x as double), ' +
      'index(y type posting include (x)) timestamp(ts) partition by day ttl 3 days wal in volume cold dedup upsert keys(ts, k)',
    'CREATE TABLE \'a\' AS (\nselect * from t -- all\n), INDEX("order" CAPACITY 64), CAST(y AS SYMBOL NOCACHE), ' +
      'INDEX(y TYPE POSTING INCLUDE (x, ts)), CAST(x AS DOUBLE) timestamp(ts) PARTITION BY DAY TTL 3 DAYS ' +
      'IN VOLUME cold\nDEDUP UPSERT KEYS(ts,k);',
  ],
];

for (const [written, printed] of COPIES)
  test(`printing inverts parsing: ${written}`, t => {
    const definition = parseDefinition(written);
    t.is(printDefinition(definition, { quoted: true }), printed);
    t.deepEqual(parseDefinition(printed), definition);
  });

test('a time zone with quotes is printed in quotes that read the same', t => {
  for (const zone of [`"a'b"`, `'a''b'`, `'a"b'`, `"a""b"`, `'a''"b'`, `"a'""b"`]) {
    const refresh = `REFRESH EVERY 1h START '2025' TIME ZONE ${zone}`;
    const definition = parseDefinition(`CREATE MATERIALIZED VIEW m WITH BASE t ${refresh} AS (SELECT 1)`);
    t.deepEqual(definition && parseDefinition(printDefinition(definition)), definition, zone);
  }
});

test('a table created from a query has the defaults of its server, though it is written as it is printed', t => {
  const [a, b] = ["CREATE TABLE 'a' AS (\nt\n) PARTITION BY DAY;", 'create table a as (t) partition by day bypass wal'];
  const differences = compare(a, b, { defaults: { ...SERVER_DEFAULTS, wal: false } });
  t.deepEqual(differences, ['the columns of its query?']);
});

test('the clause for the indexes of a view reaches from the first INDEX to the last', t => {
  const head = 'create materialized view v as (select ts, a, b from t sample by 1h)';
  const indexes = ', index(a), index(b capacity 64)';
  const { start, end } = parseCreateStatement(`${head}${indexes} ttl 1 day`).spans.get('indexes') ?? {};
  t.deepEqual([start, end], [head.length, head.length + indexes.length]);
});

test('CREATE TABLE LIKE compares as its source, through any number of LIKE steps', t => {
  const tables = new Map([
    ['a', 'create table a (x int)'],
    ['b', 'create table b (like a)'],
    ['c', 'create table c (like b)'],
    ['d', 'create table d (like e)'],
    ['e', 'create table e (like d)'],
  ]);
  const options = { findTable: (name: string) => tables.get(name) };
  t.deepEqual(compare('create table f (like c)', 'create table f (x int)', options), []);
  t.deepEqual(compare('create table f (like c)', 'create table f (x long)', options), ["column 'x': INT / LONG"]);
  const found = compare('create table f (like d)', 'create table f (x int)', options);
  t.deepEqual(found, ['all columns and properties (CREATE TABLE … LIKE)?']);
  const seen = compare('create table f (like g)', 'create table f (x int)', options);
  t.deepEqual(seen, ['all columns and properties (CREATE TABLE … LIKE)?']);
});

test('CREATE TABLE LIKE has the tables of its own schema, also if both statements are equal', t => {
  const findTable = () => 'create table m (x int)';
  const options = { findTable, findTableOfB: () => 'create table m (x long)' };
  const like = 'create table t (like m)';
  t.deepEqual(compare(like, 'create table t (x long)', options), ["column 'x': INT / LONG"]);
  t.deepEqual(compare('create table t (x long)', like, options), []);
  t.deepEqual(compare(like, like, options), ["column 'x': INT / LONG"]);
  t.deepEqual(compare(like, like, { findTable }), []);
});

test('omitted properties are filled in from the server defaults, except in printed statements', t => {
  const options = { defaults: { ...SERVER_DEFAULTS, wal: false, symbolCached: false, indexCapacity: 512 } };
  const hand = 'create table t (ts timestamp, s symbol index) timestamp(ts) partition by day';
  const printed =
    "CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\ts SYMBOL NOCACHE INDEX CAPACITY 512\n) timestamp(ts) PARTITION BY DAY BYPASS WAL;";
  t.deepEqual(compare(hand, printed, options), []);
  t.deepEqual(compare(printed.replace(' BYPASS WAL', ''), printed, options), ['WAL: enabled / bypassed']);
  t.deepEqual(compare(printed.replace(' NOCACHE', ''), printed, options), ["column 's' cache: CACHE / NOCACHE"]);
});

const columnName = fc
  .oneof(
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 4 }),
    fc.constantFrom('order', 'Select', 'ts', 'a b', '#1', '{x}', '$', '表', '\u0130n', 'li\u212ae'),
  )
  .filter(name => !/[?.,'"\\/:()+\-*%~\0-\x1f\x7f\ufeff]/.test(name));

test('isCleanTable accepts a table only if none of its names needs quotes, in any script', t =>
  forAll(400, fc.uniqueArray(columnName, { minLength: 1, selector: foldCase }), names => {
    const columns = names.map(name => `\t${name} TIMESTAMP`).join(',\n');
    const row = `CREATE TABLE 't' ( \n${columns}\n) timestamp(${names[0]}) PARTITION BY DAY\nDEDUP UPSERT KEYS(${names.join(',')});`;
    const needed = names.filter(needsQuotes);
    t.is(isCleanTable(row), needed.length === 0 && !/[\u0130\u212a]/.test(names.join()));
    t.is(repair(row).notes.length, Math.min(1, needed.length));
  }));

const repeatTo = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length));

const HOSTILE: Record<string, (length: number) => string> = {
  'a query of parentheses': n => `create view v as (${repeatTo('(', n)}1${repeatTo(')', n)})`,
  'parentheses that are never closed': n => `create view v as (${repeatTo('(', n)}`,
  'many samplings': n => `create materialized view v as (select ts from t ${repeatTo('sample by 1h ', n)})`,
  'samplings in parentheses': n => `create materialized view v as (select ts from t ${repeatTo('(sample by 1h ', n)})`,
  'many casts': n => `create table t as (select ${repeatTo('a::int::', n)}int as a from t)`,
  'casts in casts': n => `create table t as (select ${repeatTo('cast(', n)}a ${repeatTo(' as int)', n)} as a from t)`,
  'columns of a query': n => `create table t as (select ${repeatTo('a.b::int as c,', n)} x from t)`,
  'a long number': n => `create table t (ts timestamp) timestamp(ts) partition by day ttl ${repeatTo('9', n)} days`,
  'a long row of zeros': n =>
    `create table t (ts timestamp) timestamp(ts) partition by day ttl ${repeatTo('0', n)}1 days`,
  'an array of many dimensions': n => `create table t (a double${repeatTo('[]', n)})`,
  'many volumes': n => `CREATE TABLE 't' ( \n\ta INT\n)${repeatTo(', IN VOLUME x', n)}`,
  'columns that look like types': n => `CREATE TABLE 't' ( \n\ta${repeatTo(' SYMBOL INDEX TYPE', n)} x\n);`,
  'a column that looks like arrays': n => `CREATE TABLE 't' ( \n\ta${repeatTo(' DOUBLE[][][][]', n)} x\n);`,
  'many parentheses after a PARQUET setting': n => `CREATE TABLE 't' ( \n\ta INT PARQUET(${repeatTo(')', n)} x\n);`,
  'a long name': n => `CREATE TABLE 't' ( \n\t${repeatTo('é', n)} INT\n);`,
  'almost clean columns': n => `CREATE TABLE 't' ( \n${repeatTo('\ta INT,\n', n)}`,
  'almost clean keys': n => `CREATE TABLE 't' ( \n\ta INT\n)\nDEDUP UPSERT KEYS(${repeatTo('a,', n)}`,
  'quotes in comments': n => `create table t (a int ${repeatTo("-- '\n", n)})`,
  'comments in comments': n => `create table t (a int ${repeatTo('/*', n)}`,
  'many owners': n => `create view v as (select 1) ${repeatTo('owned by ', n)}`,
  'many semicolons': n => `create table t (a int)${repeatTo(';', n)}`,
  'many password clauses': n => `create user u ${repeatTo('with no password ', n)}`,
};

function timeOf(work: () => void): number {
  const start = process.cpuUsage();
  work();
  return process.cpuUsage(start).user / 1000;
}

for (const [title, text] of Object.entries(HOSTILE))
  test(`comparison time is linear in the input: ${title}`, t => {
    const compareAll = (length: number) => {
      const statement = text(length);
      repair(statement);
      compareStatements(statement, statement.replace(/create/i, 'CREATE  '));
    };
    const time = (length: number) => timeOf(() => compareAll(length));
    const limit = Math.max(20, Math.min(...[1, 2, 3].map(() => time(2 ** 12)))) * 8 * 4;
    // Something else may slow down a run: one of three has to be fast.
    const isLinear = [1, 2, 3].some(() => time(2 ** 15) < limit);
    t.true(isLinear, `an eighth takes ${limit / 32} ms`);
  });

test('20,000 columns are compared within seconds', t => {
  const columns = Array.from({ length: 20_000 }, (_, i) => `c${i} int`);
  const a = `create table t (${columns.join(', ')})`;
  const b = `create table t (${columns.toReversed().join(', ')})`;
  const printed = `CREATE TABLE 't' ( \n${columns.map(column => `\t${column.toUpperCase()}`).join(',\n')}\n);`;
  const time = timeOf(() => {
    const [reversed, inCapitals] = [b, printed].map(other => compareStatements(a, other).differences);
    const found = reversed?.map(({ property }) => property);
    t.deepEqual(found, ['column order']);
    t.is(inCapitals?.length, columns.length, 'each by its name');
    t.is(repair(printed).statement, printed);
  });
  t.true(time < 3200, `${time} ms`);
});

test('values that a query computes exactly', t => {
  const exact = (items: string, rest = 'from t sample by 1h') => flagExactItems(`select ${items} ${rest}`, 'T');
  const areAll = (expected: boolean, ...items: string[]) => {
    for (const item of items) t.deepEqual(exact(`ts, ${item}`), [true, expected], item);
  };
  areAll(true, 'x', 't.x', '"x" as y', 'x y', 'first', 'min as "max"');
  for (const name of ['first', 'LAST', 'first_not_null', 'last_not_null', 'min', 'Max'])
    areAll(true, `${name}(x)`, `${name} ( t."x" )`, `${name}(x) as ${name}`, `${name}(x) AS open`, `${name}(x) open`);
  areAll(true, '-x', 'x * 2 y', 'round(x, 0) bucket', 'x::float', 'cast(x as float)', "'x'", '1', 'coalesce(x, 0.0)');
  areAll(false, 'sum(x)', 'avg(x) min', 'first(x * 2)', 'first(x) + 0 y', 'max(x) - min(x) as y', '"first"(x)');
  areAll(false, 'first(x)::float y', 'min(x, y)', 'round(avg(x), 1)', 'coalesce(sum(x), 0.0)');
  areAll(false, 'first(sum(x)) over () y');
  t.deepEqual(exact('ts, sum(x), first(x)'), [true, false, true], 'in the order of the items');
  for (const rest of [
    'from v',
    'from (select ts, sum(x) x from t sample by 1h)',
    'from t asof join u',
    'from t, u',
    'from t join (select sum(x) x from t) v',
    'from t union all select ts, sum(x) from t',
    'from t union u',
  ])
    t.deepEqual(exact('ts, x', rest), [], rest);
  for (const query of ['t', 'with t as (select ts, sum(x) x from u) select x from t', 'select distinct x from t', ''])
    t.deepEqual(flagExactItems(query, 't'), [], query);
  t.deepEqual(flagExactItems("select x from 't' /* from u */", 't'), [true]);
  for (const rest of ['from t asof join u', 'from (select ts, x / 7 x from t)', 'from v', 'from t join u on (x)'])
    t.deepEqual(exact('ts, x, max(x)', `${rest} sample by 1d`), [true, true, false], `group keys ${rest}`);
  const nested = 'from (select ts, sum(x) x from t sample by 1h) sample by 1d';
  t.deepEqual(exact('ts, x, count()', nested), [], 'a sum may be different each time');
});

type BodyPair = [a: string, b: string, same: boolean];

const BODIES: BodyPair[] = [
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
  ["select a from t where s ILIKE 'x%'", "select a from t where s ilike 'x%'", true],
  ['select lag(x) IGNORE NULLS over () a from t', 'select lag(x) ignore nulls over () a from t', true],
  ['select lag(x) RESPECT NULLS over () a from t', 'select lag(x) respect nulls over () a from t', true],
  ['select lag(x) ignore nulls over () a from t', 'select lag(x) respect nulls over () a from t', false],
  [
    'select sum(x) over (order by ts CUMULATIVE) a from t',
    'select sum(x) over (order by ts cumulative) a from t',
    true,
  ],
  [
    'select sum(x) over (rows 1 preceding EXCLUDE NO OTHERS)',
    'select sum(x) over (rows 1 preceding exclude no others)',
    true,
  ],
  ['select * from (a window join b INCLUDE PREVAILING)', 'select * from (a window join b include prevailing)', true],
  ["t pivot (sum(x) FOR s in ('a'))", "t pivot (sum(x) for s in ('a'))", true],
  ["select sum(x) over (ANCHOR DAILY '8:00') from t", "select sum(x) over (anchor daily '8:00') from t", true],
  ['select sum(x) over (ANCHOR EXPRESSION a > 1) from t', 'select sum(x) over (anchor expression a > 1) from t', true],
  ['select x Daily, Anchor from t', 'select x daily, anchor from t', false],
  ["select 'A' as a from t", "select 'a' as a from t", false],
  // Without an alias, the text of an expression is the name of its column, but the server prints operators and CASE in lower case.
  ['select Null from t', 'select null from t', false],
  ['select distinct a IS NULL, b from t', 'select distinct a is null, b from t', false],
  ['select a, (b OR TRUE) from t', 'select a, (b or true) from t', false],
  ['with x as (select NaN from t) select * from x', 'with x as (select nan from t) select * from x', false],
  ['select CASE WHEN a = 1 THEN NULL ELSE 2 END from t', 'select case when a = 1 then null else 2 end from t', false],
  ['select CASE WHEN a = 1 THEN 3 ELSE 2 END from t', 'select case when a = 1 then 3 else 2 end from t', true],
  ['select a OR b, NOT b from t', 'select a or b, not b from t', true],
  ['select NULL x, FALSE AS y, a = NULL "z" from t', 'select null x, false as y, a = null z from t', true],
  ['select case when TRUE then NULL end x from t', 'select case when true then null end x from t', true],
  ['select a from t where b = TRUE', 'select a from t where b = true', true],
  ['select sum(a) s from t sample by 1h fill(NULL)', 'select sum(a) s from t sample by 1h fill(null)', true],
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
  ...['1 .5', '1 . 5', '1 /**/.5', '1. 5'].map(number => [`select ${number} a`, 'select 1.5 a', false] as BodyPair),
  ['select . 5 a', 'select .5 a', false],
  ['select t .a from t', 'select t.a from t', false],
  ['select "t". "a" from t', 'select t.a from t', false],
  ['select t. * from t', 'select t.* from t', true],
  ['select 1+.5 a, count( 1. ) from t', 'select 1 + .5 a, count(1.) from t', true],
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
