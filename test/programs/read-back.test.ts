/*!
 * Applied statements are read back: from targets that cannot show objects, lose them, or create other definitions. A refresh in full
 * is applied when the server has refreshed the view after the statement.
 */
import type { ExecutionContext } from 'ava';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const good = sharedSqlserve();

const table = (name: string, type = 'INT') => `CREATE TABLE '${name}' ( \n\tx ${type}\n);`;

/** Returns the bytes of a reply, `hang up`, or undefined if the good server replies. */
type Corruption = (statement: string) => Promise<Buffer | undefined> | Buffer | 'hang up' | undefined;

/** Starts a proxy before the good server that corrupts some of its replies. */
async function startCorrupting(t: ExecutionContext, corrupt: Corruption) {
  const { url, requests } = await startFaultyServer(t, async (socket, request) => {
    const bytes = (await corrupt(request.statement)) ?? (await forwardRequest(good, request));
    if (bytes === 'hang up') socket.destroy();
    else socket.write(bytes);
  });
  const tables = async () =>
    (await good.execute('SELECT table_name FROM tables() ORDER BY table_name')).dataset?.flat();
  return { url, requests, tables };
}

for (const [name, status, bytes] of [
  ['answers 500', 69, reply('{"error":"boom"}', 500)],
  ['answers 503', 69, reply('', 503)],
  ['closes the connection', 69, 'hang up'],
  ['answers 401', 77, reply('Unauthorized', 401)],
  ['answers 403', 77, reply('{"error":"Access denied for bob","position":0}', 403)],
  ['answers with HTML', 76, reply('<html>', 200)],
  ['rejects the query', 1, reply('{"error":"boom","position":0}', 400)],
] as const)
  for (const options of ['', '--keep-going'])
    test(`read-back: if the target ${name}, the status is ${status} ${options}`, async t => {
      const { url, tables } = await startCorrupting(t, statement => (statement.startsWith('SHOW') ? bytes : undefined));
      const { code, stderr, report, rejects } = await runSqlapply(t, url, { text: table('a') + table('b'), options });
      t.is(code, status, stderr);
      const found = report.map(({ result, proven }) => [result, proven]);
      t.deepEqual(found, [
        ['applied', false],
        ['applied', false],
      ]);
      t.regex(stderr, /statement 1 \(table 'a'\): .*read back/);
      t.regex(stderr, /: 2 of 2 applied\b/);
      t.is(rejects, '\0', 'applied statements are not rejects');
      t.deepEqual(await tables(), ['a', 'b']);
    });

test('with --no-verify nothing is read back', async t => {
  const { url, requests } = await startCorrupting(t, () => undefined);
  const { code, report } = await runSqlapply(t, url, { text: table('a'), options: '--no-verify' });
  t.is(code, 0);
  const found = report.map(({ result, proven }) => [result, proven]);
  t.deepEqual(found, [['applied', undefined]]);
  const texts = requests.map(({ statement }) => statement);
  t.deepEqual(texts, [table('a').slice(0, -1)]);
});

/** More statements than are read back at once, among them one that cannot be read back. `ONE` is the one whose reply is corrupted. */
const ALTER = 'ALTER TABLE there ADD COLUMN y INT;';
const MANY = Array.from({ length: 130 }, (_, i) => (i === 105 ? ALTER : table(`t${i}`)));
const ONE = table('t110');

/** Applies the statements through a proxy that corrupts replies; adds the number and result of each table without proof. */
async function replayMany(t: ExecutionContext, corrupt: Corruption) {
  const { url } = await startCorrupting(t, corrupt);
  await good.execute('CREATE TABLE there (x INT)');
  const outcome = await runSqlapply(t, url, { text: MANY.join(''), options: '--allow ALTER' });
  const unproven = outcome.report.filter(({ kind, proven }) => kind === 'table' && proven !== true);
  return { ...outcome, unproven: unproven.map(({ n, result }) => [n, result]) };
}

for (const [what, instead, seen] of [
  ['is missing', () => reply('{"ddl":"OK"}'), /does not exist/],
  ['differs', async () => reply(JSON.stringify(await good.execute(table('t110', 'LONG')))), /x LONG/],
] as const)
  test(`read-back: only the object that ${what} is named and rejected`, async t => {
    const corrupt: Corruption = async statement => (`${statement};` === ONE ? instead() : undefined);
    const { code, stderr, unproven, rejects } = await replayMany(t, corrupt);
    t.is(code, 1);
    t.deepEqual(unproven, [[111, 'differs']]);
    t.regex(stderr, /statement 111 \(table 't110'\): /);
    t.is(rejects, `${ONE}\n\0`);
    t.regex(JSON.stringify(await good.execute('SHOW CREATE TABLE t110')), seen);
  });

const ALTERED = 'CREATE TABLE a (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL; ALTER TABLE a ADD COLUMN y INT;';

test('read-back: a table does not count as created differently if a later ALTER may have changed it', async t => {
  const { url } = await startCorrupting(t, statement =>
    statement.includes('wal_tables') ? reply('', 503) : undefined,
  );
  const { code, stderr, results, rejects } = await runSqlapply(t, url, { text: ALTERED, options: '--allow ALTER' });
  t.is(code, 69);
  t.deepEqual(results, ['applied', 'unknown'], stderr);
  t.notRegex(stderr, /different definition/);
  t.is(rejects, 'ALTER TABLE a ADD COLUMN y INT;\n\0');
});

for (const [error, status, result] of [
  ['permission denied', 77, 'unknown'],
  ['out of memory', 1, 'unknown'],
  ['unknown function name: wal_tables()', 0, 'applied'], // a server without WAL
] as const)
  test(`read-back: an ALTER is ${result} if wal_tables() is rejected: ${error}`, async t => {
    const rejection = reply(JSON.stringify({ error, position: 0 }), 400);
    const { url } = await startCorrupting(t, statement => (statement.includes('wal_tables') ? rejection : undefined));
    const { code, stderr, results } = await runSqlapply(t, url, { text: ALTERED, options: '--allow ALTER' });
    t.is(code, status, stderr);
    t.deepEqual(results, ['applied', result]);
    if (status !== 0) t.regex(stderr, new RegExp(`whether it was applied is unknown: .*: ${error}`));
  });

test('read-back: a question that was not answered is asked again', async t => {
  let count = 0;
  const { url } = await startCorrupting(t, statement =>
    statement.includes('SHOW PARAMETERS') && ++count === 1 ? reply('', 503) : undefined,
  );
  const text = 'create table a (x int); ALTER TABLE a ADD COLUMN y INT;';
  const { code, stderr, report } = await runSqlapply(t, url, { text, options: '--allow ALTER' });
  t.is(code, 69);
  const found = report.map(({ result, proven }) => [result, proven]);
  t.deepEqual(found, [
    ['applied', true],
    ['failed', undefined],
  ]);
  t.notRegex(stderr, /could not be read back/);
});

test('read-back: a view that the target created as a table is reported as missing', async t => {
  const view = "CREATE VIEW 'v' AS ( \nselect x from a\n);";
  const { url } = await startCorrupting(t, async statement =>
    statement.startsWith('CREATE VIEW') ? reply(JSON.stringify(await good.execute(table('v')))) : undefined,
  );
  const { code, results, rejects } = await runSqlapply(t, url, { text: table('a') + view });
  t.is(code, 1);
  t.deepEqual(results, ['applied', 'differs']);
  t.is(rejects, `${view}\n\0`);
});

test('read-back: of two views that are replaced, the one that is not as it should be is named, and the earlier is not', async t => {
  const view = (name: string, column: string) => `CREATE OR REPLACE VIEW ${name} AS (SELECT ${column} FROM a)`;
  const { url } = await startCorrupting(t, async statement =>
    statement === view('w', 'x') ? reply(JSON.stringify(await good.execute(view('w', 'y')))) : undefined,
  );
  const text = `CREATE TABLE a (x INT, y INT);${view('v', 'x')};${view('w', 'x')};`;
  const { code, report, rejects, stderr } = await runSqlapply(t, url, { text, options: '--allow REPLACE' });
  t.is(code, 1, stderr);
  const found = report.map(({ result, proven }) => [result, proven]);
  t.deepEqual(found, [
    ['applied', true],
    ['applied', true],
    ['differs', undefined],
  ]);
  t.is(rejects, `${view('w', 'x')};\n\0`);
});

/** A state as a server shows it: status, reason, and when the last refresh began and ended. `hidden`: no state of a view that exists. */
type State =
  | [status: string, reason: string | null, started: string | null, finished: string | null]
  | 'dropped'
  | 'hidden';

const at = (second: number): string => `2024-01-01T00:00:0${second}.000000Z`;

/**
 * Refreshes a view. The server shows the first state before the statement, and then the others; the last one stays.
 * `again` is what it shows after it has got the statement a second time, or the message with which it rejects it.
 */
async function refreshBy(
  t: ExecutionContext,
  how: string,
  before: State,
  states: State[],
  again: State[] | string = states,
) {
  const server = await startSqlserve(t);
  if (states.includes('hidden')) await server.execute('CREATE TABLE m (x INT)');
  let isSent = false;
  const { url, queries } = await recordingProxy(t, server, query => {
    if (query.startsWith('REFRESH') && isSent && typeof again === 'string')
      return [403, { query, error: again, position: 0 }];
    if (query.startsWith('REFRESH') && isSent) states.splice(0, states.length, ...(again as State[]));
    if (query.startsWith('REFRESH')) isSent = true;
    if (query.startsWith('REFRESH')) return [200, { ddl: 'OK' }];
    if (!/^SELECT .* FROM materialized_views\(\) WHERE/.test(query)) return undefined;
    const [next = before] = isSent ? states : [before];
    if (isSent && states.length > 1) states.shift();
    const columns = ['view_status', 'invalidation_reason', 'started', 'finished'].map(name => ({ name }));
    const dataset = typeof next === 'string' ? [] : [next];
    return [200, { columns, dataset, count: dataset.length }];
  });
  const options = '--allow REFRESH --timeout 20';
  const text = `REFRESH MATERIALIZED VIEW 'm' ${how};`;
  const { code, report, stderr } = await runSqlapply(t, url, { text, options });
  const asked = queries.filter(query => query.includes('materialized_views() WHERE')).length;
  return { code, result: report[0]?.result, error: report[0]?.error, asked, left: states.length, stderr };
}

const OLD: State = ['valid', null, at(1), at(2)];
const RUNNING: State = ['valid', null, at(3), at(2)];

const NEVER: State = ['valid', null, null, null];
const DONE: State = ['valid', null, at(3), at(4)];
const REASON = 'no such column: x';

for (const [title, before, states, expected = { code: 0, result: 'applied', left: 1 }] of [
  [
    'the refresh before is not taken for it: neither before the new one begins, nor while it runs',
    OLD,
    [OLD, OLD, RUNNING, DONE],
    { code: 0, result: 'applied', asked: 5, left: 1 },
  ],
  [
    'a refresh that fails after another one that succeeded is rejected, with the reason',
    OLD,
    [OLD, RUNNING, ['invalid', REASON, at(3), at(4)]],
    { code: 1, result: 'rejected', error: `accepted, but the refresh failed: ${REASON}` },
  ],
  [
    'a failure of the refresh before is not one of this one',
    ['invalid', REASON, at(1), at(2)],
    [['invalid', REASON, at(1), at(2)], DONE],
  ],
  ['the first refresh of a view is waited for', NEVER, [NEVER, DONE]],
  ['a drop that the base announces is not the end', OLD, [['invalid', 'drop column operation', at(3), at(3)], DONE]],
  ['an invalid base is not the end', OLD, [['invalid', 'base materialized view is invalidated', at(3), at(3)], DONE]],
  [
    'a view that is dropped meanwhile is not waited for',
    OLD,
    [RUNNING, 'dropped'],
    { code: 1, result: 'rejected', error: 'accepted, but the refresh failed: the view no longer exists' },
  ],
  ['a view whose state the server does not show for a moment is waited for', OLD, [RUNNING, 'hidden', DONE]],
] as [string, State, State[], object?][])
  test(title, async t => {
    const done = await refreshBy(t, 'FULL', before, states);
    t.like(done, expected, done.stderr);
  });

test('a refresh that the base undoes, since the server noticed its change later, is sent again', async t => {
  const undone: State = ['invalid', 'change column type operation', at(3), at(4)];
  const done = await refreshBy(t, 'FULL', OLD, [RUNNING, undone], [undone, ['valid', null, at(5), at(6)]]);
  t.like(done, { code: 0, result: 'applied', left: 1 }, done.stderr);
});

test('if the server rejects the refresh when it is sent again, the run ends with this rejection', async t => {
  const undone: State = ['invalid', 'change column type operation', at(3), at(4)];
  const message = "Access denied for ann [REFRESH MATERIALIZED VIEW on 'm']";
  const done = await refreshBy(t, 'FULL', OLD, [RUNNING, undone], message);
  t.like(done, { code: 77, result: 'rejected', error: `accepted, but the refresh failed: ${message}` }, done.stderr);
});

test('an incremental refresh is not waited for: there may be nothing to do', async t =>
  t.like(await refreshBy(t, 'INCREMENTAL', OLD, [OLD]), { code: 0, result: 'applied', asked: 0 }));
