/*! --annotations: findings at the lines of files, in the form of a GitHub workflow. */
import { formatAnnotation } from '@sqlpipe/cli';
import { inProcess } from '../support/in-process.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const A = `-- trades, as they come
CREATE TABLE trades (
  ts TIMESTAMP,
  "per cent" LONG,
  note VARCHAR
) TIMESTAMP(ts) PARTITION BY DAY;

/* what is sold */
CREATE VIEW sold AS (
  SELECT note FROM trades
);
`;
const B = `CREATE TABLE trades (ts TIMESTAMP, "per cent" INT) TIMESTAMP(ts) PARTITION BY DAY TTL 2 DAYS;

CREATE TABLE old (x INT);
`;

test('sqldiff: an annotation for each property that differs, at the line of the column or the object', async t => {
  const run = await inProcess(t, {}, { 'a.sql': A, 'b.sql': B });
  const found = await run.exits(1, 'sqldiff --annotations --label git --label prod a.sql b.sql');
  t.is(
    found.stdout,
    `::error file=a.sql,line=4::differs: table 'trades': column 'per cent': LONG in git, INT in prod
::error file=a.sql,line=5::differs: table 'trades': column 'note': VARCHAR in git, none in prod
::error file=a.sql,line=2::differs: table 'trades': TTL: none in git, 2 DAYS in prod
::error file=a.sql,line=9::only in git: view 'sold'
::error file=b.sql,line=3::only in prod: table 'old'
`,
  );
  const both = await run(
    'sqldiff --annotations -o text a.sql b.sql; sqldiff a.sql b.sql | cmp - text && grep -c ^ text',
  );
  t.is(both.stdout, `${found.stdout.replaceAll(' git', ' a.sql').replaceAll(' prod', ' b.sql')}6\n`);
});

test('sqldiff: a folder names its files, a grant is found, and rows of the instance have no place', async t => {
  const grants = 'GRANT SELECT ON TABLES, VIEWS TO ann;\nGRANT INSERT ON sold TO ann;\n';
  const run = await inProcess(t, {}, { 'a.sql': A, 'grants.sql': grants });
  await run('sqlsplit a.sql | sqljoin -d schema');
  const { stdout } = await run('sqlsplit a.sql | sqldiff --annotations schema grants.sql');
  t.regex(stdout, /^::error file=schema\/tables\/trades\.sql,line=2::only in schema: table 'trades'$/m);
  t.regex(stdout, /^::error file=grants\.sql,line=2::only in grants\.sql: GRANT INSERT ON sold TO ann$/m);
  t.is((await run('sqlsplit a.sql | sqldiff --annotations - grants.sql | grep -c ^::error::only')).stdout, '2\n');
});

test('sqldiff: a column with the name of its table has its own line', async t => {
  const table = (type: string) => `CREATE TABLE qty (\n ts TIMESTAMP,\n qty ${type}\n);\n`;
  const run = await inProcess(t, {}, { 'a.sql': table('INT'), 'b.sql': table('LONG') });
  t.regex((await run('sqldiff --annotations a.sql b.sql')).stdout, /^::error file=a\.sql,line=3::/);
});

test('sqldiff: a column with the name of a type has its own line, and one that A lacks has that of its table', async t => {
  const table = (columns: string) => `CREATE TABLE t (\n side SYMBOL,\n price DECIMAL(9,\n 2)${columns}\n);\n`;
  const run = await inProcess(
    t,
    {},
    { 'a.sql': table(',\n symbol SYMBOL'), 'b.sql': table(',\n symbol VARCHAR'), 'c.sql': table('') },
  );
  const { stdout } = await run('sqldiff --annotations a.sql b.sql; sqldiff --annotations c.sql b.sql');
  t.deepEqual(stdout.match(/line=\d+/g), ['line=5', 'line=1']);
  const copy = 'CREATE TABLE t AS (\\nSELECT symbol a,\\nb symbol FROM u), CAST(symbol AS ';
  const copied = await run(`printf '${copy}INT);' > d.sql; printf '${copy}LONG);' > e.sql
    sqldiff --annotations d.sql e.sql`);
  t.regex(copied.stdout, /^::error file=d\.sql,line=3::.*: INT in/);
});

test('sqldiff: an invalid view of the instance, at the line of its statement', async t => {
  const { url, execute } = await startSqlserve(t);
  const run = await inProcess(t, { DB: url }, { 'a.sql': 'CREATE VIEW v AS (\n SELECT x FROM t\n);\n' });
  for (const text of ['CREATE TABLE t (x INT)', 'CREATE VIEW v AS (\n SELECT x FROM t\n)', 'DROP TABLE t'])
    await execute(text);
  t.is(
    (await run('sqldiff --annotations --label git --label prod a.sql $DB')).stdout,
    "::error file=a.sql,line=1::invalid in prod: view 'v'%0A  table does not exist [table=t]\n",
  );
});

test('sqldiff --alter: what is left out, and a view that is not valid', async t => {
  const run = await inProcess(t, {}, { 'a.sql': A, 'b.sql': B });
  t.is((await run('sqldiff --alter --annotations a.sql b.sql')).code, 64);
  const { stdout, stderr } = await run('sqldiff --alter --annotations -o plan.sql a.sql b.sql; grep -c ALTER plan.sql');
  t.regex(
    stdout,
    /^::error file=b\.sql,line=3::table 'old': left out: DROP TABLE 'old'%0Aloses .*%0Ahint: --allow-loss drop:old\n\d+\n$/,
  );
  t.regex(stderr, /^sqldiff: table 'old': left out: /);
  const broken = await run(
    'sed -i "s/SELECT note/SELECT nothing/" a.sql; sqldiff --alter --annotations -o plan.sql a.sql b.sql',
  );
  t.deepEqual([broken.code, broken.stdout], [65, "::error file=a.sql,line=9::view 'sold': Invalid column: nothing\n"]);
});

test('text that cannot be read, and statements that may not be sent, before anything is sent', async t => {
  const run = await inProcess(
    t,
    {},
    {
      'bad.sql': `${A}\nCREATE TABLE 'x\n`,
      'more.sql': `${A}\n\nDROP TABLE trades;\nTRUNCATE TABLE trades;\n`,
    },
  );
  for (const program of ['sqldiff --annotations bad.sql -', 'sqlapply --annotations localhost:1 bad.sql'])
    t.like(await run(`printf '\\0' | ${program}`), {
      code: 65,
      stdout: '::error file=bad.sql,line=13::unterminated string\n',
    });
  t.is(
    (await run.exits(1, 'sqlapply --annotations localhost:1 more.sql')).stdout.replaceAll(/not part of.*/g, '…'),
    `::error file=more.sql,line=14::DROP of table 'trades': it is …
::error file=more.sql,line=15::TRUNCATE of table 'trades': it is …
`,
  );
});

test('sqlapply: what the server rejects, at the line of the error, in a run and in a dry run', async t => {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t, { DST: url }, { 'a.sql': A.replace('SELECT note', 'SELECT nothing') });
  const messages: string[] = [];
  for (const option of ['--dry-run', '-k']) {
    const { stdout, stderr } = await run.exits(1, `sqlapply --annotations ${option} $DST a.sql`);
    t.regex(
      stdout,
      /^::error file=a\.sql,line=10::statement 2 \(view 'sold'\): Invalid column: nothing%0A {4}SELECT nothing FROM trades%0A.*\^\n$/,
    );
    t.regex(stderr, /^sqlapply: a\.sql:10: view 'sold': Invalid column: nothing$/m);
    messages.push(stdout);
  }
  t.is(messages[0], messages[1]);
  t.is((await run('sqlapply --annotations --report - $DST a.sql')).code, 64);
});

test('no text ends an annotation or begins another one', t => {
  const annotation = formatAnnotation({ path: 'a,b:c%\n.sql', line: 3, message: '50% off\r\n::error::x\x1b[31m' });
  t.is(annotation, '::error file=a%2Cb%3Ac%25%0A.sql,line=3::50%25 off\\r%0A::error::x\\x1b[31m\n');
  t.is(formatAnnotation({ message: 'x' }), '::error::x\n');
});

test('a misplaced file of a folder, at the line of the statement that does not belong there', async t => {
  const run = await inProcess(t);
  await run(`mkdir -p s/tables; printf -- "-- note\\nCREATE TABLE a (x INT);\\n" > s/tables/b.sql; printf 'x' > s/c.sql
    mkdir -p r/tables; printf 'CREATE TABLE a (x INT);\\n' > r/tables/a.sql; echo 'CREATE TABLE b (x INT);' > r/b.sql`);
  const misplaced = await run.exits(65, 'sqldiff --annotations s r');
  t.is(
    misplaced.stdout,
    "::error file=s/tables/b.sql,line=1::s/tables/b.sql contains table 'a', which belongs in tables/a.sql\n",
  );
  const stray = await run('sqldiff --annotations r s');
  t.regex(
    stray.stdout,
    /^::error file=r\/b\.sql,line=1::r\/b\.sql contains table 'b', which belongs in tables\/b\.sql\n$/,
  );
});
