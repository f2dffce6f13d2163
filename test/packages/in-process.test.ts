/*! Command lines in the process of a test do what a shell does. */
import { inProcess } from '../support/in-process.js';
import { test } from '../support/test.js';

const STREAM = String.raw`printf 'CREATE TABLE a (x INT);\n\0CREATE TABLE b (x INT);\n\0'`;

for (const script of [
  `${STREAM} > s; sqlgrep a < s | sqljoin`,
  `${STREAM} | sqlgrep -v b; echo $?`,
  `${STREAM} | sqlgrep none; echo $? "\${PIPESTATUS[@]}"`,
  `${STREAM} | sqlgrep none || echo "no$X 'y' \\"z\\""; exit 3`,
  `X='a  b'; echo $X "$X" \${X}c ''`,
  'echo a#b   # not $(c)\necho d',
  'sqljoin < none; echo $?',
  'sqljoin < .; echo $?',
  'sqlgrep --nope 2>&1 | head -2',
  'sqlgrep --help 2> err > out; head -1 out; cat err',
  'sqlsplit <<< "create table a (x int)" | sqlgrep --list',
  'sqlsplit > /dev/full <<< "create table a (x int)"; echo $?',
  'printf "" | sqlsort && echo never',
  'cat > a.sql <<\'END\' && sqlsplit a.sql | sqlgrep -l\ncreate table "a b" (x int); -- $X\n\nEND\necho done',
  'set -o pipefail; sqlgrep < /dev/null | cat; echo $?',
  'sqlpipe nope x; sqlpipe help grep | head -1; sqlpipe grep --version',
  'sqlgrep < /dev/null; sqldump http://127.0.0.1:1 -o file; echo $?; ls',
  `sqldump http://127.0.0.1:1 | sqlsort | sqljoin; echo "\${PIPESTATUS[@]}"`,
])
  test(`as in bash: ${script}`, async t => {
    const run = await inProcess(t, { LANG: 'C' });
    const inBash = await run.bash(script);
    await run.bash('rm -f *');
    const { code, stdout, stderr } = await run(script);
    const printed = { code: inBash.code, stdout: inBash.stdout };
    t.deepEqual({ code, stdout }, printed, stderr);
    t.is(stderr.replace(/^.*(?:ENOENT|EISDIR).*\n/gm, ''), inBash.stderr.replace(/^bash: .*\n/gm, ''));
  });

const ONLY_BASH = ['for a in b; do :; done', 'cat <(ls)', 'echo $(ls)', 'ls *', 'cd /', 'sqljoin -o /dev/fd/1', 'ls &'];
for (const script of ONLY_BASH)
  test(`only for a real shell: ${script}`, async t => {
    const run = await inProcess(t);
    await t.throwsAsync(run(script), { message: /real shell|about the process/ });
  });

test('a program whose reader has ended ends as by SIGPIPE', async t => {
  const run = await inProcess(t);
  await run.bash(String.raw`for i in {1..20000}; do printf "CREATE TABLE a$i (x INT);\n\0"; done > s`);
  t.like(await run('sqlgrep -v b < s | head -c 5; echo "${PIPESTATUS[@]}"'), { stdout: 'CREAT141 0\n', stderr: '' });
});
