/*! Exit statuses that are easily taken for others: a reader that has left, and work that never comes to an end. */
import { readdirSync } from 'node:fs';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { shell } from './support/shell.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const PROGRAMS = readdirSync('packages').filter(name => /^sql.+/.test(name));

const scope = fileScope();
let target: Server;

test.before(async () => {
  target = await startSqlserve(scope);
});

/** What is written to file descriptor 3 has no reader any more. */
const LEFT = 'exec 3> >(:); wait $!;';
const STREAM = String.raw`printf 'CREATE TABLE a (x INT);\n\0CREATE TABLE b (x NUMBER);\n\0CREATE TABLE c (x INT);\n\0'`;

for (const [command, made] of [
  ['sqlapply --keep-going --report /dev/fd/3 $DST', ['a', 'c']],
  // The first reject can not be written, so nothing after it is done.
  ['sqlapply --keep-going --rejects /dev/fd/3 $DST', undefined],
  ['sqljoin -o /dev/fd/3', []],
] as const)
  test(`a reader that has left, of something else than standard output, is a failed write: ${command}`, async t => {
    await target.dropAll();
    const run = await shell(t, { DST: target.url });
    const { code, stderr } = await run(`${LEFT} ${STREAM} | ${command}`);
    t.is(code, 74, stderr);
    t.regex(stderr, /: \/dev\/fd\/3: broken pipe/);
    const { dataset } = await target.execute('SELECT table_name FROM tables() ORDER BY table_name');
    if (made) t.deepEqual(dataset?.flat(), [...made]);
    if (command.startsWith('sqlapply')) t.regex(stderr, /: \d of \d applied, 1 rejected/, 'the summary is printed');
  });

test('a reader that has left is a failed write of sqldump -o too', async t => {
  await target.dropAll();
  await target.execute('CREATE TABLE a (x INT)');
  const run = await shell(t, { SRC: target.url });
  const { code, stderr } = await run(`${LEFT} sqldump -o /dev/fd/3 $SRC`);
  t.is(code, 74, stderr);
  t.regex(stderr, /broken pipe/);
});

for (const command of ['sqlapply --dry-run $DST', 'sqljoin', 'sqlgrep --kind table', 'sqlsort'])
  test(`a reader of standard output that has left ends the program quietly: ${command}`, async t => {
    const run = await shell(t, { DST: target.url });
    const table = String.raw`printf 'CREATE TABLE a (x INT);\n\0'`;
    t.like(await run(`${LEFT} ${table} | ${command} >&3`), { code: 141, stderr: '' });
  });

for (const program of PROGRAMS)
  test(`${program} that stops before its end, with nothing left to wait for, does not end well`, async t => {
    const run = await shell(t);
    const { code } =
      await run(`echo 'process.stdout.write = () => true; // and never says that it is written' > never.cjs
      NODE_OPTIONS="--require $PWD/never.cjs" ${program} --help`);
    t.is(code, 70);
  });

test('a stream that stops before its end, with nothing left to wait for, does not end well', async t => {
  const run = await shell(t, { DST: target.url });
  await run("echo 'process.stdout.write = () => true;' > never.cjs");
  for (const command of ['sqlgrep --kind table', 'sqlsort', 'sqljoin', 'sqlapply --dry-run $DST', 'sqldiff - <(:)'])
    t.not((await run(`${STREAM} | NODE_OPTIONS="--require $PWD/never.cjs" ${command}`)).code, 0, command);
  const { code } = await run(`${STREAM} | NODE_OPTIONS="--require $PWD/never.cjs" sqlsort`);
  t.is(code, 70);
});
