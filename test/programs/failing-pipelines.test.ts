/*!
 * Pipelines that fail, in a real bash: the exit status that the user sees, and the reasons. Every program names the one that failed and
 * its reason; only that one says what to do, and files keep all of it.
 */
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { shell } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

testWithQuestDB('a wrong password exits with 77 and is not shown, and so does a server that is read-only', async t => {
  const login = { QDB_HTTP_USER: 'admin', QDB_HTTP_PASSWORD: 's3:cret ü' };
  const { url } = await startQuestDB(t, { ...login, QDB_HTTP_SECURITY_READONLY: 'true' });
  const run = await shell(t, { URL: url });
  const right = "SQLDUMP_USER=admin SQLDUMP_PASSWORD='s3:cret ü'";
  for (const [program, credentials] of [
    ['sqldump', ''],
    ['sqldump', 'SQLDUMP_USER=admin SQLDUMP_PASSWORD=hush'],
    ['sqldump', right.replaceAll('DUMP', 'APPLY')],
    ['sqlapply', 'SQLAPPLY_USER=admin SQLAPPLY_PASSWORD=hush'],
  ] as const) {
    const { code, stdout, stderr } = await run(`printf 'CREATE TABLE b (x INT);\\0' | ${credentials} ${program} $URL`);
    t.is(code, 77, `${credentials} ${program}: ${stderr}`);
    t.regex(stdout.toString(), program === 'sqldump' ? /^-- sqldump: incomplete: [^\0]*401[^\0]*\n$/ : /^$/);
    t.regex(stderr, new RegExp(`^${program}: .*${new URL(url).host}.*401`, 'm'));
    t.notRegex(`${stdout}${stderr}`, /hush|s3:cret/);
  }
  t.like(await run(`${right} sqldump $URL`), { code: 0, stdout: Buffer.from('\0'), stderr: '' });
  const applied = await run(`printf 'CREATE TABLE b (x INT);\\0' | ${right.replaceAll('DUMP', 'APPLY')} sqlapply $URL`);
  t.is(applied.code, 77);
  t.regex(applied.stderr, /Write permission denied/);
});

test('sqldump into a full disk exits with 74, into a closed reader quietly with 141', async t => {
  const { url } = await startSqlserve(t);
  const run = await shell(t, { URL: url });
  const { code } = await run(`for t in {1..10}; do
    printf 'CREATE TABLE t%d (' $t; printf 'c%d DOUBLE, ' {1..1500}; echo 'z INT);'
  done | sqlsplit | sqlapply $URL`);
  t.is(code, 0);

  const full = await run('sqldump $URL > /dev/full');
  t.is(full.code, 74);
  t.regex(full.stderr, /^sqldump: .*no space/im);

  const left = await run('sqldump $URL | head -c 1 > first; echo "${PIPESTATUS[@]}"; cat first');
  t.deepEqual({ ...left, stdout: left.stdout.toString() }, { code: 0, stdout: '141 0\nC', stderr: '' });
});

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
