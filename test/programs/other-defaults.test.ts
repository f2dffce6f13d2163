/*! A server whose configuration fills in other defaults than the built-in ones: what plans and changes rely on is written out. */
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { shell } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';

/** Settings of a target with other defaults. */
const OTHER_DEFAULTS = {
  QDB_CAIRO_WAL_ENABLED_DEFAULT: 'false',
  QDB_CAIRO_DEFAULT_SYMBOL_CACHE_FLAG: 'false',
  QDB_CAIRO_INDEX_VALUE_BLOCK_SIZE: '512',
};

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

testWithQuestDB('QuestDB with other defaults: a plan leads to the schema that it is for', async t => {
  const [server, source] = [await startQuestDB(t, OTHER_DEFAULTS), await startSqlserve(t)];
  for (const statement of BEFORE) t.is((await server.execute(statement)).error, undefined, statement);
  await server.execute("INSERT INTO r VALUES ('2026-01-01', 'a', 'b'), ('2026-01-02', 'c', 'd')");
  const run = await shell(t, { DB: server.url, SRC: source.url, WANTED: WANTED.join('\n') });
  await run('echo "$WANTED" > wanted.sql');

  const planned = await run('sqldiff --alter --rebuild r wanted.sql $DB > plan');
  t.like(planned, { code: 0, stderr: '' });
  t.like(await run('sqlapply --allow-plan $DB < plan'), { code: 0, stderr: '' });
  t.like(await run('sqldiff --ignore-extra wanted.sql $DB'), { code: 0, stderr: '', stdout: Buffer.alloc(0) });

  // From one instance to another, whose defaults differ.
  await source.execute(`CREATE TABLE i (ts TIMESTAMP, s SYMBOL, x SYMBOL INDEX) ${DAILY}`);
  t.like(await run('sqldiff --alter --ignore-extra $SRC $DB > plan'), { code: 0, stderr: '' });
  t.like(await run('sqlapply --allow-plan $DB < plan'), { code: 0, stderr: '' });
  t.like(await run('sqldiff -q --ignore-extra $SRC $DB'), { code: 0, stdout: Buffer.alloc(0) });

  // Changes written by hand, and their dry run.
  await run("echo 'ALTER TABLE p ADD COLUMN h SYMBOL; ALTER TABLE p ADD COLUMN j SYMBOL INDEX;' > change.sql");
  t.like(await run('sqlapply --dry-run --allow ALTER $DB change.sql'), { code: 0, stderr: '' });
  t.like(await run('sqlapply --allow ALTER $DB change.sql'), { code: 0, stderr: '' });
});
