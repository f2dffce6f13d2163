/*!
 * `sqldump INSTANCE NAME…` dumps some objects: those that sqlgrep selects, and nothing is said of the others. `--include` and `--exclude`
 * select kinds: categories of the server, and kinds as in sqlgrep. Without SHOW CREATE DATABASE, what may have changed while it was
 * read is read again, and nothing else.
 */

import type { ExecutionContext } from 'ava';
import { parseKinds, parseSelection } from '../../packages/schema/src/selection.js';
import { waitUntilRefreshed } from '../support/background.js';
import { deferred } from '../support/deferred.js';
import { inProcess } from '../support/in-process.js';
import { loginAs, setUp } from '../support/principals.js';
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import type { Server } from '../support/server.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const file = fileScope();
let cluster: Server;

test.before(async () => {
  cluster = await serveHere(file, { edition: 'enterprise' });
  await setUp(
    cluster,
    'CREATE TABLE fx_quotes (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
    'CREATE TABLE fx_trades (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
    'CREATE TABLE venues (x INT)',
    'CREATE VIEW spreads AS (SELECT q.x FROM fx_quotes q JOIN venues v ON q.x = v.x)',
    'CREATE VIEW top AS (SELECT x FROM spreads)',
    'CREATE USER ann',
    'CREATE GROUP desk',
    'ADD USER ann TO desk',
    'GRANT SELECT ON venues TO ann',
    'GRANT SELECT ON fx_quotes, fx_trades TO ann',
  );
});

for (const [via, selections] of [
  ['database', ["'FX_*'", 'venues', 'top venues', '--with-deps top', '--with-deps ann', "'v*' ann"]],
  ['catalogue', ["'FX_*'", 'venues', 'top venues', '--with-deps top']], // it has no access control
] as const)
  for (const words of selections)
    test(`sqldump --via ${via} ${words} writes what sqlgrep selects`, async t => {
      const run = await inProcess(t, { ...loginAs(), URL: cluster.url });
      const stdout = await run.silent(`sqldump --via ${via} $URL ${words}`);
      t.is(stdout, (await run(`sqldump --via ${via} $URL | sqlgrep ${words}`)).stdout);
      t.true(stdout.length > 1);
    });

test('a name that matches nothing is named with a suggestion, and there is no commit mark', async t => {
  const run = await inProcess(t, { ...loginAs(), URL: cluster.url });
  for (const via of ['database', 'catalogue']) {
    const { code, stdout, stderr } = await run(`sqldump --via ${via} $URL venues fx_trdes 'nope*'`);
    t.deepEqual([code, stdout.at(-1) === '\0'], [1, false]);
    t.regex(stderr, /^sqldump: http:\S+: nothing matches 'fx_trdes', 'nope\*'; did you mean fx_trades\?\n$/);
  }
  const file = await run('sqldump -o x.sql $URL nope; echo $?; ls');
  t.is(file.stdout, '1\n');
});

/** An instance of which `half` may read t0, t2 and the view above t1. */
async function startHalfReadable(t: ExecutionContext) {
  const server = await serveHere(t, { edition: 'enterprise' });
  await setUp(
    server,
    ...['t0', 't1', 't2'].map(name => `CREATE TABLE ${name} (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY`),
    'CREATE VIEW above AS (SELECT x FROM t1)',
    "CREATE USER half WITH PASSWORD 'half'",
    'GRANT HTTP, LIST USERS, USER DETAILS TO half',
    ...['t0', 't2', 'above'].map(name => `GRANT SELECT ON ${name} TO half`),
  );
  return inProcess(t, { URL: server.url, ...loginAs('half') });
}

for (const via of ['database', 'catalogue'])
  test(`--via ${via}: only what was selected can be missing`, async t => {
    const run = await startHalfReadable(t);
    const dump = (words: string) => run(`sqldump --via ${via} --include SCHEMA $URL ${words}`);
    t.is((await dump('')).code, 77);
    for (const words of ['t0', 't0 t2 above', "'*2'", '--with-deps t0']) {
      const { code, stdout, stderr } = await dump(words);
      t.deepEqual([code, stdout.at(-1), stderr], [0, '\0', ''], words);
    }
    for (const words of ['t1', "'t*'", '--with-deps above']) {
      const { code, stdout, stderr } = await dump(words);
      t.deepEqual([code, stdout.at(-1) === '\0'], [77, false], words);
      t.regex(stderr, /^sqldump: \S+: the dump lacks table 't1' \(permission denied\); grant SELECT [^\n]*\n$/, words);
    }
    const partial = await dump('--partial t1');
    t.deepEqual([partial.code, partial.stdout], [0, '\0']);
    t.regex(partial.stderr, /: the dump lacks table 't1' \(permission denied\)\n$/);
  });

test('an invalid view that was not selected gets no warning', async t => {
  const server = await startSqlserve(t);
  await setUp(server, 'CREATE TABLE a (x INT)', 'CREATE TABLE b (x INT)', 'CREATE VIEW v AS (SELECT x FROM a)');
  const proxy = await recordingProxy(t, server, query =>
    /FROM views\(\) WHERE view_status/.test(query) ? [200, { dataset: [['v', 'gone']], count: 1 }] : undefined,
  );
  const run = await inProcess(t, { URL: proxy.url });
  t.is((await run('sqldump $URL b')).stderr, '');
  t.regex((await run('sqldump $URL v')).stderr, /^sqldump: http\S+: view 'v' is invalid on the source \(.*\); /);
});

test('--skip-invalid warns if the server does not say which views are invalid', async t => {
  const server = await startSqlserve(t);
  await setUp(server, 'CREATE TABLE a (x INT)', 'CREATE VIEW v AS (SELECT x FROM a)');
  const proxy = await recordingProxy(t, server, query =>
    /FROM views\(\) WHERE view_status/.test(query) ? [400, { error: 'no', position: 0 }] : undefined,
  );
  const run = await inProcess(t, { URL: proxy.url });
  t.is((await run.ok('sqldump $URL')).stderr, '');
  const { stderr } = await run.ok('sqldump --skip-invalid $URL');
  t.regex(stderr, /^sqldump: http\S+: invalid views may be in the dump despite --skip-invalid, because .*: no\n$/);
});

test('without SHOW CREATE DATABASE, only the named tables are asked for', async t => {
  const server = await startSqlserve(t);
  await setUp(server, 'CREATE TABLE a (x INT)', 'CREATE TABLE b (x INT)', 'CREATE VIEW v AS (SELECT x FROM a)');
  const proxy = await recordingProxy(t, server);
  const run = await inProcess(t, { URL: proxy.url });
  await run.ok('sqldump --via catalogue $URL b');
  t.false(proxy.queries.some(query => query.includes("SHOW CREATE TABLE 'a'")));
  t.true(proxy.queries.some(query => query.includes("SHOW CREATE TABLE 'b'")));
});

for (const [options, kinds] of [
  ['--include table,view', 'table view'],
  ['--include TABLES,View', 'table view'],
  ['--include grant', 'grant'],
  ['--exclude grant', 'group membership table user view'],
  ['--exclude schema,user', 'grant group membership'],
] as const)
  test(`sqldump ${options} dumps only ${kinds}`, async t => {
    const run = await inProcess(t, { ...loginAs(), URL: cluster.url });
    t.is((await run(`sqldump ${options} $URL | sqlgrep -l | cut -f1 | sort -u | paste -sd' '`)).stdout.trim(), kinds);
  });

test('the clause contains only categories, and only those that the kinds require', t => {
  t.is(parseSelection(['table', 'VIEWS', 'grant', 'membership']).clause, ' INCLUDE (TABLES, VIEWS, PERMISSIONS)');
  t.is(parseSelection([], ['grant']).clause, '');
  t.is(parseSelection([], ['grant', 'user']).clause, ' EXCLUDE (USERS)');
  t.deepEqual([...parseKinds(['Permissions,table'])], ['membership', 'assumption', 'grant', 'table']);
  t.throws(() => parseSelection(['other']), { message: 'a dump contains no statements of the kind other' });
});

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
  const stdout = await run.silent('sqldump --via catalogue $PROXY');
  t.true(lists > 1);
  t.deepEqual(stdout, (await run('sqldump --via catalogue $DIRECT')).stdout);
  const reads = proxy.queries.filter(query => query.startsWith('SHOW CREATE'));
  return {
    dump: stdout,
    reads: reads.map(query => Array.from(query.matchAll(/'(\w+)'/g), ([, name]) => name).sort()),
  };
}

const VERSIONS = /^SELECT name, sequencerTxn FROM wal_tables\(\)/;

const ALL = ['changed', 'kept', 'seen', 'summed', 'unlogged'];

// The first test, as no query has succeeded.
testWithQuestDB('if a view named tables hides the ids, a table created again is read again', async t => {
  const changes = ['DROP TABLE changed', `CREATE TABLE changed (ts TIMESTAMP, z INT) ${LOGGED}`];
  const objects = [...OBJECTS, 'CREATE VIEW tables AS (SELECT x FROM kept)'];
  t.regex((await dumpWhile(t, changes, { objects, list: /^SHOW TABLES/ })).dump, /\tz INT/);
});

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
