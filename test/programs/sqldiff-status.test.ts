/*! The exit status of sqldiff for differences, for each of its options; and of all programs if only the order of columns differs. */
import { replay } from '@sqlpipe/api';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { readDump, serveHere, startSqlserve } from '../support/sqlserve.js';
import { type Scope, test } from '../support/test.js';

const SHARED = "CREATE TABLE 'same' (x INT);";
const LACKED = "CREATE TABLE 'lacked' (x INT);";
const INT = "CREATE TABLE 'changed' (x INT);";
const LONG = INT.replace('x INT', 'x LONG');
const EXTRA = "CREATE TABLE 'extra' (x INT);";

/** Two schemas, the statuses of plain sqldiff and of --ignore-extra, and the status of --missing with the statement it writes. */
for (const [name, a, b, plain, ignoreExtra, ...missing] of [
  ['B is the same', SHARED, SHARED, 0, 0, 0, ''],
  ['both are empty', '', '', 0, 0, 0, ''],
  ['B lacks something', SHARED + LACKED, SHARED, 1, 1, 0, LACKED],
  ['B has something else', SHARED + INT, SHARED + LONG, 1, 1, 1, ''],
  ['B has more', SHARED, SHARED + EXTRA, 1, 0, 0, ''],
  ['B lacks something and has something else', LACKED + INT, LONG, 1, 1, 1, LACKED],
  ['B lacks something and has more', LACKED, EXTRA, 1, 1, 0, LACKED],
  ['B has something else and more', INT, LONG + EXTRA, 1, 1, 1, ''],
] as const)
  test(`exit status if ${name}`, async t => {
    const run = await inProcess(t, { A: a, B: b });
    await run('echo "$A" > A.sql; echo "$B" > B.sql');
    for (const [options, status] of [
      ['', plain],
      ['--names', plain],
      ['--json', plain],
      ['--ignore-extra', ignoreExtra],
      ['--ignore-extra --names', ignoreExtra],
      ['--ignore-extra --json', ignoreExtra],
    ] as const) {
      const { code, stdout, stderr } = await run(`sqldiff ${options} A.sql B.sql`);
      t.is(code, status, `${options}: ${stderr}`);
      t.is(stdout.length > 0, status === 1, `${options}: ${stdout}`);
    }
    const { code, stdout, stderr } = await run('sqldiff --missing A.sql B.sql');
    t.deepEqual([code, stdout], [missing[0], missing[1] ? `${missing[1]}\n\0` : '\0'], stderr);
  });

/** Different principals with the same name. Passwords are left out, since no server shows them. */
const PRINCIPALS: Record<string, [a: string, b: string]> = {
  'a user and a service account': ['CREATE USER ann;', 'CREATE SERVICE ACCOUNT ann;'],
  'a user and a group': ['CREATE USER ann;', 'CREATE GROUP ann;'],
  'two service accounts with other owners': [
    'CREATE SERVICE ACCOUNT ann OWNED BY joe;',
    'CREATE SERVICE ACCOUNT ann OWNED BY sue;',
  ],
};

for (const [name, [a, b]] of Object.entries(PRINCIPALS))
  test(`${name} with the same name differ`, async t => {
    const run = await inProcess(t, { A: a, B: b });
    await run('echo "$A" > a.sql; echo "$B" > b.sql');
    t.regex((await run.exits(1, 'sqldiff --names a.sql b.sql')).stdout, /differs: .*'ann'/);
    await run.ok('sqldiff a.sql a.sql');
    const missing = await run('sqldiff --missing a.sql b.sql');
    t.deepEqual([missing.code, missing.stdout], [1, '\0']);
    // Both in one stream conflict.
    for (const program of ['sqlsort', 'sqljoin -d schema', 'sqldiff - a.sql'])
      t.is((await run(`sqlsplit a.sql b.sql | ${program}`)).code, 65, program);
  });

test('user names are compared without case, and users of other names are separate', async t => {
  const run = await inProcess(t);
  await run('echo "CREATE USER ann; CREATE USER bob;" > a.sql; echo "create user BOB; CREATE USER Ann;" > b.sql');
  t.like(await run('sqldiff --names a.sql b.sql'), { code: 0, stdout: '' });
  await run('echo "CREATE USER ann;" > c.sql');
  t.like(await run('sqldiff --names a.sql c.sql'), { code: 1, stdout: "only in a.sql: user 'bob'\n" });
});

test('a principal of another kind on the instance differs, for sqldiff and sqlapply', async t => {
  const { url } = await serveHere(t, { edition: 'enterprise' });
  const run = await inProcess(t, { DST: url, ...loginAs() });
  await run('echo "CREATE USER ann WITH PASSWORD x;" | sqlsplit | sqlapply $DST; echo "CREATE GROUP ann;" > a.sql');
  const compared = await run.exits(1, 'sqldiff --include USERS,GROUPS --names a.sql $DST');
  t.regex(compared.stdout, /differs: .*'ann'/);
  t.is((await run('sqlsplit a.sql | sqlapply $DST')).code, 1);
  await run.ok('echo "CREATE USER ann;" | sqlsplit | sqlapply $DST');
});

test('a schema that is not valid in itself is an error, which names the file', async t => {
  const run = await inProcess(t, { A: `${SHARED} CREATE VIEW v AS (SELECT y FROM same);`, B: SHARED });
  const { code, stdout, stderr } = await run('echo "$A" > A.sql; echo "$B" > B.sql; sqldiff --alter A.sql B.sql');
  t.deepEqual(
    [code, stdout, stderr],
    [65, '', "sqldiff: A.sql: the wanted schema is not valid\n  view 'v': Invalid column: y\n"],
  );
});

const WANTED = [
  'CREATE TABLE t (x INT, n INT, y INT);',
  'CREATE TABLE u (z INT);',
  'CREATE VIEW v AS (SELECT n FROM t);',
];
const WARNING =
  /no ALTER changes the order of columns\n( {2}column order: .*\n)? {2}hint: --ignore 'column order' accepts this order\n {2}hint: sqldiff --alter --rebuild t makes a new table$/m;

async function startWith(scope: Scope, ...statements: string[]) {
  const server = await startSqlserve(scope);
  for (const statement of statements) if ((await server.execute(statement)).error) throw new Error(statement);
  return server;
}

/** Commands, and whether they create what else is missing. */
const COMMANDS: [command: string, creates: boolean][] = [
  ['sqldiff --include TABLES same.sql $DB', false],
  ['sqldiff --include TABLES --names same.sql $DB', false],
  ['sqldiff --missing schema.sql $DB', false],
  ['sqldiff --alter schema.sql $DB', false],
  ['sqlapply --dry-run $DB schema.sql', false],
  ['sqlapply --dry-run --alter $DB schema.sql', false],
  ['sqlpipe copy --dry-run $SRC $DB', false],
  ['sqlapply $DB schema.sql', true],
  ['sqlapply --jobs 3 $DB schema.sql', true],
  ['sqlapply --stream $DB < schema.stream', true],
  ['sqlapply --keep-going $DB schema.sql', true],
  ['sqlapply --alter $DB schema.sql', true],
  ['sqlpipe copy $SRC $DB', true],
  ['sqlpipe copy --alter $SRC $DB', true],
];

test('the order of columns alone is status 1 and a warning, the rest is done, and it can be ignored', async t => {
  const [source, target] = [await startWith(t, ...WANTED), await startWith(t, 'CREATE TABLE t (x INT, y INT, n INT)')];
  const run = await inProcess(t, { SRC: source.url, DB: target.url, WANTED: WANTED.join('\n') });
  await run('echo "$WANTED" > schema.sql; head -1 schema.sql > same.sql; sqlsplit schema.sql > schema.stream');
  await run("echo '# new columns\ncolumn order' > rules");
  const ways = ["--ignore 'column order'", "--ignore 'T: column order'", '--ignore-file rules'];
  for (const [i, [command, creates]] of COMMANDS.entries()) {
    const attempts = [
      { options: '', code: 1, message: WARNING },
      { options: '-q', code: 1, message: /^$/ },
      { options: ways[i % ways.length], code: 0, message: /^$/ },
    ];
    for (const { options, code, message } of attempts) {
      if (creates) for (const drop of ['DROP VIEW v', 'DROP TABLE u']) await target.execute(drop);
      const found = await run(command.replace(/^(sqlpipe copy|\S+)/, `$1 ${options}`));
      const about = `${command}, ${options}: ${found.stderr}`;
      t.is(found.code, code, about);
      t.regex(found.stderr, message, about);
      t.is((await readDump(target)).length, creates ? 3 : 1, about);
    }
  }
});

test('a run that goes on is not told to continue, and reports what differs', async t => {
  const target = await startWith(t, 'CREATE TABLE t (y INT, x INT)');
  const run = await inProcess(t, { DB: target.url });
  await run(`printf 'CREATE TABLE t (x INT, y INT); CREATE TABLE u (z INT);' > schema.sql`);
  const found = await run('sqlapply -v --report report --rejects rest $DB schema.sql; tr "\\0" "\\n" < rest');
  t.regex(found.stderr, /^sqlapply: .*: 2 statements: 1 differs, 1 applied$/m);
  t.regex(found.stderr, /^sqlapply: .*no ALTER.*\n {2}column order: x, y in the statement, y, x in /m);
  t.is(found.stdout, 'CREATE TABLE t (x INT, y INT);\n\n');
  const { stdout } = await run('cat report');
  const seen = [...stdout.matchAll(/"result":"(\w+)"/g)].map(([, result]) => result);
  t.deepEqual(seen, ['differs', 'applied']);
});

test('a table that differs in more than the order of columns stops the run, and the message says both', async t => {
  const target = await startWith(t, 'CREATE TABLE t (y INT, x INT)');
  const run = await inProcess(t, { DB: target.url });
  await run(`printf 'CREATE TABLE t (x INT, y LONG); CREATE TABLE u (z INT);' > schema.sql`);
  const { stderr } = await run.exits(1, 'sqlapply -q $DB schema.sql');
  t.regex(
    stderr,
    /already exists with a different definition\n.*LONG[^]*column order: [^]*hint: --ignore 'column order' accepts this order/,
  );
  t.regex(stderr, /0 of 2 applied, 1 differs, 1 not reached\n {2}hint: change the object/);
});

test('--alter adds the column at the end, and says 1 the first time as the second', async t => {
  const target = await startWith(t, 'CREATE TABLE t (x INT, y INT)');
  const run = await inProcess(t, { DB: target.url, WANTED: WANTED.join('\n') });
  await run('echo "$WANTED" > schema.sql');
  t.is((await run('sqlapply --dry-run --alter $DB schema.sql')).code, 1);
  for (const time of ['the first', 'the second'])
    t.regex((await run.exits(1, 'sqlapply --alter $DB schema.sql')).stderr, WARNING, time);
  const columns = await target.execute('SHOW COLUMNS FROM t');
  const listed = columns.dataset?.flatMap(([name]) => name);
  t.deepEqual(listed, ['x', 'y', 'n']);
  t.like(await run("sqlapply --alter --ignore 'column order' $DB schema.sql"), { code: 0, stderr: '' });
});

test('the library goes on too', async t => {
  const target = await startWith(t, 'CREATE TABLE t (x INT, y INT, n INT)');
  const results = async (ignore: string[]) => {
    const found: string[] = [];
    for await (const { result } of replay(WANTED, target.url, { ignore })) found.push(result);
    return found.join();
  };
  t.is(await results([]), 'differs,applied,applied');
  t.is(await results(['column order']), 'skipped,skipped,skipped');
});
