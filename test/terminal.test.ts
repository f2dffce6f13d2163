/*! The programs on a terminal: what they ask there, and what they show. */
import test from 'ava';
import { shell } from './support/shell.js';
import { startSqlserve } from './support/sqlserve.js';
import { terminal } from './support/terminal.js';

const guarded = (user: string, password: string) => ({ QDB_HTTP_USER: user, QDB_HTTP_PASSWORD: password });
const SCHEMA = "printf 'CREATE TABLE a (x INT);\\n\\0CREATE TABLE b (x INT);\\n\\0'";

test('a password that only its user is known of is asked for, and not shown', async t => {
  const { url } = await startSqlserve(t, [], guarded('ann', 'op3n'));
  const on = await terminal(t);
  const { code, screen } = await on(`sqldump --user ann ${url}`, [[/ann at .*: /, 'op3n\r']]);
  t.is(code, 0, screen);
  t.is(screen, `sqldump: password of ann at ${url}: \r\n\r\n`);
});

test('both ends of a pipe ask, the first one first', async t => {
  const src = await startSqlserve(t, [], guarded('ann', 'op3n'));
  const dst = await startSqlserve(t, [], guarded('bob', 's3same'));
  const on = await terminal(t);
  const setUp = await on(`${SCHEMA} | sqlapply -q --user ann ${src.url}`, [[/ann at .*: /, 'op3n\r']]);
  t.is(setUp.code, 0, setUp.screen);
  const { code, screen } = await on(`sqldump --user ann ${src.url} | sqlapply --user bob ${dst.url}`, [
    [/ann at .*: /, 'op3n\r'],
    [/bob at .*: /, 's3same\r'],
  ]);
  t.is(code, 0, screen);
  t.regex(screen, /^sqldump: password of ann at \S+: \r\nsqlapply: password of bob at \S+: \r\n[^]*2 applied\r\n$/);
});

test('nothing is asked for a target when the source has failed', async t => {
  const src = await startSqlserve(t, [], guarded('ann', 'op3n'));
  const on = await terminal(t);
  const { code, screen } = await on(`sqldump --user ann ${src.url} | sqlapply --user bob ${src.url}`, [
    [/ann at .*: /, 'wrong\r'],
  ]);
  t.is(code, 65, screen);
  t.notRegex(screen, /password of bob/);
});

test('^C at the question interrupts the whole pipeline, and leaves the terminal as it was', async t => {
  const { url } = await startSqlserve(t);
  const on = await terminal(t);
  const { code, screen } = await on(
    `trap : INT; sqldump --user ann ${url} | sqlapply ${url}; echo "\${PIPESTATUS[@]}"; stty -a`,
    [[/ann at .*: /, '\x03']],
  );
  t.is(code, 0, screen);
  t.regex(screen, /: \r\n130 130\r\n/);
  t.regex(screen, / echo /);
});

test('^D at the question is no answer', async t => {
  const on = await terminal(t);
  const { code, screen } = await on('sqldump --user ann http://127.0.0.1:1', [[/ann at .*: /, '\x04']]);
  t.is(code, 78);
  t.regex(screen, /no password for the user "ann"/);
});

test('without a terminal nothing is asked', async t => {
  const run = await shell(t);
  const { code, stderr } = await run('setsid --wait sqldump --user ann http://127.0.0.1:1');
  t.is(code, 78);
  t.regex(stderr, /^sqldump: there is no password for the user "ann"/);
});
