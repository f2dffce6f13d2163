/*! In a pipe, every program names the one that failed and its reason; only that one says what to do. Files keep all of it. */
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const DEAD = 'http://127.0.0.1:1';

for (const readers of [
  'sqlapply http://127.0.0.1:9',
  'sqlgrep a | sqlapply http://127.0.0.1:9',
  'sqlsort | sqltr --rename a=b | sqljoin',
  'sqldiff - /dev/null',
])
  test(`sqldump | ${readers}: each names the reason, and the first says what to do`, async t => {
    const run = await shell(t);
    const { code, stderr } = await run(`set -o pipefail; sqldump ${DEAD} | ${readers} > /dev/null`);
    t.is(code, 65, stderr);
    const [first, ...others] = stderr.trimEnd().split('\n');
    t.regex(first ?? '', /^sqldump: .*connection refused; is the server running/);
    t.is(others.length, readers.split('|').length, stderr);
    for (const line of others)
      t.regex(line, /: sqldump failed: http:\/\/127\.0\.0\.1:1: connection refused(?:; nothing was sent)?$/);
  });

test('a backup of a source that is down says why, even if nobody reads what sqldump prints', async t => {
  const run = await shell(t);
  const { code, stderr } = await run(`sqldump ${DEAD} 2> /dev/null | sqljoin -o f.sql; s=$?; ls; exit $s`);
  t.is(code, 65);
  t.is(
    stderr,
    'sqljoin: incomplete after 0 complete records: sqldump failed: http://127.0.0.1:1: connection refused\n',
  );
});

test('sqldump --text-like output through sqlsplit: the same', async t => {
  const run = await shell(t);
  const { stderr } = await run(`sqldump ${DEAD} | tr '\\0' '\\n' | sqlsplit`);
  t.is(stderr.match(/is the server running/g)?.length, 1, stderr);
  t.regex(stderr, /sqlsplit: standard input:\d+:1: sqldump left it incomplete: .*connection refused\n/);
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
