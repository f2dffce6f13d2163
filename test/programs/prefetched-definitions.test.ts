/*!
 * `sqlapply` fetches the definitions of the next statements together. A definition that a statement of the run has changed meanwhile
 * is not used, and is fetched again: whichever of the replies comes first, and also if one is lost.
 */
import { Readable } from 'node:stream';
import { replay } from '@sqlpipe/api';
import type { ExecutionContext } from 'ava';
import { reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { deferred } from '../support/deferred.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { startSqlserve } from '../support/sqlserve.js';
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

const MANY = Array.from({ length: 250 }, (_, i) => `CREATE TABLE t${i} (x INT);`);
const SKIPPED = MANY.map(() => 'skipped');

for (const options of ['', '--dry-run', '--jobs 8'])
  test(`a rerun needs few requests ${options}`, async t => {
    const server = await startSqlserve(t);
    t.is((await runSqlapply(t, server.url, { text: MANY.join('\n') })).code, 0);
    await server.execute('ALTER TABLE t120 ADD COLUMN y INT');
    const { url, queries } = await recordingProxy(t, server);
    const { results } = await runSqlapply(t, url, { text: MANY.join('\n'), options: `-k ${options}` });
    t.deepEqual(results, SKIPPED.with(120, 'differs'));
    t.true(queries.length < MANY.length / 2, queries.join('\n'));
    const listingQueries = queries.filter(query => /\bFROM tables\(\)/i.test(query) && !/WHERE/i.test(query));
    t.true(listingQueries.length <= 1, listingQueries.join('\n'));
  });

test('definitions that a statement of the stream changes are fetched again', async t => {
  const server = await startSqlserve(t);
  const first = ['CREATE TABLE a (x INT);', 'CREATE TABLE b (x INT);', 'CREATE VIEW v AS (SELECT x FROM a);'];
  t.is((await runSqlapply(t, server.url, { text: first.join('\n') })).code, 0);
  const text = `${first.join('\n')}
    ALTER TABLE b ADD COLUMN y INT; CREATE TABLE b (x INT, y INT);
    CREATE OR REPLACE VIEW v AS (SELECT x FROM b); CREATE VIEW v AS (SELECT x FROM b);
    DROP TABLE a; CREATE TABLE a (y INT); CREATE TABLE a (y INT);`;
  const { results, stderr } = await runSqlapply(t, server.url, { text, options: '--allow all' });
  const [skipped, applied] = ['skipped', 'applied'];
  t.deepEqual(
    results,
    [skipped, skipped, skipped, applied, skipped, applied, skipped, applied, applied, skipped],
    stderr,
  );
});

for (const options of ['', '--dry-run'])
  test(`a statement has the same result alone and after one whose object exists ${options}`, async t => {
    const server = await startSqlserve(t);
    const made = 'CREATE TABLE a (x INT); CREATE VIEW v AS (SELECT x FROM a);';
    t.is((await runSqlapply(t, server.url, { text: made })).code, 0);
    for (const [statement, result, error] of [
      ['CREATE VIEW v AS (SELECT x FROM a SAMPLE 1h);', 'rejected', "'by' expected"],
      ['CREATE VIEW v AS (SELECT x y FROM a);', 'differs', 'already exists with a different definition'],
      ['CREATE VIEW v AS (SELECT x FROM a);', 'skipped', undefined],
    ] as const) {
      const alone = await runSqlapply(t, server.url, { text: statement, options });
      const later = await runSqlapply(t, server.url, { text: `CREATE TABLE a (x INT); ${statement}`, options });
      for (const { report } of [alone, later]) t.like(report.at(-1), { result, error }, statement);
    }
  });

test('a view that a later statement replaces is not compared with the first one', async t => {
  const server = await startSqlserve(t);
  const text = `CREATE TABLE a (x INT, y INT); CREATE VIEW v AS (SELECT x FROM a);
    CREATE OR REPLACE VIEW v AS (SELECT y FROM a);`;
  const { code, results, stderr } = await runSqlapply(t, server.url, { text, options: '--allow REPLACE' });
  t.deepEqual([code, results], [0, ['applied', 'applied', 'applied']], stderr);
});
