/*! Exit statuses that are easily confused: closed readers, and programs that stop before they have finished. */
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const target = sharedSqlserve();

const CLOSED_READER = 'exec 3> >(:); wait $!;';
const STREAM = String.raw`printf 'CREATE TABLE a (x INT);\n\0CREATE TABLE b (x NUMBER);\n\0CREATE TABLE c (x INT);\n\0'`;

for (const [command, made] of [
  ['sqlapply --keep-going --report /dev/fd/3 $DST', ['a', 'c']],
  // The first reject cannot be written, so the statements after it are not sent.
  ['sqlapply --keep-going --rejects /dev/fd/3 $DST', undefined],
  ['sqljoin -o /dev/fd/3', []],
] as const)
  test(`output to a closed reader other than standard output is a write error: ${command}`, async t => {
    const run = await shell(t, { DST: target.url });
    const { stderr } = await run.exits(74, `${CLOSED_READER} ${STREAM} | ${command}`);
    t.regex(stderr, /: \/dev\/fd\/3: broken pipe/);
    const { dataset } = await target.execute('SELECT table_name FROM tables() ORDER BY table_name');
    if (made) t.deepEqual(dataset?.flat(), [...made]);
    if (command.startsWith('sqlapply')) t.regex(stderr, /: \d of \d applied, 1 rejected/, 'the summary is printed');
  });

test('sqldump -o to a closed reader is a write error', async t => {
  await target.execute('CREATE TABLE a (x INT)');
  const run = await shell(t, { SRC: target.url });
  t.regex((await run.exits(74, `${CLOSED_READER} sqldump -o /dev/fd/3 $SRC`)).stderr, /broken pipe/);
});

for (const command of ['sqlapply --dry-run $DST', 'sqljoin', 'sqlgrep --kind table', 'sqlsort'])
  test(`standard output closed by the reader (SIGPIPE) ends the program quietly: ${command}`, async t => {
    const run = await shell(t, { DST: target.url });
    const table = String.raw`printf 'CREATE TABLE a (x INT);\n\0'`;
    t.like(await run(`${CLOSED_READER} ${table} | ${command} >&3`), { code: 141, stderr: '' });
  });

test('a program fails if the event loop empties before its output is written', async t => {
  const run = await shell(t, { DST: target.url });
  await run("echo 'process.stdout.write = () => true; // and never says that it is written' > never.cjs");
  for (const command of ['sqlgrep --kind table', 'sqlsort', 'sqljoin', 'sqlapply --dry-run $DST', 'sqldiff - <(:)'])
    t.not((await run(`${STREAM} | NODE_OPTIONS="--require $PWD/never.cjs" ${command}`)).code, 0, command);
  for (const command of ['sqlsort', 'sqlpipe --help'])
    t.is((await run(`${STREAM} | NODE_OPTIONS="--require $PWD/never.cjs" ${command}`)).code, 70, command);
});
