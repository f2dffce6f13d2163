/*!
 * Rows of materialized views that nothing can compute again: random pairs of schemas on a real server, of which the last one is
 * of a seed that no other run had. PAIRS sets the number from SEED on.
 */
import { checkHistory } from '../support/history.js';
import { historyPair } from '../support/history-pairs.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { SEED } from '../support/seed.js';
import { shell } from '../support/shell.js';

const PAIRS = Number(process.env.PAIRS ?? 1);
const SEEDS = [...(process.env.SEED ? [] : [0, 1]), ...Array.from({ length: PAIRS }, (_, i) => SEED + i)];

testWithQuestDB(
  `random pairs of the seeds ${SEEDS.join(', ')}: no plan loses or breaks what was not allowed`,
  async t => {
    t.timeout(SEEDS.length * 60_000);
    const server = await borrowQuestDB(t);
    const run = await shell(t);
    for (const seed of SEEDS) {
      const pair = historyPair(seed);
      const { findings, log } = await checkHistory(server, run, pair);
      t.deepEqual(
        findings,
        [],
        `${pair.description}\n${log}\nagain: PAIRS=1 SEED=${seed} npx ava test/programs/history-of-views.test.ts`,
      );
    }
  },
);
