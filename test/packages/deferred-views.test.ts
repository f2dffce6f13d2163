/*! Plans for deferred views, which a server does not fill: they are filled again if they had rows, wherever a plan is interrupted. */
import { planChanges } from '@sqlpipe/plan';
import { compareSchemas } from '@sqlpipe/schema';
import { NameSet } from '@sqlpipe/sql';
import { changesOf, engineWith, textsOf } from '../support/plans.js';
import { test } from '../support/test.js';

const BASE = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
const VIEW =
  "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH MANUAL AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;";

test('a deferred view that is created again is filled again, if it had rows', async t => {
  const view = VIEW.replace('REFRESH MANUAL', 'REFRESH MANUAL DEFERRED');
  const after = [BASE, view.replace('sum(x)', 'max(x)')];
  const refresh = "REFRESH MATERIALIZED VIEW 'm' FULL;";
  t.is(textsOf(await planChanges(after, [BASE, view])).at(-3), refresh);
  const empty = { health: { neverRefreshed: new NameSet(['m']) } };
  t.false(textsOf(await planChanges(after, [BASE, view], empty)).includes(refresh));
});

test('a deferred view has a mark while a plan refreshes it in full, because the server may die meanwhile', async t => {
  const wanted = [BASE, VIEW.replace('REFRESH MANUAL', 'REFRESH MANUAL DEFERRED')];
  const now = wanted.map(each => each.replace('x INT', 'x INT, y INT'));
  const [mark = '', ...changes] = changesOf(await planChanges(wanted, now, { allowLoss: ['drop:t.y'] }));
  t.regex(mark, /^CREATE TABLE 'm_unfilled_/);
  const refreshed = ["ALTER TABLE 't' DROP COLUMN y;", "REFRESH MATERIALIZED VIEW 'm' FULL;"];
  t.deepEqual(changes, [...refreshed, mark.replace(/CREATE (.*) \(.*/, 'DROP $1;')]);
  // The mark of a view that only B has would stay.
  const extra = { allowLoss: ['drop:t.y'], ignoreExtra: true };
  t.deepEqual(changesOf(await planChanges([BASE], now, extra)), refreshed);
});

test('wherever a plan is interrupted, the next one fills a deferred view that had rows', async t => {
  const view = VIEW.replace('REFRESH MANUAL', 'REFRESH MANUAL DEFERRED');
  const after = [BASE, view.replace('sum(x)', 'max(x)')];
  const statements = textsOf(await planChanges(after, [BASE, view]));
  for (const [sent] of [...statements, ''].entries()) {
    const engine = engineWith([BASE, view]);
    for (const statement of statements.slice(0, sent)) engine.execute(statement);
    const health = { neverRefreshed: new NameSet(engine.wasNeverRefreshed('m') ? ['m'] : []) };
    const other = ['CREATE TABLE n (x INT);'];
    t.deepEqual(textsOf(await planChanges(other, engine.statements(), { health, ignoreExtra: true })), other);
    const rest = textsOf(await planChanges(after, engine.statements(), { health }));
    for (const statement of rest) engine.execute(statement);
    t.deepEqual(compareSchemas(after, engine.statements()).differences, [], `after ${sent}`);
    t.false(engine.wasNeverRefreshed('m'), `after ${sent}`);
  }
});
