/*! Symbol capacities: a requested one is a part of the schema, one that the server raised by itself is not. */

import { inProcess } from '../support/in-process.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { fileScope } from '../support/scope.js';
import { withoutStatements } from '../support/shell.js';

const server = borrowQuestDB(fileScope());

const TABLES = [
  'CREATE TABLE requested (ts TIMESTAMP, "order" SYMBOL CAPACITY 65536 NOCACHE INDEX CAPACITY 64, "a b" SYMBOL CAPACITY 1000, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE usual (ts TIMESTAMP, s SYMBOL, t SYMBOL CAPACITY 64) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE filled (ts TIMESTAMP, s SYMBOL CAPACITY 512) TIMESTAMP(ts) PARTITION BY DAY',
];

testWithQuestDB('a dump has the capacities that were requested, and a copy keeps them', async t => {
  const questdb = await server;
  await questdb.dropAll();
  for (const statement of TABLES) t.deepEqual(await questdb.execute(statement), { ddl: 'OK' });
  const run = await inProcess(t, { URL: questdb.url });
  const { code, stdout } = await run('sqldump -q -o x.stream $URL; cat x.stream');
  t.is(code, 0);
  t.deepEqual(String(stdout).match(/.* CAPACITY .*/g), [
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
  t.notRegex(String((await run('sqldump -q --verbatim $URL')).stdout), /SYMBOL CAPACITY/);
});

testWithQuestDB('a table with another capacity than a statement differs', async t => {
  const questdb = await server;
  await questdb.dropAll();
  await questdb.execute('CREATE TABLE t (s SYMBOL CAPACITY 1024)');
  const run = await inProcess(t, { URL: questdb.url });
  const { code, stderr } = await run('echo "CREATE TABLE t (s SYMBOL CAPACITY 65536);" | sqlsplit | sqlapply $URL');
  t.is(code, 1);
  t.regex(stderr, /column 's' capacity: 65536 .*, 1024 /);
});

testWithQuestDB('a capacity that the server raised by itself is not compared and not copied', async t => {
  const questdb = await server;
  await questdb.dropAll();
  for (const statement of TABLES) await questdb.execute(statement);
  const run = await inProcess(t, { URL: questdb.url });
  await run('sqldump -q -o before.stream $URL');
  for (const table of ['usual', 'filled'])
    await questdb.execute(`INSERT INTO ${table} (ts, s) SELECT x::timestamp, 's' || x FROM long_sequence(2000)`);
  for (const table of ['usual', 'filled']) await questdb.execute(`SELECT wait_wal_table('${table}')`);
  const { dataset } = await questdb.execute("SELECT symbolCapacity FROM table_columns('usual') WHERE \"column\" = 's'");
  t.true(Number(dataset?.[0]?.[0]) > 256);
  const { stdout } = await run('sqldump -q $URL');
  t.deepEqual(String(stdout).match(/SYMBOL CAPACITY \d+/g), ['SYMBOL CAPACITY 65536', 'SYMBOL CAPACITY 1024']);
  t.is((await run('sqldiff before.stream $URL')).code, 0);
});

testWithQuestDB('a capacity that was raised just now, and is hardly used, is not copied either', async t => {
  const questdb = await server;
  await questdb.dropAll();
  await questdb.execute(TABLES[1] as string);
  await questdb.execute("INSERT INTO usual (ts, s) SELECT x::timestamp, 's' || x FROM long_sequence(250)");
  await questdb.execute("SELECT wait_wal_table('usual')");
  const { dataset } = await questdb.execute("SELECT symbolCapacity FROM table_columns('usual') WHERE \"column\" = 's'");
  t.deepEqual(dataset, [[512]]);
  const run = await inProcess(t, { URL: questdb.url });
  t.notRegex(String((await run('sqldump -q $URL')).stdout), /SYMBOL CAPACITY/);
});

testWithQuestDB('a table that is dropped meanwhile takes no capacity from the others', async t => {
  const questdb = await server;
  await questdb.dropAll();
  for (const statement of TABLES) await questdb.execute(statement);
  let asked = 0;
  const proxy = await recordingProxy(t, questdb, async query => {
    if (query.includes('symbolTableSize') && asked++ === 0) await questdb.execute('DROP TABLE usual');
    return undefined;
  });
  const run = await inProcess(t, { URL: proxy.url });
  const { code, stdout } = await run('sqldump -q $URL');
  t.is(code, 0);
  t.is(String(stdout).match(/SYMBOL CAPACITY \d+/g)?.length, 3);
});

testWithQuestDB('a change of a type, and the way back, keep the capacity of a symbol', async t => {
  const questdb = await server;
  await questdb.dropAll();
  const [before, after] = ['SYMBOL CAPACITY 4096 NOCACHE', 'VARCHAR'].map(
    type => `CREATE TABLE t (ts TIMESTAMP, s ${type}) TIMESTAMP(ts) PARTITION BY DAY`,
  );
  await questdb.execute(before ?? '');
  const run = await inProcess(t, { URL: questdb.url });
  const { code, stderr } = await run(
    `echo '${after};' > after.sql && sqldiff --alter --undo undo.sql -o plan.sql after.sql $URL &&
     sqlapply --allow-plan $URL plan.sql && sqldiff after.sql $URL && sqlapply --allow-plan $URL undo.sql`,
  );
  t.is(code, 0, stderr);
  const { dataset } = await questdb.execute(
    "SELECT type, symbolCapacity, symbolCached FROM table_columns('t') WHERE \"column\" = 's'",
  );
  t.deepEqual(dataset, [['SYMBOL', 4096, false]]);
});
