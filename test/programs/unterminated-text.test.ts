/*! `.sql` files whose last statement has no `;`: they may be truncated, and are rejected; standard input is accepted. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { split } from '@sqlpipe/api';
import { readFolder, readSource } from '@sqlpipe/files';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const dst = sharedSqlserve();

const TABLE = `CREATE TABLE trades (ts TIMESTAMP, qty INT)
  timestamp(ts) PARTITION BY DAY TTL 30 DAYS
  DEDUP UPSERT KEYS(ts);`;

const TRUNCATED = `CREATE TABLE a (x INT);\n${TABLE.slice(0, TABLE.indexOf(' TTL'))}`;

const MESSAGE = "the last statement has no ';': the file may be truncated; if it is complete, add the ';'";

const collect = <T>(items: AsyncIterable<T>): Promise<T[]> => Readable.from(items).toArray();

for (const program of [
  'sqlapply $DST s.sql',
  'sqldiff s.sql s.sql',
  'sqlsplit s.sql',
  'timeout 20 sqlserve --port 0 --load s.sql',
])
  test(`${program} rejects a truncated file`, async t => {
    const run = await inProcess(t, { DST: dst.url });
    const { code, stderr } = await run(`cat > s.sql <<< '${TRUNCATED}'; ${program}`);
    const sent = program.startsWith('sqlapply') ? '; nothing was sent' : '';
    t.true(stderr.endsWith(`s.sql:3:33: ${MESSAGE}${sent}\n`), stderr);
    t.is(code, 65);
    t.deepEqual((await dst.execute('SELECT table_name FROM tables()')).dataset, []);
  });

test('standard input is accepted, as are comments after the last semicolon of a file', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } = await run(`sqlsplit <<< 'CREATE TABLE a (x INT)' | sqljoin
    echo 'CREATE TABLE b (x INT); -- the last one' > b.sql; sqlsplit b.sql | sqljoin`);
  t.deepEqual(
    [code, stdout.toString(), stderr],
    [0, 'CREATE TABLE a (x INT);\n\nCREATE TABLE b (x INT) -- the last one\n;\n\n', ''],
  );
});

test('the position is where the semicolon belongs, before comments and white space', async t => {
  const run = await inProcess(t);
  const { stderr } = await run(`printf 'CREATE TABLE a (\\n  x INT\\n) -- the end;\\n\\n' > a.sql; sqlsplit a.sql`);
  t.is(stderr, `sqlsplit: a.sql:3:2: ${MESSAGE}\n`);
});

test('a file cut at any byte is rejected, unless it is cut between two statements', async t => {
  const folder = await freshFolder(t);
  const path = join(folder, 's.sql');
  const read = async (): Promise<string[]> => (await collect(readSource(path, 1000))).flat();
  const text = `-- one\n${TABLE}\n\n/* two */ CREATE VIEW v AS (SELECT ';' FROM trades);\n`;
  writeFileSync(path, text);
  const complete = await read();
  for (let end = 0; end < text.length; end++) {
    writeFileSync(path, text.slice(0, end));
    const statements = await read().catch(() => []);
    t.deepEqual(statements, complete.slice(0, statements.length), text.slice(0, end));
  }
});

test('a truncated file of a folder is rejected', async t => {
  const folder = await freshFolder(t);
  mkdirSync(join(folder, 'tables'));
  writeFileSync(join(folder, 'tables/trades.sql'), TABLE.slice(0, TABLE.indexOf(' TTL')));
  await t.throwsAsync(readFolder(folder), { code: 'DAMAGED', message: `${folder}/tables/trades.sql:2:33: ${MESSAGE}` });
});

test('the library rejects a truncated file, and accepts text', async t => {
  const folder = await freshFolder(t);
  const path = join(folder, 's.sql');
  writeFileSync(path, TRUNCATED);
  await t.throwsAsync(collect(split({ path })), { code: 'DAMAGED', message: `${path}:3:33: ${MESSAGE}` });
  t.is((await collect(split(TRUNCATED))).length, 2);
});

test('every file that a program writes can be read', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } =
    await run.bash(`printf '%s\\n' 'CREATE TABLE a (x INT) -- one' ';' 'CREATE VIEW b AS (a)' | sqlsplit > all
    sqljoin -o all.sql < all; sqljoin -d folder < all; sqldiff --alter -o plan.sql --undo undo.sql all.sql <(printf '\\0')
    set -e; for file in all.sql folder plan.sql undo.sql; do sqlsplit $file | sqljoin > /dev/null; done
    sqlsplit folder | cmp - all; tail -n 2 all.sql`);
  t.deepEqual([code, stdout.toString(), stderr], [0, 'CREATE VIEW b AS (a);\n\n', '']);
});
