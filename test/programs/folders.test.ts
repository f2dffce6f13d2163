/*! A schema as a folder with a file per object: any names survive, and foreign files are kept. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { writeFolder } from '@sqlpipe/files';
import { foldCase } from '@sqlpipe/sql';
import type { ExecutionContext } from 'ava';
import { freshFolder, readFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { fc, forAllAsync } from '../support/seed.js';
import { test } from '../support/test.js';

/** Names that are difficult for file systems, and that servers accept. */
const name = fc
  .oneof(
    fc.constantFrom(
      ...'. .. -rf CON con nul.txt com1 a/b a\\b a.sql ~ !a %41 conin$'.split(' '),
      'a b',
      ' ',
      'CON .x',
      'f!x y',
    ),
    fc.constantFrom(
      ...'é e\u0301 \u212b \u00c5 straße STRASSE \u017f σ ς 取引 größe grösse \u1100\u1161 가 ı'.split(' '),
    ),
    fc.constantFrom('fx_trades', 'FX_trades', 'Fx_Trades', 'a', 'A', '!', '%', 'x'.repeat(127), '取'.repeat(127)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 127 }),
    fc.stringMatching(/^[-a-cA-C ./_%!~]{1,8}$/),
  )
  .filter(text => text.isWellFormed() && !/['\0-\x1f\x7f]/.test(text) && text.length < 128 && text === text.trim());

/** Normalizes a path as the least discriminating file systems do. */
const normalizePath = (path: string): string => path.normalize('NFKC').toUpperCase().toLowerCase();

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/** Decodes the name of an object from a path, as the man page describes it. */
const decodePath = (path: string): string =>
  decodeURIComponent(
    path
      .replace(/^\w+\//, '')
      .replace(/\.sql$/, '')
      .replaceAll('~/', '')
      .replace(/!([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );

test('any names survive writing and reading a folder, with one file per object, named after it', async t => {
  const root = await freshFolder(t);
  let nth = 0;
  await forAllAsync(100, fc.uniqueArray(name, { selector: foldCase, maxLength: 12 }), async names => {
    const folder = join(root, String(nth++));
    const statements = names.map(each => `CREATE TABLE '${each}' (x INT);`);
    await writeFolder(folder, Readable.from(statements));
    t.deepEqual((await readFolder(folder)).sort(), statements.toSorted());
    const files = listFiles(folder);
    t.is(new Set(files.map(normalizePath)).size, names.length);
    t.deepEqual(files.map(decodePath).sort(), names.toSorted());
    for (const path of files) {
      t.notRegex(path, /[\p{C}\p{M}\\:*?"<>|]|(?! )\p{Z}/u);
      t.notRegex(basename(path), /^(con|prn|aux|nul|com\d|lpt\d) *\./);
      for (const part of path.split('/')) {
        t.notRegex(part, /^[-. ]| $| \.sql$/);
        t.true(Buffer.byteLength(part) < 240);
      }
    }
  });
});

test('names with common letters are readable in file names', async t => {
  const folder = await freshFolder(t);
  const names = ['größer', 'f!x y', 'FX_Rates', 'a.b$c-d_1', 'ŻÓŁW', 'łódź', '取引', 'цены'];
  await writeFolder(folder, Readable.from(names.map(each => `CREATE TABLE '${each}' (x INT);`)));
  t.deepEqual(
    readdirSync(join(folder, 'tables')).sort(),
    [
      'grö%C3%9Fer.sql', // some file systems equate ß with ss
      'f%21x y.sql',
      '!f!x_!rates.sql',
      'a.b$c-d_1.sql',
      '%C5%BB%C3%93%C5%81!w.sql',
      'łódź.sql',
      '取引.sql',
      'цены.sql',
    ].sort(),
  );
});

const ACCESS = [
  'CREATE USER zoe;',
  'CREATE GROUP admins;',
  'CREATE SERVICE ACCOUNT ingest;',
  'CREATE TABLE trades (x INT);',
  'ADD USER zoe TO admins;',
  'GRANT ASSUME SERVICE ACCOUNT ingest TO zoe;',
  'GRANT INSERT ON trades TO ingest;',
  'GRANT SELECT ON trades TO admins;',
  'GRANT UPDATE ON trades TO admins;',
];

test('access control is stored in one file per grantee', async t => {
  const folder = await freshFolder(t);
  await writeFolder(folder, Readable.from(ACCESS));
  t.deepEqual(listFiles(folder), [
    'assumptions/zoe.sql',
    'grants/admins.sql',
    'grants/ingest.sql',
    'groups/admins.sql',
    'memberships/zoe.sql',
    'service_accounts/ingest.sql',
    'tables/trades.sql',
    'users/zoe.sql',
  ]);
  const found = readFileSync(join(folder, 'grants/admins.sql'), 'utf8');
  t.is(found, 'GRANT SELECT ON trades TO admins;\n\nGRANT UPDATE ON trades TO admins;\n');
  t.deepEqual(await readFolder(folder), ACCESS);
});

const TABLE = 'CREATE TABLE a (x INT);';
const VIEW = 'CREATE VIEW b AS (SELECT * FROM a);';

async function createFolder(t: ExecutionContext) {
  const folder = await freshFolder(t);
  await writeFolder(folder, Readable.from([TABLE, VIEW]));
  const own = 'README.md other.txt tables/d.sql.sqlpipe-0abc.tmp/README.md tables/README.md tables/.hidden.sql';
  const foreign = own.split(' ');
  mkdirSync(join(folder, 'tables/d.sql.sqlpipe-0abc.tmp'));
  for (const path of foreign) writeFileSync(join(folder, path), 'not ours');
  return { folder, foreign };
}

test('a file that is replaced keeps its permissions, and a new one has those of the umask', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run.bash(`
    umask 022; echo 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);' | sqlsplit | sqljoin -d d
    chmod 600 d/tables/a.sql; chmod 664 d/tables/b.sql
    echo 'CREATE TABLE a (y INT); CREATE TABLE b (y INT); CREATE TABLE c (y INT);' | sqlsplit | sqljoin -d d
    cd d/tables; grep -c y a.sql b.sql; stat -c '%n %a' *`);
  t.is(stdout, 'a.sql:1\nb.sql:1\na.sql 600\nb.sql 664\nc.sql 644\n', stderr);
});

test('unchanged files are not rewritten, obsolete files are removed, foreign files stay', async t => {
  const { folder, foreign } = await createFolder(t);
  const before = statSync(join(folder, 'tables/a.sql')).ino;
  await writeFolder(folder, Readable.from([TABLE, 'CREATE TABLE b (y INT);']));
  t.is(statSync(join(folder, 'tables/a.sql')).ino, before);
  t.deepEqual(listFiles(folder), [...foreign, 'tables/a.sql', 'tables/b.sql'].sort());
  t.deepEqual(await readFolder(folder), [TABLE, 'CREATE TABLE b (y INT);']);
  await writeFolder(folder, Readable.from([]));
  t.deepEqual(listFiles(folder), foreign.toSorted());
  t.deepEqual(await readFolder(folder), []);
});

const BELONGS = " contains table 'a', which belongs in tables/a.sql";
const CREATES_NONE = ' contains a statement that creates no object: ';
/** Of a file that may not be meant for the schema. */
const HINT = `
  hint: if it is not part of the schema, move it out of the folder, or rename it
  hint: names that begin with '.' or have another suffix are ignored`;

for (const [path, text, reason] of [
  ['tables/z.sql', TABLE, BELONGS],
  ['tables/z.SQL', TABLE, BELONGS],
  ['tables/z.sql', '-- nothing\n', ' contains no statement'],
  ['views/z.sql', 'CREATE VIEW z AS (', ':1:18: unclosed parenthesis'],
  ['views/z.sql', 'CREATE VIEW z AS (x); DROP TABLE a;', `${CREATES_NONE}DROP TABLE a;`],
  ['views/old/z.sql', 'CREATE VIEW z AS (x);', " contains view 'z', which belongs in views/z.sql"],
  ['a.sql', TABLE, BELONGS + HINT],
  ['misc/more/a.sql', TABLE, BELONGS + HINT],
  ['Tables/a.sql', TABLE, BELONGS + HINT],
  ['A.SQL', TABLE, BELONGS + HINT],
  ['migrations/1.sql', 'ALTER TABLE a ADD y INT;\nno (', `${CREATES_NONE}ALTER TABLE a ADD y INT;${HINT}`],
  ['1.sql', 'DROP (', `:1:6: unclosed parenthesis${HINT}`],
] as const)
  test(`a file that does not belong into a folder is rejected: ${path}${reason.replace(HINT, '')}`, async t => {
    const { folder } = await createFolder(t);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    await t.throwsAsync(readFolder(folder), { code: 'DAMAGED', message: `${folder}/${path}${reason}` });
    await writeFolder(folder, Readable.from([TABLE]));
    t.is(readFileSync(join(folder, path), 'utf8'), text, 'a file that is not in the way is left alone');
  });

test('hidden files and folders, links to folders and other suffixes are ignored', async t => {
  const { folder } = await createFolder(t);
  for (const path of ['.git', 'misc/.old', 'tables/.old']) mkdirSync(join(folder, path), { recursive: true });
  for (const path of ['.x.sql', '.git/x.sql', 'misc/.old/x.sql', 'misc/x.sql.orig', 'misc/sql', 'tables/.old/x.sql'])
    writeFileSync(join(folder, path), 'not ours');
  symlinkSync(join(folder, 'tables'), join(folder, 'more'));
  t.deepEqual(await readFolder(folder), [TABLE, VIEW]);
});

test('a file that was moved out of its folder is no DROP', async t => {
  const run = await inProcess(t);
  t.deepEqual(
    await run(`echo '${TABLE} ${VIEW}' > s.sql; sqlsplit s.sql | sqljoin -d d
    mkdir d/misc; mv d/views/b.sql d/misc; sqldiff --alter d s.sql`),
    { code: 65, stdout: '', stderr: `sqldiff: d/misc/b.sql contains view 'b', which belongs in views/b.sql${HINT}\n` },
  );
});

test('a foreign file in the place of an object is not overwritten, and nothing is written', async t => {
  const { folder } = await createFolder(t);
  writeFileSync(join(folder, 'views/c.sql'), '<<<<<<< HEAD;');
  const files = listFiles(folder);
  const statements = ['CREATE TABLE a (x LONG);', 'CREATE VIEW c AS (SELECT * FROM a);'];
  await t.throwsAsync(writeFolder(folder, Readable.from(statements)), {
    code: 'DAMAGED',
    message: /c\.sql contains a statement that creates no object: <<<<<<< HEAD;; move it away; nothing was written$/,
  });
  t.deepEqual(listFiles(folder), files);
  t.is(readFileSync(join(folder, 'tables/a.sql'), 'utf8'), `${TABLE}\n`);
});

test('symbolic links are neither followed nor written to', async t => {
  const long = `CREATE TABLE ${'Z'.repeat(120)} (x INT);`;
  const [elsewhere, folder] = [await freshFolder(t), await freshFolder(t)];
  writeFileSync(join(elsewhere, 'a.sql'), TABLE);
  writeFileSync(join(elsewhere, 'a.sql.sqlpipe-0abc.tmp'), TABLE);
  await writeFolder(folder, Readable.from([long]));
  const inner = dirname(listFiles(folder)[0] as string);
  symlinkSync(elsewhere, join(folder, 'tables/elsewhere'));
  t.deepEqual(await readFolder(folder), [long]);
  await writeFolder(folder, Readable.from([]));
  for (const place of [inner, 'tables']) {
    rmSync(join(folder, place), { recursive: true });
    symlinkSync(elsewhere, join(folder, place));
    const inTheWay = { code: 'DAMAGED', message: new RegExp(`${place} is not a folder$`) };
    await t.throwsAsync(readFolder(folder), inTheWay);
    await t.throwsAsync(writeFolder(folder, Readable.from([TABLE, long])), inTheWay);
  }
  t.deepEqual(readdirSync(elsewhere), ['a.sql', 'a.sql.sqlpipe-0abc.tmp']);
});

test('a failed write leaves the old files and no temporary files', async t => {
  const { folder } = await createFolder(t);
  const long = 'Z'.repeat(120);
  await writeFolder(folder, Readable.from([TABLE, VIEW, `CREATE TABLE ${long} (x INT);`]));
  const inner = dirname(listFiles(folder).find(path => path.includes('~')) ?? '');
  await writeFolder(folder, Readable.from([TABLE, VIEW]));
  rmdirSync(join(folder, inner));
  writeFileSync(join(folder, inner), 'in the way');
  const files = listFiles(folder);
  const statements = ['CREATE TABLE a (x LONG);', `CREATE TABLE ${long} (x INT);`];
  await t.throwsAsync(writeFolder(folder, Readable.from(statements)), { message: /EEXIST|ENOTDIR/ });
  t.deepEqual(listFiles(folder), files);
  t.is(readFileSync(join(folder, 'tables/a.sql'), 'utf8'), `${TABLE}\n`);
});

test('temporary files of a killed writer are removed by the next run', async t => {
  const run = await inProcess(t);
  const { stdout } = await run.bash(`seq 300 | sed "s/.*/CREATE TABLE 'T&' (x INT);/" | tr '\\n' '\\0' > all
sqljoin -d d < all & until ls d/tables/*.tmp > /dev/null 2>&1; do :; done; kill -9 $!; wait $! 2> /dev/null
ls d/tables/*.tmp > /dev/null && sqljoin -d d < all && ls d/tables | grep -vc '^!t[0-9]*[.]sql$'
sqlsplit d | sqlsort | cmp - <(sqlsort < all)`);
  t.is(stdout, '0\n');
});

test('temporary files of other programs stay', async t => {
  const { folder } = await createFolder(t);
  const temporary = 'trades.sql.backup.tmp a.sql.0abc.tmp a.sql.tmp a.sql.sqlpipe-0abc.tmp.gz sqlpipe-0abc.tmp';
  const others = temporary.split(' ');
  for (const name of others) writeFileSync(join(folder, 'tables', name), 'not ours');
  writeFileSync(join(folder, 'tables/a.sql.sqlpipe-0abc.tmp'), 'left by a killed writer');
  await writeFolder(folder, Readable.from([TABLE]));
  const found = readdirSync(join(folder, 'tables')).filter(name => name.includes('tmp'));
  t.deepEqual(found, [...others, 'd.sql.sqlpipe-0abc.tmp'].sort());
});

test('in a checkout, git shows only the changed objects', async t => {
  const run = await inProcess(t, { AUTHOR: '-c user.name=a -c user.email=a@b.example' });
  const { stdout } =
    await run(`git init -q; sqlsplit > all <<< "CREATE TABLE a (x INT); CREATE VIEW b AS (SELECT * FROM a);"
sqljoin -d . < all; git add .; git $AUTHOR commit -qm schema; git status --porcelain
sed 's/INT/LONG/' all | sqlgrep a | sqljoin -d .; git status --porcelain; git fsck`);
  t.is(stdout, ' M tables/a.sql\n D views/b.sql\n');
});

test('sqljoin -d creates a folder, but not its parents', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run(`printf '\\0' | sqljoin -d misspelt/schema; echo $?; ls`);
  t.is(stderr, 'sqljoin: misspelt/schema: no such file or directory\n');
  t.is(stdout, '74\n');
});

test('a truncated, conflicting or unmappable stream writes nothing', async t => {
  const run = await inProcess(t);
  const { stdout } = await run(`printf 'CREATE TABLE a (x INT);\\n\\0CREATE' | sqljoin -d d 2> /dev/null; echo $?
printf 'CREATE TABLE a (x INT);\\0CREATE VIEW A AS (b);\\0' | sqljoin -d d 2> /dev/null; echo $?
printf 'DROP TABLE a;\\0' | sqljoin -d d 2> /dev/null; echo $?
ls`);
  t.is(stdout, '65\n65\n1\n');
});

test('a folder without objects, a missing folder, and -d with -o are rejected', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run('sqlsplit . | wc -c; sqlsplit nowhere; echo $?; sqljoin -d a -o b; echo $?');
  t.regex(
    stderr,
    /^sqlsplit: \. contains none of the folders that sqljoin -d creates, such as tables; is it the right folder\?$/m,
  );
  t.regex(stderr, /^sqlsplit: nowhere: no such file or directory$/m);
  t.regex(stdout, /\n66\n64\n$/);
});
