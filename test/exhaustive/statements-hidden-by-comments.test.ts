/*!
 * Statements hidden by comments: SQL reads a GRANT where QuestDB, which pairs quotes inside comments, reads a DROP. Hidden
 * statements are neither sent nor selected; other comments are accepted.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findAmbiguity, type ServerCommentRules, serverTokens, tokens } from '@sqlpipe/sql';
import { checkTexts } from '../../scripts/hidden/check.js';
import { DEFAULT_VERSION } from '../../scripts/questdb/java.js';
import { cases } from '../cases/cases.js';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { perKey } from '../support/instances.js';
import { startQuestDB, testWithQuestDB, testWithVersion } from '../support/questdb.js';
import { fc, forAll } from '../support/seed.js';
import type { Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';
import { putVictim, stateOf } from '../support/victim.js';

const COVERS = ['GRANT SELECT ON x TO y', 'CREATE TABLE cover (x INT)', 'CREATE VIEW cover AS (SELECT 1 a)'];

const HARMS = [
  'DROP TABLE victim',
  'INSERT INTO victim VALUES (8)',
  'UPDATE victim SET x = 9',
  'TRUNCATE TABLE victim',
  'RENAME TABLE victim TO gone',
  'ALTER TABLE victim ADD COLUMN y INT',
  'CREATE TABLE stolen AS (SELECT * FROM victim)',
];

/** Texts that SQL reads as the cover and a server as the harm; `until` is the first version that no longer does. */
const FORMS: { hides: (cover: string, harm: string) => string; until?: string }[] = [
  ...["'", '"', '`'].flatMap(quote => [
    ...['', '+', '/'].map(sign => ({
      hides: (cover: string, harm: string) => `/*${sign} ${quote} */ ${cover} /* ${quote} */ ${harm}`,
    })),
    { hides: (cover: string, harm: string) => `/* /* ${quote} */ */ ${cover} /* ${quote} */ */ ${harm}` },
    { hides: (cover: string, harm: string) => `-- ${quote}\n${cover} -- ${quote}\n${harm}`, until: '9.3.2' },
  ]),
  ...['\n', '\r'].map(end => ({ hides: (cover: string, harm: string) => `/* -- */ ${cover} ${end}*/ ${harm}` })),
];

const RECORDS = FORMS.flatMap(({ hides, until }) =>
  COVERS.flatMap(cover => HARMS.map(harm => ({ text: hides(cover, harm), until }))),
);

const file = fileScope();

/** A server of a version, which the tests of this file share. */
const serverOf = perKey((version: string) => startQuestDB(file, { QUESTDB_VERSION: version }));

/** The same of the usual version, emptied. */
async function emptyServer(): Promise<Server> {
  const server = await serverOf(DEFAULT_VERSION);
  await server.dropAll();
  return server;
}

const VERSIONS: { version: string; reading: ServerCommentRules }[] = [
  { version: DEFAULT_VERSION, reading: '9.3.2' },
  { version: '9.2.3', reading: '9.0' },
];

for (const { version, reading } of VERSIONS) {
  const hidden = RECORDS.filter(({ until }) => until === undefined || reading === '9.0').map(({ text }) => text);

  testWithVersion(version)(`QuestDB ${version}: none of ${hidden.length} hidden statements is executed`, async t => {
    const server = await serverOf(version);
    const before = await putVictim(server);
    const folder = await freshFolder(t);
    await writeFile(join(folder, 'in'), hidden.map(text => `${text};\n\0`).join(''));
    const run = await inProcess(t, { DST: server.url, IN: join(folder, 'in') });
    const { stderr, stdout } = await run.exits(1, 'sqlapply -k --report r $DST < $IN; s=$?; cat r; exit $s');
    t.is(stderr.match(/: SQL reads .*, but QuestDB .* reads .*; remove quotes and dashes/g)?.length, hidden.length);
    const results = stdout.trim().split('\n');
    t.is(results.filter(line => JSON.parse(line).result === 'rejected').length, hidden.length);
    t.deepEqual(await stateOf(server), before);
    const first = await run.bash.exits(
      1,
      `printf '%s\\0' 'CREATE TABLE a (x INT);' "$(tr '\\0' '\\1' < $IN | head -1)" | sqlapply $DST`,
    );
    t.regex(first.stderr, /statement 2 .*; nothing was sent/);
    t.deepEqual(await stateOf(server), before, 'the statements before a hidden one are not executed');
  });

  testWithVersion(version)(
    `QuestDB ${version}: hidden statements do harm if they are sent (a quarter is tried)`,
    async t => {
      const server = await serverOf(version);
      for (const text of hidden.filter((_, i) => i % 4 === 0)) {
        const before = await putVictim(server);
        const { error } = await server.execute(text);
        t.notDeepEqual(await stateOf(server), before, `${text}: ${error}`);
      }
    },
  );

  testWithVersion(version)(`QuestDB ${version}: accepted random texts are executed as identified`, async t => {
    const { sent, applied, wrong } = await checkTexts(await serverOf(version), { count: 800, seed: 1 });
    t.deepEqual(wrong, []);
    t.log(`${sent} sent, ${applied} applied`);
    t.true(applied > 20, `${sent} sent, ${applied} applied`);
  });
}

testWithQuestDB('comments that hide nothing are accepted', async t => {
  const server = await emptyServer();
  const folder = await freshFolder(t);
  const legal = [
    "/* it's the owner's */ CREATE TABLE a (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY",
    "-- don't\nCREATE TABLE b (x INT)",
    "-- it's; fine\rCREATE VIEW c AS (SELECT x FROM b)",
    'CREATE VIEW d AS (SELECT /* in USD; don\'t */ x FROM b) -- "; fine',
    "CREATE VIEW e AS (SELECT /* ' */ ' */ x FROM b)",
    'CREATE /* "a" `b` */ TABLE -- so\n "f" (x INT)',
    'CREATE TABLE g (x INT) /* it is -- so\n */',
  ];
  await writeFile(join(folder, 'in'), legal.map(text => `${text}\n;\0`).join(''));
  const run = await inProcess(t, { DST: server.url, IN: join(folder, 'in') });
  t.like(await run('sqlapply $DST < $IN'), { code: 0, stderr: '' });
  const { dataset } = await server.execute('SELECT table_name FROM tables() ORDER BY table_name');
  t.is(dataset?.flat().join(''), 'abcdefg');
});

for (const program of ['sqlgrep cover', 'sqlgrep --with-deps cover', 'sqlsort', 'sqljoin -d d'])
  test(`${program} rejects hidden statements`, async t => {
    const run = await inProcess(t);
    for (const { text, until } of RECORDS.filter((_, i) => i % 53 === 0)) {
      if (until) continue;
      const quoted = text.replaceAll("'", "'\\''");
      const { stdout, stderr } = await run.exits(1, `printf '%s;\\n\\0' '${quoted}' | ${program}`);
      t.regex(stderr, /SQL reads .*, but QuestDB from 9\.3\.2 on reads /);
      t.notRegex(stdout, /victim/);
    }
  });

for (const { title: text, input: says } of cases('in-no-dump'))
  test(`a statement that no dump contains is not sent: ${text}`, async t => {
    const { url, requests } = await startFaultyServer(t, socket => socket.end(reply('{"error":"no"}', 400)));
    const run = await inProcess(t, { DST: url, TEXT: text });
    t.regex((await run.exits(1, `printf '%s\\0' "$TEXT" | sqlapply $DST`)).stderr, new RegExp(says.trimEnd()));
    const left = requests.filter(({ statement }) => statement !== 'SELECT build()');
    t.deepEqual(left, []);
  });

test('--allow sends statements that no dump contains', async t => {
  const server = await startSqlserve(t);
  const run = await inProcess(t, { DST: server.url });
  const send = (text: string, allow: string) => run(`printf '%s\\0' "${text}" | sqlapply --allow ${allow} $DST`);
  t.like(await run(`printf 'CREATE TABLE t (x INT, y INT)\\0' | sqlapply $DST`), { code: 0 });
  t.like(await send('CREATE TABLE a AS (SELECT x FROM t)', 'CTAS'), { code: 0 });
  t.like(await send('CREATE TABLE b AS (SELECT x FROM t)', 'all'), { code: 0 });
  t.like(await send('CREATE BATCH 10 TABLE c AS (SELECT x FROM t)', 'ctas,replace'), { code: 0 });
  t.like(await send('CREATE TABLE d AS (SELECT x FROM t)', 'REPLACE'), { code: 1 });
  t.like(await send('ALTER TABLE t ADD COLUMN z INT', 'CTAS,REPLACE'), { code: 1 });
});

test('a table that sqldump creates by a query is sent without --allow', async t => {
  const server = await startSqlserve(t);
  const row = "CREATE TABLE 'a' ( \n\tx INT,\n\tmy col IPv4,\n\ty ARRAY,\n\tz GEOHASH(5c)\n);";
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    const rows = statement === 'SHOW CREATE DATABASE' ? [[row]] : [];
    socket.end(reply(JSON.stringify({ dataset: rows, count: rows.length })));
  });
  const run = await inProcess(t, { SRC: url, DST: server.url });
  t.regex((await run('sqldump -q $SRC')).stdout, /^CREATE TABLE 'a' AS \(\nSELECT CAST/);
  t.like(await run('sqldump -q $SRC | sqlapply --no-verify $DST'), { code: 0, stderr: '' });
});

test('CREATE OR REPLACE shows the replaced definition, and is skipped if nothing changes', async t => {
  const server = await startSqlserve(t);
  const run = await inProcess(t, { DST: server.url });
  const send = (body: string, options = '') =>
    run(`printf '%s\\0' "CREATE OR /* so */ REPLACE VIEW 'v' AS ( \n${body}\n)" | sqlapply --report r ${options} $DST
         s=$?; cat r; exit $s`);
  t.regex((await send('SELECT 1 x')).stderr, /nothing was sent\n {2}hint: use --allow REPLACE to send it/);
  const allow = '--allow REPLACE';
  const made = await send('SELECT 1 x', allow);
  t.like(made, { code: 0, stderr: '' });
  t.regex(made.stdout, /"result":"applied","time":"[^"]+","proven":true,"ms"/);
  t.regex((await send('SELECT 1 x', allow)).stdout, /"result":"skipped"/);
  const foreseen = await send('SELECT 2 x', `${allow} -n`);
  t.is(foreseen.code, 0);
  t.regex(foreseen.stdout, /^would replace view 'v'\n/);
  const replaced = await send('SELECT 2 x', allow);
  t.is(replaced.code, 0);
  for (const { stderr } of [foreseen, replaced]) {
    t.regex(stderr, /statement 1 \(view 'v'\): it replaces a different definition/);
    t.regex(stderr, /query: SELECT 2 x in the statement, SELECT 1 x in http/);
  }
  t.regex(replaced.stdout, /"result":"applied","time":"[^"]+","proven":true,"replaced":true/);
  t.regex(String((await server.execute("SHOW CREATE VIEW 'v'")).dataset), /SELECT 2 x/);
  t.like(await send('SELECT 3 x', `${allow} --if-exists fail`), { code: 1 });
  t.like(await send('SELECT 3 x', `${allow} --if-exists skip`), { code: 0 });
  t.regex(String((await server.execute("SHOW CREATE VIEW 'v'")).dataset), /SELECT 2 x/);
});

testWithQuestDB('object names are escaped in queries to the server', async t => {
  const server = await emptyServer();
  await server.execute('CREATE TABLE secret (ddl VARCHAR)');
  await server.execute(`INSERT INTO secret VALUES ('CREATE VIEW leaked')`);
  await server.execute('CREATE VIEW vv AS (SELECT 1 a)');
  const run = await inProcess(t, { DST: server.url });
  for (const kind of ['VIEW', 'TABLE']) {
    const name = `vv' UNION ALL SELECT ddl FROM secret --`;
    const definition = kind === 'VIEW' ? 'AS (SELECT 1 a)' : '(a INT)';
    const { code, stdout, stderr } = await run(
      `printf '%s\\0' "CREATE ${kind} \\"${name}\\" ${definition}" | sqlapply -n $DST`,
    );
    t.is(stdout, `rejected ${kind.toLowerCase()} '${name}'\n`, stderr);
    t.is(code, 1);
    t.regex(stderr, /invalid table name/);
    t.notRegex(stderr, /leaked/);
  }
});

/** Random texts of pieces that SQL and servers read differently. */
const text = fc
  .array(
    fc.constantFrom(
      ...["'", '"', '`', "''", '--', '/*', '*/', '/*+', '\n', '\r', ' ', '#', '(', ')', ',', '.', 'a', 'ON', 'TO'],
      ...[
        'GRANT',
        'CREATE',
        'TABLE',
        'VIEW',
        'ADD USER',
        'ASSUME SERVICE ACCOUNT',
        'DROP',
        'AS',
        "'x'",
        '"y"',
        '\f',
        'ß',
      ],
    ),
    { maxLength: 14 },
  )
  .map(parts => parts.join(''));

test('without comments, the quick and the full check for ambiguity agree', t =>
  forAll(3000, text, statement => {
    fc.pre(!/--|\/\*/.test(statement));
    const long = `${statement}${' '.repeat(1000)}`; // too long for the quick check
    t.is(findAmbiguity(statement) === undefined, findAmbiguity(long) === undefined);
  }));

test('the check for ambiguity takes linear time', t => {
  const measure = (statement: string): number => {
    const before = process.cpuUsage();
    findAmbiguity(statement);
    return process.cpuUsage(before).user;
  };
  for (const unit of ["'", "' ", "''", 'a"', "a'b'", "-- '\n", "\n-- ''x", "/* ' */", '/* ', '/-', 'a,', 'a.', '('])
    for (const start of ['/**/ GRANT ', "/**/ GRANT a ON '", '/**/ CREATE TABLE x ']) {
      const measureLength = (length: number): number => measure(start + unit.repeat(length / unit.length));
      const short = measureLength(4000);
      const long = measureLength(32_000);
      // Quadratic, 8 times the text takes 64 times as long.
      t.true(long < 3e5 || long < 32 * short, start + unit);
    }
});

test('the tokens of a server are consecutive pieces of the text', t => {
  forAll(3000, text, fc.constantFrom('9.0' as const, '9.3.2' as const), (statement, reading) => {
    let at = 0;
    for (const token of serverTokens(statement, 0, reading)) {
      if (token.start < at || !statement.startsWith(token.text, token.start)) return false;
      at = token.start + token.text.length;
    }
    return at <= statement.length;
  });
  t.pass();
});

for (const [statement, before, since] of [
  ['/* " */ waaa', 'waaa', 'waaa'],
  ["/* ' */ a /* ' */ b", 'b', 'b'],
  ["-- don't\na 'b'", '', "a|'b'"],
  ["-- '\r\n' \na", 'a', "'|a"],
  ['/* -- */ a\n*/ b', 'b', 'b'],
  ['/* /*+ */ a */ b', 'b', 'b'],
  ['a"b" c`d`', 'a"b"|c`d`', 'a"b"|c`d`'],
  ['\'it\'\'s\' "a""b" `a``b`', '\'it\'\'s\'|"a""b"|`a`|`b`', '\'it\'\'s\'|"a""b"|`a`|`b`'],
  ['1 */* 2', '1|*/|*|2', '1|*/|*|2'],
  ["a 'b", "a|'|b", "a|'|b"],
] as const)
  test(`QuestDB reads ${JSON.stringify(statement)}`, t => {
    const read = (reading: ServerCommentRules) =>
      Array.from(serverTokens(statement, 0, reading), each => each.text).join('|');
    t.deepEqual([read('9.0'), read('9.3.2')], [before, since]);
  });

test('a doubled quote is part of its token', t => {
  const texts = Array.from(tokens("'it''s' \"a\"\"b\"'c'"), token => token.text);
  t.deepEqual(texts, ["'it''s'", ' ', '"a""b"', "'c'"]);
});
