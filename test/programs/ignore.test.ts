/*! Differences that do not matter: --ignore and --ignore-file, the same for sqldiff, --missing, --alter and the library. */

import { diff, plan } from '@sqlpipe/api';
import { IgnoreRules } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { test } from '../support/test.js';

const A = [
  'CREATE TABLE trades (ts TIMESTAMP, fee INT, qty INT) TIMESTAMP(ts) PARTITION BY DAY TTL 7 DAYS;',
  'CREATE TABLE quotes (ts TIMESTAMP, bid DOUBLE) TIMESTAMP(ts) PARTITION BY DAY;',
  'CREATE TABLE tmp_new (x INT);',
  'CREATE TABLE tmp_base (ts TIMESTAMP, y INT) TIMESTAMP(ts) PARTITION BY DAY;',
  'CREATE VIEW all_y AS (SELECT y FROM tmp_base);',
  'GRANT SELECT ON trades, tmp_new TO ann;',
];
const B = [
  'CREATE TABLE trades (ts TIMESTAMP, qty INT, fee INT) TIMESTAMP(ts) PARTITION BY DAY TTL 3 DAYS;',
  'CREATE TABLE quotes (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY;',
  'CREATE TABLE tmp_old (x INT);',
  'GRANT INSERT ON tmp_old TO ann;',
];
const PATTERNS = ['TMP_*', '*: ttl', 'column order', 'grant'];
const OPTIONS = PATTERNS.map(pattern => `--ignore '${pattern}'`).join(' ');

async function shellWithSchemas(t: ExecutionContext) {
  const run = await inProcess(t);
  await run(`cat > a.sql <<'END'\n${A.join('\n')}\nEND\ncat > b.sql <<'END'\n${B.join('\n')}\nEND`);
  return run;
}

test('what is ignored is no difference, is counted, and is listed with -v', async t => {
  const run = await shellWithSchemas(t);
  const expected = "only in a.sql: view 'all_y'\ndiffers: table 'quotes'\n";
  const found = await run(`sqldiff -v --names ${OPTIONS} a.sql b.sql`);
  t.deepEqual([found.code, found.stdout.toString()], [1, expected]);
  t.regex(found.stderr, /^sqldiff: ignored: table 'trades': TTL$/m);
  t.regex(found.stderr, /^sqldiff: ignored: table 'trades': column order$/m);
  t.regex(found.stderr, /^sqldiff: ignored: table 'tmp_old'$/m);
  t.regex(found.stderr, /^sqldiff: 2 of 9 objects differ; 8 differences ignored$/m);
  const lines = ['# rules', '', ...PATTERNS].join('\n');
  const fromFile = await run(
    `cat > rules <<'END'\n${lines}\nEND\nsqldiff --names --ignore-file rules a.sql b.sql; sqldiff --ignore-file none a.sql b.sql; echo $?`,
  );
  t.is(fromFile.stdout.toString(), `${expected}66\n`);
  t.like(await run(`sqldiff ${OPTIONS} --ignore quotes --ignore view a.sql b.sql`), { code: 0, stderr: '' });
});

test('--alter does not change what is ignored, counts it, and creates what something else needs', async t => {
  const run = await shellWithSchemas(t);
  const planned = await run(`sqldiff -v --alter ${OPTIONS} a.sql b.sql -o p.sql; echo $?; grep -v '^--' p.sql`);
  t.is(
    planned.stdout.toString().replace(/\n+/g, '\n'),
    `0
CREATE TABLE tmp_base (ts TIMESTAMP, y INT) TIMESTAMP(ts) PARTITION BY DAY;
CREATE VIEW all_y AS (SELECT y FROM tmp_base);
SELECT count() = 0 AS all_native FROM table_partitions('quotes') WHERE isParquet;
ALTER TABLE 'quotes' ADD COLUMN bid DOUBLE;
`,
  );
  t.regex(planned.stderr, /table 'tmp_base' is created although it is ignored: view 'all_y' needs it/);
  t.notRegex(planned.stderr, /left out/);
  t.regex(planned.stderr, /^sqldiff: ignored: table 'tmp_old'$/m);
  t.regex(planned.stderr, /^sqldiff: 8 differences ignored$/m);
});

test('--missing does not create what is ignored', async t => {
  const run = await shellWithSchemas(t);
  const { stdout } = await run(`sqldiff --missing ${OPTIONS} a.sql b.sql -o m.sql; cat m.sql`);
  t.is(stdout.toString(), 'CREATE VIEW all_y AS (SELECT y FROM tmp_base);\n\n');
});

test('the library ignores the same', async t => {
  const { differences } = await diff(A, B, { ignore: PATTERNS });
  t.deepEqual(
    differences.map(({ name }) => name),
    ['all_y', 'quotes'],
  );
  const { statements, omissions } = await plan(A, B, { ignore: PATTERNS });
  t.is(statements.length, 4);
  t.deepEqual(omissions, []);
});

test('a kind in quotes is a name, and a rule about a property does not concern the object', t => {
  const entry = (statement: string) => ({ ...identify(statement), statement });
  const [grantTable, right] = ['CREATE TABLE "grant" (x INT)', 'GRANT SELECT ON t TO ann'].map(entry);
  if (!grantTable || !right) return t.fail();
  const ignores = (pattern: string) =>
    [grantTable, right].map(each => new IgnoreRules([pattern]).ignoresObject(each)).join();
  t.is(ignores('grant'), 'false,true');
  t.is(ignores("'grant'"), 'true,false');
  t.is(ignores('t'), 'false,true');
  t.is(ignores('*: TTL'), 'false,false');
  t.true(new IgnoreRules(['table: column *']).ignoresProperty(grantTable, "column 'x'"));
  t.false(new IgnoreRules(['view: TTL']).ignoresProperty(grantTable, 'TTL'));
  for (const pattern of ['', ': TTL', 'trades:', "'trades"])
    t.throws(() => new IgnoreRules([pattern]), { message: /not a pattern/ }, pattern);
});

test('--label names the two sides', async t => {
  const run = await shellWithSchemas(t);
  const { stdout } = await run('sqlsplit a.sql | sqldiff --names --label old --label new - b.sql | tail -1');
  t.is(stdout.toString(), 'only in new: GRANT INSERT ON tmp_old TO ann\n');
  t.is((await run('sqldiff --label a --label b --label c a.sql b.sql')).code, 64);
});
