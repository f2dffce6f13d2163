/*!
 * Reconciles random pairs of schemas on a real QuestDB: recorded objects with changes, with rows in the tables. Checks that plans of
 * generated ones lose no row that was not named, and compares the effects of changes on views with the predictions.
 * PAIRS (of each kind) and CHANGES set their numbers, SEED the first seed, which otherwise is another one each time.
 */

import { CORPUS } from '../test/support/corpus.js';
import { corpusPair } from '../test/support/corpus-pairs.js';
import { predict } from '../test/support/predict.js';
import { type Run, reconcile } from '../test/support/reconcile.js';
import { formatFindings, runSeeds, summarizeRuns } from '../test/support/row-reports.js';
import type { Scope } from '../test/support/scope.js';
import { openScope } from '../test/support/scope.js';
import { type Server, startServer } from '../test/support/server.js';
import { shell } from '../test/support/shell.js';

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const [PAIRS, CHANGES] = [number('PAIRS', 300), number('CHANGES', 300)];
const SEED = number('SEED', Date.now() % 1e9);
console.log(`SEED=${SEED}`);

/** @returns whether no pair failed */
async function reconcileAll(server: Server, run: Run): Promise<boolean> {
  let [reconciled, partly, failed] = [0, 0, 0];
  for (let seed = SEED; seed < SEED + PAIRS; seed++)
    try {
      const { isReconciled } = await reconcile(server, run, corpusPair(seed), seed);
      if (isReconciled) reconciled++;
      else partly++;
    } catch (error) {
      failed++;
      console.log((error as Error).message);
    }
  console.log(
    `${PAIRS} pairs of recorded objects: ${reconciled} reconciled, ${partly} except for properties that cannot be altered, ${failed} failed`,
  );
  return failed === 0;
}

/** @returns whether every row was held afterwards, or its loss was named */
async function keepRows(scope: Scope, start: () => Promise<Server>): Promise<boolean> {
  const seeds = Array.from({ length: PAIRS }, (_, i) => SEED + i);
  const runs = await runSeeds(scope, start, seeds, run => console.log(formatFindings(run)));
  console.log(summarizeRuns(runs));
  return runs.every(({ findings }) => findings.length === 0);
}

/** @returns whether at most 1 % of the predictions are wrong */
async function predictAll(server: Server): Promise<boolean> {
  let [right, wrong, missed, rejected] = [0, 0, 0, 0];
  for (let seed = SEED, done = 0; done < CHANGES; seed++) {
    const result = await predict(server, seed);
    if (!result) {
      rejected++;
      continue;
    }
    done++;
    const { change, predicted, invalid } = result;
    const found = {
      right: [...predicted].filter(name => invalid.has(name)),
      wrong: [...predicted].filter(name => !invalid.has(name)),
      missed: [...invalid].filter(name => !predicted.has(name)),
    };
    right += found.right.length;
    wrong += found.wrong.length;
    missed += found.missed.length;
    if (found.wrong.length + found.missed.length > 0)
      console.log(`${change}: predicted wrongly: ${found.wrong}; not predicted: ${found.missed}`);
  }
  const [precision, recall] = [right / (right + wrong), right / (right + missed)].map(share =>
    (100 * share).toFixed(1),
  );
  console.log(
    `${CHANGES} changes (${rejected} more were rejected): ${right + missed} views invalidated; precision ${precision} %, recall ${recall} %`,
  );
  return wrong + missed <= 0.01 * (right + missed);
}

const scope = openScope();
try {
  const start = () =>
    startServer(scope, process.execPath, ['--import=tsx', 'scripts/questdb.ts'], { QDB_DEV_MODE_ENABLED: 'true' });
  const server = await start();
  const run = await shell(scope);
  const results = [
    !CORPUS || (await reconcileAll(server, run)),
    await keepRows(scope, start),
    await predictAll(server),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  await scope.end();
}
