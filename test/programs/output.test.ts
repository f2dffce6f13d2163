/*! The destination and the form of output: text for `.sql` files, and `-` for standard output. */
import { inProcess } from '../support/in-process.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
let src: Server;
const dst = sharedSqlserve();

test.before(async () => {
  src = await startSqlserve(scope);
  await src.execute('CREATE TABLE a (x INT)');
  await src.execute('CREATE TABLE b (x INT)');
});

test('sqldump --text and -o NAME.sql write the same text as sqljoin', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } = await run(`
    sqldump ${src.url} | sqljoin > joined
    sqldump --text ${src.url} | cmp - joined || exit
    sqldump -o schema.sql ${src.url} && cmp schema.sql joined || exit
    sqldump -o text --text ${src.url} && cmp text joined || exit
    sqldump -o dump.stream ${src.url} && sqldump ${src.url} | cmp - dump.stream || exit
    sqldump --text ${src.url} | grep -c 'CREATE TABLE'`);
  t.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '2\n', stderr: '' });
});

test('- is standard output for -o, --report and --rejects', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run(`
    sqldump -o - ${src.url} | sqljoin -o - | grep -c CREATE
    sqldump ${src.url} | sqlapply --report=- ${dst.url} | grep -c '"result":"applied"'
    sqldump ${src.url} | sqlapply -n --report=- ${dst.url} | grep -c '"result":"skipped"'
    echo 'CREATE TABLE a (y INT)' | sqlsplit | sqlapply --rejects=- ${dst.url} 2>/dev/null | sqljoin
    sqldump ${src.url} | sqlapply --report=- --rejects=- ${dst.url} || echo $?
    ls`);
  t.is(stdout, '2\n2\n2\nCREATE TABLE a (y INT);\n\n64\n');
  t.regex(stderr, /only one of --report, --rejects, --json and --annotations can be on standard output/);
});

test('no output replaces a file that is read, or that is another output, however it is spelt', async t => {
  const run = await inProcess(t);
  const url = dst.url;
  await run(
    `sqldump ${src.url} > in.str; ln -s in.str link; ln in.str hard; sqljoin -o in.sql < in.str; cp in.sql old.sql`,
  );
  const rejected: [script: string, message: string][] = [
    ...['--rejects', '--report'].flatMap(option =>
      ['in.str', './in.str', 'link', 'hard'].map((file): [string, string] => [
        `sqlapply -n ${option} ${file} ${url} old.sql in.str`,
        `${option} would replace the input; give another file`,
      ]),
    ),
    [`sqlapply -n --rejects f --report ./f ${url} in.str`, '--report and --rejects need different files'],
    [`sqlpipe copy -n --rejects f --report f ${src.url} ${url}`, '--report and --rejects need different files'],
    ...['--names', '--missing', '--alter'].map((mode): [string, string] => [
      `sqldiff ${mode} -o in.sql in.sql ${url}`,
      '-o would replace an operand; give another file',
    ]),
    [`sqldiff --alter --undo in.sql ${url} in.sql`, '--undo would replace an operand; give another file'],
  ];
  for (const [script, message] of rejected) {
    const { stderr, stdout } = await run.exits(64, script);
    t.true(stderr.includes(message), stderr);
    t.is(stdout, '');
  }
  for (const script of [`sqlapply -n --rejects link ${url}`, `sqldiff --alter -o hard - ${url}`])
    t.regex((await run.bash.exits(64, `${script} < in.str`)).stderr, / would replace /);
  const { stdout } = await run(`ls; cmp in.sql old.sql; sqldump ${src.url} | cmp - in.str`);
  t.is(stdout, 'hard\nin.sql\nin.str\nlink\nold.sql\n');
  await run.ok(`sqlapply -qn --rejects f --report g ${url} in.str; sqldiff --missing -o f in.sql in.str`);
});

test('a file that is replaced keeps its permissions, and a link to it stays a link', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run.bash(`
    umask 022; mkdir elsewhere; echo old > elsewhere/a.sql; chmod 664 elsewhere/a.sql; ln -s elsewhere/a.sql link.sql
    sqldump -o link.sql ${src.url} && sqldump -o new.sql ${src.url}
    stat -c '%F %a' link.sql elsewhere/a.sql new.sql; cmp elsewhere/a.sql new.sql && ls elsewhere`);
  t.is(stdout, 'symbolic link 777\nregular file 664\nregular file 644\na.sql\n', stderr);
});

test('a link to a file that does not exist stays a link, and the file is created', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run.bash(`
    mkdir -p real/deep; ln -s real/deep folder; ln -s ../a.sql folder/second; ln -s folder/second first.sql
    sqldump -o first.sql ${src.url} && sqldump -o new.sql ${src.url}
    stat -c '%F' first.sql folder/second && cmp real/a.sql new.sql && ls real`);
  t.is(stdout, 'symbolic link\nsymbolic link\na.sql\ndeep\n', stderr);
  const { stderr: message } = await run.bash.exits(64, 'ln -s a b; : | sqldiff --alter --undo a -o b - new.sql');
  t.regex(message, /--undo and -o need different files/);
});
