/*! A dump has every object that the server lists; what it lacks is named, and then it has no commit mark. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { admin, executeAs, loginAs, setUp } from '../support/principals.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const LIST = 'SELECT table_name, table_type, id FROM tables()';

const OBJECTS = [
  'CREATE TABLE a (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE z (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE VIEW b AS (SELECT x FROM z)',
  'CREATE VIEW c AS (SELECT x FROM b)',
];

type Listed = [name: string, type: string, id: number];
const LISTED: Listed[] = [
  ['a', 'T', 1],
  ['z', 'T', 2],
  ['b', 'V', 3],
  ['c', 'V', 4],
];

const rowsOf = (dataset: unknown[][]): Instead => [200, { dataset, count: dataset.length }];

/** An sqlserve with the objects whose dump lacks some, and whose lists are other ones. The last list is used again. */
async function startIncomplete(
  t: ExecutionContext,
  { without = [], lists = [LISTED] }: { without?: string[]; lists?: (Listed[] | 'rejected' | 'closed')[] },
) {
  const server = await startSqlserve(t);
  for (const statement of OBJECTS) t.deepEqual(await server.execute(statement), { ddl: 'OK' });
  const rows = (await server.execute('SHOW CREATE DATABASE')).dataset as string[][];
  let listings = 0;
  const proxy = await recordingProxy(t, server, query => {
    if (query === 'SHOW CREATE DATABASE')
      return rowsOf(rows.filter(([row = '']) => !without.some(name => row.includes(` '${name}' `))));
    if (query !== LIST) return undefined;
    const list = lists[Math.min(listings++, lists.length - 1)] as Listed[] | 'rejected' | 'closed';
    if (list === 'closed') return list;
    return list === 'rejected' ? [400, { error: 'no', position: 0 }] : rowsOf(list);
  });
  return { server, proxy, run: await inProcess(t, { URL: proxy.url, SERVER: server.url }) };
}

const namesIn = (stream: string): string[] =>
  Array.from(stream.matchAll(/CREATE [A-Z ]+ '?(\w+)'? /g), ([, name = '']) => name);

test('the list is one more request, and nothing is said of a complete dump', async t => {
  const server = await startSqlserve(t);
  await server.execute('CREATE TABLE t (x INT)');
  const proxy = await recordingProxy(t, server);
  const run = await inProcess(t, { URL: proxy.url });
  t.like(await run('sqldump -v $URL > x'), { code: 0, stderr: 'sqldump: 1 statement\n' });
  t.deepEqual(proxy.queries.sort(), [LIST, 'SHOW CREATE DATABASE']);
});

test('an object that the dump lacks is added in its place', async t => {
  const { run } = await startIncomplete(t, { without: ['z', 'b'] });
  const { code, stdout, stderr } = await run('sqldump $URL');
  t.deepEqual([code, stderr, namesIn(stdout)], [0, '', ['a', 'z', 'b', 'c']]);
  t.deepEqual(stdout, (await run('sqldump $SERVER')).stdout);
  const verbose = (await run('sqldump -v $URL > x')).stderr;
  t.regex(verbose, /: view 'b' was created or replaced while the schema was read\n/);
  t.regex(verbose, /: table 'z' was created or replaced while the schema was read\n/);
});

test('an object that nothing refers to is added at the end', async t => {
  const { run } = await startIncomplete(t, { without: ['a', 'c'] });
  const { code, stdout } = await run('sqldump $URL');
  t.deepEqual([code, namesIn(stdout)], [0, ['z', 'b', 'a', 'c']]);
  t.is(stdout.at(-1), '\0');
});

test('an object that is gone is a note, which only -v shows', async t => {
  const lists = [[...LISTED, ['tmp_1', 'T', 5]], LISTED] as Listed[][];
  const silent = await startIncomplete(t, { lists });
  const quiet = await silent.run.ok('sqldump $URL');
  t.deepEqual([quiet.stderr, namesIn(quiet.stdout)], ['', ['a', 'z', 'b', 'c']]);
  t.is(silent.proxy.queries.filter(query => query === LIST).length, 2);
  const { run, proxy } = await startIncomplete(t, { lists });
  const { stdout, stderr } = await run.ok('sqldump -v $URL');
  t.deepEqual(namesIn(stdout), ['a', 'z', 'b', 'c']);
  t.regex(stderr, /^sqldump: \S+: table 'tmp_1' was dropped or renamed while the schema was read$/m);
  t.is(proxy.queries.filter(query => query === LIST).length, 2); // the second one, because it may have another name now
});

test('an object that got another name meanwhile is added; a new one is a note', async t => {
  const before: Listed[] = [['old', 'T', 1], ...LISTED.slice(1)];
  const { run } = await startIncomplete(t, { without: ['a'], lists: [before, [...LISTED, ['new', 'T', 5]]] });
  const { code, stdout, stderr } = await run('sqldump -v $URL');
  t.deepEqual([code, namesIn(stdout)], [0, ['z', 'b', 'c', 'a']]);
  t.regex(stderr, /table 'old' was dropped or renamed/);
  t.regex(stderr, /table 'new' was created while the schema was read, and is not in the dump/);
});

test('objects that never stop changing are a failure', async t => {
  const lists = Array.from({ length: 9 }, (_, i): Listed[] => [...LISTED, [`tmp_${i}`, 'T', 5]]);
  const { run } = await startIncomplete(t, { lists });
  const { stdout, stderr } = await run.exits(69, 'sqldump $URL');
  t.regex(stderr, /: the schema keeps changing while it is read; try again when nothing changes it\n$/);
  t.not(stdout.at(-1), '\0');
});

test('a list that arrives late is waited for, as long as --timeout says', async t => {
  const server = await startSqlserve(t);
  await setUp(server, ...OBJECTS);
  const proxy = await recordingProxy(t, server, async query => {
    if (query === LIST) await pause(5500); // longer than the queries that a dump can do without may take
    return query === 'SHOW CREATE DATABASE' ? rowsOf([]) : undefined;
  });
  const run = await inProcess(t, { URL: proxy.url });
  const { stdout, stderr } = await run.ok('sqldump $URL');
  t.deepEqual([stderr, namesIn(stdout).sort()], ['', ['a', 'b', 'c', 'z']]);
  const impatient = await run.ok('sqldump --timeout 2 $URL');
  t.regex(impatient.stderr, /^sqldump: http\S+: the dump may lack objects .*: http:\S+: no answer within 2 s; /);
});

test('a list that gets no reply is requested once more', async t => {
  const { run } = await startIncomplete(t, { without: ['z'], lists: ['closed', LISTED] });
  const { code, stdout, stderr } = await run('sqldump $URL');
  t.deepEqual([code, stderr, namesIn(stdout)], [0, '', ['a', 'z', 'b', 'c']]);
  const other = await startIncomplete(t, { without: ['z'], lists: ['closed', 'closed'] });
  t.regex((await other.run.ok('sqldump $URL')).stderr, /: the dump may lack objects .*: the connection was closed/);
  t.is(other.proxy.queries.filter(query => query === LIST).length, 2);
});

testWithQuestDB('a server that rejects the list once is not taken for one without plain views', async t => {
  const server = await borrowQuestDB(t);
  for (const statement of OBJECTS) t.is((await server.execute(statement)).error, undefined);
  let count = 0;
  const { url } = await recordingProxy(t, server, query =>
    query === LIST && ++count === 1 ? [400, { error: 'query aborted', position: 0 }] : undefined,
  );
  const { stdout } = await (await inProcess(t, { URL: url })).ok('sqldump --via catalogue $URL');
  t.regex(stdout, /CREATE VIEW 'b'/);
});

test('a list that cannot be fetched is a warning', async t => {
  const { run } = await startIncomplete(t, { lists: ['rejected'] });
  const { code, stdout, stderr } = await run('sqldump $URL');
  // The functions for each kind list them too.
  t.deepEqual([code, stderr, namesIn(stdout)], [0, '', ['a', 'z', 'b', 'c']]);
  const server = await startSqlserve(t);
  const silent = await recordingProxy(t, server, query =>
    query.startsWith('SHOW CREATE') ? undefined : [400, { error: 'no', position: 0 }],
  );
  const other = await inProcess(t, { URL: silent.url });
  const warning = /^sql[a-z]+: http\S+: the dump may lack .* does not list its objects: .*: no$/m;
  t.regex((await other('sqldump $URL > x')).stderr, warning);
  t.regex((await other('sqlapply --dry-run $URL < x')).stderr, warning);
  t.regex((await other('sqldiff x $URL')).stderr, /^sqldiff: http\S+: the dump may lack/m);
});

test('objects that only the dump has are named: the list may be filtered', async t => {
  const { run } = await startIncomplete(t, { lists: [LISTED.slice(0, 3)] });
  t.deepEqual((await run('sqldump $URL > x')).stderr, '');
  const { stderr } = await run.ok('sqldump -v $URL > x');
  t.regex(stderr, /: the server's list lacks 'c': either these objects are new, or this account sees only a part/);
});

test('an object of a kind that nobody knows is named, and there is no commit mark', async t => {
  const { run } = await startIncomplete(t, { lists: [[...LISTED, ['q', 'Q', 5]]] });
  const { code, stdout, stderr } = await run('sqldump $URL');
  t.deepEqual([code, namesIn(stdout)], [76, ['a', 'z', 'b', 'c']]);
  t.not(stdout.at(-1), '\0');
  t.regex(stderr, /: the dump lacks 'q' \(of an unknown kind, Q\); use a newer sqlpipe, or accept .* --partial\n$/);
  const partial = await run('sqldump --partial $URL');
  t.deepEqual([partial.code, partial.stdout.at(-1)], [0, '\0']);
  t.regex(partial.stderr, /: the dump lacks 'q' \(of an unknown kind, Q\)\n$/);
  // Tables only: then it is not missing.
  await run.ok('sqldump --include TABLES $URL');
});

/** An enterprise sqlserve with five tables and three views, of which `half` may read only some. */
async function startHalfReadable(t: ExecutionContext) {
  const server = await serveHere(t, { edition: 'enterprise' });
  const other = await startSqlserve(t);
  const tables = ['t0', 't1', 't2', 't3', 'one column'];
  await setUp(
    server,
    ...tables.map(name => `CREATE TABLE '${name}' (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY`),
    'CREATE VIEW hidden AS (SELECT x FROM t0)',
    'CREATE VIEW above AS (SELECT x FROM t1)',
    'CREATE MATERIALIZED VIEW hourly AS (SELECT ts, max(x) x FROM t0 SAMPLE BY 1h) PARTITION BY DAY',
    "CREATE USER half WITH PASSWORD 'half'",
    'GRANT HTTP, LIST USERS, USER DETAILS TO half',
    'GRANT SELECT ON t0 TO half',
    'GRANT SELECT ON t2 TO half',
    "GRANT SELECT ON 'one column'(x) TO half",
    'GRANT SELECT ON above TO half',
  );
  return { server, run: await inProcess(t, { URL: server.url, OTHER: other.url, ...loginAs('half') }), other };
}

const HALF = ['one column', 't0', 't2', 'above'];
const UNREADABLE =
  /: the dump lacks (?=.*table 't1' \(permission denied\))(?=.*table 't3' \(permission denied\))(?=.*view 'hidden' \(permission denied\))(?=.*materialized view 'hourly' \(permission denied\)).*; grant SELECT on each to this account, or accept a partial dump with --partial\n$/;

const namesOfAll = (stream: string): string[] =>
  Array.from(stream.matchAll(/^\0?CREATE [A-Z ]+ '([^']+)' /gm), ([, name = '']) => name);

test('without SELECT on some objects: status 77, their names, and no commit mark', async t => {
  const { run, other } = await startHalfReadable(t);
  for (const options of ['--no-owner', '--via catalogue']) {
    const { stdout, stderr } = await run.exits(77, `sqldump --include SCHEMA ${options} $URL`);
    t.regex(stderr, UNREADABLE, options);
    t.deepEqual(namesOfAll(stdout).sort(), [...HALF].sort());
    t.not(stdout.at(-1), '\0');
  }
  await run.exits(65, 'sqldump --include SCHEMA --no-owner $URL | sqlapply $OTHER');
  const file = await run('sqldump --include SCHEMA -o x.sql $URL; echo $?; ls');
  t.is(file.stdout, '77\n');
  t.deepEqual((await other.execute('SELECT table_name FROM tables()')).dataset, []);
});

test('--partial accepts a dump without them, and says what is missing', async t => {
  const { run } = await startHalfReadable(t);
  for (const via of ['', '--via catalogue']) {
    const { stdout, stderr } = await run.ok(`sqldump ${via} --include SCHEMA --partial $URL`);
    t.is(stdout.at(-1), '\0');
    t.deepEqual(namesOfAll(stdout).sort(), [...HALF].sort());
    const lacking = Array.from(stderr.matchAll(/^sqldump: http\S+: the dump lacks (.*) \(permission denied\)$/gm));
    const names = lacking.map(([, name]) => name).sort();
    t.deepEqual(names, ["materialized view 'hourly'", "table 't1'", "table 't3'", "view 'hidden'"], stderr);
    t.is(stderr.match(/\n/g)?.length, 4);
  }
});

test('copy, sqldiff and sqlapply --alter do not act on a part of a schema', async t => {
  const { run, other } = await startHalfReadable(t);
  await run('printf "CREATE TABLE t1 (ts TIMESTAMP) TIMESTAMP(ts);\\n\\0" > x.stream');
  for (const command of [
    'sqlpipe copy --include SCHEMA --no-owner $URL $OTHER',
    'sqldiff --include SCHEMA x.stream $URL',
    'sqldiff --include SCHEMA --alter x.stream $URL',
    'sqlapply --alter $URL < x.stream',
  ]) {
    const { code, stdout, stderr } = await run(command);
    t.deepEqual([code, stdout.length], [77, 0], command);
    t.regex(stderr, /: the dump lacks .*table 't1' \(permission denied\)/, command);
  }
  t.deepEqual((await other.execute('SELECT table_name FROM tables()')).dataset, []);
});

test('live views that the statement leaves out are added before the rights', async t => {
  const server = await serveHere(t, { edition: 'enterprise' });
  await setUp(
    server,
    'CREATE TABLE base (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
    'CREATE LIVE VIEW running FLUSH EVERY 1s START FROM NOW AS (SELECT ts, sum(x) OVER (PARTITION BY x ORDER BY ts ROWS 9 PRECEDING) s FROM base)',
    'CREATE VIEW seen AS (SELECT s FROM running)',
    'CREATE USER ann',
    'GRANT SELECT ON base TO ann',
  );
  const proxy = await recordingProxy(t, server, async query => {
    if (query !== 'SHOW CREATE DATABASE') return undefined;
    const { dataset = [] } = await executeAs(server, admin, query);
    return rowsOf(dataset.filter(([row]) => !String(row).startsWith('CREATE LIVE VIEW')));
  });
  const run = await inProcess(t, { URL: proxy.url, ...loginAs() });
  const { stdout, stderr } = await run.ok('sqldump -v $URL');
  t.deepEqual(stderr, 'sqldump: 5 statements\n');
  t.deepEqual(
    Array.from(stdout.matchAll(/^\0?(CREATE USER|CREATE [A-Z ]*VIEW|CREATE TABLE|GRANT)/gm), ([, head]) => head),
    ['CREATE USER', 'CREATE TABLE', 'CREATE LIVE VIEW', 'CREATE VIEW', 'GRANT'],
  );
});

/** The number of dumps; QuestDB is dumped while others create and drop tables. */
const DUMPS = Number(process.env.DUMPS_WHILE_CHANGING ?? 10);

testWithQuestDB('while tables are created and dropped, a dump has what lasts, and names what it lacks', async t => {
  const questdb = await borrowQuestDB(t);
  const lasting = new Set<string>();
  const keep = async (name: string, query: string) => {
    t.is((await questdb.execute(`CREATE ${query}`)).error, undefined);
    lasting.add(name);
  };
  for (let i = 0; i < 20; i++) await keep(`kept_${i}`, `TABLE kept_${i} (ts TIMESTAMP, x INT) TIMESTAMP(ts)`);
  await keep('above', 'VIEW above AS (SELECT x FROM kept_0)');
  const run = await inProcess(t, { URL: questdb.url });
  let changes = 0;
  let isRunning = true;
  const change = async (worker: number) => {
    for (let i = 0; isRunning; i++) {
      const name = `tmp_${worker}_${i}`;
      await questdb.execute(`CREATE TABLE ${name} (x INT)`);
      await questdb.execute(`CREATE VIEW ${name}_view AS (SELECT x FROM ${name})`);
      await questdb.execute(`DROP VIEW ${name}_view`);
      await questdb.execute(`DROP TABLE ${name}`);
      if (i % 40 === 0) await keep(`kept_${worker}_${i}`, `TABLE kept_${worker}_${i} (x INT)`);
      changes += 4;
      await pause(1);
    }
  };
  const workers = [change(0), change(1)];
  const start = Date.now();
  try {
    for (let i = 0; i < DUMPS; i++) {
      const before = [...lasting];
      const { stdout, stderr } = await run.ok('sqldump -v $URL');
      t.is(stdout.at(-1), '\0');
      const found = namesOfAll(stdout);
      const wrong = before.filter(name => !found.includes(name));
      t.deepEqual(wrong, []);
      // Objects that came or went meanwhile are there with what they need, or are named.
      for (const name of found)
        if (name.endsWith('_view')) t.true(found.indexOf(name.replace('_view', '')) < found.indexOf(name), stderr);
      for (const name of found) t.true(lasting.has(name) || name.startsWith('tmp_'), name);
    }
  } finally {
    isRunning = false;
    await Promise.all(workers);
  }
  t.log(`${Math.round((1000 * changes) / (Date.now() - start))} changes a second`);
});

test('if objects come and go all the time, a dump through the catalogue has those of the last two lists', async t => {
  const server = await startSqlserve(t);
  for (const statement of OBJECTS) await server.execute(statement);
  let lists = 0;
  const proxy = await recordingProxy(t, server, async query => {
    if (query !== LIST) return undefined;
    await server.execute(`DROP TABLE IF EXISTS tmp_${lists++}`);
    await server.execute(`CREATE TABLE tmp_${lists} (x INT)`);
    return undefined;
  });
  const run = await inProcess(t, { URL: proxy.url });
  const { code, stdout, stderr } = await run('sqldump -v --via catalogue $URL');
  t.deepEqual([code, namesIn(stdout), lists], [0, ['a', 'z', 'b', 'c'], 6]);
  t.regex(stderr, /: table 'tmp_6' was created while the schema was read, and is not in the dump\n/);
  t.regex(stderr, /: table 'tmp_5' was dropped or renamed while the schema was read, and is not in the dump\n/);
});

test('a table that keeps changing while the catalogue is read is a failure', async t => {
  const server = await startSqlserve(t);
  await server.execute('CREATE TABLE t (x INT)');
  let lists = 0;
  const proxy = await recordingProxy(t, server, async query => {
    if (query === LIST) await server.execute(`ALTER TABLE t ADD COLUMN c${lists++} INT`);
    return undefined;
  });
  const run = await inProcess(t, { URL: proxy.url });
  const { stdout, stderr } = await run.exits(69, 'sqldump --via catalogue $URL');
  t.not(stdout.at(-1), '\0');
  t.regex(stderr, /: the schema keeps changing while it is read; try again when nothing changes it\n$/);
});
