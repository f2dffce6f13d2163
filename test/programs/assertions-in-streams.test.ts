/*! A query in a stream is an assertion: the statements after it are sent only if every value that it returns is true. */
import { replay } from '@sqlpipe/api';
import { startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { runSqlapply } from '../support/replay.js';
import { execute } from '../support/server.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

testWithQuestDB('an assertion is true if it has rows, and all of their values are true', async t => {
  await execute(server, 'CREATE TABLE checks (name STRING, ok BOOLEAN, sure BOOLEAN)');
  await execute(server, "INSERT INTO checks VALUES ('a', true, true), ('b', true, false), ('c', true, true)");
  const apply = async (query: string) => {
    const statements = [`${query};`, `CREATE TABLE ${query.replace(/\W+/g, '_')} (x INT);`];
    const outcomes: [result: string, error: string | undefined][] = [];
    for await (const { result, error } of replay(statements, { url: server.url, timeout: 1 }, { allow: ['SELECT'] }))
      outcomes.push([result, error]);
    return outcomes;
  };
  const holds = ['applied', 'applied'].map(result => [result, undefined]);
  const fails = [
    ['rejected', 'the assertion is not true'],
    ['not reached', undefined],
  ];
  // Each that is not true is asked again until the time is up.
  const [all, some, none, noRows, noBoolean] = await Promise.all(
    [
      'SELECT ok FROM checks',
      'SELECT ok, sure FROM checks',
      'SELECT sure FROM checks WHERE not sure',
      "SELECT ok FROM checks WHERE name = 'd'",
      'SELECT 1',
    ].map(apply),
  );
  t.deepEqual(all, holds);
  t.deepEqual(some, fails);
  t.deepEqual(none, fails);
  t.deepEqual(noRows, fails);
  t.deepEqual(noBoolean, fails);
  const tables = (await execute(server, 'SELECT table_name FROM tables() ORDER BY 1')).flat();
  t.deepEqual(tables, ['SELECT_ok_FROM_checks', 'checks']);
});

testWithQuestDB('a dry run does not know the rows that the statements before an assertion would change', async t => {
  await execute(server, 'CREATE TABLE checks (x INT)');
  const text = 'TRUNCATE TABLE checks; SELECT count() = 0 FROM checks;';
  const { results, report } = await runSqlapply(t, server.url, { text, options: '--dry-run --allow all' });
  t.deepEqual(results, ['would send', 'unknown']);
  t.is(report[1]?.error, 'its result depends on rows that the statements before it would change');
});

testWithQuestDB('an assertion of a plan that was made of files needs no permission', async t => {
  await execute(server, 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY');
  await execute(server, 'CREATE MATERIALIZED VIEW m AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY');
  const run = await inProcess(t, { DB: server.url });
  await t.notThrowsAsync(
    run.ok(`
sqldump $DB | tr '\\0' '\\n' > before.sql; sed 's/x INT/x LONG/' before.sql > after.sql
sqldiff --alter after.sql before.sql > plan
grep -q nothing_is_lost plan && sqlapply --allow ALTER --allow REFRESH $DB < plan`),
  );
});

test('an assertion without a reply has failed, because it cannot have changed anything', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    if (statement.startsWith('SELECT 1')) socket.end();
  });
  const text = 'SELECT 1 = 1; CREATE TABLE t (x INT);';
  const options = '--allow SELECT --if-exists fail';
  const { code, results, report } = await runSqlapply(t, url, { text, options });
  t.deepEqual([code, results], [69, ['failed', 'not reached']]);
  t.regex(report[0]?.error ?? '', /the connection was closed before a reply arrived/);
});
