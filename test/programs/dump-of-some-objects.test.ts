/*!
 * `sqldump INSTANCE NAME…` dumps some objects: those that sqlgrep selects, and nothing is said of the others. `--include` and `--exclude`
 * select kinds: categories of the server, and kinds as in sqlgrep.
 */

import { parseKinds, parseSelection } from '@sqlpipe/schema';
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { loginAs, setUp } from '../support/principals.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

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
      const { code, stdout, stderr } = await run(`sqldump --via ${via} $URL ${words}`);
      t.deepEqual([code, stderr], [0, '']);
      t.is(String(stdout), String((await run(`sqldump --via ${via} $URL | sqlgrep ${words}`)).stdout));
      t.true(stdout.length > 1);
    });

test('a name that matches nothing is named with a suggestion, and there is no commit mark', async t => {
  const run = await inProcess(t, { ...loginAs(), URL: cluster.url });
  for (const via of ['database', 'catalogue']) {
    const { code, stdout, stderr } = await run(`sqldump --via ${via} $URL venues fx_trdes 'nope*'`);
    t.deepEqual([code, stdout.at(-1) === 0], [1, false]);
    t.regex(stderr, /^sqldump: http:\S+: nothing matches 'fx_trdes', 'nope\*'; did you mean fx_trades\?\n$/);
  }
  const file = await run('sqldump -o x.sql $URL nope; echo $?; ls');
  t.is(String(file.stdout), '1\n');
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
      t.deepEqual([code, stdout.at(-1), stderr], [0, 0, ''], words);
    }
    for (const words of ['t1', "'t*'", '--with-deps above']) {
      const { code, stdout, stderr } = await dump(words);
      t.deepEqual([code, stdout.at(-1) === 0], [77, false], words);
      t.regex(stderr, /^sqldump: \S+: the dump lacks table 't1' \(permission denied\); grant SELECT [^\n]*\n$/, words);
    }
    const partial = await dump('--partial t1');
    t.deepEqual([partial.code, String(partial.stdout)], [0, '\0']);
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
  t.regex((await run('sqldump $URL v')).stderr, /^sqldump: view 'v' is invalid on the source \(.*\); /);
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
    const { stdout } = await run(`sqldump ${options} $URL | sqlgrep -l | cut -f1 | sort -u | paste -sd' '`);
    t.is(String(stdout).trim(), kinds);
  });

test('the clause contains only categories, and only those that the kinds require', t => {
  t.is(parseSelection(['table', 'VIEWS', 'grant', 'membership']).clause, ' INCLUDE (TABLES, VIEWS, PERMISSIONS)');
  t.is(parseSelection([], ['grant']).clause, '');
  t.is(parseSelection([], ['grant', 'user']).clause, ' EXCLUDE (USERS)');
  t.deepEqual([...parseKinds(['Permissions,table'])], ['membership', 'assumption', 'grant', 'table']);
  t.throws(() => parseSelection(['other']), { message: 'a dump contains no statements of the kind other' });
});
