/*! What sqlapply sends only with permission: verbs that no dump has (`--allow`), and anything to a protected instance (`--yes-to`). */
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { ExecutionContext } from 'ava';
import { startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { inProcess } from '../support/in-process.js';
import { type Replay, runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const good = sharedSqlserve();

/** The statements that a replay sent to an instance with the table `t`, without queries, and the columns of `t` afterwards. */
interface Effect extends Replay {
  sent: string[];
  columns: unknown[] | undefined;
}

async function replayAndRecord(t: ExecutionContext, text: string, options = ''): Promise<Effect> {
  await good.dropAll();
  await good.execute('CREATE TABLE t (x INT)');
  const { url, requests } = await startFaultyServer(t, async (socket, request) =>
    socket.write(await forwardRequest(good, request)),
  );
  const outcome = await runSqlapply(t, url, { text, options });
  const sent = requests.map(({ statement }) => statement).filter(statement => !/^\(?SHOW|^SELECT/.test(statement));
  const { dataset } = await good.execute('SHOW COLUMNS FROM t');
  return { ...outcome, sent, columns: dataset?.map(([name]) => name) };
}

const ADD = 'ALTER TABLE t ADD COLUMN y INT';
const DROP = 'DROP TABLE t';
const MORE = 'CREATE TABLE more (x INT)';

for (const statement of [
  ADD,
  DROP,
  'TRUNCATE TABLE t',
  'RENAME TABLE t TO u',
  'INSERT INTO t VALUES (1)',
  'UPDATE t SET x = 1',
  'WITH y AS (SELECT 1) UPDATE t SET x = 1',
  'REVOKE SELECT ON t FROM u',
  'SELECT 1',
  'drop table t',
])
  test(`without --allow nothing is sent if the input contains: ${statement}`, async t => {
    const { code, sent, columns, report } = await replayAndRecord(t, `${MORE}; ${statement};`);
    t.is(code, 1);
    t.deepEqual([sent, columns, report], [[], ['x'], []]);
  });

test('the plan of --alter allows its own statements, and no others of the same verb', async t => {
  const text = 'CREATE TABLE t (x INT, y INT); ALTER TABLE t DROP COLUMN x;';
  const { code, columns, stderr } = await replayAndRecord(t, text, '--alter --keep-going');
  t.is(code, 1);
  t.regex(
    stderr,
    /statement 3 \(ALTER of table 't'\): it is not part of a schema dump; use --allow ALTER to send it$/m,
  );
  t.deepEqual(columns, ['x', 'y']);
});

const ALLOWING = ['ALTER', 'alter', 'ALTER,RENAME', 'ALTER --allow INSERT', 'all', 'ALL', 'DROP,ALL', "'DROP, ALTER'"];
for (const allowed of ALLOWING)
  test(`--allow ${allowed} sends an ALTER`, async t => {
    const { code, sent, columns, stderr } = await replayAndRecord(t, `${ADD};`, `--allow ${allowed}`);
    t.is(code, 0, stderr);
    t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  });

for (const [what, text, ...options] of [
  [
    'neither a DROP nor the statements before it',
    `${MORE}; ${ADD}; ${DROP};`,
    'ALTER',
    'ALTER,INSERT',
    'ALTER --allow RENAME',
  ],
  ['no DROP, as it names no verb', `${MORE}; ${DROP};`, 'D', 'DROPS', 'TABLE', '"DROP TABLE"'],
  ['no ALTER', `${ADD}; ${DROP};`, 'DROP'],
  ['no INSERT after WITH', 'WITH y AS (SELECT x FROM t) INSERT INTO t SELECT x FROM y;', 'WITH', 'WITH,SELECT'],
] as const)
  for (const allowed of options)
    test(`--allow ${allowed} sends ${what}`, async t => {
      const { code, sent, columns } = await replayAndRecord(t, text, `--allow ${allowed}`);
      t.deepEqual([code, sent, columns], [1, [], ['x']]);
    });

test('--allow all sends every verb', async t => {
  const { code, sent, columns, results } = await replayAndRecord(t, `${MORE}; ${ADD}; ${DROP};`, '--allow all');
  t.is(code, 0);
  t.deepEqual(sent, [MORE, ADD, DROP]);
  t.deepEqual(results, ['applied', 'applied', 'applied']);
  t.is(columns, undefined);
});

test('with --stream, a statement that is not allowed ends the run and goes to the rejects', async t => {
  const { code, sent, columns, results, rejects } = await replayAndRecord(
    t,
    `${ADD}; ${DROP}; ${MORE};`,
    '--stream --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[ADD], ['x', 'y']]);
  t.deepEqual(results, ['applied', 'rejected', 'not reached']);
  t.is(rejects, `${DROP};\n\0${MORE};\n\0`);
});

test('with --keep-going, a statement that is not allowed is left out, and the status is 1', async t => {
  const { code, sent, columns, results, rejects } = await replayAndRecord(
    t,
    `${DROP}; ${MORE};`,
    '--keep-going --allow ALTER',
  );
  t.is(code, 1);
  t.deepEqual([sent, columns], [[MORE], ['x']]);
  t.deepEqual(results, ['rejected', 'applied']);
  t.is(rejects, `${DROP};\n\0`);
});

test('a dry run rejects statements that --allow does not permit', async t => {
  const { code, sent, results } = await replayAndRecord(t, `${ADD}; ${DROP};`, '--dry-run --allow ALTER');
  t.is(code, 1);
  t.deepEqual(sent, []);
  t.deepEqual(results, ['would send', 'rejected']);
});

const INSTANCES = '.config/sqlpipe/instances.toml';
const STREAM = 'CREATE TABLE a (x INT);\n\0';

/** Starts one server with two protected names and two others; `requests` are the requests that reached it. */
async function startProtected(t: ExecutionContext) {
  const { url, requests } = await startFaultyServer(t, async (socket, request) =>
    socket.write(await forwardRequest(good, request)),
  );
  const instance = (name: string, more = '') => `[${name}]\nurl = "${url}"\n${more}\n`;
  const toml = ['prod', 'spare'].map(name => instance(name, 'protected = true'));
  toml.push(instance('lab'), instance('open', 'protected = false'));
  const { host, port } = new URL(url);
  const run = await inProcess(t, { URL: url, HOST: host, PORT: port }, { stream: STREAM, [INSTANCES]: toml.join('') });
  const tables = async () => (await good.execute('SELECT table_name FROM tables()')).dataset?.flat();
  return { run, requests, tables };
}

for (const options of [
  ...['', '--yes-to spare', '--yes-to lab', '--yes-to PROD', '--yes-to pro', '--yes-to ""', '--yes-to $URL'],
  ...['--stream', '--keep-going --if-exists skip', '--allow all'],
])
  test(`a protected instance gets no request from sqlapply ${options}`, async t => {
    const { run, requests, tables } = await startProtected(t);
    t.regex((await run.exits(64, `sqlapply ${options} prod < stream`)).stderr, /--yes-to/);
    t.deepEqual(requests, []);
    t.deepEqual(await tables(), []);
  });

for (const operand of [
  ...['$URL', '$URL/', '$HOST', 'LOCALHOST:$PORT', 'localhost.:$PORT', '"[::1]:$PORT"', '"[::ffff:127.0.0.1]:$PORT"'],
  ...['127.0.0.2:$PORT', '0.0.0.0:$PORT', 'http://localhost.:$PORT', '"http::addr=127.0.0.1:$PORT;"', 'lab'],
])
  test(`a protected instance is protected under the address ${operand}`, async t => {
    const { run, requests } = await startProtected(t);
    const { stderr } = await run.exits(64, `sqlapply ${operand} < stream`);
    t.regex(stderr, /prod is protected; to change it, give --yes-to=prod/);
    t.deepEqual(requests, []);
  });

test('a protected instance is protected under the IP address of its name, and under its name', async t => {
  const [{ address = '' } = {}] = await lookup(hostname(), { all: true });
  const NAME = `${hostname().toLowerCase()}:1`;
  const IP = `${address.includes(':') ? `[${address}]` : address}:1`;
  for (const [known, operand] of [
    [NAME, IP],
    [IP, NAME],
  ] as const) {
    const toml = `[prod]\nurl = "http://${known}"\nprotected = true\n`;
    const run = await inProcess(t, { IP, OPERAND: operand }, { stream: STREAM, [INSTANCES]: toml });
    for (const command of ['sqlapply', 'sqlpipe copy $IP']) {
      const { stderr } = await run.exits(64, `${command} $OPERAND < stream`);
      t.regex(stderr, /prod is protected; to change it, give --yes-to=prod/);
    }
  }
});

for (const command of [
  'sqlapply --yes-to prod prod',
  'sqlapply --yes-to=spare spare',
  'sqlapply --yes-to=prod $URL',
  'sqlapply --yes-to=spare $URL',
  'sqlapply open',
])
  test(`${command} applies the stream`, async t => {
    const { run, tables } = await startProtected(t);
    await run.ok(`${command} < stream`);
    t.deepEqual(await tables(), ['a']);
  });

test('commands that change nothing need no confirmation', async t => {
  const { run, requests, tables } = await startProtected(t);
  const { code, stdout, stderr } = await run(
    'sqlapply --dry-run prod < stream && sqldump -o dump prod && sqldiff --names prod stream',
  );
  t.is(code, 1, stderr); // the two differ
  t.is(stdout, "would create table 'a'\nonly in stream: table 'a'\n");
  const wrong = requests.filter(({ statement }) => statement.startsWith('CREATE'));
  t.deepEqual(wrong, []);
  t.deepEqual(await tables(), []);
});
