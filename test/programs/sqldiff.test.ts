/*! sqldiff for users: the differences, their output formats, and statements of --missing that create missing objects. */
import { unifiedDiff } from '@sqlpipe/cli';
import { compareSchemas } from '@sqlpipe/schema';
import type { ExecutionContext } from 'ava';
import { cases } from '../cases/cases.js';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { waitUntil } from '../support/background.js';
import { databases } from '../support/databases.js';
import { inProcess } from '../support/in-process.js';
import { perKey, questdb, type Service, sqlserve } from '../support/instances.js';
import { fc, forAll } from '../support/seed.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { terminal } from '../support/terminal.js';
import { fileScope, test } from '../support/test.js';

const file = fileScope();

test('--help groups the options by what one does with them', async t => {
  const run = await inProcess(t, {});
  const help = (await run('sqldiff --help')).stdout;
  const groups = [...help.matchAll(/^(\w.*options|Options):\n([^]*?)\n\n/gim)].map(([, title = '', lines = '']) => [
    title,
    [...lines.matchAll(/^ .{5}--(\S+)/gm)].map(([, name]) => name),
  ]);
  const seen = groups.map(([title]) => title);
  t.deepEqual(seen, ['Compare options', 'Plan options', 'Options', 'Connection options']);
  t.deepEqual(groups[1]?.[1], ['alter', 'missing', 'allow-loss', 'renamed', 'rebuild', 'drop-old', 'undo']);
});

/** Two instances of each service, started on demand. */
const twins = perKey((service: Service) => Promise.all([service.start(file), service.start(file)]));

const SCHEMA = [
  'CREATE TABLE trades (ts TIMESTAMP, pair SYMBOL, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE venues (mic SYMBOL, city VARCHAR)',
  'CREATE VIEW last AS (SELECT * FROM trades LATEST ON ts PARTITION BY pair)',
  'CREATE VIEW cities AS (SELECT city FROM venues)',
];

async function startTwins(t: ExecutionContext, service: Service) {
  const [a, b] = await twins(service);
  for (const server of [a, b]) {
    await server.dropAll();
    for (const sql of SCHEMA) t.like(await server.execute(sql), { ddl: 'OK' });
  }
  return { run: await inProcess(t, { A: a.url, B: b.url }), a, b };
}

for (const { name, dump } of databases)
  test(`${name}: omitted statements are reported as missing, in the order of the dump`, t => {
    const order = fc.shuffledSubarray(dump, { minLength: 0 });
    forAll(10, order, some => {
      const kept = new Set(some);
      const found = compareSchemas(dump, some).differences;
      t.deepEqual(
        found.map(({ a, b }) => [a, b]),
        dump.filter(row => !kept.has(row)).map(row => [row, undefined]),
      );
      t.is(compareSchemas(some, dump).differences.length, found.length);
    });
  });

/** Views first: while QuestDB alters a table, it rejects queries on the table. */
const DRIFT = [
  'CREATE OR REPLACE VIEW last AS (SELECT * FROM trades LIMIT 1)',
  'ALTER TABLE trades ADD COLUMN size LONG',
  'DROP VIEW cities',
  'DROP TABLE venues',
  'CREATE TABLE extra (x INT)',
];

for (const service of [sqlserve, questdb]) {
  service.test(`${service.name}: equal instances do not differ`, async t => {
    const { run } = await startTwins(t, service);
    t.like(await run('sqldiff $A $B'), { code: 0, stderr: '', stdout: '' });
  });

  service.test(`${service.name}: drift is reported, and --missing creates the missing objects`, async t => {
    const { run, a, b } = await startTwins(t, service);
    for (const sql of DRIFT) t.like(await b.execute(sql), { ddl: 'OK' });
    // QuestDB applies it later.
    await waitUntil('the column', async () => /size/.test(JSON.stringify(await b.execute('SHOW CREATE TABLE trades'))));
    const found = await run('sqldiff --names $A $B');
    t.is(
      found.stdout,
      `only in ${a.url}: table 'venues'
only in ${a.url}: view 'cities'
differs: table 'trades'
differs: view 'last'
only in ${b.url}: table 'extra'
`,
    );
    t.is(found.code, 1);
    t.regex((await run('sqldiff $A $B')).stdout, /^ {2}column 'size': none in \S+, LONG in \S+$/m);
    t.regex((await run('sqldiff --text $A $B')).stdout, /^\+\tsize LONG$/m);

    const repaired = await run('sqldiff --missing $A $B | sqlapply $B; echo "${PIPESTATUS[@]}"');
    t.is(repaired.stdout, '1 0\n');
    t.regex(repaired.stderr, /table 'trades' exists and differs/);
    const rest = await run('sqldiff --names --ignore-extra $A $B');
    t.deepEqual([rest.code, rest.stdout], [1, "differs: table 'trades'\ndiffers: view 'last'\n"]);
  });
}

test('--text: where only the table after LIKE differs, the properties are shown', async t => {
  const files = Object.fromEntries(
    ['INT', 'LONG'].map(type => [`${type}.sql`, `CREATE TABLE m (a ${type});\nCREATE TABLE x (LIKE m);\n`]),
  );
  const run = await inProcess(t, {}, files);
  const { stdout } = await run('sqldiff --text INT.sql LONG.sql');
  t.regex(stdout, /^differs: table 'x'\n {2}column 'a': INT in INT\.sql, LONG in LONG\.sql$/m);
});

questdb.test('same text with different meaning on two instances: a warning, not a difference', async t => {
  const { run, a, b } = await startTwins(t, questdb);
  const FILLS = 'CREATE TABLE fills (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY';
  await a.execute(FILLS);
  await b.execute(`${FILLS} WITH maxUncommittedRows=1234`);
  await a.execute(
    'CREATE MATERIALIZED VIEW daily AS (SELECT ts, count() n FROM trades SAMPLE BY 1d) PARTITION BY YEAR',
  );
  await run('sqldiff --missing $A $B | sqlapply $B');
  await b.execute('ALTER MATERIALIZED VIEW daily SET REFRESH LIMIT 2 DAYS');
  const limit = 'SELECT refresh_limit FROM materialized_views() WHERE refresh_limit = 2';
  await waitUntil(limit, async () => (await b.execute(limit)).dataset?.length === 1);
  const { code, stdout, stderr } = await run('sqldiff $A $B');
  t.deepEqual([code, stdout], [0, '']);
  const [A, B] = [a.url, b.url];
  t.is(
    stderr,
    `sqldiff: same text, different meaning: table 'fills': maxUncommittedRows is 500000 in ${A} and 1234 in ${B}
sqldiff: same text, different meaning: materialized view 'daily': the refresh limit is 0 in ${A} and 2 DAY in ${B}
`,
  );
});

/** A folder with one schema in every form: created once, since many tests copy it. */
let schema: string;

test.before(async () => {
  const { stdout } = await (await inProcess(file))(`cat > a.sql <<'END'
CREATE TABLE 'trades' (ts TIMESTAMP, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY;
CREATE VIEW 'last' AS (SELECT * FROM trades);
CREATE USER zoe;
GRANT SELECT ON trades TO zoe;
GRANT UPDATE ON trades TO zoe;
END
sqlsplit a.sql > a.stream; sqljoin -d a < a.stream; cp a.stream stream.sql; pwd`);
  schema = stdout.trim();
});

async function shellWithSchema(t: ExecutionContext) {
  const run = await inProcess(t);
  await run(`cp -r ${schema}/. .`);
  return run;
}

const forms = ['a.sql', 'a.stream', 'stream.sql', 'a', '- < a.stream', '- < a.sql'];
for (const form of forms)
  test(`a schema equals itself as ${form}`, async t => {
    const run = await shellWithSchema(t);
    t.like(await run(`sqldiff a.sql ${form}`), { code: 0, stdout: '', stderr: '' });
  });

for (const { script, code, stdout } of [
  {
    script: 'grep -v USER a.sql > b.sql; sqldiff --ignore-extra b.sql a && sqldiff --exclude ACL b.sql a',
    code: 0,
    stdout: '',
  },
  ...cases('sqldiff').map(({ title, input, output }) => ({ script: title, code: Number(input), stdout: output })),
  { script: 'sqldiff --missing a a.sql | od -An -tx1', code: 0, stdout: ' 00' },
  { script: 'cat a.sql a.sql > b.sql; sqldiff a b.sql', code: 0, stdout: '' },
])
  test(script, async t => {
    const outcome = await (await shellWithSchema(t)).exits(code, script);
    t.deepEqual([outcome.stdout.trimEnd(), outcome.stderr], [stdout, '']);
  });

for (const [script, code, message] of [
  ['sqldiff a nowhere.sql', 66, /^sqldiff: nowhere\.sql: no such file or directory\n$/],
  ['sqldiff a ./nowhere', 66, /^sqldiff: \.\/nowhere: no such file or directory\n$/],
  ['sqldiff a nowhere.stream', 66, /^sqldiff: nowhere\.stream: no such file or directory\n$/],
  ['sqldiff a /', 65, /^sqldiff: \/ contains none of the folders/],
  ['sqldiff - -', 64, /only one of the two operands can be standard input/],
  ['sqldiff "" a', 64, /^sqldiff: an operand is empty; is a variable unset\?$/m],
  ['sqldiff a ""', 64, /^sqldiff: an operand is empty; is a variable unset\?$/m],
  ['sqldiff --names --text a a', 64, /cannot be combined/],
  ['head -c 200 a.stream | sqldiff - a', 65, /^sqldiff: standard input: truncated after 4 complete records/],
  ['sqldiff - a < /dev/null', 65, /^sqldiff: standard input: empty input/],
  ['head -n 1 a.sql | sqldiff a -', 65, /standard input: no NUL byte in the input: it is either .sql text \(sqlsplit/],
  [
    'echo "CREATE VIEW TRADES AS (x);" >> a.sql; sqldiff a a.sql',
    65,
    /^sqldiff: a\.sql: statement 1 \(table 'trades'\) and statement 6 /,
  ],
  ['sqldiff a http://127.0.0.1:1', 69, /^sqldiff: http:\/\/127\.0\.0\.1:1: connection refused/],
] as const)
  test(script, async t => {
    const { stdout, stderr } = await (await shellWithSchema(t)).exits(code, script);
    t.is(stdout.length, 0);
    t.regex(stderr, message);
  });

test('--text uses color on a terminal, except with NO_COLOR or TERM=dumb', async t => {
  const script = `sed 's/DAY/HOUR/' ${schema}/a.sql > b.sql; sqldiff --text ${schema}/a b.sql`;
  t.regex(
    (await (await terminal(t))(script)).screen,
    /\x1b\[1m--- \S+\x1b\[22m\r\n\x1b\[1m\+\+\+ b\.sql\x1b\[22m\r\n\x1b\[36m@@[^]*\x1b\[31m-\) timestamp[^]*\x1b\[32m\+\) timestamp/,
  );
  for (const setting of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
    t.notRegex((await (await terminal(t, setting))(script)).screen, /\x1b\[3/);
});

test('control characters in a file are escaped', async t => {
  const run = await inProcess(t);
  const { stdout } = await run(String.raw`printf "CREATE VIEW 'v' AS ('\e[31m');" > a.sql
printf "CREATE VIEW 'v' AS (x);" > b.sql; sqldiff a.sql b.sql; sqldiff --text a.sql b.sql`);
  t.regex(stdout, /^ {2}query: '\\x1b\[31m' in a\.sql, x in b\.sql$/m);
  t.regex(stdout, /^-'\\x1b\[31m'$/m);
});

test('a text difference is a valid patch, for any two texts', t => {
  const lines = ['(', ')', '\ta INT,', '\ta INT', '\tb INT,', '', '-- a'];
  const texts = fc.array(fc.constantFrom(...lines), { minLength: 1, maxLength: 12 });
  forAll(100, texts, texts, (a, b) => {
    const diff = unifiedDiff(a.join('\n'), b.join('\n'));
    t.is(diff.length === 0, a.join() === b.join(), 'texts that differ have a difference');
    t.deepEqual(applyPatch(a, diff).map(withoutComma), b.map(withoutComma));
  });
  const [a, b] = ['a', 'b'].map(letter => Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`)) as [
    string[],
    string[],
  ];
  t.deepEqual(applyPatch(a, unifiedDiff(a.join('\n'), b.join('\n'))), b);
});

/** Removes the comma at the end of a line, which depends only on whether another line follows. */
const withoutComma = (line: string) => line.replace(/,$/, '');

test('a moved comma makes no line differ', t => {
  const table = (...columns: string[]) => `CREATE TABLE 't' (\n\t${columns.join(',\n\t')}\n);`;
  const changed = (a: string, b: string) => unifiedDiff(a, b).filter(line => /^[-+]/.test(line));
  t.deepEqual(changed(table('x INT'), table('x INT', 'y INT')), ['+\ty INT']);
  t.deepEqual(changed(table('x INT', 'y INT'), table('x INT')), ['-\ty INT']);
  t.deepEqual(changed(table('y INT', 'x INT'), table('x INT', 'y INT')).length, 2);
});

/** Applies a diff as `patch` does; throws if a hunk is misplaced or its context is missing. */
function applyPatch(lines: string[], diff: string[]): string[] {
  const [result, left] = [[] as string[], [...lines]];
  for (const line of diff) {
    const [, start, , to] = (/^@@ -(\d+),(\d+) \+(\d+),/.exec(line) ?? []).map(Number);
    if (start !== undefined && to !== undefined)
      result.push(...left.splice(0, start - 1 - (lines.length - left.length)));
    else if (line.startsWith('+')) result.push(line.slice(1));
    else if (withoutComma(left.shift() ?? '') !== withoutComma(line.slice(1))) throw new Error(`not there: ${line}`);
    else if (line.startsWith(' ')) result.push(line.slice(1));
    if (to !== undefined && result.length !== to - 1) throw new Error(`not at its place: ${line}`);
  }
  return [...result, ...left];
}

const A = { user: 'ann', password: 'one' };
const B = { user: 'bob', password: 'two' };

test('each instance gets only its own credentials', async t => {
  const [a, b] = await Promise.all([serveHere(t, A), serveHere(t, B)]);
  const run = await inProcess(t, { A: a.url, B: b.url });
  const [ann, bob] = ['USER=ann SQLDIFF_A_PASSWORD=one', 'USER=bob SQLDIFF_B_PASSWORD=two'];
  for (const shared of ['', 'SQLDIFF_USER=eve', 'SQLDIFF_USER=eve SQLDIFF_PASSWORD=x', 'SQLDIFF_TOKEN=x'])
    t.like(await run(`${shared} SQLDIFF_A_${ann} SQLDIFF_B_${bob} sqldiff $A $B`), { code: 0, stderr: '' }, shared);
  t.like(await run(`SQLDIFF_A_${ann} sqldiff $A $B`), { code: 77 });
  t.regex((await run(`SQLDIFF_A_${ann} sqldiff $A $B`)).stderr, /give credentials in SQLDIFF_B_USER/);
  const shared = await run.exits(78, 'SQLDIFF_USER=ann SQLDIFF_PASSWORD=one sqldiff $A $B');
  t.regex(
    shared.stderr,
    /not clear which of the two instances SQLDIFF_USER is for; set SQLDIFF_A_USER or SQLDIFF_B_USER$/m,
  );
  for (const [own, variable] of [
    [`SQLDIFF_A_${ann}`, 'USER'],
    [`SQLDIFF_B_${bob}`, 'USER'],
    ['SQLDIFF_A_USER=ann SQLDIFF_B_USER=bob', 'PASSWORD'],
  ]) {
    const { stderr } = await run.exits(78, `SQLDIFF_USER=ann SQLDIFF_PASSWORD=one ${own} sqldiff $A $B`);
    t.regex(stderr, new RegExp(`SQLDIFF_${variable} is for; set SQLDIFF_A_${variable} or SQLDIFF_B_${variable}$`, 'm'));
  }
  t.like(await run('sqldiff --user ann $A $B'), { code: 64 });
  t.like(await run('printf "\\0" | SQLDIFF_USER=ann SQLDIFF_PASSWORD=one sqldiff - $A'), { code: 0, stderr: '' });
  t.like(
    await run(`mkdir -p .config/sqlpipe; printf '[left]\\nurl="%s"\\n[right]\\nurl="%s"\\n' $A $B > .config/sqlpipe/instances.toml
SQLPIPE_LEFT_USER=ann SQLPIPE_LEFT_PASSWORD=one SQLPIPE_RIGHT_USER=bob SQLPIPE_RIGHT_PASSWORD=two sqldiff left right`),
    { code: 0, stderr: '' },
  );
});

test('a name in instances.toml takes precedence over a file of that name', async t => {
  const a = await startSqlserve(t);
  const run = await shellWithSchema(t);
  const { code, stdout } =
    await run(`mkdir -p .config/sqlpipe; printf '[a]\\nurl="${a.url}"\\n' > .config/sqlpipe/instances.toml
sqldiff --names --include TABLES a ./a`);
  t.deepEqual([code, stdout], [1, "only in ./a: table 'trades'\n"]);
});

test('a dump that the server rejects is an error, not a difference', async t => {
  const { url } = await startFaultyServer(
    t,
    socket => void socket.end(reply('{"query":"q","error":"timeout, query aborted","position":0}', 400)),
  );
  const run = await inProcess(t);
  t.like(await run(`printf '\\0' | sqldiff - ${url}`), { code: 69 });
});

test('a type that does not exist is named', async t => {
  const run = await inProcess(t, { A: 'CREATE TABLE t (x DOUBEL);', B: 'CREATE TABLE t (x DOUBLE);' });
  const { stdout } = await run.exits(1, 'echo "$A" > a.sql; echo "$B" > b.sql; sqldiff a.sql b.sql');
  t.regex(stdout, /^ {2}statement: unsupported column type: DOUBEL: CREATE TABLE t \(x DOUBEL\); in a\.sql, CREATE/m);
});
