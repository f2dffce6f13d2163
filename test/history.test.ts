/*!
 * Rows of materialized views that nothing can compute again: random pairs of schemas on a real server. PAIRS sets their
 * number, SEED the first seed.
 */
import { checkHistory } from './support/history.js';
import { historyPair } from './support/history-pairs.js';
import { startQuestDB, testWithQuestDB } from './support/questdb.js';
import { shell } from './support/shell.js';

const PAIRS = Number(process.env.PAIRS ?? 3);
const SEED = Number(process.env.SEED ?? 0);

testWithQuestDB(`random pairs from seed ${SEED}: no plan loses or breaks what was not allowed`, async t => {
  t.timeout(PAIRS * 60_000);
  const server = await startQuestDB(t);
  const run = await shell(t);
  for (let seed = SEED; seed < SEED + PAIRS; seed++) {
    const pair = historyPair(seed);
    const { findings, log } = await checkHistory(server, run, pair);
    t.deepEqual(findings, [], `${pair.description}\n${log}\nagain: PAIRS=1 SEED=${seed} npx ava test/history.test.ts`);
  }
});
