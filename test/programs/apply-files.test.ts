/*! sqlapply with files and folders as operands: how they are read, and the lines that messages name. */

import { inProcess } from '../support/in-process.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const dst = sharedSqlserve();

const listTables = async () =>
  ((await dst.execute('SELECT table_name FROM tables()')).dataset ?? []).map(([name]) => name).sort();

test('operands may be a .sql file, a folder, a stream file and standard input', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run(`
    echo 'CREATE TABLE a (x INT);' > a.sql
    echo 'CREATE TABLE b (x INT);' | sqlsplit | sqljoin -d folder
    echo 'CREATE TABLE c (x INT);' | sqlsplit > c.stream
    echo 'CREATE TABLE d (x INT);' | sqlsplit | sqlapply ${dst.url} a.sql folder c.stream -`);
  t.deepEqual([code, stderr], [0, '']);
  t.deepEqual(await listTables(), ['a', 'b', 'c', 'd']);
});

test('an error with a position names the line of that position', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run(`
    printf '%s\n' '-- first' 'CREATE TABLE a (x INT);' '' '/* second' '*/ CREATE TABLE b (' '  x INT,' '  y NONSENSE);' > s.sql
    sqlapply ${dst.url} s.sql`);
  t.is(code, 1);
  t.regex(stderr, /^sqlapply: s\.sql:7: table 'b': /);
  t.regex(stderr, /: 1 of 2 applied, 1 rejected\n {2}hint: [^\n]*\n$/);
});

test('an error without a position names the line of the first word of the statement', async t => {
  const run = await inProcess(t);
  await dst.execute('CREATE TABLE b (x LONG)');
  const { code, stderr } = await run(`
    printf '%s\n' 'CREATE TABLE a (x INT);' '' '/* the' 'second */ CREATE TABLE b' '(x INT);' > s.sql
    sqlapply ${dst.url} s.sql`);
  t.is(code, 1);
  t.regex(stderr, /^sqlapply: s\.sql:4: table 'b': already exists with a different definition\n {2}\S/);
});

test('an error in a folder names the file; one in a stream file names the statement number', async t => {
  await dst.execute('CREATE TABLE b (x LONG)');
  const run = await inProcess(t);
  const { stderr } = await run(`
    echo 'CREATE TABLE b (x INT);' | sqlsplit > b.stream
    sqljoin -d folder < b.stream; sqlapply ${dst.url} folder; sqlapply ${dst.url} b.stream`);
  t.regex(stderr, /^sqlapply: folder\/tables\/b\.sql:1: table 'b': already exists/m);
  t.regex(stderr, /^sqlapply: b\.stream: statement 1 \(table 'b'\): already exists/m);
});

test('files are read completely before anything is sent', async t => {
  const run = await inProcess(t);
  const apply = async (files: string) => (await run(`sqlapply ${dst.url} ${files}`)).stderr;
  await run(`
    echo 'CREATE TABLE a (x INT);' > a.sql
    echo 'CREATE TABLE b (x INT' > open.sql
    printf 'CREATE TABLE b (x INT);' > cut.stream
    echo 'DROP TABLE a;' > drop.sql
    echo 'DROP TABLE a; ALTER TABLE a ADD COLUMN y INT;' > two.sql`);
  t.regex(
    await apply('a.sql open.sql'),
    /^sqlapply: open\.sql:1:16: .*(?:unterminated|unclosed).*; nothing was sent\n$/,
  );
  t.regex(await apply('a.sql none.sql'), /^sqlapply: none\.sql: no such file or directory; nothing was sent\n$/);
  t.regex(await apply('a.sql cut.stream'), /^sqlapply: cut\.stream: no NUL byte in the input.*; nothing was sent\n$/);
  t.regex(
    await apply('a.sql drop.sql'),
    /^sqlapply: drop\.sql:1: DROP.*nothing was sent\n {2}hint: use --allow DROP to send it\n$/,
  );
  t.regex(
    await apply('a.sql two.sql'),
    /^sqlapply: 2 statements are rejected; nothing was sent\n {2}two\.sql:1: DROP of .*\n {2}two\.sql:1: ALTER of .*\n {2}hint: use --allow DROP,ALTER to send them\n$/,
  );
  t.deepEqual(await listTables(), []);
});

test('--stream rejects file operands, and standard input can be read only once', async t => {
  const run = await inProcess(t);
  const { stderr } = await run(`sqlapply --stream ${dst.url} a.sql; sqlapply ${dst.url} - -`);
  t.regex(stderr, /^sqlapply: --stream works only with standard input, not with files$/m);
  t.regex(stderr, /^sqlapply: standard input can be read only once$/m);
});
