/*!
 * A real server that dies during a replay, or whose replies are lost: a rerun of the command, on the server restarted on
 * the same folder, completes the job. ROUNDS sets how often each fault is tried, each time at another statement.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest, startFailingTarget } from '../faults/run.js';
import { waitUntilApplied, waitUntilRefreshed, waitUntilTrue } from '../support/background.js';
import { freshFolder } from '../support/folder.js';
import { inProcess, type Run } from '../support/in-process.js';
import { startQuestDBIn, testWithQuestDB } from '../support/questdb.js';
import { random, SEED } from '../support/seed.js';
import { execute, type ServerProcess } from '../support/server.js';
import { DATA } from '../support/server-pool.js';
import { withoutStatements } from '../support/shell.js';
import { fileScope, test } from '../support/test.js';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const GROUPS = 10;

/** Tables, materialized views over them, and views over those: in the form and order of a dump. */
const SCHEMA = Array.from({ length: GROUPS }, (_, i) => [
  `CREATE TABLE 't${i}' ( \n\tts TIMESTAMP,\n\ts SYMBOL,\n\tx INT\n) timestamp(ts) PARTITION BY DAY\nDEDUP UPSERT KEYS(ts,s);`,
  `CREATE MATERIALIZED VIEW 'u${i}' WITH BASE 't${i}' REFRESH IMMEDIATE AS (\nselect ts, s, sum(x) x from t${i} sample by 1h\n) PARTITION BY DAY;`,
  `CREATE VIEW 'v${i}' AS ( \nselect * from u${i}\n);`,
]).flat();

/** The statements at which faults occur: a materialized view in the middle, a view, the first, the last, a table. */
const PLACES = [13, 5, 0, SCHEMA.length - 1, 21];
const places = PLACES.slice(0, ROUNDS);

const scope = fileScope();
let server: ServerProcess | undefined;
let folder: string | undefined;

/** The one server of this file; if it is not running, starts it again on its folder. */
async function ensureServer(): Promise<ServerProcess> {
  folder ??= await freshFolder(scope, DATA);
  server ??= await startQuestDBIn(scope, folder);
  return server;
}

async function killServer(): Promise<void> {
  await server?.end('SIGUSR2');
  server = undefined;
}

/** Kills the server and abandons its folder: the server may be unable to drop what the kill left incomplete (observed on 9.3.4). */
async function discardServer(): Promise<void> {
  await killServer();
  folder = undefined;
}

test.afterEach.always(() => server?.dropAll());

const runWithStream = (t: ExecutionContext): Promise<Run> => inProcess(t, {}, { stream: `${SCHEMA.join('\0')}\0` });

/** Replays the schema again and asserts that the dump then has all of it. Resolves to the messages of sqlapply. */
async function assertRerunCompletes(t: ExecutionContext, run: Run): Promise<string> {
  const { url } = await ensureServer();
  const replay = await run.ok(`sqlapply -v ${url} < stream`);
  const there = await run(`sqldump ${url} | sqlsort > dumped; sqlsort < stream | cmp - dumped`);
  t.deepEqual([there.code, there.stderr], [0, '']);
  return replay.stderr;
}

testWithQuestDB('a rerun completes the job after the server is killed beside a statement', async t => {
  const run = await runWithStream(t);
  for (const [round, place] of places.entries()) {
    const reached = round % 2 === 0; // between a statement and its reply, or before the server gets it
    const answer = async (socket: Socket) => {
      await killServer();
      socket.destroy();
    };
    const fault = { reached, lasting: true, answer };
    const target = await startFailingTarget(t, await ensureServer(), fault, place);
    const { stderr } = await run.exits(69, `sqlapply --no-verify ${target} < stream`);
    const unknown = 'whether it was applied is unknown.*closed before a reply arrived';
    t.regex(stderr, new RegExp(`statement ${place + 1} \\(.*${unknown}`));
    const same = place + Number(reached);
    t.regex(await assertRerunCompletes(t, run), new RegExp(`: ${SCHEMA.length} statements: .*\\b${same} skipped`));
    await discardServer();
  }
});

testWithQuestDB('a rerun completes the job after the server is killed at any moment', async t => {
  t.log(`SEED=${SEED}`);
  const run = await runWithStream(t);
  for (let round = 0; round < ROUNDS; round++) {
    const { url } = await ensureServer();
    const replay = run(`sqlapply ${url} < stream`);
    await pause(200 + random.below(600));
    await killServer();
    await replay;
    await assertRerunCompletes(t, run);
    await discardServer();
  }
});

/** The URL of a server that dies when a statement has emptied `m` and the server has begun to fill it, before the reply arrives. */
async function startDyingServer(t: ExecutionContext, good: ServerProcess, last: RegExp): Promise<string> {
  let isDead = false;
  const { url } = await startFaultyServer(t, async (socket, request) => {
    const whole = isDead ? undefined : await forwardRequest(good, request);
    if (last.test(request.statement)) {
      isDead = true;
      await waitUntilTrue(good, 'SELECT count() = 0 FROM m');
      await killServer();
    }
    return isDead || !whole ? socket.destroy() : socket.write(whole);
  });
  return url;
}

testWithQuestDB('a view that the server was filling when it was killed is filled by the next plan', async t => {
  const [table, view] = [
    'CREATE TABLE t (ts TIMESTAMP, x LONG, y INT) TIMESTAMP(ts) PARTITION BY DAY WAL',
    'CREATE MATERIALIZED VIEW m REFRESH MANUAL AS (select ts, sum(x) n from t sample by 1s) PARTITION BY DAY',
  ];
  const rows = "SELECT timestamp_sequence('2024-01-01', 500000), x, 1 FROM long_sequence(3000000)";
  for (const [last, wanted] of [
    [/^CREATE MATERIALIZED VIEW/m, `${table}; ${view.replace('sum(x) n', 'sum(x) n, max(x) highest')};`],
    [/^REFRESH MATERIALIZED VIEW/m, `${table.replace(', y INT', '')}; ${view};`],
  ] as const) {
    const good = await ensureServer();
    await good.execute(table);
    await good.execute(`INSERT INTO t ${rows}`);
    await waitUntilApplied(good);
    await good.execute(view);
    await waitUntilRefreshed(good);
    const run = await inProcess(t, {}, { 'wanted.sql': wanted });
    const dying = await startDyingServer(t, good, last);
    const { stderr } = await run.exits(69, `sqlapply --alter --allow-loss drop:t.y ${dying} wanted.sql`);
    const restarted = await ensureServer();
    t.deepEqual(await execute(restarted, 'SELECT count() FROM m'), [[0]], stderr);
    await run.ok(`sqlapply --alter ${restarted.url} wanted.sql`);
    t.deepEqual(await execute(restarted, 'SELECT count(), sum(n) FROM m'), [[1500000, 4500001500000]]);
    await discardServer();
  }
});

const CUT_OFF = { reached: true, lasting: false, answer: (socket: Socket) => socket.destroy() };

testWithQuestDB('replies that are cut off are settled by querying the object', async t => {
  const run = await runWithStream(t);
  for (const place of places) {
    const target = await startFailingTarget(t, await ensureServer(), CUT_OFF, place);
    const { code, stderr } = await run(`sqlapply -v ${target} < stream`);
    const summary = `sqlapply: ${target}: ${SCHEMA.length} statements: ${SCHEMA.length} applied\n`;
    t.deepEqual([code, withoutStatements(stderr)], [0, summary]);
    await assertRerunCompletes(t, run);
    await server?.dropAll();
  }
});

testWithQuestDB('a lost reply is not settled by a view with the name of the table', async t => {
  const good = await ensureServer();
  await good.execute('CREATE TABLE t (x INT)');
  await good.execute('CREATE VIEW v AS (select * from t)');
  const target = await startFailingTarget(t, good, CUT_OFF, 0);
  const run = await inProcess(t);
  const { stderr } = await run.exits(1, `printf "CREATE TABLE 'v' ( \\n\\tx INT\\n);\\0" | sqlapply ${target}`);
  t.regex(stderr, /view or materialized view with the requested name already exists/);
});
