/*!
 * sqltr: other names, owners, editions and versions; the rest of the stream stays byte for byte, and replays on a real QuestDB. Renaming
 * back restores the schema, and renaming commutes with sorting.
 */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { repair } from '@sqlpipe/ddl';
import { foldCase, identify } from '@sqlpipe/sql';
import { sortStatements } from '../../packages/sqlsort/src/sort.js';
import { RenameRules } from '../../packages/sqltr/src/rename.js';
import { translateStatements } from '../../packages/sqltr/src/translate.js';
import { cases } from '../cases/cases.js';
import { CORPUS, readCorpus } from '../support/corpus.js';
import { databases } from '../support/databases.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { fc, forAllAsync } from '../support/seed.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

for (const { title, input, output } of cases('sqltr'))
  test(title, async t => {
    const [options = '', ...lines] = input.split('\n');
    const run = await inProcess(t, { SQL: lines.join('\n') });
    const { code, stdout, stderr } = await run(
      `set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options} | tr -d '\\0'`,
    );
    t.deepEqual({ code, stderr, text: stdout.trimEnd() }, { code: 0, stderr: '', text: output });
  });

for (const { title: options, input, output } of cases('sqltr-rejected'))
  test(`rejected: sqltr ${options}: ${input}`, async t => {
    const [, status = '1', message = ''] = /^(?:status (\d+): )?(.*)$/.exec(output) ?? [];
    const run = await inProcess(t, { SQL: input });
    const { code, stdout, stderr } = await run(`set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options}`);
    t.is(code, Number(status), stderr);
    t.regex(stderr, new RegExp(message));
    t.notRegex(stdout, /\0|CREATE/, 'nothing of the schema is written');
  });

test('rules with quoted names, and rules from a file', async t => {
  const run = await inProcess(t);
  const { stdout } = await run(`printf '# names\\r\\n\\na=c\\n"a=b"="b = c"\\n' > names
    printf 'CREATE TABLE a (x INT)\\0CREATE TABLE "a=b" (x INT)\\0' | sqltr --rename b=x --rename-file names`);
  t.is(stdout, 'CREATE TABLE c (x INT);\n\0CREATE TABLE "b = c" (x INT);\n\0');
});

test('with --lossy each loss is reported once, and the status is 0', async t => {
  const run = await inProcess(t, {
    SQL: `CREATE USER ann; CREATE TABLE t (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY STORAGE POLICY(TO PARQUET 1 DAY) OWNED BY ann;
      CREATE VIEW v AS (SELECT * FROM t); GRANT SELECT ON t TO ann;`,
  });
  t.deepEqual((await run.ok('sqlsplit <<< "$SQL" | sqltr --to open-source --to 9.2.3 --lossy')).stderr.split('\n'), [
    "sqltr: statement 1 (user 'ann'): removed, because the open source edition has no access control",
    "sqltr: statement 2 (table 't'): STORAGE POLICY(TO PARQUET 1 DAY) becomes nothing, because the open source edition has no such stages; OWNED BY ann is removed, because the open source edition has no owners",
    "sqltr: statement 3 (view 'v'): removed, because QuestDB 9.2.3 has no views",
    "sqltr: statement 4 (grant to 'ann'): removed, because the open source edition has no access control",
    '',
  ]);
});

test('what a version lacks is lost with its clause, but a posting index becomes a plain one', async t => {
  const run = await inProcess(t, {
    SQL: 'CREATE TABLE t (ts TIMESTAMP, s SYMBOL INDEX TYPE POSTING INCLUDE (ts)) TIMESTAMP(ts) PARTITION BY DAY FORMAT PARQUET;',
  });
  const { stdout, stderr } = await run.ok('sqlsplit <<< "$SQL" | sqltr --to 9.3.4 --lossy');
  t.regex(stdout, /s SYMBOL INDEX\) TIMESTAMP\(ts\) PARTITION BY DAY;/);
  const because = (feature: string) => `because QuestDB 9.3.4 has no ${feature}`;
  const losses = `its posting indexes become plain ones, ${because('INDEX TYPE')}; FORMAT PARQUET is removed, ${because('FORMAT PARQUET')}`;
  t.is(stderr, `sqltr: statement 1 (table 't'): ${losses}\n`);
});

test('with --lossy a grant on a view goes with the view, and one on several objects keeps the others', async t => {
  const run = await inProcess(t, {
    SQL: `CREATE USER ann; CREATE TABLE t (ts TIMESTAMP, a INT); CREATE VIEW v AS (SELECT * FROM t);
      GRANT SELECT ON V TO ann; GRANT SELECT, INSERT ON v, t(a), T TO ann WITH GRANT OPTION; GRANT SELECT ON t TO ann; GRANT SELECT ON ALL TABLES TO ann;`,
  });
  const { stdout, stderr } = await run.ok('sqlsplit <<< "$SQL" | sqltr --to 9.0 --lossy | sqljoin | grep GRANT');
  t.deepEqual(stdout.trim().split('\n'), [
    'GRANT SELECT ON t(a) TO ann WITH GRANT OPTION;',
    'GRANT INSERT ON t(a) TO ann WITH GRANT OPTION;',
    'GRANT SELECT ON T TO ann WITH GRANT OPTION;',
    'GRANT INSERT ON T TO ann WITH GRANT OPTION;',
    'GRANT SELECT ON t TO ann;',
    'GRANT SELECT ON ALL TABLES TO ann;',
  ]);
  t.deepEqual(stderr.trim().split('\n').slice(1), [
    "sqltr: statement 4 (grant to 'ann'): removed, because it is on 'V', which is removed",
    "sqltr: statement 5 (grant to 'ann'): its rights on 'v' are removed, because 'v' is removed",
  ]);
});

test('nothing is written before the complete input is read', async t => {
  const run = await inProcess(t);
  const { stdout } = await run.bash.exits(
    65,
    `{ yes "CREATE TABLE a (x INT /* $(printf '%09999d') */);" | head -n 1000 | tr '\\n' '\\0'; printf 'CREATE TABLE b'; } | sqltr --rename a=c`,
  );
  t.notRegex(stdout, /CREATE/);
});

const NONE = new RenameRules([], '');

function rename(statements: readonly string[], ...rules: string[]): Promise<string[]> {
  const names = { objects: new RenameRules(rules, '--rename'), owners: NONE, principals: NONE };
  const losses = { isLossy: false, warn() {} };
  return Readable.from(translateStatements(Readable.from(statements), { names, adapters: [] }, losses)).toArray();
}

const quoteRule = (name: string): string => `"${name}"`;

/** Names that need no quotes, some of them used for other things in the statements below, and names that need quotes. */
const PLAIN = ['trades', 'T2', '_x', 'fx_trades', 'fx_quotes', 'größe', '表', 'x', 'alias', 'cte', 'abc'];
const AWKWARD = ['select', 'left', 'my table', 'fx.usd', 'a-b', '1st', 'a=b', 'a;b', 'from', 'a.b c', '#'];

/** A name as written in a query: quoted only if necessary. */
const printName = (name: string): string => (PLAIN.includes(name) ? name : `"${name}"`);

/** Three tables, and a view in which their names are also names of columns and aliases, strings and comments. */
const schemas = (names: readonly string[]) =>
  fc.uniqueArray(fc.constantFrom(...names), { minLength: 4, maxLength: 4, selector: foldCase }).map(([a, b, c, v]) => {
    const [qa, qb, qc] = [a, b, c].map(name => printName(name as string));
    return {
      names: [a, b, c, v] as string[],
      statements: [
        `CREATE TABLE '${a}' (ts TIMESTAMP, col INT, "${b?.replaceAll(/[.=;#-]/g, '') || 'y'}" INT) timestamp(ts) PARTITION BY DAY;`,
        `CREATE TABLE "${b}" (ts TIMESTAMP, col INT) timestamp(ts) PARTITION BY DAY;`,
        `CREATE TABLE \`${c}\` (LIKE '${a}');`,
        `CREATE MATERIALIZED VIEW 'mv' WITH BASE '${a}' AS (SELECT ts, max(${qa}.col) col FROM ${qa} SAMPLE BY 1h) PARTITION BY DAY;`,
        `CREATE VIEW '${v}' AS (WITH cte_ AS (SELECT ${qb}.col FROM ${qb} WHERE x = '${a}') -- ${a}
SELECT ${qa}.col, '${b}' AS "${a}", /* ${c} */ al.ts FROM ${qa} ASOF JOIN ${qc} al ON ${qa}.col = al.col, cte_, (SELECT * FROM ${qa}) y);`,
        `GRANT SELECT ON "${a}"(col), "${v}" TO "${b}";`,
      ],
    };
  });

const PREFIX = fc.constantFrom('x_', 'Tenant1_', 'zz');

test('renaming and renaming back: byte for byte if no name needs quotes', t =>
  forAllAsync(100, schemas(PLAIN), PREFIX, async ({ statements }, prefix) => {
    const renamed = await rename(statements, `*=${prefix}*`);
    t.true(renamed.every((statement, i) => statement !== statements[i]));
    t.deepEqual(await rename(renamed, `${prefix}*=*`), statements);
  }));

test('renaming to any names and back: the same except for quotes', async t => {
  const withoutQuotes = (statement: string) => statement.replace(/["`]/g, '');
  await forAllAsync(
    100,
    schemas([...PLAIN, ...AWKWARD]),
    fc.shuffledSubarray([...AWKWARD, 'n1', 'n2', 'N3'], { minLength: 4, maxLength: 4 }),
    async ({ names, statements }, others) => {
      const pairs = names.map((name, i) => [name, `${others[i]}!`] as const);
      const there = pairs.map(([name, other]) => `${quoteRule(name)}=${quoteRule(other)}`);
      const back = pairs.map(([name, other]) => `${quoteRule(other)}=${quoteRule(name)}`);
      const again = await rename(await rename(statements, ...there), ...back);
      t.deepEqual(again.map(withoutQuotes), statements.map(withoutQuotes));
    },
  );
});

test('exchanging two names twice changes nothing', t =>
  forAllAsync(100, schemas(PLAIN), async ({ names: [a, b], statements }) => {
    const swap = [`${a}=${b}`, `${b}=${a}`];
    t.deepEqual(await rename(await rename(statements, ...swap), ...swap), statements);
  }));

test('a statement that no rule matches is unchanged', t =>
  forAllAsync(100, schemas([...PLAIN, ...AWKWARD]), async ({ statements }) => {
    t.deepEqual(await rename(statements, 'no such table=other'), statements);
    t.deepEqual(await rename(statements), statements);
    t.deepEqual(await rename(statements, '*=*'), statements);
  }));

const sort = (statements: readonly string[]): Promise<string[]> =>
  Readable.from(sortStatements(Readable.from(statements))).toArray();

for (const { name, statements: all } of databases) {
  const statements = all.filter(statement => !/'.{125}/.test(statement.split('\n', 1)[0] as string));
  // Names of 126 characters and more have no room for a prefix; objects that mention such a name are left out too.
  const long = all.filter(statement => !statements.includes(statement)).map(text => /'(.+?)'/.exec(text)?.[1] ?? '');
  const usable = statements.filter(statement => !long.some(each => statement.includes(each)));

  test(`${name}: renaming and renaming back, byte for byte`, async t => {
    const renamed = await rename(usable, '*=x_*');
    t.true(renamed.every((statement, i) => statement !== usable[i]));
    t.deepEqual(await rename(renamed, 'x_*=*'), usable);
  });

  test(`${name}: renaming before or after sorting gives the same stream`, async t => {
    const reversed = usable.toReversed();
    t.deepEqual(await sort(await rename(reversed, '*=x_*')), await rename(await sort(reversed), '*=x_*'));
  });
}

const toStream = (statements: readonly string[]): string => statements.map(statement => `${statement}\n\0`).join('');

/** The number of statements of each dump that are used; the beginning of a dump replays without the rest. */
const MAX_STATEMENTS = Number(process.env.MOST ?? 40);

const trading = {
  name: 'the trading schema',
  statements: execFileSync('node_modules/.bin/sqlsplit', ['scripts/trading.sql'], { encoding: 'utf8' })
    .split('\n\0')
    .filter(Boolean),
};

for (const { name, statements } of [trading, ...databases])
  testWithQuestDB(`${name}: the renamed dump replays and differs only in names`, async t => {
    const server = await borrowQuestDB(t);
    const withRoom = statements.slice(0, MAX_STATEMENTS).filter(statement => identify(statement).name.length < 125);
    // The recordings are from a later version, so some are rejected: only accepted statements are renamed.
    for (const statement of withRoom) await server.execute(statement);
    const run = await inProcess(t, { DST: server.url });
    const { stdout } = await run("sqldump -q $DST > dump; tr -cd '\\0' < dump | wc -c");
    t.true(Number(stdout) > withRoom.length * 0.8, stdout);
    await server.dropAll();
    const renamed = await run(
      "set -e -o pipefail; sqltr --rename '*=x_*' < dump > renamed; sqlapply -q $DST < renamed; sqldiff $DST renamed",
    );
    t.deepEqual([renamed.code, renamed.stderr, renamed.stdout], [0, '', '']);
    t.like(await run("set -o pipefail; sqldump -q $DST | sqltr --rename 'x_*=*' | sqlsort | cmp - dump"), { code: 0 });
  });

/** Every EACHth recorded table is used, since all of them take a minute. */
const EACH = Number(process.env.EACH ?? 15);

/** A clause without effect, which the enterprise server does not print. */
const WITHOUT_EFFECT = 'PARQUET(default)';

const recordedTables = (): string[] =>
  readCorpus('tables')
    .filter(({ roundtrip, replay_status, server_config }) => roundtrip && replay_status === 200 && !server_config)
    .filter(({ show_create }, i) => i % EACH === 0 && show_create?.startsWith('CREATE TABLE '))
    .filter(({ show_create }) => !show_create?.includes(WITHOUT_EFFECT))
    .map(({ show_create = '' }, i) =>
      repair(show_create.trim()).statement.replace(/^CREATE TABLE '[^']*'/, `CREATE TABLE 'table ${i}'`),
    );

const USERS = ['ann', 'bob', '"a b"'];

const addPolicy = (table: string): string =>
  table.replace(
    /( PARTITION BY (?:HOUR|DAY))( BYPASS WAL)?;$/,
    '$1\nSTORAGE POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)$2;',
  );

if (CORPUS)
  testWithQuestDB('an enterprise schema with owners, policies and grants is translated to open source', async t => {
    const [server, enterprise] = [await borrowQuestDB(t), await serveHere(t, { edition: 'enterprise' })];
    const tables = recordedTables();
    const folder = await freshFolder(t);
    const owned = tables.map((table, i) =>
      (i % 2 ? addPolicy(table) : table).replace(/;$/, ` OWNED BY ${USERS[i % 3]};`),
    );
    const grants = tables.flatMap((_, i) => (i % 5 ? [] : [`GRANT SELECT ON 'table ${i}' TO ${USERS[(i + 1) % 3]};`]));
    const database = [...USERS.map(user => `CREATE USER ${user};`), ...owned, ...grants];
    await writeFile(join(folder, 'database'), toStream(database));
    await writeFile(join(folder, 'tables'), toStream(tables));
    const env = { ENT: enterprise.url, FOLDER: folder, ...loginAs() };
    const run = await inProcess(t, env);
    t.like(await run('sqlapply -q --no-verify $ENT < $FOLDER/database; sqldump $ENT > dump'), { code: 0 });
    const count = Number((await run("tr -cd '\\0' < dump | wc -c")).stdout);
    t.is(count, database.length);

    const strict = await run.exits(1, 'sqltr --to open-source < dump > strict');
    t.regex(strict.stderr, /^sqltr: statement 1 \(user '.*'\): removed, .*, and so on for \d+ more; --lossy accepts/);
    t.is((await run('grep -zc CREATE strict')).stdout, '0\n');

    const lossy = await run.ok('sqltr --to open-source --lossy < dump > open');
    const notes = lossy.stderr.trimEnd().split('\n');
    t.is(new Set(notes.map(note => /statement \d+/.exec(note)?.[0])).size, notes.length, 'one note per statement');
    t.is(notes.length, count, 'each statement loses at least an owner');
    t.is(
      notes.filter(note => note.includes('TO PARQUET')).length,
      owned.filter(text => text.includes('POLICY')).length,
    );

    const bare = await inProcess(t, { DST: server.url, FOLDER: folder });
    await writeFile(join(folder, 'open'), (await run('cat open')).stdout);
    t.like(await bare('sqlapply -q $DST < $FOLDER/open && sqldiff $DST $FOLDER/open'), { code: 0, stderr: '' });
    const without = (name: string) => `grep -zv 'TTL 1 MONTH' $FOLDER/${name} | grep -z "^CREATE TABLE" | sort -z`;
    // Tables without an added policy are unchanged, including a TTL that was a policy in between.
    const lost = await bare.bash(`comm -z -23 <(${without('open')}) <(${without('tables')}) | tr '\\0' '\\n'`);
    t.is(lost.stdout, '');
    t.like(await bare("grep -zc 'TTL' $FOLDER/open"), { code: 0 });
  });
else console.error('Enterprise schemas are left out: CORPUS is missing');
