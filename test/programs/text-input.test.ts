/*! Text and streams as input of sqlapply and sqldiff: from standard input, files and folders; and text that may be truncated. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { split } from '@sqlpipe/api';
import { readStandardInput, readStatementsAt, withoutLocations } from '@sqlpipe/files';
import { MAX_RECORD } from '@sqlpipe/sql';
import { freshFolder, readFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { fc, forAllAsync, splitAt } from '../support/seed.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const dst = sharedSqlserve();

const listTables = async () =>
  ((await dst.execute('SELECT table_name FROM tables()')).dataset ?? []).map(([name]) => name).sort();

async function read(bytes: Buffer, places: readonly number[] = []): Promise<string[]> {
  const pieces = Readable.from(splitAt(bytes, places).filter(({ length }) => length > 0));
  const batches = await Readable.from(readStandardInput(pieces, { maxRecord: MAX_RECORD })).toArray();
  return batches.flat().map(({ statement }) => statement);
}

/** Many places, so that a piece may be shorter than what is looked for. */
const anyPlaces = fc.array(fc.nat(), { maxLength: 99 });

/** Statements in which it is not obvious where they end. */
const statement = fc.constantFrom(
  "CREATE TABLE 'a' (\n\tx INT\n);",
  'CREATE TABLE trades (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY TTL 1 DAY DEDUP UPSERT KEYS(ts);',
  "CREATE VIEW v AS (SELECT ';\n\nSELECT' AS x, 'it''s' FROM trades);",
  '-- a comment; CREATE TABLE b (x INT);\nCREATE TABLE c (x INT);',
  '/* one; /* two; */ SELECT 1; */ CREATE TABLE d (x INT);',
  "/* it's; */ CREATE TABLE e (x INT);",
  'CREATE TABLE f (x INT) -- the end; SELECT 1\n;',
  'CREATE TABLE g (x INT) /* the end; SELECT 1 */;',
  'CREATE TABLE "h;\n;" (`;` INT);',
  'SELECT 1 - 2 / 3 -- 4 /* 5\n;',
);
/** What follows a statement in a record of ours, or of another program. */
const end = fc.constantFrom('\n\0', '\0', '\n\n\0', '\n-- a comment; or two\n\0', ' /* one */ -- two\n\0');

test('no stream that was cut anywhere is taken for text', async t => {
  const record = fc.tuple(statement, end).map(parts => parts.join(''));
  await forAllAsync(20, fc.array(record, { minLength: 1, maxLength: 2 }), anyPlaces, async (records, places) => {
    const bytes = Buffer.from(records.join(''));
    t.is((await read(bytes, places)).length, records.length);
    for (let cut = 1; cut < bytes.length; cut++)
      if (bytes.subarray(0, cut).toString().trimEnd().at(-1) !== '\0')
        await t.throwsAsync(read(bytes.subarray(0, cut)), {
          code: 'DAMAGED',
          message: /no NUL byte|truncated after 1/,
        });
  });
});

test('text of two or more statements is read, in chunks cut anywhere', t =>
  forAllAsync(50, fc.array(statement, { minLength: 2, maxLength: 5 }), anyPlaces, async (statements, places) => {
    // On the line of a semicolon, a comment would belong to the statement before it.
    const adjacent = statements.map(each => (each.startsWith('--') ? `\n${each}` : each)).join('');
    const texts = [statements.join('\n\n'), `\ufeff\r\n${statements.join('\r\n')}\r\n`, adjacent];
    for (const text of texts) t.deepEqual(await read(Buffer.from(text), places), statements);
  }));

test('a long first record is still a stream, and a long text is still text', async t => {
  const long = `CREATE TABLE a (${'x'.repeat(100_000)} INT);`;
  const places = Array.from({ length: 20 }, (_, i) => 5000 * i);
  t.deepEqual(await read(Buffer.from(`${long}\n\0`), places), [long]);
  t.deepEqual(await read(Buffer.from(`SELECT 1;\nSELECT 2;\n${long}`), places), ['SELECT 1;', 'SELECT 2;', long]);
  await t.throwsAsync(read(Buffer.from(`SELECT 1;\nSELECT 2;\n${long}\0`), places), {
    code: 'DAMAGED',
    message: /^standard input: a NUL at byte 100042: /,
  });
});

test('sqlapply reads text on standard input, and errors name its lines', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run(`
    printf '%s\\n' 'CREATE TABLE a (x INT);' '' 'CREATE TABLE b (' '  x INT);' > s.sql; sqlapply ${dst.url} < s.sql
    printf 'CREATE TABLE c (x INT); CREATE TABLE d (x INT)' | sqlapply ${dst.url} -
    printf 'CREATE TABLE a (x INT);\\n\\nCREATE TABLE e (\\n  x NONSENSE);' | sqlapply ${dst.url}`);
  t.is(code, 1);
  t.regex(stderr, /^sqlapply: standard input:4: table 'e': /);
  t.deepEqual(await listTables(), ['a', 'b', 'c', 'd']);
});

test('a text that a truncated dump could be is rejected, and nothing is sent', async t => {
  const run = await inProcess(t);
  for (const text of [
    'CREATE TABLE a (x INT);\\n',
    'CREATE TABLE a (x INT)',
    'CREATE TABLE a (x INT); -- the only one\\n',
  ]) {
    const { code, stderr } = await run(`printf '${text}' | sqlapply ${dst.url}`);
    t.regex(stderr, /^sqlapply: no NUL byte in the input: .*; nothing was sent\n$/);
    t.is(code, 65);
  }
  t.deepEqual(await listTables(), []);
});

test('text that a failing program has marked as incomplete is rejected', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run(
    `printf 'SELECT 1;\\n\\nSELECT 2;\\n\\n-- sqldump: incomplete: it failed\\n' | sqlapply ${dst.url}`,
  );
  t.is(stderr, 'sqlapply: standard input:5:1: sqldump left its output incomplete: it failed; nothing was sent\n');
  t.is(code, 65);
});

test('sqldiff reads text on standard input', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } = await run(`echo 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);' > s.sql
    sqldiff - s.sql < s.sql; sqldiff s.sql - < s.sql; sed 's/b (x INT)/b (x LONG)/' s.sql | sqldiff --names - s.sql`);
  t.deepEqual([code, stderr], [1, '']);
  t.regex(stdout, /^[^\n]*'?b'?[^\n]*\n$/);
});

test('a stream to which an editor has added a line feed is read', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } = await run(`printf 'CREATE TABLE a (x INT);\\n\\0CREATE TABLE b (x INT);\\n\\0\\n' > s
    cp s s.sql; set -e; sqlapply ${dst.url} < s; sqlapply ${dst.url} s s.sql; sqlgrep -c a < s; sqljoin < s | sqlsplit | sqldiff - s`);
  t.deepEqual([code, stdout, stderr], [0, '1\n', '']);
});

test('a byte order mark is dropped at the start only, and not where a chunk begins in a string', async t => {
  const run = await inProcess(t);
  const [head, tail] = ["CREATE VIEW v AS (SELECT '", "' x FROM t);"];
  const { stdout, stderr } = await run.bash(`
    mark=$'\\xEF\\xBB\\xBF'
    { printf '%s' "$mark"; printf "${head}"; head -c ${65_536 - 3 - head.length} /dev/zero | tr '\\0' x
      printf "%s${tail}\\n" "$mark"; } > a.sql
    sqlsplit a.sql | grep -c "x$mark'"; sqlsplit < a.sql | head -c 6`);
  t.is(stdout, '1\nCREATE', stderr);
});

test('a comment on the line of a semicolon renames the object before it, from a file, a pipe and a folder', async t => {
  for (const table of ['CREATE TABLE old1 (x INT)', 'CREATE TABLE old2 (y INT)'])
    t.is((await dst.execute(table)).error, undefined);
  const run = await inProcess(t, { DB: dst.url });
  await run(`echo 'CREATE TABLE new1 (x INT); -- renamed from old1
CREATE TABLE old2 (y INT);' > s.sql; sqlsplit s.sql | sqljoin -d s`);
  for (const script of [
    'sqldiff --alter s.sql $DB',
    'sqldiff --alter s $DB',
    'dd bs=5 status=none < s.sql | sqldiff --alter - $DB',
  ]) {
    const { stdout, stderr } = await run.ok(`${script} | tr '\\0' '\\n' | grep -v '^--' | grep .`);
    t.is(stdout, "RENAME TABLE 'old1' TO 'new1';\n", `${script}: ${stderr}`);
  }
});

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
  t.deepEqual(
    await run(`sqlsplit <<< 'CREATE TABLE a (x INT)' | sqljoin
    echo 'CREATE TABLE b (x INT); -- the last one' > b.sql; sqlsplit b.sql | sqljoin`),
    { code: 0, stdout: 'CREATE TABLE a (x INT);\n\nCREATE TABLE b (x INT) -- the last one\n;\n\n', stderr: '' },
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
  const read = async (): Promise<string[]> => (await collect(withoutLocations(readStatementsAt(path, 1000)))).flat();
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
  t.deepEqual([code, stdout, stderr], [0, 'CREATE VIEW b AS (a);\n\n', '']);
});
