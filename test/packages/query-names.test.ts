/*!
 * Where names of tables stand in queries. The server is the oracle: a query over two tables, and the same query with the two
 * names exchanged, over the tables exchanged, give the same rows. A name that is missed, or one too many, gives others.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findMentions, findReferences, isBareName, parseDefinition } from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { Engine, isNotExecutable, whenReady } from '@sqlpipe/engine';
import { parseQueryText } from '@sqlpipe/engine/query';
import { foldCase, identify } from '@sqlpipe/sql';
import { findQueryReferences } from '../../packages/engine/src/analyze/query-scope.js';
import { waitUntilApplied, waitUntilNone } from '../support/background.js';
import { CORPUS, readCorpus } from '../support/corpus.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, type Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

/**
 * Queries over the tables `$t` and `$q`, which are written in several ways; `$T` and `$Q` are their names before the dot of a
 * column. The clauses are those of the grammar of @questdb/sql-parser: withClause, tableRef, joinClause, declareClause and so on.
 */
const QUERIES = readFileSync('test/cases/queries.txt', 'utf8')
  .trim()
  .split('\n')
  .map(query => query.replace('\\n', '\n'));

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
  const queries = renamed.stdout.split('\0').map(statement => statement.slice(statement.indexOf('\n') + 1, -4));
  const wrong: string[] = [];
  await inBatches([...before], async ([query, rows], i) => {
    if ((await rowsOf(server, queries[i] ?? '')) !== rows)
      wrong.push(`${query} -> ${queries[i]}, reads ${findReferences(views[i] ?? '')}`);
  });
  t.deepEqual(wrong, []);
});

testWithQuestDB('views over these queries become invalid on sqlserve when they do on the server', async t => {
  const simulated = await startSqlserve(t);
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

/** The objects that a query reads by its syntax tree, and by its tokens. @throws RejectionError if it is no query */
async function readBoth(query: string, { catalogue }: Engine) {
  const inTree = await whenReady(() => findQueryReferences(parseQueryText(query), catalogue));
  const isView = (name: string) => catalogue.find(name)?.kind === 'view';
  const inTokens = findReferences(`CREATE VIEW v AS (\n${query}\n);`, isView).map(foldCase);
  return { inTree: inTree.map(foldCase).sort(), inTokens: [...new Set(inTokens)].sort() };
}

test('the reader of tokens and that of syntax trees find the same objects', async t => {
  const engine = new Engine({ rows: 'assumed' });
  for (const name of ['trades', 'quotes']) engine.execute(createTable(name));
  const rejected: string[] = [];
  for (const query of QUERY_TEXTS)
    try {
      const { inTokens, inTree } = await readBoth(query, engine);
      t.deepEqual(inTokens, inTree, query);
    } catch (error) {
      if (!(error instanceof RejectionError)) throw error;
      rejected.push(query);
    }
  // Quotes within quotes are no query.
  t.deepEqual(rejected, ['select "trades".sym ""trades".x" from "trades"']);
});

if (CORPUS)
  test('both readers find the same objects in the recorded views', async t => {
    let compared = 0;
    for (const { sql, setup, base_ddl = [], status } of ['views', 'names'].flatMap(readCorpus)) {
      if (status !== 200 || !/view$/.test(identify(sql).kind)) continue;
      const engine = new Engine({ rows: 'assumed' });
      try {
        for (const statement of [...base_ddl, ...setup, sql]) await whenReady(() => engine.execute(statement));
        const definition = parseDefinition(sql);
        if (!('body' in definition)) continue;
        const { inTokens, inTree } = await readBoth(definition.body, engine);
        t.deepEqual(inTokens, inTree, sql);
        compared++;
      } catch (error) {
        if (!isNotExecutable(error)) throw error;
      }
    }
    t.true(compared > 400, `${compared} views`);
  });

test('a word that only later servers read after a table is no alias of it', t => {
  for (const word of ['lateral', 'unpivot', 'prevailing', 'tolerance']) {
    const mentions = findMentions(`CREATE VIEW v AS (SELECT trades.a FROM trades ${word} (x));`);
    t.deepEqual(
      mentions.map(({ name, usage }) => `${name}: ${usage}`),
      ['v: name', 'trades: qualifier', 'trades: table'],
    );
    t.false(isBareName(word));
  }
});
