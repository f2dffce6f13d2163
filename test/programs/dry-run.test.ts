/*!
 * A dry run has the verdict of the run on each statement, with its message and position, and its exit status; and it changes
 * nothing. STREAMS sets the number of generated and recorded streams on a real QuestDB and of streams about access control
 * on sqlserve, SEED the first seed. scripts/dry-runs.ts compares many, and counts.
 */
import type { ExecutionContext } from 'ava';
import { type Comparison, type DryRuns, formatDifference, makeTarget, openDryRuns } from '../support/dry-runs.js';
import { compareOnSqlserve } from '../support/enterprise-streams.js';
import { inProcess } from '../support/in-process.js';
import { admin, executeAs } from '../support/principals.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordedStream } from '../support/recorded-streams.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { type StatementStream, statementStream } from '../support/statement-streams.js';
import { fileScope, test } from '../support/test.js';

const [STREAMS, SEED] = [Number(process.env.STREAMS ?? 3), Number(process.env.SEED ?? 0)];
const SEEDS = Array.from({ length: STREAMS }, (_, i) => SEED + i);

const file = fileScope();
let dryRuns: DryRuns;
test.before(async () => {
  dryRuns = await openDryRuns(file);
});

function check(t: ExecutionContext, { stream, differences, status, isSameStatus, isUnchanged, messages }: Comparison) {
  const found = differences.map(each => formatDifference(stream, each));
  t.deepEqual(found, []);
  t.true(isSameStatus, `seed ${stream.seed}: dry run ended with ${status.dry}, run with ${status.run}: ${messages}`);
  t.true(isUnchanged, `seed ${stream.seed}: the dry run changed the target: ${messages}`);
}

/** Statements about rows and files of the server, also those that it always rejects. One import at a time, and one export to a path. */
const TRANSFERS = [
  [
    'COPY',
    'COPY t',
    "COPY t INTO 'x.csv'",
    "COPY T TO 'all' WITH FORMAT PARQUET",
    "copy (select x from t) to 'some' with format parquet",
    "COPY missing TO 'none' WITH FORMAT PARQUET",
    "COPY (SELECT x FROM missing) TO 'rest' WITH FORMAT PARQUET",
    'CHECKPOINT RELEASE',
    'REINDEX TABLE t LOCK EXCLUSIVE',
    "COPY t FROM 'x.csv'",
  ],
  ["COPY missing FROM 'x.csv'"],
];

/** LIKE of each kind of object, and a second time, when the table exists. */
const COPIES = [
  'CREATE VIEW v AS (SELECT ts, s, x + 1 y FROM t)',
  'CREATE VIEW w AS (SELECT s FROM t)',
  'CREATE MATERIALIZED VIEW m AS (SELECT ts, s, count() n FROM t SAMPLE BY 1h), INDEX(s)',
  ...['t', 'V', 'w', 'm', 'missing', 't', 'V', 'm'].map(name => `CREATE TABLE like_${name} (LIKE ${name})`),
];

/** A refresh of a view whose columns get another type, first over no rows. */
const OTHER_TYPES = [
  'CREATE MATERIALIZED VIEW m AS (SELECT ts, last(x) x FROM t SAMPLE BY 1h)',
  'ALTER TABLE t ALTER COLUMN x TYPE DOUBLE',
  'REFRESH MATERIALIZED VIEW m FULL',
  "INSERT INTO t (ts, x) VALUES ('2024-01-01', 1.5)",
  'REFRESH MATERIALIZED VIEW m FULL',
];

/** Rejections whose message depends on the statement, on how it is written, or on the WAL of its table. */
const REJECTIONS = [
  'CREATE TABLE n (a INT)',
  'TRUNCATE TABLE n, N',
  'TRUNCATE TABLE t, n, T',
  'CREATE VIEW Va AS (SELECT ts FROM t)',
  'CREATE VIEW Vb AS (SELECT ts FROM va)',
  ...['vA', 'vB'].map(name => `CREATE OR REPLACE VIEW VA AS (SELECT ts FROM ${name})`),
  ...['missing', "'missing'", '"missing"'].map(name => `COMPILE VIEW ${name}`),
  'CREATE MATERIALIZED VIEW v AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h)',
  'ALTER MATERIALIZED VIEW v SET REFRESH MANUAL Deferred',
  'CREATE TABLE u (LIKE t)',
  ...['t TO u', 't TO n', 'n TO t', 'n TO N', 't TO T'].map(names => `RENAME TABLE ${names}`),
  ...['', ' x', '(5)', '(61b)'].flatMap(rest => [
    `ALTER TABLE n ADD COLUMN g GEOHASH${rest}`,
    `CREATE TABLE g (g GEOHASH${rest})`,
  ]),
  'ALTER TABLE t SET TTL 1h',
  'CREATE TABLE p (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY TTL 1h',
  'CREATE MATERIALIZED VIEW m AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h) TTL 1h',
  'CREATE TABLE p (a INT PARQUET(default, nope))',
  'ALTER TABLE n ALTER COLUMN a SET PARQUET(default, nope)',
];

testWithQuestDB('generated, recorded and fixed streams on a real QuestDB', async t => {
  t.log(`seeds ${SEED} to ${SEED + STREAMS - 1}`);
  const server = await borrowQuestDB(file);
  const target = ['CREATE TABLE t (ts TIMESTAMP, s SYMBOL INDEX, x INT) TIMESTAMP(ts) PARTITION BY DAY'];
  for (const statements of [...TRANSFERS, COPIES, OTHER_TYPES, REJECTIONS]) {
    const stream = { seed: 0, source: '', target, statements };
    await makeTarget(server, stream);
    const comparison = await dryRuns.compare(server, stream);
    check(t, comparison);
    t.notRegex(comparison.messages, /sqlserve|answered with rows/);
    t.is(comparison.failure, undefined, comparison.messages);
  }
  for (const seed of SEEDS)
    for (const stream of [await statementStream(seed), recordedStream(seed)])
      if (stream) {
        await makeTarget(server, stream);
        check(t, await dryRuns.compare(server, stream));
      }
});

/** Of tables without WAL by day (`b`) and by month (`n`), and with WAL by hour (`w`) and by day (`v`); with the results of the dry run. */
const PARTITIONS = [
  ["ALTER TABLE B DROP PARTITION LIST '2024-01-03', '2024-01-01'", 'rejected'],
  ["ALTER TABLE b DROP PARTITION LIST '2024-01-01', '2024-01'", 'rejected'],
  ["ALTER TABLE b DROP PARTITION LIST '2024-01-01' '2024-01-03'", 'rejected'],
  ["ALTER TABLE b DETACH PARTITION LIST '2024-01-03'", 'unknown'],
  ["ALTER TABLE b CONVERT PARTITION TO PARQUET LIST '2024-01-03'", 'unknown'],
  ["ALTER TABLE b DROP PARTITION WHERE ts < '2020'", 'unknown'],
  ["ALTER TABLE b FORCE DROP PARTITION LIST '2024-01-03'", 'would send'],
  ["ALTER TABLE n DROP PARTITION LIST '2024-02-03'", 'rejected'],
  ["ALTER TABLE n DROP PARTITION LIST '2024-01-03x'", 'would send'],
  ["ALTER TABLE n DROP PARTITION LIST '2024-01'", 'unknown'],
  ["ALTER TABLE w DROP PARTITION LIST '2024-01-01T5'", 'rejected'],
  ["ALTER TABLE w DROP PARTITION LIST '2024-01-01T05'", 'would send'],
  ['CREATE TABLE week (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY WEEK BYPASS WAL', 'would create'],
  ["ALTER TABLE week DROP PARTITION LIST '2024-W53'", 'unknown'],
  ["ALTER TABLE week DROP PARTITION LIST '2024-W54'", 'rejected'],
  ["ALTER TABLE week DROP PARTITION LIST '2024-01-02x'", 'unknown'],
  ["ALTER TABLE week DROP PARTITION LIST '2024-01-32x'", 'rejected'],
  ['CREATE TABLE new (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY YEAR BYPASS WAL', 'would create'],
  ["ALTER TABLE new DROP PARTITION LIST '2024'", 'rejected'],
  ["ALTER TABLE b DROP PARTITION LIST '2024-01-02', '2024-01-01'", 'unknown'],
  // The run ends here, because the table is suspended.
  ["ALTER TABLE v CONVERT PARTITION TO PARQUET LIST '2024-01-01', '2024-01-03'", 'would send'],
] as const;

testWithQuestDB('partitions that a table has and lacks', async t => {
  const server = await borrowQuestDB(file);
  const target = [
    'CREATE TABLE b (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY BYPASS WAL',
    'CREATE TABLE n (ts TIMESTAMP_NS) TIMESTAMP(ts) PARTITION BY MONTH BYPASS WAL',
    'CREATE TABLE w (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY HOUR WAL',
    'CREATE TABLE v (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL',
    ...['b', 'n', 'w', 'v'].map(name => `INSERT INTO ${name} VALUES ('2024-01-01'), ('2024-01-02')`),
  ];
  await makeTarget(server, { seed: 0, source: '', target, statements: [] });
  const comparison = await dryRuns.compare(server, {
    seed: 0,
    source: '',
    target,
    statements: PARTITIONS.map(([statement]) => statement),
  });
  check(t, comparison);
  t.regex(comparison.messages, /would damage table 'v': partition 2024-01-03 does not exist/);
  t.regex(comparison.failure?.error ?? '', /it is suspended/);
  t.deepEqual(
    comparison.dry.map(({ result }, i) => [PARTITIONS[i]?.[0], result]),
    PARTITIONS.map(each => [...each]),
  );
});

/** Of a view whose types the engine does not know, and that reads a plain view: the new query of the plain view, and the result. */
const REPLACED = [
  ['sum(y)', 'x::DOUBLE y', 'rejected'],
  ['sum(y)', 'x::INT y', 'rejected'],
  ['last(y + y)', 'x::DOUBLE y', 'rejected'],
  ['sum(y)', 'x y, ts later', 'applied'],
] as const;

testWithQuestDB('a refresh over a plain view that gives other types by now', async t => {
  const server = await borrowQuestDB(file);
  for (const [value, columns, expected] of REPLACED) {
    await makeTarget(server, {
      seed: 0,
      source: '',
      target: [
        'CREATE TABLE t (ts TIMESTAMP, x DECIMAL(10,2)) TIMESTAMP(ts) PARTITION BY DAY WAL',
        "INSERT INTO t VALUES ('2024-01-01', 1.5m)",
        'CREATE VIEW v AS (SELECT ts, x y FROM t)',
        `CREATE MATERIALIZED VIEW m WITH BASE t AS (SELECT ts, ${value} n FROM v SAMPLE BY 1h) PARTITION BY DAY`,
      ],
      statements: [],
    });
    const statements = [
      'DROP VIEW v',
      `CREATE VIEW v AS (SELECT ts, ${columns} FROM t)`,
      'REFRESH MATERIALIZED VIEW m FULL',
    ];
    const { differences, unknown, run } = await dryRuns.compare(server, {
      seed: 0,
      source: '',
      target: [],
      statements,
    });
    t.deepEqual([run[2]?.result, unknown], [expected, []], columns);
    t.deepEqual(
      new Set(differences.map(({ dry }) => dry?.result)),
      new Set(expected === 'applied' ? [] : [expected]),
      columns,
    );
  }
});

test('streams about access control, sent by the administrator and by somebody who lacks permissions', async t => {
  t.log(`seeds ${SEED} to ${SEED + STREAMS - 1}`);
  for (const seed of SEEDS) check(t, await compareOnSqlserve(dryRuns, seed));
});

test('objects that the account creates for somebody else, and may not read', async t => {
  const server = await serveHere(t, { edition: 'enterprise' });
  const rights = ['HTTP', 'CREATE TABLE', 'CREATE VIEW', 'LIST USERS', 'USER DETAILS'];
  const target = [
    ...['ann', 'limited'].map(name => `CREATE USER ${name}`),
    "ALTER USER limited WITH PASSWORD 'quest'",
    ...rights.map(right => `GRANT ${right} TO limited`),
  ];
  for (const statement of target) await executeAs(server, admin, statement);
  const table = 'CREATE TABLE hers (a INT)';
  const statements = [`${table} OWNED BY ann`, table, 'CREATE VIEW hers AS (select 1 a)', 'CREATE TABLE x (LIKE hers)'];
  const stream = { seed: 0, source: '', target, statements };
  const comparison = await dryRuns.compare(server, stream, '--user limited');
  check(t, comparison);
  const incomparable = 'it cannot be compared: Access denied for limited [SELECT on hers]';
  t.deepEqual(
    comparison.run.map(({ error = '' }) => error.includes(incomparable)),
    [false, true, true, false],
  );
  const guarded = { ...stream, statements: ['CREATE TABLE IF NOT EXISTS hers (a INT)'] };
  t.deepEqual((await dryRuns.compare(server, guarded, '--user limited')).status, { dry: 77, run: 77 });
});

async function checkOnSqlserve(t: ExecutionContext, stream: Pick<StatementStream, 'target' | 'statements'>) {
  const server = await startSqlserve(t);
  for (const statement of stream.target) t.is((await server.execute(statement)).error, undefined, statement);
  const comparison = await dryRuns.compare(server, { seed: 0, source: '', ...stream });
  check(t, comparison);
  return comparison.run.map(({ result }) => result);
}

const TABLE = 'CREATE TABLE trades (ts TIMESTAMP, qty INT) TIMESTAMP(ts) PARTITION BY DAY';
const VIEW = 'CREATE VIEW recent AS (SELECT ts FROM trades)';
const hourly = (value: string): string =>
  `CREATE MATERIALIZED VIEW hourly AS (SELECT ts, ${value} n FROM trades SAMPLE BY 1h) PARTITION BY DAY`;

for (const [title, target, statements, expected] of [
  [
    'objects that are missing, that exist, and that differ',
    [TABLE, VIEW],
    [TABLE, VIEW, hourly('count()'), VIEW.replace('ts', 'qty'), 'ALTER TABLE trades ADD COLUMN x INT'],
    ['skipped', 'skipped', 'applied', 'differs', 'applied'],
  ],
  ['a view over a missing table is rejected', [], [VIEW], ['rejected']],
  ['a view before its table is rejected', [], [VIEW, TABLE], ['rejected', 'applied']],
  [
    'a materialized view that is dropped can be created with another definition',
    [TABLE, hourly('count()')],
    ['DROP MATERIALIZED VIEW hourly', hourly('sum(qty)')],
    ['applied', 'applied'],
  ],
] as const)
  test(title, async t => t.deepEqual(await checkOnSqlserve(t, { target, statements }), [...expected]));

const NARROW = 'CREATE TABLE t (x INT, y INT);';

for (const [what, status, statements, options] of [
  ['a table that is dropped', 1, 'DROP TABLE t;', ''],
  ['a table that is dropped, with its name', 0, 'DROP TABLE t;', '--allow-loss drop:t'],
  ['a table, even if the run creates it again', 1, `DROP TABLE t; ${NARROW}`, ''],
  ['a column, even if its table is created later', 1, `ALTER TABLE t DROP COLUMN y; DROP TABLE t; ${NARROW}`, ''],
  ['nothing, if it drops only what it has created', 0, 'CREATE TABLE n (x INT); DROP TABLE n;', ''],
] as const)
  test(`a dry run loses ${what}`, async t => {
    const server = await startSqlserve(t);
    await server.execute(NARROW);
    const run = await inProcess(t, { DB: server.url, SQL: statements });
    const { code, stdout, stderr } = await run(
      `sqlsplit <<< "$SQL" | sqlapply --dry-run --allow ALTER,DROP ${options} $DB`,
    );
    t.is(code, status, stderr);
    if (what.startsWith('nothing')) t.notRegex(stdout + stderr, /loses/);
  });

test('a dry run predicts that a read-only server denies what it would change', async t => {
  const server = await startSqlserve(t);
  await server.execute(NARROW);
  const parameters = { dataset: [['http.security.readonly', 'true']] };
  const { url } = await recordingProxy(t, server, query =>
    query.includes('SHOW PARAMETERS') ? [200, parameters] : undefined,
  );
  const sql = `${NARROW} CREATE TABLE u (x INT); ALTER TABLE t ADD COLUMN z INT;`;
  const run = await inProcess(t, { DB: url }, { 'all.sql': sql, 'same.sql': NARROW });
  const { stdout, stderr } = await run.exits(77, 'sqlapply --dry-run --keep-going --allow ALTER $DB all.sql');
  t.is(stdout, "rejected table 'u'\nrejected ALTER\nskipped: 1 statement\n", stderr);
  t.regex(
    stderr,
    /table 'u': Write permission denied; does the user have the permission, or is the server read-only\?/,
  );
  await run.ok('sqlapply --dry-run $DB same.sql');
});
