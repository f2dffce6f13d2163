/*! Random pairs of schemas: a plan turns one into the other on a real server with rows. PAIRS sets their number, SEED the first one. */
import { isDeepStrictEqual } from 'node:util';
import { CORPUS } from '../support/corpus.js';
import { corpusPair } from '../support/corpus-pairs.js';
import { inProcess } from '../support/in-process.js';
import { type Prediction, predict } from '../support/predict.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { reconcile } from '../support/reconcile.js';
import { SEED } from '../support/seed.js';
import { test } from '../support/test.js';

const PAIRS = Number(process.env.PAIRS ?? 5);

const server = sharedQuestDB();

(CORPUS ? testWithQuestDB : test.skip)(
  'recorded objects with random changes are reconciled with rows in the tables, and nothing is lost unless allowed',
  async t => {
    const run = await inProcess(t);
    let reconciled = 0;
    for (let seed = SEED; seed < SEED + PAIRS; seed++)
      reconciled += Number((await reconcile(server, run, corpusPair(seed), seed)).isReconciled);
    t.true(reconciled > 0, `${reconciled} of ${PAIRS}`);
  },
);

testWithQuestDB('views break as predicted', async t => {
  const wrong: Prediction[] = [];
  for (let seed = SEED, done = 0; done < PAIRS; seed++) {
    const prediction = await predict(server, seed);
    if (!prediction) continue;
    done++;
    if (!isDeepStrictEqual([...prediction.predicted].sort(), [...prediction.invalid].sort())) wrong.push(prediction);
  }
  t.deepEqual(wrong, []);
});
