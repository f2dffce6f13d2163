/*!
 * Running a plan of `sqldiff --alter` on a real server: killed, stopped, disturbed by others, and taken back. KILLS sets how often
 * sqlapply is killed.
 */
import { strict as assert } from 'node:assert';
import type { ExecutionContext } from 'ava';
import {
  LEDGER,
  makeLedger,
  RENAMED,
  shellWithFiles,
  startLedgerWriter,
  waitUntilRefreshed,
  waitUntilValid,
} from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute, ROWS, waitUntilApplied } from '../support/reconcile.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { random, SEED } from '../support/seed.js';
import type { Server } from '../support/server.js';

const KILLS = Number(process.env.KILLS ?? 2);

const emptyServer = sharedQuestDB();

/** Over the ledger a chain of views; and a view that holds a day that its base has lost. */
const CHAIN = `CREATE MATERIALIZED VIEW daily WITH BASE hourly AS (select ts, sum(n) n from hourly sample by 1d) PARTITION BY MONTH;
CREATE TABLE archive (ts TIMESTAMP, x LONG, note VARCHAR) timestamp(ts) PARTITION BY DAY;
CREATE MATERIALIZED VIEW history WITH BASE archive AS (select ts, sum(x) n from archive sample by 1h) PARTITION BY DAY;`;

async function makeChain(server: Server): Promise<void> {
  await makeLedger(server);
  for (const statement of CHAIN.split('\n')) await execute(server, statement);
  await execute(
    server,
    "INSERT INTO archive SELECT timestamp_sequence('2024-01-01', 3600000000), x, 'n' FROM long_sequence(60)",
  );
  await waitUntilEqual(server, 'SELECT count() FROM history', 60);
  await execute(server, 'ALTER TABLE archive SET TTL 1 DAY');
  await waitUntilEqual(server, 'SELECT count() FROM archive', 36);
}

/** Waits until a query returns a number. */
async function waitUntilEqual(server: Server, query: string, expected: number): Promise<void> {
  for (let last: unknown, since = Date.now(); last !== expected; ) {
    const [[now] = []] = await execute(server, query);
    if (now !== last) since = Date.now();
    last = now;
    assert.ok(Date.now() - since < 30_000, `${query}: ${now}, not ${expected}`);
  }
}

testWithQuestDB(
  'sqlapply killed in the middle of a plan, under a writer: a new plan finishes it, and no row is lost',
  async t => {
    const server = await emptyServer();
    const after = `${LEDGER.after}\n${CHAIN.replace(', note VARCHAR', '').replace('DAY;\nCREATE MATERIALIZED VIEW history', 'DAY TTL 1 DAY;\nCREATE MATERIALIZED VIEW history')}`;
    const run = await shellWithFiles(t, server, { 'after.sql': after });
    const diff = `sqldiff --alter ${RENAMED} --allow-loss drop:archive.note after.sql $DB`;
    for (let kill = 0; kill < KILLS; kill++) {
      await server.dropAll();
      await makeChain(server);
      const writer = startLedgerWriter(server);
      const planned = await run(`${diff} > plan`);
      t.regex(
        planned.stderr,
        /DROP COLUMN note: .* 24 of 60, from 2024-01-01T00.*; --allow-loss history:history allows it\n$/,
      );
      // Before the first statement, between two, or while the server applies one.
      const milliseconds = 100 + random.below(2000);
      await run.bash(
        `sqlapply --allow all $DB < plan & pid=$!; sleep ${(milliseconds / 1000).toFixed(3)}; kill -KILL $pid; wait $pid`,
      );
      const rest = await run.bash(
        // The server may still apply statements that it accepted before the kill; then the new plan is stale.
        // A view that is not refreshed any longer is behind the writer, so that its newest row counts as history.
        `allowed=; for try in 1 2 3 4 5; do
        ${diff} $allowed > plan 2> left-out
        names=$(sed -En 's/.*(--allow-loss history:(hourly|daily)) .*/\\1/p' left-out)
        [ -n "$names" ] && allowed="$allowed $names" && continue
        sqlapply --allow all $DB < plan && break
      done; cat left-out >&2; sqldiff --names after.sql $DB`,
      );
      const rows = ROWS + (await writer.end());
      const log = `SEED=${SEED}: killed after ${milliseconds} ms, ${rows} rows: ${rest.stderr}${(await run('tr -d "\\0" < plan')).stdout}`;
      t.is(rest.stdout.toString(), "differs: table 'archive'\n", log);
      await waitUntilValid(t, server, log);
      await waitUntilEqual(server, 'SELECT count() FROM ledger WHERE x IS NOT NULL', rows);
      await waitUntilEqual(server, 'SELECT count() FROM ledger WHERE quantity IS NOT NULL', ROWS);
      const [[sum] = []] = await execute(server, 'SELECT sum(x) FROM ledger');
      await waitUntilEqual(server, 'SELECT sum(n)::long FROM hourly', Number(sum));
      await waitUntilEqual(server, 'SELECT sum(n)::long FROM daily', Number(sum));
      t.deepEqual(await execute(server, 'SELECT count(), sum(n) FROM history'), [[60, 1830]], log);
    }
  },
);

testWithQuestDB(
  '--undo writes the way back, which a server accepts after the plan, with the rows of before',
  async t => {
    const server = await emptyServer();
    await makeLedger(server);
    await waitUntilRefreshed(server);
    const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after, 'before.sql': LEDGER.before });
    const rows = await execute(server, 'SELECT ts, acc, qty, note, x FROM ledger');
    const careful = await run(`sqldiff --alter ${RENAMED} --undo undo.sql after.sql $DB > plan`);
    const remains = careful.stderr.match(/^sqldiff: undo\.sql: not undone: .*$/gm) ?? [];
    t.deepEqual(
      remains.map(line => line.replace(/.*--allow-loss (\S+) allows it$/, '$1')),
      ['values:ledger.qty', 'values:ledger.y', 'keys:ledger'],
    );
    t.regex((await run('cat undo.sql')).stdout.toString(), /^-- not undone: .* --allow-loss keys:ledger allows it$/m);
    const allowed = remains.map(line => line.replace(/.*(--allow-loss \S+) allows it$/, '$1')).join(' ');
    const plan = await run(
      `sqldiff --alter ${RENAMED} ${allowed} --undo undo.sql after.sql $DB > plan && sqlapply --allow all $DB < plan`,
    );
    t.is(plan.code, 0, plan.stderr);
    t.is((await run('sqldiff after.sql $DB')).code, 0);
    const undone = await run('sqlapply --allow all $DB undo.sql');
    t.is(undone.code, 0, undone.stderr);
    const rest = await run('sqldiff --json before.sql $DB');
    t.is(rest.stdout.toString(), '', (await run('cat plan undo.sql')).stdout.toString());
    t.deepEqual(await execute(server, 'SELECT ts, acc, qty, note, x FROM ledger'), rows);
  },
);

/** A proxy before the server at $DB, which does something else first when a statement of the plan arrives. */
async function disturb(t: ExecutionContext, server: Server, statement: RegExp, first: () => Promise<unknown>) {
  let isDone = false;
  const { url } = await recordingProxy(t, server, async query => {
    if (!isDone && statement.test(query)) {
      isDone = true;
      await first();
    }
    return undefined;
  });
  return url;
}

testWithQuestDB('a plan stops before a statement that depends on what somebody else has changed meanwhile', async t => {
  const server = await emptyServer();
  await makeLedger(server);
  await waitUntilRefreshed(server);
  const proxy = await disturb(t, server, /CREATE VIEW remarks/, async () => {
    await execute(server, 'ALTER TABLE ledger ADD COLUMN other INT');
    await waitUntilApplied(server, 'ledger');
  });
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  const stopped = await run(`sqlapply --allow all ${proxy} < plan`);
  t.is(stopped.code, 1);
  t.regex(
    stopped.stderr,
    /statement 14 \(REFRESH of materialized view 'hourly'\): somebody else has changed table 'ledger' while the plan was applied: column 'other': none to INT/,
  );
  t.regex(stopped.stderr, /view 'hourly' is invalid: rename column operation/);
  t.regex(stopped.stderr, /13 of 14 applied, 1 rejected; nothing was lost; .*make the plan again with sqldiff --alter/);
  const again = await run(
    `sqldiff --alter ${RENAMED} --allow-loss drop:ledger.other after.sql $DB | sqlapply --allow all $DB; sqldiff after.sql $DB`,
  );
  t.is(again.code, 0, again.stderr);
});

testWithQuestDB('the case of a name does not matter for what somebody else has changed', async t => {
  const server = await emptyServer();
  for (const name of ['Trades', 'other'])
    await execute(server, `CREATE TABLE ${name} (ts TIMESTAMP, x LONG) timestamp(ts) PARTITION BY DAY`);
  const proxy = await disturb(t, server, /ADD COLUMN y/, async () => {
    await execute(server, 'ALTER TABLE Trades ADD COLUMN z INT');
  });
  const run = await shellWithFiles(t, server, {});
  await run.bash(
    "(sqldump $DB; printf '\\0') | sed -z 's/CREATE TABLE .other. (/& y INT,/' > after; printf 'CREATE VIEW v AS (SELECT x FROM trades);\\0' >> after",
  );
  await run('sqldiff --alter after $DB > plan');
  const { stderr } = await run(`sqlapply --allow all ${proxy} < plan`);
  t.regex(stderr, /statement 3 \(view 'v'\): somebody else has changed table 'Trades' while the plan was applied/);
});

testWithQuestDB('two plans at once: the second one is refused, and the first one is completed', async t => {
  const server = await emptyServer();
  await makeLedger(server);
  await waitUntilRefreshed(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  let second: Awaited<ReturnType<typeof run>> | undefined;
  const proxy = await disturb(t, server, /RENAME COLUMN note/, async () => {
    second = await run('sqlapply --allow all $DB < plan');
  });
  const first = await run(`sqlapply --allow all ${proxy} < plan`);
  t.is(second?.code, 1);
  t.regex(second?.stderr ?? '', /the plan was made for a different state.*nothing was sent/);
  t.is(first.code, 0, first.stderr);
  t.is((await run('sqldiff after.sql $DB')).code, 0);
});

testWithQuestDB('two plans that start at the same moment: one is completed, and the other stops', async t => {
  const server = await emptyServer();
  await makeLedger(server);
  await waitUntilRefreshed(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  const both = await run.bash(
    'sqlapply --allow all $DB < plan & sqlapply --allow all $DB < plan; a=$?; wait $!; echo $a $?',
  );
  t.regex(both.stdout.toString(), /^(?:0 1|1 0)$/m, both.stderr);
  t.is((await run('sqldiff after.sql $DB')).code, 0);
});

testWithQuestDB('a plan that stops says what nothing undoes', async t => {
  const server = await emptyServer();
  await makeLedger(server);
  await waitUntilRefreshed(server);
  const run = await shellWithFiles(t, server, {
    'after.sql': LEDGER.before
      .replace(', note VARCHAR', '')
      .replace('PARTITION BY DAY DEDUP', 'PARTITION BY DAY TTL 1 WEEK DEDUP'),
  });
  await run('sqldiff --alter --allow-loss drop:ledger.note --allow-loss ttl:ledger after.sql $DB > plan');
  const proxy = await disturb(t, server, /REFRESH MATERIALIZED/, () =>
    execute(server, 'ALTER TABLE ledger ADD COLUMN other INT'),
  );
  const stopped = await run(`sqlapply --allow all ${proxy} < plan`);
  t.regex(stopped.stderr, /4 of 5 applied, 1 rejected; nothing undoes statement 3; /);
});

testWithQuestDB('the designated timestamp of a WAL table is renamed only by a rebuild', async t => {
  const server = await emptyServer();
  const print = (name: string, rest = '') =>
    `CREATE TABLE t (${name} TIMESTAMP,${rest}\n x INT) TIMESTAMP(${name}) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${name});`;
  await execute(server, print('ts'));
  await execute(server, 'INSERT INTO t VALUES (0, 1)');
  await waitUntilApplied(server, 't');
  t.regex(String((await server.execute('ALTER TABLE t RENAME COLUMN ts TO time')).error), /cannot rename designated/);
  const run = await shellWithFiles(t, server, {
    'a.sql': print('time'),
    'commented.sql': print('time', ' -- renamed from ts'),
  });
  for (const operands of ['--renamed t.ts=time a.sql', 'commented.sql']) {
    const { code, stderr } = await run(`sqldiff --alter ${operands} $DB`);
    t.is(code, 1, stderr);
    t.regex(
      stderr,
      /left out: ALTER TABLE 't' RENAME COLUMN ts TO time: cannot be altered: .*needs a new table; --rebuild t makes one/,
    );
  }
  const rebuilt = await run(
    'sqldiff --alter --rebuild t commented.sql $DB | sqlapply --allow-plan $DB && sqldiff a.sql $DB --ignore "t_before_*"',
  );
  t.is(rebuilt.code, 0, rebuilt.stderr);
  t.deepEqual(await execute(server, 'SELECT time, x FROM t'), [['1970-01-01T00:00:00.000000Z', 1]]);
});
