/*! `REFRESH MATERIALIZED VIEW … FULL` in a stream: it is applied when the server has refreshed the view after the statement. */
import type { ExecutionContext } from 'ava';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

/** A state as a server shows it: status, reason, and when the last refresh began and ended. */
type State = [status: string, reason: string | null, started: string | null, finished: string | null];

const at = (second: number): string => `2024-01-01T00:00:0${second}.000000Z`;

/** Refreshes a view in full; the server shows the first state before the statement, and the others after it, the last one for ever. */
const refresh = (t: ExecutionContext, before: State, ...states: State[]) => refreshBy(t, 'FULL', before, states);

/** `again` is what the server shows after it has got the statement a second time. */
async function refreshBy(t: ExecutionContext, how: string, before: State, states: State[], again: State[] = states) {
  const server = await startSqlserve(t);
  let isSent = false;
  const { url, queries } = await recordingProxy(t, server, query => {
    if (query.startsWith('REFRESH') && isSent) states.splice(0, states.length, ...again);
    if (query.startsWith('REFRESH')) isSent = true;
    if (query.startsWith('REFRESH')) return [200, { ddl: 'OK' }];
    if (!/^SELECT .* FROM materialized_views\(\) WHERE/.test(query)) return undefined;
    const [next = before] = isSent ? states : [before];
    if (isSent && states.length > 1) states.shift();
    const columns = ['view_status', 'invalidation_reason', 'started', 'finished'].map(name => ({ name }));
    return [200, { columns, dataset: [next], count: 1 }];
  });
  const options = '--allow REFRESH --timeout 20';
  const text = `REFRESH MATERIALIZED VIEW 'm' ${how};`;
  const { code, report, stderr } = await runSqlapply(t, url, { text, options });
  const asked = queries.filter(query => query.includes('materialized_views() WHERE')).length;
  return { code, result: report[0]?.result, error: report[0]?.error, asked, left: states.length, stderr };
}

const OLD: State = ['valid', null, at(1), at(2)];
const RUNNING: State = ['valid', null, at(3), at(2)];

test('the refresh before is not taken for it: neither before the new one begins, nor while it runs', async t => {
  const done = await refresh(t, OLD, OLD, OLD, RUNNING, ['valid', null, at(3), at(4)]);
  t.like(done, { code: 0, result: 'applied', asked: 5, left: 1 }, done.stderr);
});

test('a refresh that fails after another one that succeeded is rejected, with the reason', async t => {
  const failed = await refresh(t, OLD, OLD, RUNNING, ['invalid', 'no such column: x', at(3), at(4)]);
  t.like(failed, { code: 1, result: 'rejected', error: 'accepted, but the refresh failed: no such column: x' });
});

test('a failure of the refresh before is not taken for one of this one', async t => {
  const failed: State = ['invalid', 'no such column: x', at(1), at(2)];
  const done = await refresh(t, failed, failed, ['valid', null, at(3), at(4)]);
  t.like(done, { code: 0, result: 'applied', left: 1 }, done.stderr);
});

test('the first refresh of a view is waited for', async t => {
  const done = await refresh(
    t,
    ['valid', null, null, null],
    ['valid', null, null, null],
    ['valid', null, at(3), at(4)],
  );
  t.like(done, { code: 0, result: 'applied', left: 1 }, done.stderr);
});

test('what the base announces is not the end of the refresh', async t => {
  for (const reason of ['drop column operation', 'base materialized view is invalidated']) {
    const done = await refresh(t, OLD, ['invalid', reason, at(3), at(3)], ['valid', null, at(3), at(4)]);
    t.like(done, { code: 0, result: 'applied', left: 1 }, done.stderr);
  }
});

test('a refresh that the base undoes, since the server noticed its change later, is sent again', async t => {
  const undone: State = ['invalid', 'change column type operation', at(3), at(4)];
  const done = await refreshBy(t, 'FULL', OLD, [RUNNING, undone], [undone, ['valid', null, at(5), at(6)]]);
  t.like(done, { code: 0, result: 'applied', left: 1 }, done.stderr);
});

test('an incremental refresh is not waited for: there may be nothing to do', async t => {
  t.like(await refreshBy(t, 'INCREMENTAL', OLD, [OLD]), { code: 0, result: 'applied', asked: 0 });
});
