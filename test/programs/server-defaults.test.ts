/*! What a server fills in by itself: defaults of its configuration, and symbol capacities that it raises. */
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { sharedQuestDB, startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import type { Server } from '../support/server.js';
import { withoutStatements } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope } from '../support/test.js';

const OTHER_DEFAULTS = {
  QDB_CAIRO_WAL_ENABLED_DEFAULT: 'false',
  QDB_CAIRO_DEFAULT_SYMBOL_CACHE_FLAG: 'false',
  QDB_CAIRO_DEFAULT_SYMBOL_CAPACITY: '512',
  QDB_CAIRO_INDEX_VALUE_BLOCK_SIZE: '512',
  QDB_CAIRO_O3_MAX_LAG: '7s',
};

const questdb = sharedQuestDB();
const file = fileScope();
let started: Promise<Server> | undefined;

async function emptyServer(): Promise<Server> {
  started ??= startQuestDB(file, OTHER_DEFAULTS);
  await (await started).dropAll();
  return started;
}

const DAILY = 'TIMESTAMP(ts) PARTITION BY DAY WAL';

const BEFORE = [
  `CREATE TABLE p (ts TIMESTAMP, z VARCHAR, k SYMBOL CACHE) ${DAILY}`,
  `CREATE TABLE r (ts TIMESTAMP, s SYMBOL CACHE, n SYMBOL) ${DAILY}`,
];

/** Written by hand: what a statement leaves out is the server's default. */
const WANTED = [
  `CREATE TABLE p (ts TIMESTAMP, z SYMBOL CACHE, k SYMBOL INDEX, c SYMBOL CACHE, n SYMBOL, i SYMBOL INDEX) ${DAILY};`,
  'CREATE TABLE r (ts TIMESTAMP, s SYMBOL CACHE, n SYMBOL INDEX) TIMESTAMP(ts) PARTITION BY HOUR WAL;',
  'CREATE TABLE h (ts TIMESTAMP, s SYMBOL INDEX) TIMESTAMP(ts) PARTITION BY DAY;',
  // As a dump prints it: what the statement leaves out is the built-in default.
  "CREATE TABLE 'd' ( \n\tts TIMESTAMP,\n\ts SYMBOL INDEX CAPACITY 256\n) timestamp(ts) PARTITION BY DAY;",
];

testWithQuestDB('a plan leads to the schema that it is for', async t => {
  const [server, source] = [await emptyServer(), await startSqlserve(t)];
  for (const statement of BEFORE) t.is((await server.execute(statement)).error, undefined, statement);
  await server.execute("INSERT INTO r VALUES ('2026-01-01', 'a', 'b'), ('2026-01-02', 'c', 'd')");
  const run = await inProcess(t, { DB: server.url, SRC: source.url }, { 'wanted.sql': WANTED.join('\n') });

  const planned = await run('sqldiff --alter --rebuild r wanted.sql $DB > plan');
  t.like(planned, { code: 0, stderr: '' });
  t.like(await run('sqlapply --allow-plan $DB < plan'), { code: 0, stderr: '' });
  t.like(await run('sqldiff --ignore-extra wanted.sql $DB'), { code: 0, stderr: '', stdout: '' });

  // From one instance to another, whose defaults differ.
  await source.execute(`CREATE TABLE i (ts TIMESTAMP, s SYMBOL, x SYMBOL INDEX) ${DAILY}`);
  t.like(await run('sqldiff --alter --ignore-extra $SRC $DB > plan'), { code: 0, stderr: '' });
  t.like(await run('sqlapply --allow-plan $DB < plan'), { code: 0, stderr: '' });
  t.like(await run('sqldiff -q --ignore-extra $SRC $DB'), { code: 0, stdout: '' });

  // Changes written by hand, and their dry run.
  await run("echo 'ALTER TABLE p ADD COLUMN h SYMBOL; ALTER TABLE p ADD COLUMN j SYMBOL INDEX;' > change.sql");
  for (const dry of ['--dry-run', ''])
    t.like(await run(`sqlapply ${dry} --allow ALTER $DB change.sql`), { code: 0, stderr: '' });
});

const HANDWRITTEN = [
  'create table a (ts timestamp, s symbol index, u symbol cache) timestamp(ts) partition by day',
  'create table b (ts timestamp, s symbol capacity 64 nocache, u symbol), index(s) timestamp(ts) partition by month ttl 1 year',
  'create table c (ts timestamp, s symbol index capacity 256) timestamp(ts) partition by hour wal dedup upsert keys(ts, s)',
  'create table d (like a)',
  'create table e as (select ts, s::symbol as s from a), index(s) timestamp(ts) partition by year',
  'create table f (x int)',
  'create view v as (select * from a)',
  'create materialized view m as (select ts, count() n from c sample by 1h)',
];

/** Tables as QuestDB 9.3 prints them, and whether the target creates a different definition. */
const PRINTED: [statement: string, differs: boolean][] = [
  ["CREATE TABLE 'p' ( \n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY DAY;", true],
  ["CREATE TABLE 'q' ( \n\ts SYMBOL\n);", true],
  [
    "CREATE TABLE 'r' ( \n\tts TIMESTAMP,\n\ts SYMBOL NOCACHE INDEX CAPACITY 256\n) timestamp(ts) PARTITION BY NONE BYPASS WAL;",
    false,
  ],
];

testWithQuestDB('omitted properties are filled in from these defaults, except in printed statements', async t => {
  const files = {
    'open.sql': HANDWRITTEN.map(statement => `${statement};`).join('\n'),
    'printed.sql': PRINTED.map(([statement]) => statement).join('\n'),
  };
  const run = await inProcess(t, { DB: (await emptyServer()).url }, files);
  const apply = async (options: string) => {
    const applied = await run(`sqlapply --allow CTAS --report report ${options}`);
    const report: { result: string }[] = parseJsonLines((await run('cat report')).stdout);
    return { ...applied, results: report.map(({ result }) => result) };
  };
  for (const result of ['applied', 'skipped'])
    t.like(await apply('$DB open.sql'), { code: 0, stderr: '', results: HANDWRITTEN.map(() => result) });
  t.like(await run('sqldiff --ignore-extra open.sql $DB'), { code: 0, stderr: '' });
  for (const isThere of [false, true]) {
    const { code, stderr, results } = await apply('--keep-going $DB printed.sql');
    t.is(code, 1, isThere ? 'the objects exist' : 'the objects are created');
    t.regex(stderr, /WAL: enabled in [^,]*, bypassed in /);
    t.regex(stderr, /column 's' cache: CACHE in [^,]*, NOCACHE in /);
    t.deepEqual(
      results.map(result => result === 'differs'),
      PRINTED.map(([, differs]) => differs),
    );
  }
  t.like(await run('sqldiff --names --ignore-extra printed.sql $DB'), { code: 1, stderr: '' });
});

testWithQuestDB('a dump that means something else on the other server gets a warning', async t => {
  const server = await emptyServer();
  await questdb.execute('CREATE TABLE trades (ts TIMESTAMP, pair SYMBOL) TIMESTAMP(ts) PARTITION BY DAY');
  const run = await inProcess(t, { A: questdb.url, B: server.url });
  const { stdout, stderr } = await run('sqldump $A | sqlapply -q $B; sqldiff --names $A $B');
  t.regex(stderr, /may mean something else: cairo\.wal\.enabled\.default is true in \S+ and false in /);
  t.regex(stdout, /differs: table 'trades'/);
});

testWithQuestDB('a dump does not have the usual symbol capacity of its server', async t => {
  const server = await emptyServer();
  await server.execute('CREATE TABLE t (s SYMBOL, large SYMBOL CAPACITY 1024)');
  const run = await inProcess(t, { DB: server.url });
  const found = (await run('sqldump -q $DB')).stdout.match(/\S+ SYMBOL\b.*/g);
  t.deepEqual(found, ['s SYMBOL NOCACHE,', 'large SYMBOL CAPACITY 1024 NOCACHE']);
});

const TABLES = [
  'CREATE TABLE requested (ts TIMESTAMP, "order" SYMBOL CAPACITY 65536 NOCACHE INDEX CAPACITY 64, "a b" SYMBOL CAPACITY 1000, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE usual (ts TIMESTAMP, s SYMBOL, t SYMBOL CAPACITY 64) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE filled (ts TIMESTAMP, s SYMBOL CAPACITY 512) TIMESTAMP(ts) PARTITION BY DAY',
];

testWithQuestDB('a dump has the capacities that were requested, and a copy keeps them', async t => {
  for (const statement of TABLES) t.deepEqual(await questdb.execute(statement), { ddl: 'OK' });
  const run = await inProcess(t, { URL: questdb.url });
  const { stdout } = await run.ok('sqldump -q -o x.stream $URL; cat x.stream');
  t.deepEqual(stdout.match(/.* CAPACITY .*/g), [
    '\ts SYMBOL CAPACITY 512',
    '\t"order" SYMBOL CAPACITY 65536 NOCACHE INDEX CAPACITY 64,',
    '\t"a b" SYMBOL CAPACITY 1024,',
  ]);
  await questdb.dropAll();
  const applied = await run('sqlapply -v $URL < x.stream; sqlapply -v $URL < x.stream');
  t.regex(
    withoutStatements(applied.stderr),
    /^sqlapply: \S+: 3 statements: 3 applied\nsqlapply: \S+: 3 statements: 3 skipped\n$/,
    'capacities are read back and compared',
  );
  const { dataset } = await questdb.execute(
    "SELECT \"column\", symbolCapacity FROM table_columns('requested') WHERE type = 'SYMBOL'",
  );
  t.deepEqual(dataset, [
    ['order', 65536],
    ['a b', 1024],
    ['s', 256],
  ]);
  t.deepEqual((await run('sqldump -q $URL')).stdout, stdout);
  t.notRegex((await run('sqldump -q --verbatim $URL')).stdout, /SYMBOL CAPACITY/);
});

testWithQuestDB('a table with another capacity than a statement differs', async t => {
  await questdb.execute('CREATE TABLE t (s SYMBOL CAPACITY 1024)');
  const run = await inProcess(t, { URL: questdb.url });
  const { stderr } = await run.exits(1, 'echo "CREATE TABLE t (s SYMBOL CAPACITY 65536);" | sqlsplit | sqlapply $URL');
  t.regex(stderr, /column 's' capacity: 65536 .*, 1024 /);
  const simulated = await run.exits(
    1,
    'echo "CREATE TABLE t (s SYMBOL CAPACITY 65536);" | sqlsplit | sqlapply -n $URL',
  );
  t.regex(simulated.stderr, /column 's' capacity: 65536 .*, 1024 /);
});

testWithQuestDB('a capacity that the server raised by itself is not compared and not copied', async t => {
  for (const statement of TABLES) await questdb.execute(statement);
  const run = await inProcess(t, { URL: questdb.url });
  await run('sqldump -q -o before.stream $URL');
  for (const table of ['usual', 'filled'])
    await questdb.execute(`INSERT INTO ${table} (ts, s) SELECT x::timestamp, 's' || x FROM long_sequence(2000)`);
  for (const table of ['usual', 'filled']) await questdb.execute(`SELECT wait_wal_table('${table}')`);
  const { dataset } = await questdb.execute("SELECT symbolCapacity FROM table_columns('usual') WHERE \"column\" = 's'");
  t.true(Number(dataset?.[0]?.[0]) > 256);
  const { stdout } = await run('sqldump -q $URL');
  t.deepEqual(stdout.match(/SYMBOL CAPACITY \d+/g), ['SYMBOL CAPACITY 65536', 'SYMBOL CAPACITY 1024']);
  await run.ok('sqldiff before.stream $URL');
});

testWithQuestDB('a capacity that was raised just now, and is hardly used, is not copied either', async t => {
  await questdb.execute(TABLES[1] as string);
  await questdb.execute("INSERT INTO usual (ts, s) SELECT x::timestamp, 's' || x FROM long_sequence(250)");
  await questdb.execute("SELECT wait_wal_table('usual')");
  const { dataset } = await questdb.execute("SELECT symbolCapacity FROM table_columns('usual') WHERE \"column\" = 's'");
  t.deepEqual(dataset, [[512]]);
  const run = await inProcess(t, { URL: questdb.url });
  t.notRegex((await run('sqldump -q $URL')).stdout, /SYMBOL CAPACITY/);
});

testWithQuestDB('a table that is dropped meanwhile takes no capacity from the others', async t => {
  for (const statement of TABLES) await questdb.execute(statement);
  let asked = 0;
  const proxy = await recordingProxy(t, questdb, async query => {
    if (query.includes('symbolTableSize') && asked++ === 0) await questdb.execute('DROP TABLE usual');
    return undefined;
  });
  const run = await inProcess(t, { URL: proxy.url });
  t.is((await run.ok('sqldump -q $URL')).stdout.match(/SYMBOL CAPACITY \d+/g)?.length, 3);
});

testWithQuestDB('a capacity between the default of the server and the usual one is dumped', async t => {
  await questdb.execute('CREATE TABLE t (s SYMBOL CAPACITY 128)');
  const parameters = { dataset: [['cairo.default.symbol.capacity', '64']] };
  const proxy = await recordingProxy(t, questdb, query =>
    query.includes('SHOW PARAMETERS') ? [200, parameters] : undefined,
  );
  const run = await inProcess(t, { URL: proxy.url });
  t.regex((await run.ok('sqldump -q $URL')).stdout, /s SYMBOL CAPACITY 128/);
});

testWithQuestDB('a change of a type, and the way back, keep the capacity of a symbol', async t => {
  const [before, after] = ['SYMBOL CAPACITY 4096 NOCACHE', 'VARCHAR'].map(
    type => `CREATE TABLE t (ts TIMESTAMP, s ${type}) TIMESTAMP(ts) PARTITION BY DAY`,
  );
  await questdb.execute(before ?? '');
  const run = await inProcess(t, { URL: questdb.url });
  await run.ok(
    `echo '${after};' > after.sql && sqldiff --alter --undo undo.sql -o plan.sql after.sql $URL &&
     sqlapply --allow-plan $URL plan.sql && sqldiff after.sql $URL && sqlapply --allow-plan $URL undo.sql`,
  );
  const { dataset } = await questdb.execute(
    "SELECT type, symbolCapacity, symbolCached FROM table_columns('t') WHERE \"column\" = 's'",
  );
  t.deepEqual(dataset, [['SYMBOL', 4096, false]]);
});
