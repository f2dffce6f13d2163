/*!
 * sqlserve's folder: its permissions, links in it, its size, and a full disk; and that every statement is on disk before it is
 * acknowledged. That is tested by system calls, since a killed process loses nothing that it has written, synced or not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { formatLine } from '../../packages/server/src/journal.js';
import { freshFolder } from '../support/folder.js';
import { admin, basic, executeAs, setUp } from '../support/principals.js';
import { fc, forAllAsync } from '../support/seed.js';
import { type Server, startServer } from '../support/server.js';
import { shell } from '../support/shell.js';
import { failToStart, SQLSERVE, serveFolder } from '../support/sqlserve.js';
import { test, testWith } from '../support/test.js';

const dataOptions = (folder: string) => ['--edition', 'enterprise', '--data', folder];

const onLinux = process.platform === 'linux' ? test : test.skip;

const readMode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('the journal and a folder created for it are accessible only to the owner', async t => {
  const folder = join(await freshFolder(t), 'made/data');
  const server = await serveFolder(t, folder);
  await setUp(server, 'create user ann');
  t.is(await readMode(join(folder, 'journal.jsonl')), '600');
  t.is(await readMode(folder), '700');
  t.deepEqual(await readdir(folder), ['journal.jsonl']);
});

test('a link in the place of the new journal is not followed', async t => {
  const folder = await freshFolder(t);
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious');
  const data = join(folder, 'data');
  await mkdir(data);
  await symlink(victim, join(data, 'journal.jsonl.new'));
  const server = await serveFolder(t, data);
  await setUp(server, 'create user ann');
  t.is(await readFile(victim, 'utf8'), 'precious');
  t.regex(await readFile(join(data, 'journal.jsonl'), 'utf8'), /"ann"/);
});

test('a journal that is a link or a pipe is rejected', async t => {
  const folder = await freshFolder(t);
  const journal = join(folder, 'journal.jsonl');
  await writeFile(join(folder, 'other'), '[]\n');
  await symlink(join(folder, 'other'), journal);
  const message = /journal\.jsonl is not a regular file; restore the folder from a copy/;
  await t.throwsAsync(serveFolder(t, folder), { code: 'DAMAGED', message });
  const pipes = await freshFolder(t);
  await once(spawn('mkfifo', [join(pipes, 'journal.jsonl')]), 'close');
  await t.throwsAsync(serveFolder(t, pipes), { code: 'DAMAGED', message });
});

onLinux('no file stays open if a folder cannot be synced', async t => {
  const folder = await freshFolder(t);
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  const pathOf = (fd: number | string) => readlink(`/proc/self/fd/${fd}`).catch(() => '');
  prototype.sync = async function (this: typeof handle) {
    if ((await pathOf(this.fd)) === folder) throw new Error('no sync');
    return sync.call(this);
  };
  t.teardown(() => {
    prototype.sync = sync;
  });
  await t.throwsAsync(serveFolder(t, folder), { message: 'no sync' });
  const opened = await Promise.all((await readdir('/proc/self/fd')).map(pathOf));
  t.deepEqual(
    opened.filter(path => path.startsWith(folder)),
    [],
  );
});

test('a line of the journal whose hash is missing or wrong is damaged', async t => {
  const folder = await freshFolder(t);
  const intact = formatLine([{ drop: 'x' }]);
  const damaged = [
    '[{"drop":"x"}]',
    'null',
    '',
    intact.replace('"x"', '"y"'),
    intact.replace(/."}\n/, '"}'),
    ` ${intact}`,
  ];
  for (const line of damaged) {
    await writeFile(join(folder, 'journal.jsonl'), `${intact}${line.trimEnd()}\n${intact}`);
    const message = /line 2 is damaged; restore the folder from a copy/;
    await t.throwsAsync(serveFolder(t, folder), { code: 'DAMAGED', message }, line);
  }
});

test('a damaged last line that ends in a line feed was acknowledged, and is not dropped', async t => {
  const folder = await freshFolder(t);
  const journal = join(folder, 'journal.jsonl');
  const first = await serveFolder(t, folder, 'oss');
  for (const name of ['kept', 'last']) t.is((await first.execute(`create table ${name} (a int)`)).ddl, 'OK');
  await first.end();
  const whole = await readFile(journal, 'utf8');
  const damaged = whole.replace(/\}\n$/, '\n');
  await writeFile(journal, damaged);
  const { status, message } = await failToStart(['--data', folder]);
  t.is(status, 65, message);
  t.regex(message, /journal\.jsonl: line 2 is damaged; restore the folder from a copy/);
  t.is(await readFile(journal, 'utf8'), damaged, 'it is not rewritten');
});

test('a journal with one changed byte is damaged', async t => {
  const folder = await freshFolder(t);
  const journal = join(folder, 'journal.jsonl');
  const first = await serveFolder(t, folder);
  await setUp(first, 'create table t (ts timestamp, s symbol) timestamp(ts)', "create user ann with password 'a'");
  await first.end();
  const whole = await readFile(journal);
  await forAllAsync(100, fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), async (place, change) => {
    const damaged = Buffer.from(whole);
    damaged[place] = (whole[place] as number) ^ change;
    await writeFile(journal, damaged);
    await t.throwsAsync(
      serveFolder(t, folder),
      { code: 'DAMAGED', message: /line \d is damaged/ },
      `${place} ${change}`,
    );
  });
});

test('access control is dumped the same after a restart', async t => {
  const folder = await freshFolder(t);
  const first = await serveFolder(t, folder);
  await setUp(
    first,
    'create table t (a int, b int)',
    "create user ann with password 'ann'",
    'create user gone',
    'create group ops',
    'add user ann to ops',
    'add user gone to ops',
    'create service account robot',
    'grant assume service account robot to ops with grant option',
    'grant select on t(a) to ann with grant option',
    'grant select on t to ann',
    'grant select on t(b) to ann with grant option',
    'grant http to ops',
    'grant insert on t to ops',
    'revoke insert on t from ops',
    'drop user gone',
    'alter service account robot disable',
  );
  const before = await executeAs(first, admin, 'show create database');
  await first.end();
  const second = await serveFolder(t, folder);
  t.deepEqual((await executeAs(second, admin, 'show create database')).dataset, before.dataset);
  t.is((await executeAs(second, basic('ann', 'ann'), 'show tables')).status, 200);
  t.deepEqual((await executeAs(second, admin, 'show service accounts')).dataset, [['robot', false]]);
});

test('no user can take the name of the administrator', async t => {
  const folder = await freshFolder(t);
  const first = await serveFolder(t, folder);
  await setUp(first, "create user Boss with password 'b'", 'create user other');
  t.regex((await executeAs(first, admin, 'create user ADMIN')).error ?? '', /user already exists/);
  await first.end();
  const { status, message } = await failToStart(dataOptions(folder), { QDB_ACL_ADMIN_USER: 'bOSS' });
  t.is(status, 78);
  t.regex(message, /QDB_ACL_ADMIN_USER: the folder of --data has a user called 'Boss'; choose another name/);
  for (const env of [{ QDB_ACL_ADMIN_USER: '' }, { QDB_ACL_ADMIN_PASSWORD: '' }]) {
    const empty = await failToStart(['--edition', 'enterprise'], env);
    t.is(empty.status, 64);
    t.regex(empty.message, /QDB_ACL_ADMIN_USER and QDB_ACL_ADMIN_PASSWORD must not be empty/);
  }
});

const columns = (count: number) => Array.from({ length: count }, (_, n) => `c${n} int`).join();

test('the size of a journal depends on its contents, not on the number of changes', async t => {
  const folder = await freshFolder(t);
  const server = await serveFolder(t, folder, 'oss');
  await server.execute(`create table wide (ts timestamp, ${columns(2000)}) timestamp(ts) partition by day`);
  const one = (await stat(join(folder, 'journal.jsonl'))).size;
  let largest = 0;
  for (let n = 1; n <= 100; n++) {
    t.is((await server.execute(`alter table wide set ttl ${n} days`)).ddl, 'OK');
    largest = Math.max(largest, (await stat(join(folder, 'journal.jsonl'))).size);
  }
  t.true(one > 50_000 && one < 500_000, `${one} bytes`);
  t.true(largest < 4.5 * 1024 * 1024 + 3 * one, `${largest} bytes after 100 changes of ${one}`);
  const before = (await server.execute('show create table wide')).dataset?.[0]?.[0];
  t.is(typeof before, 'string');
  await server.end();
  const again = await serveFolder(t, folder, 'oss');
  t.is((await again.execute('show create table wide')).dataset?.[0]?.[0], before);
});

test('a grant appends only itself to the journal, not all grants', async t => {
  const folder = await freshFolder(t);
  const server = await serveFolder(t, folder);
  const size = async () => (await stat(join(folder, 'journal.jsonl'))).size;
  const tables = Array.from({ length: 3000 }, (_, n) => `t${n}`).join();
  await setUp(server, `grant select, insert on ${tables} to ann`);
  const before = await size();
  for (let n = 0; n < 10; n++) await setUp(server, `grant select on u${n} to ann`);
  t.true((await size()) - before < 10 * 200, `${(await size()) - before} bytes for 10 grants`);
});

test('a statement that a full disk rejects has not happened: nobody sees it, and sqlapply reports it', async t => {
  const folder = await freshFolder(t);
  const script = `trap '' XFSZ; ulimit -f 64; exec ${SQLSERVE} --port 0 --data ${folder}`;
  const limited = await startServer(t, 'bash', ['-c', script]);
  const run = await shell(t, { DST: limited.url });
  const tables = Array.from({ length: 20 }, (_, n) => `create table t${n} (${columns(150)})`);
  await writeFile(join(folder, 'in'), tables.map(table => `${table};\n\0`).join(''));
  const applied = await run(`sqlapply --report r $DST < ${join(folder, 'in')}; s=$?; grep -c '"applied"' r; exit $s`);
  t.not(applied.code, 0, applied.stderr);
  const count = Number(applied.stdout);
  t.true(count > 3 && count < 20, applied.stdout);
  const there = async (server: Server) => (await server.execute('show tables')).dataset?.flat() ?? [];
  t.is((await there(limited)).length, count);
  t.is((await limited.execute('create view v as (select * from t19)')).error, 'table does not exist [table=t19]');
  t.is((await limited.execute('create table small (x int)')).ddl, 'OK', 'a shorter statement still fits');
  await limited.end();
  const again = await serveFolder(t, folder, 'oss');
  t.is((await there(again)).length, count + 1);
  const rerun = await run(`sqlapply -v ${again.url} < ${join(folder, 'in')}`);
  t.is(rerun.code, 0, rerun.stderr);
  t.regex(rerun.stderr, new RegExp(`20 statements: ${count} skipped, ${20 - count} applied`));
});

test('the same of access control', async t => {
  const folder = await freshFolder(t);
  const script = `trap '' XFSZ; ulimit -f 8; exec ${SQLSERVE} --port 0 --edition enterprise --data ${folder}`;
  const limited = await startServer(t, 'bash', ['-c', script]);
  const users: string[] = [];
  for (let n = 0; ; n++) {
    const { error } = await executeAs(limited, admin, `create user u${n}${'x'.repeat(40)}`);
    if (error !== undefined) break;
    users.push(`u${n}`);
  }
  t.true(users.length > 3);
  t.is((await executeAs(limited, admin, 'show users')).dataset?.length, users.length + 1, 'and the administrator');
});

test('line separators of Unicode end no line of the journal', async t => {
  const folder = await freshFolder(t);
  const server = await serveFolder(t, folder, 'oss');
  const view = "create view v as (select 'a\u2028b\u2029c' x from t)";
  for (const sql of ['create table t (x int)', view]) t.is((await server.execute(sql)).error, undefined);
  await server.end();
  const again = await serveFolder(t, folder, 'oss');
  const [[ddl] = []] = (await again.execute('show create view v')).dataset ?? [];
  t.regex(String(ddl), /a\u2028b\u2029c/);
});

/** A step of sqlserve whose order is guaranteed; `n` is a number of statements. */
type Step = { did: 'write' | 'acknowledge'; n: number } | { did: 'begin sync' | 'end sync' | 'rename' | 'ready' };

/** The steps in a log of strace. Threads write and sync, so a call may begin in one line and end in another. */
const parseSteps = (log: string): Step[] =>
  log.split('\n').flatMap((line): Step[] => {
    const count = (text: RegExp) => line.match(text)?.length ?? 0;
    if (/ f(data)?sync\(/.test(line)) return [{ did: 'begin sync' }, ...(/ = 0$/.test(line) ? [END] : [])];
    if (/<\.\.\. f(data)?sync resumed.* = 0$/.test(line)) return [END];
    if (/ rename/.test(line)) return [{ did: 'rename' }];
    if (/ "http:\/\//.test(line)) return [{ did: 'ready' }];
    if (/ "\{\\"entries/.test(line)) return [{ did: 'write', n: count(/\}\\n/g) }];
    return count(/ "HTTP/g) ? [{ did: 'acknowledge', n: count(/\{\\"ddl\\":\\"OK\\"\}/g) }] : [];
  });

const END: Step = { did: 'end sync' };

/** Runs sqlserve on a folder under strace during `work`; resolves to its steps. */
async function traceSqlserve(
  t: ExecutionContext,
  data: string,
  work: (execute: (sql: string) => Promise<unknown>) => Promise<unknown>,
) {
  const log = join(await freshFolder(t), 'log');
  // With -D sqlserve is our child process, which receives the signal that ends it.
  const calls = 'trace=write,writev,pwrite64,pwritev,fsync,fdatasync,/^rename';
  const trace = ['-D', '-f', '-s', '100000', '-o', log, '-e', calls];
  const server = await startServer(t, 'strace', [...trace, SQLSERVE, '--port', '0', '--data', data]);
  await work(sql => server.execute(sql));
  await server.end();
  return parseSteps(await readFile(log, 'utf8'));
}

for (const [how, work] of [
  [
    'one after the other',
    async execute => {
      for (let n = 0; n < 5; n++) await execute(`CREATE TABLE t${n} (x INT)`);
      await execute('ALTER TABLE t0 ADD COLUMN y INT');
      await execute('DROP TABLE t1');
    },
  ],
  ['at once', execute => Promise.all(Array.from({ length: 7 }, (_, n) => execute(`CREATE TABLE t${n} (x INT)`)))],
] as const satisfies [string, Parameters<typeof traceSqlserve>[2]][])
  testWith('strace')(`statements sent ${how} are synced to the journal before they are acknowledged`, async t => {
    const steps = await traceSqlserve(t, join(await freshFolder(t), 'data'), work);
    let [written, syncing, synced, acknowledged] = [0, 0, 0, 0];
    for (const step of steps.slice(steps.findIndex(({ did }) => did === 'ready'))) {
      if (step.did === 'write') written += step.n;
      else if (step.did === 'begin sync') syncing = written;
      else if (step.did === 'end sync') synced = syncing;
      else if (step.did === 'acknowledge') acknowledged += step.n;
      t.true(acknowledged <= synced, `${acknowledged} acknowledged, ${written} written, ${synced} of them synced`);
    }
    t.deepEqual([written, acknowledged], [7, 7]);
  });

testWith('strace')('at start, sqlserve replaces the journal by a synced one before it is ready', async t => {
  const data = join(await freshFolder(t), 'data');
  await traceSqlserve(t, data, execute => execute('CREATE TABLE a (x INT)'));
  const steps = await traceSqlserve(t, data, async () => {});
  const sync = ['begin sync', 'end sync'];
  const deeds = steps.map(({ did }) => did);
  t.deepEqual(deeds, ['write', ...sync, 'rename', ...sync, 'ready']);
});

testWith('strace')('a statement is refused, and has not happened, if the folder cannot be synced', async t => {
  const folder = await freshFolder(t);
  // The first syncs are those of the start and of the new, smaller journal. strace counts the calls of each thread.
  const failing = ['-D', '-f', '-o', '/dev/null', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO:when=4'];
  const env = { UV_THREADPOOL_SIZE: '1' };
  const server = await startServer(t, 'strace', [...failing, SQLSERVE, '--port', '0', '--data', folder], env);
  await server.execute(`create table wide (ts timestamp, ${columns(2000)}) timestamp(ts) partition by day`);
  let days = 1;
  while (days < 200 && (await server.execute(`alter table wide set ttl ${days} days`)).ddl === 'OK') days++;
  t.true(days > 10 && days < 200, `${days - 1} changes were acknowledged`);
  const shown = async (of: Server) => (await of.execute('show create table wide')).dataset?.[0]?.[0];
  const before = await shown(server);
  t.is((await server.execute('create table t (x int)')).ddl, 'OK', 'the next statement syncs the folder');
  await server.end();
  const again = await serveFolder(t, folder, 'oss');
  t.is(await shown(again), before);
});

testWith('strace')('no statement follows a rejected one that could not be removed from the journal', async t => {
  const folder = await freshFolder(t);
  const failing = ['-e', 'inject=fdatasync:error=EIO:when=1', '-e', 'inject=ftruncate:error=EIO:when=1..2'];
  const options = ['-D', '-f', '-o', '/dev/null', '-e', 'trace=fdatasync,ftruncate', ...failing];
  // strace counts the calls of each thread.
  const env = { UV_THREADPOOL_SIZE: '1' };
  const server = await startServer(t, 'strace', [...options, SQLSERVE, '--port', '0', '--data', folder], env);
  t.not((await server.execute('create table unsynced (x int)')).error, undefined);
  t.not((await server.execute('create table after (x int)')).error, undefined, 'the journal still has the first one');
  t.is((await server.execute('create table later (x int)')).ddl, 'OK');
  await server.end();
  const again = await serveFolder(t, folder, 'oss');
  t.deepEqual((await again.execute('show tables')).dataset, [['later']]);
});
