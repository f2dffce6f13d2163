/*!
 * Where names of tables stand in queries. The server is the oracle: a query over two tables, and the same query with the two
 * names exchanged, over the tables exchanged, give the same rows. A name that is missed, or one too many, gives others.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findReferences } from '@sqlpipe/ddl';
import { waitUntilApplied, waitUntilNone } from '../support/background.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, type Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';

const emptyServer = sharedQuestDB();

/**
 * Queries over the tables `$t` and `$q`, which are written in several ways; `$T` and `$Q` are their names before the dot of a
 * column. The clauses are those of the grammar of @questdb/sql-parser: withClause, tableRef, joinClause, declareClause and so on.
 */
const QUERIES = [
  'select * from $t',
  'select a, b from $t x where x.a > 1',
  'select $T.a from $t where $T.a > 0 order by $T.a',
  'select $T.* from $t',
  'select * from ($t)',
  'select * from (($t))',
  'select * from ($t where a > 1)',
  'select * from ($t latest on ts partition by sym)',
  'select * from ($t) x',
  'select sum(a) from ($t) sample by 1h',
  'select * from (select a from $t union all select a from $q)',
  'select * from ($t union all $q)',
  'select * from ($t where a > 1 union $q)',
  'select a from $t union select a from $q',
  'select a from $t union all select a from $q except select 20 from $t',
  'select a from $t intersect select a from $t',
  'select a from $t except all select a from $q',
  'select * from $t timestamp(ts)',
  'select * from $t timestamp(ts) as x',
  'select * from $t cross join $q',
  'select * from $t, $q',
  'select * from $t x, $q y where x.a < y.a',
  'select $T.a, $Q.b from $t, $q where $T.a < $Q.b',
  'select * from $t, (select a c from $q) y',
  'select * from $t inner join $q on $T.sym = $Q.sym',
  'select $T.a, $Q.a from $t join $q on sym',
  'select x.a, y.a from $t x join $q y on (sym)',
  'select x.a, y.a from $t x left join $q y on x.sym = y.sym and y.a > 5',
  'select x.a, y.a from $t x left outer join $q y on x.sym = y.sym',
  'select x.a, y.a from $t x right join $q y on x.sym = y.sym',
  'select x.a, y.a from $t x full join $q y on x.sym = y.sym',
  'select x.a, $Q.a from $t x asof join $q on sym',
  'select x.a, $Q.a from $t x asof join $q on sym tolerance 1h',
  'select x.a, $Q.a from $t x lt join $q on sym',
  'select x.a, $Q.a from $t x splice join $q',
  'select x.a, y.a from $t x asof join (select * from $q where a > 5) y on sym',
  'select x.a, y.a from $t x asof join ($q) y on sym',
  'select x.a, sum(y.a) from $t x window join $q y on sym range between 1 hour preceding and 1 hour following',
  'select x.a, sum(y.a) from $t x window join $q y on sym range between 1 hour preceding and 1 hour following include prevailing',
  'select a from $t where a in (select a from $t)',
  'select sym from $t where sym in (select sym from $q)',
  'select a from $t where sym in ($q)',
  'select a from $t where ts = (select max(ts) from $t)',
  'select case when a > 1 then $T.a else 0 end c from $t',
  'select count() from $t where $T.a between 0 and 100',
  'select ts, sum($T.a) from $t sample by 1h fill(null) align to calendar',
  "select ts, sum(a) from $t sample by 1d from '2024-01-01' to '2024-01-03' fill(null)",
  "select ts, sum(a) s from $t sample by 1h align to calendar time zone 'Europe/Berlin' with offset '00:00'",
  'select * from $t latest on ts partition by sym',
  'select * from $t where a > 1 latest on ts partition by sym',
  'select sym, sum(a) from $t group by sym order by sym limit 5',
  'select sym, sum(a) from $t group by $T.sym',
  'select a, row_number() over (partition by sym order by ts) from $t',
  'select a, sum(a) over w from $t window w as (partition by sym order by ts)',
  'select distinct sym from $t order by sym limit 1, 2',
  'select $T.sym "$T.x" from $t',
  "select '$T' c, a from $t",
  'select a as "trades" from $t',
  'select a quotes from $t',
  'with x as (select * from $t) select * from x',
  'with x as ($t) select * from x',
  'with x as ($t where a > 1) select * from x, $q',
  'with x as (select * from $t), y as (select x.a from x) select * from y',
  'with x as (select a from $t union all select a from $q) select sum(a) from x',
  'with x as (select a from $t) select x.a, $Q.a from x cross join $q',
  'with x as (with y as (select * from $t) select a from y) select * from x',
  'select * from (with x as (select * from $t) select a from x)',
  'with trades as (select a + 1000 a from quotes) select * from trades',
  "with trades as (select a + 1000 a from quotes) select * from 'trades'",
  'with trades as (select a + 1000 a from quotes) select * from "trades"',
  'with trades as (select a + 1000 a from quotes) select * from public.trades',
  'with "trades" as (select 5 a) select * from (\'trades\')',
  "with trades as (select 5 a), x as (select * from 'trades') select * from x",
  'with trades as (select 5 a), x as (select * from trades) select * from x',
  'with trades as (select * from trades) select * from trades',
  "with x as (select 5 a) select * from $q cross join 'trades'",
  'declare @s := $t select * from @s',
  'declare @s := ($t) select * from @s',
  'declare @s := (($t)) select * from @s',
  'declare @s = ($t) select * from @s x',
  'declare @s := (select * from $t) select * from @s',
  'declare @s := ((select * from $t)) select * from @s',
  'declare @s := (select * from $t), @n := 1 select * from @s where a > @n',
  'declare @n := (1), @s := ($t) select * from @s where a > @n',
  'declare @s := ($t), @u := ($q) select * from @s cross join @u',
  'declare @s := ($t), @u := @s select * from @u',
  'declare @s := ($t), @u := (@s) select * from @u',
  'declare overridable @s := ($t) select * from @s',
  'declare @x := (a) select @x from $t',
  'declare @x := (1 + (2)) select @x + a from $t',
  'declare @m := (select max(a) from $q) select a from $t where a < @m',
  'declare @s := ($t) with x as (select * from @s) select * from x',
  'with x as (declare @s := ($t) select * from @s) select * from x',
  'select * from (declare @s := $q select * from @s) union select * from $t',
  "select * from $t pivot (sum(a) for sym in ('s1', 's2'))",
  "select * from (select sym, a from $t) pivot (sum(a) for sym in ('s1', 's2'))",
  'select * from (select * from $t) x join (select * from $q) y on x.sym = y.sym',
  'select x.a from ($t) x join ($q) y on x.sym = y.sym',
  'select * from (select $T.a from $t join $q on sym where $Q.a > 5)',
  'select /* trades */ a -- quotes\n from $t',
  'select * from generate_series(1, 3), $t',
  'select * from long_sequence(2) cross join $t',
  'select column_name from (select "column" column_name from table_columns(\'trades\'))',
];

/** Ways to write a name after FROM, and before a dot. */
const SPELLINGS: { from: (name: string) => string; before: (name: string) => string }[] = [
  { from: name => name, before: name => name },
  { from: name => name.toUpperCase(), before: name => name },
  { from: name => `"${name}"`, before: name => `"${name}"` },
  { from: name => `'${name}'`, before: name => name },
  { from: name => `public.${name}`, before: name => name },
];

const spell = (query: string, { from, before }: (typeof SPELLINGS)[number]): string =>
  query
    .replaceAll('$t', from('trades'))
    .replaceAll('$q', from('quotes'))
    .replaceAll('$T', before('trades'))
    .replaceAll('$Q', before('quotes'));

const QUERY_TEXTS = [...new Set(QUERIES.flatMap(query => SPELLINGS.map(spelling => spell(query, spelling))))];

/** Does something with each item, eight at a time. */
async function inBatches<T>(items: readonly T[], work: (item: T, i: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 8)
    await Promise.all(items.slice(at, at + 8).map((item, n) => work(item, at + n)));
}

/** The rows of a query in a fixed order; undefined if the server rejects it. */
async function rowsOf(server: Server, query: string): Promise<string | undefined> {
  const { dataset, error } = await server.execute(query);
  return error === undefined
    ? (dataset ?? [])
        .map(row => JSON.stringify(row))
        .sort()
        .join('\n')
    : undefined;
}

const createTable = (name: string): string =>
  `CREATE TABLE ${name} (ts TIMESTAMP, sym SYMBOL, a LONG, b DOUBLE) timestamp(ts) PARTITION BY DAY`;

/** Two tables with different rows. */
async function makeTables(server: Server, [first, second]: readonly [string, string]): Promise<void> {
  for (const [name, factor] of [
    [first, 1],
    [second, 10],
  ] as const) {
    await execute(server, createTable(name));
    const start = `2024-01-0${factor === 1 ? 1 : 2}`;
    await execute(
      server,
      `INSERT INTO ${name} SELECT timestamp_sequence('${start}', ${factor}800000000), 's' || (x % 3), x * ${factor}, x * ${factor} FROM long_sequence(${3 + factor})`,
    );
    await waitUntilApplied(server);
  }
}

testWithQuestDB(`names in ${QUERY_TEXTS.length} queries are those that the server reads`, async t => {
  const server = await emptyServer();
  await makeTables(server, ['trades', 'quotes']);
  const before = new Map<string, string>();
  await inBatches(QUERY_TEXTS, async query => {
    const rows = await rowsOf(server, query);
    if (rows !== undefined) before.set(query, rows);
  });
  t.true(before.size >= 250, `${before.size} are accepted`);

  await server.dropAll();
  await makeTables(server, ['quotes', 'trades']);
  const views = Array.from(before.keys(), (query, i) => `CREATE VIEW v${i} AS (\n${query}\n);\n\0`);
  const folder = await freshFolder(t);
  await writeFile(join(folder, 'views'), views.join(''));
  const run = await inProcess(t, { FOLDER: folder });
  const renamed = await run('sqltr --rename trades=quotes --rename quotes=trades < $FOLDER/views');
  t.is(renamed.stderr, '');
  const queries = renamed.stdout
    .toString()
    .split('\0')
    .map(statement => statement.slice(statement.indexOf('\n') + 1, -4));
  const wrong: string[] = [];
  await inBatches([...before], async ([query, rows], i) => {
    if ((await rowsOf(server, queries[i] ?? '')) !== rows)
      wrong.push(`${query} -> ${queries[i]}, reads ${findReferences(views[i] ?? '')}`);
  });
  t.deepEqual(wrong, []);
});

testWithQuestDB('views over these queries become invalid on sqlserve when they do on the server', async t => {
  const [server, simulated] = [await emptyServer(), await startSqlserve(t)];
  for (const each of [simulated, server]) {
    for (const name of ['trades', 'quotes']) await execute(each, createTable(name));
    await inBatches(QUERY_TEXTS, (query, i) => each.execute(`CREATE VIEW v${i} AS (${query})`));
    await execute(each, 'ALTER TABLE trades DROP COLUMN a');
  }
  const statuses = async (each: Server) =>
    new Map((await execute(each, 'SELECT view_name, view_status FROM views()')) as [string, string][]);
  const found = await statuses(simulated);
  t.true(found.size > 250, `${found.size} views`);
  // The server checks views one after the other, in the background.
  await waitUntilNone(async () =>
    [...(await statuses(server))]
      .filter(([name, status]) => found.get(name) !== status)
      .map(([name, status]) => `${QUERY_TEXTS[Number(name.slice(1))]}: ${status}`),
  );
});
