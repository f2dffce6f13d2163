/*! Questions that an instance does not answer: about queries and rows while a plan is made, and about what was applied. */
import { inProcess } from '../support/in-process.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { type Scope, test } from '../support/test.js';

const server = sharedSqlserve();

const TABLE = 'CREATE TABLE t (ts TIMESTAMP, x INT, y INT) TIMESTAMP(ts) PARTITION BY DAY WAL';
const viewOf = (column: string) => `CREATE VIEW v AS (SELECT ${column} FROM t)`;
const storedOf = (column: string) => `CREATE MATERIALIZED VIEW m AS (SELECT ts, sum(${column}) n FROM t SAMPLE BY 1h)`;

const OTHER_QUERIES = [TABLE, viewOf('y'), storedOf('y')];
const OTHER_TYPE = [TABLE.replace('x INT', 'x LONG'), viewOf('y'), storedOf('x')];

/** A server with a table and two views, behind a proxy. @param instead see `recordingProxy` */
async function runBehindProxy(
  t: Scope,
  instead: (query: string) => Instead | undefined | Promise<Instead>,
  wanted: readonly string[] = OTHER_QUERIES,
) {
  for (const statement of [TABLE, viewOf('x'), storedOf('x')]) await server.execute(statement);
  const { url } = await recordingProxy(t, server, instead);
  return inProcess(t, { DB: url }, { 'wanted.sql': wanted.map(each => `${each};\n`).join('') });
}

const PLANS = ['sqldiff --alter wanted.sql $DB', 'sqlapply --alter --dry-run $DB wanted.sql'];

const never = new Promise<never>(() => {});

const NOT_KNOWN = 'it is not known whether the server accepts';
const MAY_BE_LOST = 'may lose rows: no server has shown that a refresh returns them all';

for (const [what, question, leftOut, wanted] of [
  ['the query of a view', /is_computable.*SELECT y FROM/s, `${NOT_KNOWN} the query of view 'v'\n`],
  ['a stored view', /is_computable.*SELECT ts, /s, `${NOT_KNOWN} the query of materialized view 'm'\n`],
  ['another type', /is_computable.*SELECT ts, /s, `'m' may leave it empty: ${NOT_KNOWN} its query over`, OTHER_TYPE],
  ['lost rows', /rows_lost/, MAY_BE_LOST],
  ['a refresh limit', /^SELECT refresh_limit/, MAY_BE_LOST],
] as const) {
  test(`a plan leaves out what depends on an answer about ${what} that does not come in time`, async t => {
    const run = await runBehindProxy(t, query => (question.test(query) ? never : undefined), wanted);
    for (const plan of PLANS) {
      const { stdout, stderr } = await run.exits(1, plan.replace(' ', ' --timeout 2 '));
      t.true(stderr.includes(leftOut), stderr);
      t.is(
        stderr.match(/unknown: \S+: no answer within 2 s; is the server busy\? --timeout waits longer/g)?.length,
        1,
        stderr,
      );
      t.notRegex(stderr, /server rejects/);
      if (plan.startsWith('sqldiff'))
        t.regex(stdout, /^(?:ALTER|CREATE MATERIALIZED) VIEW/m, 'what does not depend on the answer');
    }
  });

  test(`an instance that is gone when it is asked about ${what} ends a plan`, async t => {
    let isGone = false;
    const run = await runBehindProxy(
      t,
      query => {
        isGone ||= question.test(query);
        return isGone ? 'closed' : undefined;
      },
      wanted,
    );
    for (const plan of PLANS) {
      isGone = false;
      const { stdout, stderr } = await run.exits(69, plan);
      t.regex(stderr, /: the connection was closed before a reply arrived/);
      t.notRegex(`${stdout}${stderr}`, /left out|server rejects|^-- plan for/m);
    }
  });
}

test('a plan does without the sizes of tables if they do not come in time', async t => {
  const run = await runBehindProxy(t, query => (/table_storage/.test(query) ? never : undefined));
  const { stderr } = await run('sqldiff --timeout 2 --alter wanted.sql $DB > plan.sql');
  t.regex(stderr, /: no answer within 2 s/);
  t.regex((await run('cat plan.sql')).stdout, /^CREATE MATERIALIZED VIEW/m);
});

/** Makes a plan and applies it. @param last the statement after which the instance is gone */
async function applyUntilGone(t: Scope, wanted: readonly string[], last: RegExp) {
  let isGone = false;
  const instead = (query: string): Instead | undefined => {
    if (isGone) return 'closed';
    isGone = last.test(query);
    return undefined;
  };
  const run = await runBehindProxy(t, instead, wanted);
  await run.ok('sqldiff --alter wanted.sql $DB > plan');
  return run.exits(69, 'sqlapply --allow-plan --no-verify $DB plan');
}

test('a plan after which nobody can say whether a view is invalid does not end with status 0', async t => {
  const { stderr } = await applyUntilGone(t, [TABLE, viewOf('x'), storedOf('x'), 'CREATE TABLE u (x INT)'], /TABLE u/);
  t.regex(
    stderr,
    /: whether the plan has left objects invalid or suspended is unknown: \S+: the connection was closed/,
  );
  t.regex(stderr, /: 1 of 1 applied/);
});

test('a plan stops if the instance is gone before a new view over a stored view is filled', async t => {
  const above = 'CREATE MATERIALIZED VIEW m2 AS (SELECT ts, max(n) n FROM m SAMPLE BY 1d)';
  const { stderr } = await applyUntilGone(t, [TABLE, viewOf('x'), storedOf('x'), above], /CREATE MATERIALIZED VIEW m2/);
  t.regex(
    stderr,
    /statement \d \(materialized view 'm2'\): whether it was applied is unknown: \S+: the connection was/,
  );
});

test('a run that skips objects warns if nobody can say whether these work', async t => {
  const run = await runBehindProxy(t, query => (/wal_tables\(\) WHERE suspended/.test(query) ? 'closed' : undefined), [
    TABLE,
  ]);
  const { stderr } = await run.ok('sqlapply $DB wanted.sql');
  t.regex(stderr, /: whether the skipped objects are invalid or suspended is unknown: \S+: the connection was closed/);
});

test('an instance that does not say whether it has access control is not taken for one without', async t => {
  const run = await runBehindProxy(t, query => (query === 'SHOW USERS' ? 'closed' : undefined));
  for (const command of [...PLANS, 'sqlpipe check $DB'])
    t.regex((await run.exits(69, command)).stderr, /: the connection was closed before a reply arrived/);
});

test('a view is not taken for a stale one because the server fails when it is queried', async t => {
  const run = await runBehindProxy(t, query =>
    query.includes('FROM above LIMIT 0') ? [500, { error: 'out of memory', position: 0 }] : undefined,
  );
  await server.execute('CREATE VIEW above AS (SELECT x FROM v)');
  const { stdout, stderr } = await run.ok('sqldump --skip-invalid $DB');
  t.regex(stdout, /CREATE VIEW 'above'/);
  t.regex(stderr, /: invalid views may be in the dump despite --skip-invalid, because .*: answered 500: out of memory/);
});

test('sqlpipe check does not take an outage for health', async t => {
  const run = await runBehindProxy(t, query => (/invalidation_reason|suspended/.test(query) ? 'closed' : undefined));
  const { stderr } = await run.exits(69, 'sqlpipe check $DB');
  t.regex(stderr, /: the connection was closed before a reply arrived/);
});
