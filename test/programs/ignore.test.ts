/*! Differences that do not matter: --ignore and --ignore-file, the same for sqldiff, sqlapply, sqlpipe copy and the library. */
import { diff, dump, plan, replay } from '@sqlpipe/api';
import { compareStatements } from '@sqlpipe/ddl';
import { IgnoreRules } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import type { ExecutionContext } from 'ava';
import { canMatchSameText, matchesGlob } from '../../packages/schema/src/glob.js';
import { CASES } from '../cases/meaning.js';
import { inProcess } from '../support/in-process.js';
import { fc, forAll } from '../support/seed.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
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
  return inProcess(t, {}, { 'a.sql': A.join('\n'), 'b.sql': B.join('\n') });
}

test('what is ignored is no difference, is counted, and is listed with -v', async t => {
  const run = await shellWithSchemas(t);
  const expected = "only in a.sql: view 'all_y'\ndiffers: table 'quotes'\n";
  const found = await run(`sqldiff -v --names ${OPTIONS} a.sql b.sql`);
  t.deepEqual([found.code, found.stdout], [1, expected]);
  t.regex(found.stderr, /^sqldiff: ignored: table 'trades': TTL$/m);
  t.regex(found.stderr, /^sqldiff: ignored: table 'trades': column order$/m);
  t.regex(found.stderr, /^sqldiff: ignored: table 'tmp_old'$/m);
  t.regex(found.stderr, /^sqldiff: 2 of 9 objects differ; 8 differences ignored$/m);
  const lines = ['# rules', '', ...PATTERNS].join('\n');
  const fromFile = await run(
    `cat > rules <<'END'\n${lines}\nEND\nsqldiff --names --ignore-file rules a.sql b.sql; sqldiff --ignore-file none a.sql b.sql; echo $?`,
  );
  t.is(fromFile.stdout, `${expected}66\n`);
  t.like(await run(`sqldiff ${OPTIONS} --ignore quotes --ignore view a.sql b.sql`), { code: 0, stderr: '' });
});

test('--alter does not change what is ignored, counts it, and creates what something else needs', async t => {
  const run = await shellWithSchemas(t);
  const planned = await run(`sqldiff -v --alter ${OPTIONS} a.sql b.sql -o p.sql; echo $?; grep -v '^--' p.sql`);
  t.is(
    planned.stdout.replace(/\n+/g, '\n'),
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

test('--missing does not create what is ignored, unless something that is created needs it', async t => {
  const run = await shellWithSchemas(t);
  const { stdout, stderr } = await run(`sqldiff -v --missing ${OPTIONS} a.sql b.sql -o m.sql; cat m.sql`);
  t.is(
    stdout,
    'CREATE TABLE tmp_base (ts TIMESTAMP, y INT) TIMESTAMP(ts) PARTITION BY DAY;\n\nCREATE VIEW all_y AS (SELECT y FROM tmp_base);\n\n',
  );
  t.regex(stderr, /table 'tmp_base' is created although it is ignored: view 'all_y' needs it/);
  t.regex(stderr, /ignored: table 'tmp_new'/);
  t.notRegex(stderr, /ignored: table 'tmp_base'/);
  const { url } = await startSqlserve(t);
  t.like(await run(`grep -v GRANT b.sql | sqlapply -q ${url} - m.sql`), { code: 0, stderr: '' });
  const ignoringAll = await run(`sqldiff --missing ${OPTIONS} --ignore view a.sql b.sql -o m.sql; cat m.sql`);
  t.is(ignoringAll.stdout.trim(), '');
});

test('the library ignores the same', async t => {
  const { differences } = await diff(A, B, { ignore: PATTERNS });
  const seen = differences.map(({ name }) => name);
  t.deepEqual(seen, ['all_y', 'quotes']);
  const { statements, omissions } = await plan(A, B, { ignore: PATTERNS });
  t.is(statements.length, 4);
  t.deepEqual(omissions, []);
});

const rebuilt = (columns: string, options: string): string =>
  `CREATE TABLE t (ts TIMESTAMP, x INT${columns}) TIMESTAMP(ts) PARTITION BY ${options};`;

for (const [a, b, ignored, kept] of [
  [rebuilt('', 'MONTH'), rebuilt(', n VARCHAR', 'DAY'), "t: column 'n'", undefined],
  [rebuilt(', y SHORT', 'MONTH'), rebuilt(', y LONG', 'DAY'), "t: column 'y'", undefined],
  [rebuilt('', 'MONTH'), rebuilt('', 'DAY DEDUP UPSERT KEYS(ts)'), 't: dedup keys', undefined],
  [rebuilt('', 'MONTH TTL 7 MONTHS'), rebuilt('', 'DAY TTL 5 MONTHS'), 't: TTL', 'TTL 5 MONTHS'],
  [rebuilt('', 'MONTH TTL 5 MONTHS'), rebuilt('', 'DAY TTL 7 MONTHS'), 't: TTL', 'TTL 7 MONTHS'],
  [rebuilt(', y INT, z INT', 'MONTH'), rebuilt(', z INT, y INT', 'DAY'), 'column order', 'y INT,'],
] as const)
  test(`a rebuild keeps what is ignored, or is left out: ${ignored}, ${kept ?? 'left out'}`, async t => {
    const { statements, omissions } = await plan([a], [b], { rebuild: ['t'], ignore: [ignored] });
    const refusal = `--ignore excludes ${ignored.slice(3)}, but a rebuild cannot keep it as it is in B`;
    if (kept === undefined) t.true(omissions[0]?.reason.startsWith(refusal));
    else t.true(statements.some(statement => statement.includes('CREATE TABLE') && statement.includes(kept)));
  });

test('a view whose owner alone differs, which is ignored, is not left out with the table that it reads from', async t => {
  const schema = (x: string, owner: string) =>
    `CREATE TABLE t (y INT); ${x}; CREATE VIEW v AS (SELECT y FROM x) OWNED BY ${owner};`;
  const files = {
    'a.sql': schema('CREATE VIEW x AS (SELECT y FROM t)', 'zoe'),
    'b.sql': schema('CREATE TABLE x (y INT)', 'bob'),
  };
  const run = await inProcess(t, {}, files);
  for (const [options, expected] of [
    ['', ["table 'x'", "view 'v'"]],
    ['--ignore-owner', ["table 'x'"]],
    ["--ignore 'v: owner'", ["table 'x'"]],
  ] as const) {
    const { stderr } = await run.exits(1, `sqldiff --alter ${options} a.sql b.sql`);
    t.deepEqual(
      Array.from(stderr.matchAll(/: (\S+ '\w+'): left out/g), ([, name]) => name),
      [...expected],
      stderr,
    );
  }
});

/** What B becomes: 'all_y' needs 'tmp_base'; nothing needs 'tmp_new' or the grant. */
const RESULTS = ['skipped', 'skipped', 'skipped', 'applied', 'applied', 'skipped'];

async function startWithB(t: ExecutionContext) {
  const server = await serveHere(t, { edition: 'enterprise' });
  const options = { user: 'admin', password: 'quest', url: server.url };
  for await (const { result, error } of replay(['CREATE USER ann;', ...B], options)) t.is(result, 'applied', error);
  const names = async () => {
    const found: string[] = [];
    for await (const statement of dump(options)) found.push(identify(statement).name);
    return found.sort();
  };
  return { ...options, names };
}

test('what is ignored is skipped by a replay, unless something else needs it', async t => {
  const target = await startWithB(t);
  const before = await target.names();
  const ignore = [...PATTERNS, 'quotes: column *'];
  for (const [dryRun, expected] of [
    [true, RESULTS.map(result => result.replace('applied', 'would create'))],
    [false, RESULTS],
    [false, RESULTS.map(() => 'skipped')],
  ] as const) {
    const found: string[] = [];
    for await (const { result } of replay(A, target, { ignore, dryRun })) found.push(result);
    t.deepEqual(found, expected);
  }
  t.deepEqual(await target.names(), [...before, 'all_y', 'tmp_base'].sort());
});

test('the rights of an ignored user are skipped, also if an object needs the user as its owner', async t => {
  const { url } = await serveHere(t, { edition: 'enterprise' });
  const statements = [
    'CREATE USER ann;',
    "CREATE TABLE owned (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY OWNED BY 'ann';",
    'GRANT HTTP TO ann;',
  ];
  const results: string[] = [];
  const target = { url, user: 'admin', password: 'quest' };
  for await (const { result } of replay(statements, target, { ignore: ['user', 'grant'] })) results.push(result);
  t.deepEqual(results, ['applied', 'applied', 'skipped']);
});

test('of a statement that gives several rights, those that are not ignored are given', async t => {
  const target = await startWithB(t);
  const grants = [
    'CREATE TABLE tmp_old (x INT);',
    'GRANT SELECT ON quotes, tmp_old TO ann;',
    'CREATE TABLE u (x INT);',
  ];
  const found: unknown[] = [];
  for await (const { n, statement, result } of replay(grants, target, { ignore: ['tmp_*'] }))
    found.push([n, statement.split(' TO ')[0], result]);
  t.deepEqual(found, [
    [1, 'CREATE TABLE tmp_old (x INT);', 'skipped'],
    [2, 'GRANT SELECT ON quotes', 'applied'],
    [3, 'CREATE TABLE u (x INT);', 'applied'],
  ]);
  const before = ['CREATE USER ann;', 'CREATE TABLE quotes (x INT);', 'CREATE TABLE tmp_old (x INT);'];
  const planned = await plan([...before, 'GRANT SELECT ON quotes, tmp_old TO ann;'], before, { ignore: ['tmp_*'] });
  t.is(planned.statements.length, 1);
  t.regex(planned.statements[0] ?? '', /\nGRANT SELECT ON quotes TO ann;$/);
});

test('sqlapply --alter does not change what is ignored, and creates what something else needs', async t => {
  const { url, names, user, password } = await startWithB(t);
  const run = await inProcess(t, { DB: url, SQLAPPLY_USER: user, SQLAPPLY_PASSWORD: password, A: A.join('\n') });
  const before = await names();
  for (const time of ['the first', 'the second'])
    t.like(await run(`echo "$A" > a.sql; sqlapply -q --alter ${OPTIONS} $DB a.sql`), { code: 0, stderr: '' }, time);
  t.deepEqual(await names(), [...before, 'all_y', 'tmp_base'].sort());
});

test('a rule whose property does not exist is a usage error of each program, before anything else', async t => {
  const run = await inProcess(t);
  for (const command of ['sqldiff', 'sqlapply', 'sqlpipe copy']) {
    const { stderr } = await run.exits(64, `${command} --ignore 'trades: TTLs' 127.0.0.1:1 127.0.0.1:2`);
    t.regex(stderr, /--ignore 'trades: TTLs': no such property; there are .*\bTTL\b.*; did you mean TTL\?/);
  }
});

test('the properties of rules are those that a comparison can find', t => {
  const rule = (pattern: string) => () => new IgnoreRules([pattern]);
  const existing = ['*: *', "t: column 'qty'", "t: column 'Qty' INDEX", 't: column *', "t: c*'x*e", 't: partition?ng'];
  const states = ['*: invalid', 'table: suspended', 'live view: invalid', 'user: external alias', 'table: kind'];
  for (const pattern of [...existing, ...states]) t.notThrows(rule(pattern), pattern);
  const ofOthers = ['view: TTL', 'grant: TTL', 'table: invalid', 'user: TTL', 'materialized view: column order'];
  for (const pattern of ['t: TTLs', 't: column qty', "t: column 'q' indx", 't: columns *', ...ofOthers])
    t.throws(rule(pattern), { message: /no such property; / }, pattern);

  const statements = CASES.map(([, statement]) => ({ statement, ...identify(statement) }));
  const found = new Set<string>();
  for (const { statement, kind } of statements)
    for (const other of statements)
      for (const { property } of compareStatements(statement, other.statement).differences)
        found.add(`${kind}: ${property}`);
  t.true(found.size > 60, `${found.size}`);
  for (const pattern of found) t.notThrows(rule(pattern), pattern);
});

test('two globs can match the same if there is such a text', t => {
  const texts = [''];
  for (const text of texts) if (text.length < 6) texts.push(`${text}a`, `${text}b`);
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 3 });
  forAll(100, glob, glob, (one, other) => {
    const isThere = texts.some(text => matchesGlob(one, text) && matchesGlob(other, text));
    t.is(canMatchSameText(one, other), isThere, `${one} ${other}`);
  });
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
  t.false(new IgnoreRules(['materialized view: TTL']).ignoresProperty(grantTable, 'TTL'));
  for (const pattern of ['', ': TTL', 'trades:', "'trades"])
    t.throws(() => new IgnoreRules([pattern]), { message: /not a pattern/ }, pattern);
});

test('--label names the two sides', async t => {
  const run = await shellWithSchemas(t);
  const { stdout } = await run('sqlsplit a.sql | sqldiff --names --label old --label new - b.sql | tail -1');
  t.is(stdout, 'only in new: GRANT INSERT ON tmp_old TO ann\n');
  t.is((await run('sqldiff --label a --label b --label c a.sql b.sql')).code, 64);
});
