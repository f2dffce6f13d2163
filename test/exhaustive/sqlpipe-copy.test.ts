import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { chunk, head, reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { startSource } from '../faults/sources.js';
import { deferred } from '../support/deferred.js';
import { inProcess } from '../support/in-process.js';
import { setUp } from '../support/principals.js';
import { startProgram } from '../support/program.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { CREATE_TRADES, readDump, serveHere, startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
let source: Server;
const target = sharedSqlserve();

const SCHEMA = [
  CREATE_TRADES,
  `create table "my col" ("order" int, "größe" double)`,
  'create view v as (select * from trades)',
  'create materialized view m as (select ts, sum(v) v from trades sample by 1h)',
];

/** The message of `-v` about the column that the server prints without the quotes that it needs. */
const NOTE = `table 'my col': added quotes to names that need them: "order"\n`;

test.before(async () => {
  source = await startSqlserve(scope);
  for (const statement of SCHEMA) await source.execute(statement);
});

const PIPE = (options: string) =>
  `set -o pipefail; sqldump ${options === '-v' ? '-v' : ''} $SRC | sqlapply ${options} $DST`;
const COPY = (options: string) => `sqlpipe copy ${options} $SRC $DST`;

/** A target that records what it receives. `prepare` gives it objects first. */
async function startTarget(t: ExecutionContext, prepare: readonly string[], reject?: string) {
  await target.dropAll();
  for (const statement of prepare) await target.execute(statement);
  return recordingProxy(t, target, query =>
    reject && query.startsWith(reject) ? [400, { query, error: 'boom', position: 13 }] : undefined,
  );
}

/** What a script did to the target, and what it printed, without the names of programs and addresses. */
async function observe(t: ExecutionContext, script: string, prepare: readonly string[] = [], reject?: string) {
  const { url, queries } = await startTarget(t, prepare, reject);
  const run = await inProcess(t, { SRC: source.url, DST: url });
  const { code, stdout, stderr } = await run(`${script}; status=$?; cat rest report 2> /dev/null; exit $status`);
  const plain = (output: string) =>
    output
      .replaceAll(url, 'TARGET')
      .replaceAll(/^sql(dump|apply|pipe copy):/gm, 'PROGRAM:')
      .replaceAll(/"ms":\d+/g, '"ms":0')
      .replaceAll(/"time":"[^"]*"/g, '"time":""');
  return { code, stdout: plain(stdout), stderr: plain(stderr), queries, dump: await readDump(target) };
}

const EXISTING = ['create table trades (ts timestamp, s symbol, v float) timestamp(ts) partition by day'];

for (const [options, prepare, reject] of [
  ['', []],
  ['-v', SCHEMA],
  ['--dry-run', EXISTING],
  ['--keep-going --rejects rest --report report', EXISTING],
  ['--if-exists skip', EXISTING],
  ['--alter --allow-loss drop:trades', EXISTING],
  ['--no-verify --stream --report report', []],
  ['--rejects rest', [], 'CREATE VIEW'],
  ['--stream', [], 'CREATE VIEW'],
  ['--wait 5', []],
] as const)
  test(`${options || 'no options'}${reject ? `, ${reject} is rejected` : ''}: as sqldump | sqlapply`, async t => {
    const [piped, copied] = [
      await observe(t, PIPE(options), prepare, reject),
      await observe(t, COPY(options), prepare, reject),
    ];
    if (options === '-v') t.regex(copied.stderr, /^PROGRAM: TARGET: 4 statements: 4 skipped$/m);
    t.deepEqual({ ...copied, stderr: '' }, { ...piped, stderr: '' });
    t.is(copied.stderr, piped.stderr.replace(/^PROGRAM: \d+ statements\n/m, '')); // -v of sqldump
    t.true(copied.queries.length > 0);
  });

for (const options of ['--include TABLES', '--exclude view --via catalogue', '--no-owner --verbatim --skip-invalid'])
  test(`${options}: as for sqldump`, async t => {
    const piped = await observe(t, `sqldump ${options} $SRC | sqlapply $DST`);
    t.deepEqual(await observe(t, COPY(options)), piped);
  });

test('an instance is copied to itself: everything is skipped', async t => {
  const run = await inProcess(t, { SRC: source.url });
  for (const option of ['', '--stream'])
    t.like(await run(`sqlpipe copy -v ${option} $SRC $SRC`), {
      code: 0,
      stderr: `sqlpipe copy: ${source.url}: ${NOTE}sqlpipe copy: ${source.url}: 4 statements: 4 skipped\n`,
    });
});

test('an empty schema is copied', async t => {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t, { SRC: url, DST: target.url });
  t.like(await run(COPY('-v')), { code: 0, stderr: `sqlpipe copy: ${target.url}: 0 statements\n` });
});

test('a target that fails: its status and its message', async t => {
  const run = await inProcess(t, { SRC: source.url });
  const { url: locked } = await startFaultyServer(t, socket => socket.write(reply('Unauthorized\r\n', 401)));
  for (const [url, status, message] of [
    ['http://127.0.0.1:1', 69, 'connection refused'],
    [locked, 77, 'SQLAPPLY_USER'],
  ] as const) {
    const [piped, copied] = [await run(`sqldump $SRC | sqlapply ${url}`), await run(`sqlpipe copy $SRC ${url}`)];
    t.is(copied.code, status);
    t.true(copied.stderr.includes(message), copied.stderr);
    t.is(copied.stderr, piped.stderr.replaceAll(/^sql(dump|apply): /gm, 'sqlpipe copy: '));
  }
});

test('an invalid address of the target is reported before the source is asked', async t => {
  const { url, requests } = await startFaultyServer(t, () => {});
  const run = await inProcess(t);
  const { stderr } = await run.exits(78, `sqlpipe copy ${url} postgres://127.0.0.1`);
  t.regex(stderr, /^sqlpipe copy: "postgres:.*; nothing was sent\n$/);
  t.deepEqual(requests, []);
});

test('if both ends fail, the source is reported', async t => {
  const run = await inProcess(t);
  const { stderr } = await run.exits(69, 'sqlpipe copy http://127.0.0.1:1/source http://127.0.0.1:1/target');
  t.regex(stderr, /^sqlpipe copy: http:\/\/127\.0\.0\.1:1\/source: .*; nothing was sent\n$/);
});

test('--stream: a dump that breaks off is reported with its own status, and its last record is not sent', async t => {
  const rows = ['a', 'b', 'c'].map(name => `CREATE TABLE '${name}' (x INT);`);
  let breakOff = () => {};
  const from = await startSource(t, socket => {
    socket.write(Buffer.concat([head(), chunk(rowsBody(...rows).slice(0, -9))]));
    breakOff = () => socket.destroy();
  });
  const { url, queries } = await recordingProxy(t, target, query => {
    if (query === "CREATE TABLE 'b' (x INT)") setTimeout(breakOff, 200); // there would be time to send the next one
    return undefined;
  });
  const run = await inProcess(t, { SRC: from, DST: url });
  const { stderr } = await run.exits(76, COPY('--stream'));
  t.regex(stderr, /: the reply is truncated: .*\n$/);
  t.notRegex(stderr, /incomplete after|truncated after|nothing was sent/);
  t.deepEqual(
    queries.filter(query => query.startsWith('CREATE')),
    rows.slice(0, 2).map(row => row.slice(0, -1)),
  );
});

test('a failure on this machine ends the dump of a silent source', async t => {
  const row = `CREATE TABLE 'a' (${'x INT, '.repeat(2e5)}y INT);`;
  const rows = rowsBody(...new Array<string>(8).fill(row)).slice(0, -20);
  const from = await startSource(t, socket => socket.write(Buffer.concat([head(), chunk(rows)])));
  const run = await inProcess(t, { SRC: from, DST: target.url, TMPDIR: '/nowhere' });
  const { stderr } = await run.bash.exits(74, COPY('--timeout 0'));
  t.regex(stderr, /^sqlpipe copy: \/nowhere\/.*: no such file or directory; nothing was sent\n$/);
});

test('a large dump is not kept in memory', async t => {
  const row = `CREATE TABLE 'a' (${`${'x'.repeat(136)} INT, `.repeat(100)}y INT);`;
  const rows = chunk(`${JSON.stringify([row])},`.repeat(100));
  const sizes: number[] = [];
  for (const chunks of [7, 70]) {
    const from = await startSource(t, async socket => {
      socket.write(Buffer.concat([head(), chunk('{"dataset":[')]));
      for (let i = 0; i < chunks; i++) if (!socket.write(rows)) await once(socket, 'drain');
      socket.write(Buffer.concat([chunk(`${JSON.stringify([row])}]}`), Buffer.from('0\r\n\r\n')]));
    });
    const run = await inProcess(t, { SRC: from, DST: 'http://127.0.0.1:1' });
    await run.bash(
      `echo "process.on('exit', () => require('fs').writeFileSync('peak', '' + process.resourceUsage().maxRSS))" > peak.cjs`,
    );
    const { stdout } = await run.bash.exits(
      69,
      `NODE_OPTIONS='--require ./peak.cjs' ${COPY('')}; status=$?; cat peak; exit $status`,
    );
    sizes.push(Number(stdout) / 1024);
  }
  const [small = 0, large = 0] = sizes;
  t.true(large - small < 70, `${small} MiB for 10 MB, ${large} MiB for 98 MB`);
});

test('it loads the bundles of sqlpipe only, and an engine only for a dry run', async t => {
  const run = await inProcess(t, { SRC: source.url, DST: target.url });
  await run.bash(
    `echo "process.on('exit', () => require('fs').writeFileSync('loaded', Object.keys(require.cache).join('\\n')))" > trace.cjs`,
  );
  for (const [options, needsEngine] of Object.entries({ '': false, '-n': true })) {
    const { stdout } = await run.bash(
      `NODE_OPTIONS='--require ./trace.cjs' ${COPY(options)} >/dev/null; grep /dist/ loaded`,
    );
    const files = stdout.trimEnd().split('\n');
    t.true(files.length > 3 && files.every(file => file.includes('/packages/sqlpipe/dist/')), files.join('\n'));
    const hasEngine = files.some(file => readFileSync(file, 'utf8').includes('base table is dropped or renamed'));
    t.is(hasEngine, needsEngine, options);
  }
});

test('access control: each end has its own credentials, which no message contains', async t => {
  const start = () => serveHere(t, { edition: 'enterprise' });
  const [from, to] = [await start(), await start()];
  await setUp(from, CREATE_TRADES, "CREATE USER ann WITH PASSWORD 's3cret'", 'GRANT SELECT ON trades TO ann');
  const run = await inProcess(t, { SRC: from.url, DST: to.url });
  const user = (program: string, password = 'quest') => `${program}_USER=admin ${program}_PASSWORD=${password}`;
  const both = `${user('SQLDUMP')} ${user('SQLAPPLY')}`;
  const outputs: string[] = [];
  for (const [command, code, message] of [
    [`${COPY('')}`, 77, /SQLDUMP_USER/],
    [`${user('SQLDUMP')} ${COPY('')}`, 77, /SQLAPPLY_USER/],
    [`${user('SQLDUMP', 's3cret')} ${user('SQLAPPLY')} ${COPY('')}`, 77, /rejected user 'admin' \(SQLDUMP_USER\)/],
    [`${both} ${COPY('-vv')}`, 0, /ann' cannot log in yet/],
    [`${both} ${COPY('-v')}`, 0, /\d+ skipped\n$/],
    [`${both} ${COPY('--show-config')}`, 0, /^$/],
  ] as const) {
    const { stdout, ...outcome } = await run(command);
    t.is(outcome.code, code, outcome.stderr);
    t.regex(outcome.stderr, message, command);
    outputs.push(stdout, outcome.stderr);
  }
  const config = outputs.at(-2)?.split('\n\n') ?? [];
  const found = config.map(each => /\(?(SQL\w+)_USER/.exec(each)?.[1]);
  t.deepEqual(found, ['SQLDUMP', 'SQLAPPLY']);
  t.notRegex(outputs.join('\n'), /quest$|s3cret|YWRtaW46|:quest/m);
});

test('the options that are left out, and --insecure for two instances, are errors of usage', async t => {
  const run = await inProcess(t);
  const leftOut = [
    '--user x',
    '--password-file x',
    '--token-file x',
    '--output x',
    '--text',
    '--allow-empty',
    '--json',
  ];
  for (const option of leftOut) t.like(await run(`sqlpipe copy ${option} a b`), { code: 64 }, option);
  t.like(await run('sqlpipe copy a'), {
    code: 64,
    stderr: "sqlpipe copy: missing operand: <target>\nTry 'sqlpipe copy --help'.\n",
  });
  t.regex(
    (await run('sqlpipe copy --insecure https://127.0.0.1:1 https://127.0.0.1:2')).stderr,
    /certificate from both/,
  );
  t.is((await run('sqlpipe copy --insecure https://127.0.0.1:1 http://127.0.0.1:2')).code, 69);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  for (const option of ['--dry-run', '--stream'])
    test(`${signal} while the source is silent, ${option}: ends by the signal`, async t => {
      const { promise: reached, resolve: reach } = deferred<void>();
      const from = await startSource(t, () => reach());
      const { child, stderr, ended } = await startProgram(t, ['sqlpipe', 'copy', option, from, target.url]);
      await reached;
      child.kill(signal);
      t.deepEqual(await ended, [null, signal]);
      if (option === '--dry-run') t.is(await stderr, 'sqlpipe copy: interrupted; nothing was sent\n');
    });

  test(`${signal} during the replay: the request in flight is finished`, async t => {
    const { promise: reached, resolve: reach } = deferred<() => void>();
    const { url } = await startFaultyServer(t, (socket, { statement }) => {
      const answer = () =>
        socket.write(reply(statement.startsWith('CREATE') ? '{"ddl":"OK"}' : '{"dataset":[],"count":0}'));
      if (/^CREATE TABLE '?my col/.test(statement)) reach(answer);
      else answer();
    });
    const command = ['sqlpipe', 'copy', '--no-verify', source.url, url];
    const { interrupt, stderr, ended } = await startProgram(t, command);
    const release = await reached;
    await interrupt(signal);
    release();
    t.deepEqual(await ended, [null, signal]);
    t.regex(
      await stderr,
      /^sqlpipe copy: interrupted: .*: \d of 4 applied, \d not reached\n {2}hint: to continue, rerun/m,
    );
  });
}

testWithQuestDB('to QuestDB and from it: the schema stays the same, and a second copy changes nothing', async t => {
  const questdb = await borrowQuestDB(t);
  const run = await inProcess(t, { SRC: source.url, QUESTDB: questdb.url, DST: target.url });
  t.like(await run('sqlpipe copy $SRC $QUESTDB'), { code: 0, stderr: '' });
  t.regex((await run('sqlpipe copy -v $SRC $QUESTDB')).stderr, /: 4 statements: 4 skipped\n$/);
  t.like(await run('sqlpipe copy $QUESTDB $DST'), { code: 0, stderr: '' });
  t.like(await run('sqldump $SRC > src; sqldump $DST | cmp src && sqldiff $SRC $QUESTDB'), { code: 0, stderr: '' });
});
