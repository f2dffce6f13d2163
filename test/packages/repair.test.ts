/*! Repair of statements that the server prints wrongly, as text in and text out, and on a real server. */
import { isCleanTable, repair } from '@sqlpipe/ddl';
import { foldCase, identify, normalizeStatement } from '@sqlpipe/sql';
import { cases } from '../cases/cases.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { anyCharacter, fc, forAll, forAllAsync } from '../support/seed.js';
import { execute } from '../support/server.js';
import { test } from '../support/test.js';

const formatRepair = (row: string): string => {
  const { statement, notes, warnings } = repair(row);
  return [statement, ...warnings.map(warning => `# warning: ${warning}`), ...notes.map(note => `# ${note}`)].join('\n');
};

for (const { title, input, output } of cases('repair'))
  test(`repair: ${title}`, t => {
    t.is(formatRepair(input), output);
    const { statement } = repair(input);
    t.is(repair(statement).statement, statement, 'a second repair changes nothing');
  });

/** Characters that a column name must not contain (observed on 9.3.4). */
const FORBIDDEN = /[\0-\x0f\x7f\ufeff?.,'"\\/:()+\-*%~]/;
const WORDS = [' ', '  ', ...'order SELECT INT SYMBOL NOCACHE INDEX INCLUDE PARQUET DOUBLE[] in'.split(' ')];
const names = fc
  .oneof(
    fc
      .array(fc.oneof(fc.constantFrom(...WORDS, ...' ;`&|^<=>[]!#$@{}_é表'), fc.stringMatching(/^[a-z0-9]{1,3}$/)), {
        minLength: 1,
        maxLength: 6,
      })
      .map(parts => parts.join('')),
    fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }),
  )
  .filter(name => !FORBIDDEN.test(name) && name.isWellFormed());

const types = fc.constantFrom(
  ...['INT', 'SYMBOL', 'SYMBOL NOCACHE INDEX CAPACITY 64', 'DOUBLE[][]', 'IPv4', 'GEOHASH(5c)', 'DECIMAL(10,2)'],
);
const columns = fc.uniqueArray(fc.record({ name: names, type: types }), {
  minLength: 2,
  maxLength: 8,
  selector: ({ name }) => foldCase(name),
});
type Columns = { name: string; type: string }[];

/** Prints a table with a timestamp and keys as the server does, with its names passed through `quote`. */
function printTable(table: Columns, quote: (name: string) => string): string {
  const [first, ...others] = table.map(({ name, type }) => ({ name: quote(name), type }));
  const lines = [`${first?.name} TIMESTAMP`, ...others.map(({ name, type }) => `${name} ${type}`)];
  const keys = [first, ...others.filter(({ type }) => type === 'INT')].map(column => column?.name);
  return `CREATE TABLE 't' ( \n\t${lines.join(',\n\t')}\n) timestamp(${first?.name}) PARTITION BY DAY\nDEDUP UPSERT KEYS(${keys.join(',')});`;
}

const bare = (name: string) => name;
const quoted = (name: string) => `"${name}"`;

test('repair: only names that need quotes are quoted', t =>
  forAll(400, columns, table => {
    const needed = new Set(
      table.map(({ name }) => name).filter(name => repair(`CREATE TABLE 't' ( \n\t${name} INT\n);`).notes.length),
    );
    t.is(
      repair(printTable(table, bare)).statement,
      printTable(table, name => (needed.has(name) ? quoted(name) : name)),
    );
  }));

test('repair: the body of a view is trimmed at its ends and otherwise unchanged', t => {
  const bodies = fc.array(fc.constantFrom(' ', '\n', '\t', '\r', ')', '\n)', 'a', '--', ' AS (\n', ', IN VOLUME x'), {
    maxLength: 12,
  });
  forAll(100, bodies, parts => {
    const body = parts.join('');
    const [, trimmed] = /^[\0- ]*([^]*?)[\0- ]*$/.exec(body) as unknown as [string, string];
    t.is(repair(`CREATE VIEW 'v' AS ( \n${body}\n);`).statement, `CREATE VIEW 'v' AS ( \n${trimmed}\n);`);
  });
});

test('repair: a clean table is one CREATE TABLE statement and stays unchanged', t => {
  const ordinary = `CREATE TABLE 'o"b' ( \n\ta INT,\n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY DAY\nDEDUP UPSERT KEYS(ts);`;
  const damage = fc.record({
    at: fc.nat(ordinary.length),
    gone: fc.nat(3),
    put: fc.constantFrom(...`;'"()\`,.-\n\t é`, '--', '/*', 'select', ' ARRAY', ''),
  });
  let passed = 0;
  forAll(5000, fc.array(damage, { minLength: 1, maxLength: 3 }), damages => {
    const row = damages.reduce((text, { at, gone, put }) => text.slice(0, at) + put + text.slice(at + gone), ordinary);
    if (!isCleanTable(row)) return;
    passed++;
    t.is(normalizeStatement(row), row);
    t.like(identify(row), { kind: 'table', verb: 'CREATE' });
    t.deepEqual(repair(row), { statement: row, notes: [], warnings: [] });
  });
  t.true(passed > 50);
});

const server = sharedQuestDB();

const showCreate = async (kind: string, name: string): Promise<string> =>
  String((await execute(server, `SHOW CREATE ${kind} '${name}'`))[0]?.[0]);

testWithQuestDB('repair: repaired output of a real server with unusual names recreates the same table', async t => {
  await forAllAsync(40, columns, async table => {
    await execute(server, 'DROP TABLE IF EXISTS t');
    await execute(server, printTable(table, quoted));
    const was = await showCreate('TABLE', 't');
    await execute(server, 'DROP TABLE t');
    await execute(server, repair(was).statement);
    t.is(await showCreate('TABLE', 't'), was);
    t.is(was, printTable(table, bare));
  });
});

testWithQuestDB('repair: a table with an array of undefined type is recreated', async t => {
  await execute(
    server,
    'CREATE TABLE "in" AS (SELECT ARRAY[] AS "order", 1::SYMBOL s, NULL::BINARY b FROM long_sequence(0))',
  );
  const was = await showCreate('TABLE', 'in');
  await execute(server, 'DROP TABLE "in"');
  await execute(server, repair(was).statement);
  t.is(await showCreate('TABLE', 'in'), was);
});

testWithQuestDB('repair: a view stays the same if it is recreated repeatedly', async t => {
  await execute(server, 'CREATE TABLE b (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY');
  for (const [kind, sql] of [
    ['VIEW', 'CREATE VIEW v AS (\n\n  SELECT x FROM b -- done\n\n)'],
    ['VIEW', "CREATE VIEW v AS SELECT x, ';' s FROM b ; -- more"],
    ['VIEW', "CREATE VIEW v AS SELECT x FROM b /* ' */ ' */;"],
    ['MATERIALIZED VIEW', 'CREATE MATERIALIZED VIEW v AS SELECT ts, max(x) x FROM b SAMPLE BY 2h;'],
    ['MATERIALIZED VIEW', 'CREATE MATERIALIZED VIEW v AS (SELECT ts, max(x) x FROM b SAMPLE BY 2h) TTL 7 MONTHS'],
  ] as const) {
    await execute(server, sql);
    const { statement } = repair(await showCreate(kind, 'v'));
    for (let generation = 0; generation < 3; generation++) {
      await execute(server, `DROP ${kind} v`);
      await execute(server, statement);
      t.is(repair(await showCreate(kind, 'v')).statement, statement);
    }
    await execute(server, `DROP ${kind} v`);
  }
});
