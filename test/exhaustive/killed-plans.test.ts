/*! `sqlapply` killed in the middle of a plan on a real server. KILLS sets how often. */
import { waitUntilTrue, waitUntilValid } from '../support/background.js';
import { LEDGER, makeLedger, RENAMED, shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { ROWS } from '../support/reconcile.js';
import { random, SEED } from '../support/seed.js';
import { execute, type Server } from '../support/server.js';

const KILLS = Number(process.env.KILLS ?? 1);

const server = sharedQuestDB();

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
  await waitUntilTrue(server, 'SELECT count() = 60 FROM history');
  await execute(server, 'ALTER TABLE archive SET TTL 1 DAY');
  await waitUntilTrue(server, 'SELECT count() = 36 FROM archive');
}

/** Writes rows into the ledger, one after the other, until it is ended. `end` returns how many the server has accepted. */
function startLedgerWriter(server: Server): { end(): Promise<number> } {
  let isEnded = false;
  const write = async (): Promise<number> => {
    let accepted = 0;
    for (let n = 0; !isEnded; n++) {
      const insert = `INSERT INTO ledger (ts, acc, x) VALUES (${LEDGER_END_MICROS + n * 1_000_000}, 'w', 7)`;
      // After a test that has failed, the server ends before the writer.
      const { error } = await server.execute(insert).catch(() => ({ error: 'no reply' }));
      if (error === undefined) accepted++;
      else if (error === 'no reply') break;
    }
    return accepted;
  };
  const written = write();
  return {
    end() {
      isEnded = true;
      return written;
    },
  };
}

/** After the rows of `makeLedger`, in microseconds. */
const LEDGER_END_MICROS = Date.parse('2024-01-03T00:00:00Z') * 1000;

testWithQuestDB('sqlapply killed within a plan, under a writer: a new plan finishes it without a loss', async t => {
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
      /DROP COLUMN note\n.* 24 of 60, from 2024-01-01T00.*\n {2}hint: --allow-loss history:history\n$/,
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
        names=$(sed -En 's/.*(--allow-loss history:(hourly|daily))$/\\1/p' left-out)
        [ -n "$names" ] && allowed="$allowed $names" && continue
        sqlapply --allow all $DB < plan && break
      done; cat left-out >&2; sqldiff --names after.sql $DB`,
    );
    const rows = ROWS + (await writer.end());
    const log = `SEED=${SEED}: killed after ${milliseconds} ms, ${rows} rows: ${rest.stderr}${(await run('tr -d "\\0" < plan')).stdout}`;
    t.is(rest.stdout, "differs: table 'archive'\n", log);
    await waitUntilValid(server, log);
    await waitUntilTrue(server, `SELECT count() = ${rows} FROM ledger WHERE x IS NOT NULL`);
    await waitUntilTrue(server, `SELECT count() = ${ROWS} FROM ledger WHERE quantity IS NOT NULL`);
    const [[sum] = []] = await execute(server, 'SELECT sum(x) FROM ledger');
    await waitUntilTrue(server, `SELECT sum(n)::long = ${Number(sum)} FROM hourly`);
    await waitUntilTrue(server, `SELECT sum(n)::long = ${Number(sum)} FROM daily`);
    t.deepEqual(await execute(server, 'SELECT count(), sum(n) FROM history'), [[60, 1830]], log);
  }
});
