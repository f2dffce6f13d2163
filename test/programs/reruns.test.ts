/*! Reruns of a stream: existing definitions are fetched together, and fetched again if the stream changes them. */
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const TABLES = Array.from({ length: 250 }, (_, i) => `CREATE TABLE t${i} (x INT);`);
const SKIPPED = TABLES.map(() => 'skipped');

for (const options of ['', '--dry-run', '--jobs 8'])
  test(`a rerun needs few requests ${options}`, async t => {
    const server = await startSqlserve(t);
    t.is((await runSqlapply(t, server.url, { text: TABLES.join('\n') })).code, 0);
    await server.execute('ALTER TABLE t120 ADD COLUMN y INT');
    const { url, queries } = await recordingProxy(t, server);
    const { results } = await runSqlapply(t, url, { text: TABLES.join('\n'), options: `-k ${options}` });
    t.deepEqual(results, SKIPPED.with(120, 'differs'));
    t.true(queries.length < TABLES.length / 2, queries.join('\n'));
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
