/*! In a pipe, each error is printed once: by the program that failed first. Files keep the reason. */
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const DEAD = 'http://127.0.0.1:1';

for (const readers of [
  'sqlapply http://127.0.0.1:9',
  'sqlgrep a | sqlapply http://127.0.0.1:9',
  'sqlsort | sqltr --rename a=b | sqljoin',
  'sqldiff - /dev/null',
])
  test(`sqldump | ${readers}: the reason is printed once`, async t => {
    const run = await shell(t);
    const { code, stderr } = await run(`set -o pipefail; sqldump ${DEAD} | ${readers} > /dev/null`);
    t.is(code, 65, stderr);
    t.is(stderr.match(/connection refused/g)?.length, 1, stderr);
    t.regex(stderr, /: incomplete after 0 complete records: sql\w+ failed(?:; nothing was sent)?\n/);
    t.is(stderr.split('\n').length - 1, readers.split('|').length + 1, stderr);
  });

test('sqldump --text-like output through sqlsplit: the same', async t => {
  const run = await shell(t);
  const { stderr } = await run(`sqldump ${DEAD} | tr '\\0' '\\n' | sqlsplit`);
  t.is(stderr.match(/connection refused/g)?.length, 1, stderr);
  t.regex(stderr, /sqlsplit: standard input:\d+:1: sqldump left it incomplete\n/);
});

test('a file keeps the reason, as an operand and as standard input', async t => {
  const run = await shell(t);
  await run(`sqldump ${DEAD} > dump.stream`);
  for (const script of ['sqldiff dump.stream /dev/null', 'sqlgrep a < dump.stream']) {
    const { code, stderr } = await run(script);
    t.is(code, 65);
    t.regex(stderr, /incomplete after 0 complete records: sqldump failed: .*connection refused/);
  }
});
