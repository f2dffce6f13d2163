/*! A dry run ends with status 1 where the run would lose something that nothing allows. */
import { inProcess } from '../support/in-process.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const TABLE = 'CREATE TABLE t (x INT, y INT);';

for (const [what, status, statements, options] of [
  ['a table that is dropped', 1, 'DROP TABLE t;', ''],
  ['a table that is dropped, with its name', 0, 'DROP TABLE t;', '--allow-loss drop:t'],
  ['a table, even if the run creates it again', 1, `DROP TABLE t; ${TABLE}`, ''],
  ['a column, even if its table is created later', 1, `ALTER TABLE t DROP COLUMN y; DROP TABLE t; ${TABLE}`, ''],
  ['nothing, if it drops only what it has created', 0, 'CREATE TABLE n (x INT); DROP TABLE n;', ''],
] as const)
  test(`a dry run loses ${what}`, async t => {
    const server = await startSqlserve(t);
    await server.execute(TABLE);
    const run = await inProcess(t, { DB: server.url, SQL: statements });
    const { code, stdout, stderr } = await run(
      `sqlsplit <<< "$SQL" | sqlapply --dry-run --allow ALTER,DROP ${options} $DB`,
    );
    t.is(code, status, stderr);
    if (what.startsWith('nothing')) t.notRegex(stdout + stderr, /loses/);
  });
