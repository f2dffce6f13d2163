/*!
 * `sqlapply` fetches the definitions of the next statements together. A definition that a statement of the run has changed meanwhile
 * is not used: whichever of the replies comes first, and also if one is lost.
 */

import { Readable } from 'node:stream';
import { replay } from '@sqlpipe/api';
import type { ExecutionContext } from 'ava';
import { reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { deferred } from '../support/deferred.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const good = sharedSqlserve();

/** What a proxy does before it forwards a request, before it passes the reply on or another one instead, and afterwards. */
interface Hooks {
  before?(statement: string): Promise<void> | undefined;
  replace?(statement: string): string;
  reply?(statement: string): Promise<void> | Buffer | 'lost' | undefined;
  after?(statement: string): void;
}

/** A proxy in front of an instance with these objects. */
async function startProxy(t: ExecutionContext, objects: readonly string[], hooks: Hooks) {
  for (const statement of objects) t.is((await good.execute(statement)).error, undefined, statement);
  const { before, replace = statement => statement, reply: answer, after } = hooks;
  const { url } = await startFaultyServer(t, async (socket, request) => {
    const { statement } = request;
    await before?.(statement);
    const line = `GET /exec?${new URLSearchParams({ query: replace(statement) })}`;
    const bytes = await forwardRequest(good, replace(statement) === statement ? request : { ...request, line });
    const own = await answer?.(statement);
    if (own === 'lost') return socket.destroy();
    return socket.write(own ?? bytes, () => after?.(statement));
  });
  return url;
}

const TABLES = ['CREATE TABLE a (x INT);', 'CREATE TABLE t (x INT, y INT);'];
const OLD = 'CREATE VIEW v AS (SELECT x FROM t);';

for (const change of ['CREATE OR REPLACE VIEW v AS (SELECT y FROM t);', 'ALTER TABLE t ADD COLUMN z INT;'])
  test(`a change whose reply is lost is looked for in a new definition: ${change}`, async t => {
    const isChange = (statement: string) => `${statement};` === change;
    const lose = (statement: string) => (isChange(statement) ? 'lost' : undefined);
    const url = await startProxy(t, [...TABLES, OLD], { reply: lose });
    const text = [...TABLES, change].join('\n');
    const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--allow REPLACE,ALTER' });
    t.deepEqual([code, results], [0, ['skipped', 'skipped', 'applied']], stderr);
  });

const REPLACE = 'CREATE OR REPLACE VIEW v AS (SELECT y FROM t);';
const SAME = 'CREATE VIEW IF NOT EXISTS v AS (SELECT y FROM t);';

for (const order of ['before', 'after'] as const)
  test(`a view that is replaced while its definition is fetched is fetched again: its reply comes ${order}`, async t => {
    const [asked, fetched, replaced] = [deferred(), deferred(), deferred()];
    const isShown = (statement: string) => /^SHOW CREATE TABLE 'a' UNION ALL .*'v'/.test(statement);
    /** The last query of a look-ahead that found a table. */
    const isLast = (statement: string) => / lower\(table_name\) IN \('a'/.test(statement);
    const isReplace = (statement: string) => `${statement};` === REPLACE;
    const url = await startProxy(t, [...TABLES, OLD], {
      before: statement => (isReplace(statement) ? (order === 'before' ? fetched : asked).promise : undefined),
      reply(statement) {
        if (isShown(statement)) asked.resolve();
        return isShown(statement) && order === 'after' ? replaced.promise : undefined;
      },
      after(statement) {
        if (isLast(statement)) fetched.resolve();
        if (isReplace(statement)) replaced.resolve();
      },
    });
    const text = [TABLES[0], REPLACE, SAME].join('\n');
    const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--jobs 2 --allow REPLACE' });
    t.deepEqual([code, results], [0, ['skipped', 'applied', 'skipped']], stderr);
  });

/** As many statements as are looked ahead for together. */
const BATCH = 100;

const tables = (count: number) => Array.from({ length: count }, (_, i) => `CREATE TABLE t${i} (x INT);`);
const isFetch = (statement: string) => statement === "SHOW CREATE TABLE 't'";
const isAlter = (statement: string) => statement.startsWith('ALTER');

for (const order of ['before', 'after'] as const)
  test(`a table that is altered while its definition is fetched is fetched again: its reply comes ${order}`, async t => {
    const others = tables(BATCH - 1);
    const [asked, fetched, altered] = [deferred(), deferred(), deferred()];
    let fetches = 0;
    const url = await startProxy(t, [...others, 'CREATE TABLE t (x INT);'], {
      before: statement => (isAlter(statement) ? (order === 'before' ? fetched : asked).promise : undefined),
      // Of a newer server, so that nobody knows what it changes.
      replace: statement => (isAlter(statement) ? 'ALTER TABLE t ADD COLUMN y INT' : statement),
      reply(statement) {
        if (!isFetch(statement) || ++fetches > 1) return undefined;
        asked.resolve();
        return order === 'after' ? altered.promise : undefined;
      },
      after(statement) {
        if (/ lower\(table_name\) IN \('t'\)/.test(statement)) fetched.resolve();
        if (isAlter(statement)) altered.resolve();
      },
    });
    const text = [...others, 'ALTER TABLE t WIDEN;', 'CREATE TABLE t (x INT, y INT);'].join('\n');
    const options = '--jobs 2 --no-verify --allow ALTER';
    const { code, results, stderr } = await runSqlapply(t, url, { text, options });
    t.deepEqual([code, results.slice(BATCH - 1)], [0, ['applied', 'skipped']], stderr);
  });

/** Statements that are rejected and not read back, so that the caller gets the outcome before the ALTER while that is sent. */
const GRANTS = Array.from({ length: BATCH - 1 }, (_, i) => `GRANT SELECT ON t${i} TO ann;`);

test('a definition that is fetched after the reply to an ALTER, and before its end, is fetched again', async t => {
  const others = tables(BATCH);
  const [fetched, waiting] = [deferred(), deferred()];
  const old = reply(rowsBody("CREATE TABLE 't' ( \n\tx INT\n);"));
  let [isAltered, isFetched] = [false, false];
  const url = await startProxy(t, [...others, 'CREATE TABLE t (x INT);'], {
    before(statement) {
      if (!isAltered || !statement.includes('FROM wal_tables()')) return undefined;
      waiting.resolve();
      return fetched.promise;
    },
    // The server has not applied the change.
    reply: statement => (isFetch(statement) && isAltered && !isFetched ? old : undefined),
    after(statement) {
      isAltered ||= isAlter(statement);
      isFetched ||= isAltered && / lower\(table_name\) IN \('t'\)/.test(statement);
      if (isFetched) fetched.resolve();
    },
  });
  const statements = [...GRANTS, ...others, 'ALTER TABLE t ADD COLUMN y INT;', 'CREATE TABLE t (x INT, y INT);'];
  const options = { jobs: 2, keepGoing: true, allow: ['ALTER'] };
  const results: string[] = [];
  for await (const { n, result } of replay(Readable.from(statements), { url }, options)) {
    if (n === 2 * BATCH - 1) await waiting.promise;
    results.push(result);
  }
  t.deepEqual(results.slice(2 * BATCH - 1), ['applied', 'skipped']);
});
