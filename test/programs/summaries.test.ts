/*! The summary on a terminal at the end of a run, and its colors. */

import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { terminal } from '../support/terminal.js';
import { test } from '../support/test.js';

const scope = fileScope();
let dst: Server;

test.before(async () => {
  dst = await startSqlserve(scope);
  await dst.execute('CREATE TABLE a (x INT)');
});

test('sqldiff ends with the number of objects that differ', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);' > s.sql; sqldiff s.sql ${dst.url} | cat; sqldiff s.sql s.sql`,
  );
  t.regex(screen, /only in s\.sql: table 'b'\r\n/);
  t.regex(screen, /sqldiff: 1 of 2 objects differs\r\n/);
  t.regex(screen, /sqldiff: 0 of 2 objects differ\r\n/);
});

test('sqldiff and sqlapply show properties in the same colors', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x LONG);' > s.sql; sqldiff s.sql ${dst.url}; sqlapply ${dst.url} s.sql`,
  );
  const lines = screen.match(/ {2}\S.*: \x1b\[31mLONG\x1b\[39m in .*, \x1b\[32mINT\x1b\[39m in .*/g) ?? [];
  t.is(lines.length, 2, screen);
});

test('sqlapply shows its summary if its standard output is a pipe without data', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x INT);' > s.sql; sqlapply ${dst.url} s.sql | cat; sqlapply --report=- ${dst.url} s.sql | cat`,
  );
  t.is(screen.match(/sqlapply: .*: 1 statement: 1 skipped\r\n/g)?.length, 1, screen);
});
