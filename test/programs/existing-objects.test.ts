/*! How sqlapply handles existing objects on a real server: they are compared, and created objects are read back. */

import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { withoutStatements } from '../support/shell.js';

const emptyServer = sharedQuestDB();

const TABLE = "CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;";

/** A shell with the statements as the file `stream`. */
async function shellWithStream(t: Parameters<typeof inProcess>[0], url: string, ...statements: string[]) {
  return inProcess(t, { DST: url }, { stream: `${statements.join('\0')}\0` });
}

testWithQuestDB('known misprints of the server are not part of the difference', async t => {
  const target = await emptyServer();
  await target.execute('CREATE TABLE t (ts TIMESTAMP, "my col" INT, "order" INT) timestamp(ts) PARTITION BY DAY');
  await target.execute('CREATE VIEW v AS (\n\nselect "my col", ts from t\n\n)');
  const run = await shellWithStream(
    t,
    target.url,
    'CREATE TABLE \'t\' ( \n\tts TIMESTAMP,\n\t"my col" INT,\n\t"order" LONG\n) timestamp(ts) PARTITION BY DAY;',
    'CREATE VIEW \'v\' AS ( \nselect "my col", ts, "order" from t\n);',
  );
  const { stderr } = await run('sqlapply --keep-going $DST < stream');
  t.deepEqual(
    stderr.split('\n').filter(line => /^ {2}(?!hint: )/.test(line)),
    [
      `  column 'order': LONG in the statement, INT in ${target.url}`,
      `  query: select "my col", ts, "order" from t in the statement, select "my col", ts from t in ${target.url}`,
    ],
  );
});

testWithQuestDB('a property that the server does not show is listed as not compared', async t => {
  const target = await emptyServer();
  for (const statement of [
    'CREATE TABLE t (s SYMBOL CAPACITY 64)',
    "CREATE TABLE 't' ( \n\ts SYMBOL CAPACITY 64\n);",
  ]) {
    const run = await shellWithStream(t, target.url, statement);
    const unseen = `sqlapply: not compared, because ${target.url} does not show it: table 't': column 's' capacity\n`;
    for (const result of ['applied', 'skipped']) {
      const { code, stderr } = await run('sqlapply -v $DST < stream');
      t.deepEqual(
        [code, withoutStatements(stderr)],
        [0, `${unseen}sqlapply: ${target.url}: 1 statement: 1 ${result}\n`],
      );
    }
    await target.dropAll();
  }
});

testWithQuestDB('an existing view is not accepted as a table with the same columns', async t => {
  const target = await emptyServer();
  await target.execute(TABLE);
  await target.execute("CREATE VIEW 'Vïew' AS (select * from t)");
  await target.execute("CREATE MATERIALIZED VIEW 'm' AS (select ts, max(x) x from t sample by 1h) PARTITION BY DAY");
  for (const name of ['Vïew', 'vïEW', 'm']) {
    const tail = name === 'm' ? ' timestamp(ts) PARTITION BY DAY;' : ';';
    const run = await shellWithStream(t, target.url, `CREATE TABLE '${name}' ( \n\tts TIMESTAMP,\n\tx INT\n)${tail}`);
    const { code, stderr } = await run('sqlapply $DST < stream');
    t.is(code, 1);
    t.regex(stderr, /: view or materialized view with the requested name already exists/);
    const hidden = "CREATE VIEW 'tables' AS (select 1 as one from t)";
    await target.execute(hidden);
    t.is((await run('sqlapply $DST < stream')).code, 1, 'a view shadows tables()');
    await target.execute('DROP VIEW tables');
  }
});

testWithQuestDB('a statement too large for the server is named before anything is sent', async t => {
  const target = await emptyServer();
  const columns = Array.from({ length: 2500 }, (_, i) => `, column_${i} DOUBLE`).join('');
  // Few characters, but each has three bytes, and nine in a request.
  for (const text of [columns, `, x INT /* ${'€'.repeat(4000)} */`]) {
    const run = await shellWithStream(t, target.url, TABLE, `CREATE TABLE 'wide' (ts TIMESTAMP${text})`);
    const { code, stderr } = await run('sqlapply $DST < stream');
    t.is(code, 1);
    t.regex(
      stderr,
      /statement 2 \(table 'wide'\): request too large: .* buffer of \d+ bytes, and the server has 64448; .*nothing was sent/,
    );
    t.deepEqual((await target.execute('select table_name from tables()')).dataset, []);
  }
});
