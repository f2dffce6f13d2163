/*! How sqlapply handles existing objects on a real server: they are compared, and created objects are read back. */

import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { withoutStatements } from '../support/shell.js';

const scope = fileScope();
let target: Server;

const TABLE = "CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;";
const VIEW = "CREATE VIEW 'v' AS ( \nselect * from t\n);";

/** A shell with the statements as the file `stream`. */
async function shellWithStream(t: Parameters<typeof inProcess>[0], url: string, ...statements: string[]) {
  return inProcess(t, { DST: url }, { stream: `${statements.join('\0')}\0` });
}

testWithQuestDB('identical existing objects are skipped, so a rerun resumes a failed run', async t => {
  target = await borrowQuestDB(scope);
  const run = await shellWithStream(t, target.url, TABLE, 'CREATE VIEW broken AS (select nope from t)', VIEW);
  const first = await run('sqlapply --report r $DST < stream; s=$?; cat r; exit $s');
  t.is(first.code, 1);
  t.regex(
    first.stderr,
    /^sqlapply: statement 2 \(view 'broken'\): Invalid column: nope\n {2}CREATE VIEW broken .*\n {2} +\^\n/m,
  );
  t.regex(
    first.stderr,
    /: 1 of 3 applied, 1 rejected, 1 not reached\n {2}hint: fix the error and rerun the same command: it skips /,
  );
  t.deepEqual(
    parseJsonLines(first.stdout).map(({ n, result, proven }) => [n, result, proven]),
    [
      [1, 'applied', true],
      [2, 'rejected', undefined],
      [3, 'not reached', undefined],
    ],
  );
  const again = await shellWithStream(t, target.url, TABLE, VIEW);
  const second = await again('sqlapply -v $DST < stream');
  t.deepEqual(
    [second.code, withoutStatements(second.stderr)],
    [0, `sqlapply: ${target.url}: 2 statements: 1 skipped, 1 applied\n`],
  );
});

testWithQuestDB('an object with a different column is rejected with the difference, and unchanged', async t => {
  await target.dropAll();
  await target.execute(TABLE.replace('x INT', 'x LONG'));
  const run = await shellWithStream(t, target.url, TABLE, VIEW);
  const { code, stderr } = await run('sqlapply $DST < stream');
  t.is(code, 1);
  t.regex(
    stderr,
    /statement 1 \(table 't'\): already exists with a different definition\n {2}column 'x': INT in the statement, LONG in http\S+\nsqlapply: /,
  );
  t.regex(stderr, /1 differs, 1 not reached/);
  t.is((await run('sqlapply --if-exists fail $DST < stream')).code, 1);
  const skipping = await run('sqlapply -v --if-exists skip $DST < stream');
  t.deepEqual(
    [skipping.code, withoutStatements(skipping.stderr)],
    [0, `sqlapply: ${target.url}: 2 statements: 1 skipped, 1 applied\n`],
  );
  t.regex(JSON.stringify(await target.execute("SHOW CREATE TABLE 't'")), /x LONG/);
});

testWithQuestDB('known misprints of the server are not part of the difference', async t => {
  await target.dropAll();
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
  await target.dropAll();
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

testWithQuestDB("a view with the name of a table is rejected with the server's message", async t => {
  await target.dropAll();
  await target.execute(TABLE);
  const run = await shellWithStream(t, target.url, VIEW.replace("'v'", "'t'"));
  const { code, stderr } = await run('sqlapply $DST < stream');
  t.is(code, 1);
  t.regex(stderr, /view 't'\): table or materialized view with the requested name already exists/);
});

testWithQuestDB('an existing view is not accepted as a table with the same columns', async t => {
  await target.dropAll();
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

testWithQuestDB('a dry run prints what would be done and changes nothing', async t => {
  await target.dropAll();
  await target.execute(TABLE);
  const run = await shellWithStream(t, target.url, TABLE, TABLE.replace("'t'", "'u'"), VIEW, 'GRANT SELECT ON t TO x');
  const { code, stdout } = await run('sqlapply --dry-run $DST < stream');
  t.is(code, 1, 'the open source edition has no grants');
  t.is(
    stdout.toString(),
    "would create table 'u'\nwould create view 'v'\nrejected grant to 'x'\nskipped: 1 statement\n",
  );
  t.deepEqual((await target.execute('select table_name from tables()')).dataset, [['t']]);
});

testWithQuestDB('the rejects are a stream that completes the run', async t => {
  await target.dropAll();
  const run = await shellWithStream(t, target.url, VIEW, TABLE);
  const first = await run('sqlapply --rejects rest --keep-going $DST < stream');
  t.is(first.code, 1);
  t.regex(first.stderr, /: 1 of 2 applied, 1 rejected/);
  const second = await run('sqlapply -v $DST < rest');
  t.deepEqual(
    [second.code, withoutStatements(second.stderr)],
    [0, `sqlapply: ${target.url}: 1 statement: 1 applied\n`],
  );
});

testWithQuestDB('a statement too large for the server is named before anything is sent', async t => {
  await target.dropAll();
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
