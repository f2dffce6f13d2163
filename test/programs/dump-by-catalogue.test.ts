/*! The dump of a server without SHOW CREATE DATABASE: what may have changed while it was read is read again, and nothing else. */
import type { ExecutionContext } from 'ava';
import { waitUntilRefreshed } from '../support/background.js';
import { deferred } from '../support/deferred.js';
import { inProcess } from '../support/in-process.js';
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { fileScope } from '../support/scope.js';

const file = fileScope();
/** A new one, because a server keeps the plan of a query that succeeded once. */
const server = startQuestDB(file, {});

const LOGGED = 'TIMESTAMP(ts) PARTITION BY DAY WAL';
const OBJECTS = [
  `CREATE TABLE changed (ts TIMESTAMP, x INT) ${LOGGED}`,
  `CREATE TABLE kept (ts TIMESTAMP, x INT) ${LOGGED}`,
  'CREATE TABLE unlogged (x INT)',
  'CREATE VIEW seen AS (SELECT x FROM kept)',
  'CREATE MATERIALIZED VIEW summed REFRESH MANUAL AS (SELECT ts, sum(x) x FROM kept SAMPLE BY 1h) PARTITION BY DAY',
];

/** Dumps the objects while these statements run before the second list; returns the dump, and each list of objects read. */
async function dumpWhile(
  t: ExecutionContext,
  statements: string[],
  { objects = OBJECTS, list = /\bFROM tables\(\)/ } = {},
) {
  const questdb = await server;
  await questdb.dropAll();
  for (const statement of objects) t.deepEqual(await questdb.execute(statement), { ddl: 'OK' });
  await waitUntilRefreshed(questdb);
  let [lists, versions] = [0, 0];
  const { promise: finished, resolve: finish } = deferred();
  const proxy = await recordingProxy(t, questdb, async query => {
    const isSecondList = list.test(query) && ++lists === 2;
    if (isSecondList) for (const statement of statements) t.is((await questdb.execute(statement)).error, undefined);
    if (isSecondList) finish();
    // They are requested at the same time as the list, and would have no version of a table that is not there for a moment.
    if (VERSIONS.test(query) && ++versions === 2) await finished;
    return undefined;
  });
  const run = await inProcess(t, { PROXY: proxy.url, DIRECT: questdb.url });
  const { code, stdout, stderr } = await run('sqldump --via catalogue $PROXY');
  t.deepEqual([code, stderr], [0, '']);
  t.true(lists > 1);
  t.deepEqual(stdout, (await run('sqldump --via catalogue $DIRECT')).stdout);
  const reads = proxy.queries.filter(query => query.startsWith('SHOW CREATE'));
  return {
    dump: String(stdout),
    reads: reads.map(query => Array.from(query.matchAll(/'(\w+)'/g), ([, name]) => name).sort()),
  };
}

const VERSIONS = /^SELECT name, sequencerTxn FROM wal_tables\(\)/;

const ALL = ['changed', 'kept', 'seen', 'summed', 'unlogged'];

// The first test, as no query has succeeded.
testWithQuestDB(
  'without the ids of tables(), which a view of that name hides, a table created again is read again',
  async t => {
    const { dump } = await dumpWhile(
      t,
      ['DROP TABLE changed', `CREATE TABLE changed (ts TIMESTAMP, z INT) ${LOGGED}`],
      {
        objects: [...OBJECTS, 'CREATE VIEW tables AS (SELECT x FROM kept)'],
        list: /^SHOW TABLES/,
      },
    );
    t.regex(dump, /\tz INT/);
  },
);

testWithQuestDB('of a schema that stays the same, only tables without a log are read twice', async t => {
  t.deepEqual((await dumpWhile(t, [])).reads, [ALL, ['unlogged']]);
});

testWithQuestDB('what an ALTER changes during the dump is read again until it stays the same', async t => {
  const { reads, dump } = await dumpWhile(t, [
    'ALTER TABLE changed ADD COLUMN y INT',
    "SELECT wait_wal_table('changed')",
    'ALTER TABLE unlogged ADD COLUMN y INT',
    'ALTER VIEW seen AS (SELECT x, ts FROM kept)',
  ]);
  t.deepEqual(reads[0], ALL);
  t.false(reads.slice(1).flat().includes('kept'));
  t.is(dump.match(/\ty INT/g)?.length, 2);
});

testWithQuestDB('a table that is dropped and created again during the dump is read again', async t => {
  const { reads, dump } = await dumpWhile(t, [
    'DROP TABLE changed',
    `CREATE TABLE changed (ts TIMESTAMP, z INT) ${LOGGED}`,
    'CREATE TABLE added (x INT)',
  ]);
  t.deepEqual(reads.slice(0, 2), [ALL, ['added', 'changed', 'unlogged']]);
  t.false(reads.slice(2).flat().includes('kept'));
  t.regex(dump, /\tz INT/);
});
