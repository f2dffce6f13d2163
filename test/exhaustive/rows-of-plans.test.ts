/*!
 * No plan loses a row that was not named: random schemas with rows on a real server, changed into others with random options, and
 * something in between. RUNS sets the number from SEED on; without SEED, the runs are always the same.
 */
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { formatFindings, runSeeds, summarizeRuns } from '../support/row-reports.js';

const SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 3);

testWithQuestDB(`${RUNS} runs from seed ${SEED}: every row is held afterwards, or its loss was named`, async t => {
  t.timeout(RUNS * 60_000);
  const start = () => startQuestDB(t, { QDB_DEV_MODE_ENABLED: 'true' });
  const seeds = Array.from({ length: RUNS }, (_, i) => SEED + i);
  const runs = await runSeeds(t, start, seeds, run => console.log(formatFindings(run)));
  if (process.env['RUNS']) console.log(summarizeRuns(runs));
  const failed = runs.filter(({ findings }) => findings.length > 0).map(({ seed }) => seed);
  t.deepEqual(failed, [], 'again: RUNS=1 SEED=… npx ava test/exhaustive/rows-of-plans.test.ts');
});
