/*! `sqlapply --if-exists`: how existing objects are handled, and that other rejections are not hidden. */

import type { ExecutionContext } from 'ava';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const target = sharedSqlserve();

const T = "CREATE TABLE 't' ( \n\tx INT\n);";
const VIEW = 'CREATE VIEW v AS (SELECT x FROM t);';

/** Replays the text on an instance with the table `t`, whose column has the given type. */
async function replayOnto(t: ExecutionContext, type: string, text: string, options: string) {
  await target.execute(`CREATE TABLE t (x ${type})`);
  const outcome = await runSqlapply(t, target.url, { text, options });
  const [[definition = ''] = []] = (await target.execute('SHOW CREATE TABLE t')).dataset ?? [];
  return { ...outcome, definition };
}

for (const statement of [
  'CREATE VIEW bad AS (SELECT x FROM nope);',
  'CREATE MATERIALIZED VIEW bad AS (SELECT ts, max(x) AS x FROM nope SAMPLE BY 1h) PARTITION BY DAY;',
  'ALTER TABLE nope ADD COLUMN y INT;',
  'DROP TABLE nope;',
])
  for (const ifExists of ['skip', 'compare', 'fail'])
    test(`--if-exists ${ifExists} does not hide a missing object: ${statement}`, async t => {
      const { code, results, report, rejects } = await replayOnto(
        t,
        'INT',
        `${statement} ${VIEW}`,
        `--allow ALTER,DROP --if-exists ${ifExists}`,
      );
      t.is(code, 1);
      t.deepEqual(results, ['rejected', 'not reached']);
      t.regex(report[0]?.error ?? '', /does not exist/);
      t.true(rejects?.startsWith(statement));
    });

test('--if-exists skip hides no other kind of rejection', async t => {
  for (const error of [
    'boom',
    'table name is reserved',
    'table exists in a state that is not known',
    'permission denied',
  ]) {
    const { url } = await startFaultyServer(t, socket =>
      socket.write(reply(JSON.stringify({ error, position: 0 }), 400)),
    );
    const { code, results } = await runSqlapply(t, url, { text: T, options: '--if-exists skip' });
    t.is(code, error === 'permission denied' ? 77 : 1, error);
    t.deepEqual(results, ['rejected'], error);
  }
});

for (const [ifExists, type, code, results] of [
  ['compare', 'INT', 0, ['skipped', 'applied']],
  ['compare', 'LONG', 1, ['differs', 'not reached']],
  ['skip', 'INT', 0, ['skipped', 'applied']],
  ['skip', 'LONG', 0, ['skipped', 'applied']],
  ['fail', 'INT', 1, ['rejected', 'not reached']],
  ['fail', 'LONG', 1, ['rejected', 'not reached']],
] as const)
  test(`--if-exists ${ifExists}: the existing column is ${type}, the statement says INT`, async t => {
    const outcome = await replayOnto(t, type, `${T} ${VIEW}`, `--if-exists ${ifExists}`);
    t.is(outcome.code, code, outcome.stderr);
    t.deepEqual(outcome.results, [...results]);
    t.regex(String(outcome.definition), new RegExp(`x ${type}\n`), 'the existing table is unchanged');
    t.is(outcome.rejects, code === 0 ? '\0' : `${T}\n\0${VIEW}\n\0`);
  });
