/*!
 * Random pairs of schemas: a plan turns one into the other on a real server with rows, and on sqlserve with access control. PAIRS
 * sets the number of pairs, SEED the first one.
 */
import { corpusPair } from '../support/corpus-pairs.js';
import { inProcess } from '../support/in-process.js';
import { predict } from '../support/predict.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { reconcile } from '../support/reconcile.js';
import { reconcileEnterprise } from '../support/reconcile-enterprise.js';
import { schemaPair } from '../support/schema-pairs.js';
import { SEED } from '../support/seed.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const PAIRS = Number(process.env.PAIRS ?? 5);
/** Of recorded objects, where the recordings are. */
const RECORDED_PAIRS = 2;

const emptyServer = sharedQuestDB();

testWithQuestDB(
  'random pairs of schemas are reconciled with rows in the tables, and nothing is lost unless allowed',
  async t => {
    const server = await emptyServer();
    const run = await inProcess(t);
    let reconciled = 0;
    for (let seed = SEED; seed < SEED + RECORDED_PAIRS; seed++) {
      const recorded = corpusPair(seed);
      if (recorded) await reconcile(server, run, recorded, seed);
    }
    for (let seed = SEED; seed < SEED + PAIRS; seed++)
      reconciled += Number((await reconcile(server, run, schemaPair(seed), seed)).isReconciled);
    t.true(reconciled > 0, `${reconciled} of ${PAIRS}`);
  },
);

testWithQuestDB('views break as predicted', async t => {
  const server = await emptyServer();
  for (let seed = SEED; seed < SEED + PAIRS; seed++) {
    const { change, predicted, invalid } = (await predict(server, seed)) ?? {};
    t.deepEqual(predicted && [...predicted].sort(), invalid && [...invalid].sort(), change);
  }
});

/** Those that change most, and can be reconciled. */
const ENTERPRISE_SEEDS = [21, 23];

test('enterprise: random pairs of schemas are reconciled, and nothing is lost unless allowed', async t => {
  const run = await inProcess(t);
  for (const seed of ENTERPRISE_SEEDS) {
    const server = await startSqlserve(t, ['--edition', 'enterprise']);
    const { isReconciled, left } = await reconcileEnterprise(server.url, run, seed);
    t.true(isReconciled, `seed ${seed}: ${left}`);
    await server.end();
  }
});
