/*! How a plan is applied: what is named if it stops, and what is not compared again. */
import { type Instance, plan, replay, serve } from '@sqlpipe/api';
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { type Scope, test } from '../support/test.js';

const server = sharedSqlserve();
const LOGGED = 'TIMESTAMP(ts) PARTITION BY DAY WAL';

test('a plan that stops names what is invalid or suspended since its first statement', async t => {
  for (const statement of [
    `CREATE TABLE changed (ts TIMESTAMP, x INT) ${LOGGED}`,
    `CREATE TABLE waiting (ts TIMESTAMP, x INT) ${LOGGED}`,
    'CREATE TABLE gone (x INT)',
    'CREATE TABLE going (x INT)',
    'CREATE VIEW broken AS (SELECT x FROM gone)',
    'CREATE VIEW Breaking AS (SELECT x FROM going)',
    'CREATE MATERIALIZED VIEW Hourly AS (SELECT ts, sum(x) n FROM waiting SAMPLE BY 1h)',
    'DROP TABLE gone',
  ])
    t.is((await server.execute(statement)).error, undefined);
  const suspended = [['waiting', 'no space left']];
  const { url } = await recordingProxy(t, server, async (query): Promise<Instead | undefined> => {
    if (/^SELECT name, errorMessage FROM wal_tables\(\) WHERE suspended/.test(query))
      return [200, { columns: [{ name: 'name' }, { name: 'errorMessage' }], dataset: suspended }];
    if (!query.includes('ADD COLUMN')) return undefined;
    await server.execute('DROP TABLE going');
    suspended.push(['changed', 'no file'], ['Hourly', 'no file']);
    return [400, { error: 'could not open', position: 0 }];
  });
  const run = await inProcess(t, { DB: url, AFTER: `CREATE TABLE changed (ts TIMESTAMP, x INT, y INT) ${LOGGED};` });
  await run.ok('echo "$AFTER" > after.sql; sqldiff --ignore-extra --alter after.sql $DB > plan');
  const { stderr } = await run.exits(1, 'sqlapply --allow ALTER $DB < plan');
  const named = stderr.split('\n').filter(line => / is (?:invalid|suspended): /.test(line));
  t.deepEqual(
    named.map(line => line.replace(/^sqlapply: \S+ /, '')).sort(),
    [
      "materialized view 'Hourly' is suspended: no file",
      "table 'changed' is suspended: no file",
      "view 'Breaking' is invalid: table does not exist [table=going]",
    ],
    stderr,
  );
});

test('a plan that makes a view invalid which somebody has created meanwhile does not end with status 0', async t => {
  t.is((await server.execute(`CREATE TABLE read (ts TIMESTAMP, x INT, y INT) ${LOGGED}`)).error, undefined);
  const { url } = await recordingProxy(t, server, async query => {
    if (query.includes('DROP COLUMN')) await server.execute('CREATE VIEW late AS (SELECT y FROM read)');
    return undefined;
  });
  const run = await inProcess(t, { DB: url, AFTER: `CREATE TABLE read (ts TIMESTAMP, x INT) ${LOGGED};` });
  await run.ok(
    'echo "$AFTER" > after.sql; sqldiff --ignore-extra --alter --allow-loss drop:read.y after.sql $DB > plan',
  );
  const { stderr } = await run.exits(1, 'sqlapply --allow-plan $DB < plan');
  t.regex(stderr, /: view 'late' is invalid: Invalid column: y\n/);
  t.regex(stderr, /: 1 of 1 applied; /);
});

test('a plan stops if somebody else changes what its view reads from, in whatever case that is written', async t => {
  const table = 'CREATE TABLE Trades (x INT)';
  t.is((await server.execute(table)).error, undefined);
  const { url } = await recordingProxy(t, server, async query => {
    if (query.includes('CREATE TABLE other')) await server.execute('ALTER TABLE Trades ADD COLUMN y INT');
    return undefined;
  });
  const after = [table, 'CREATE TABLE other (x INT)', 'CREATE VIEW v AS (SELECT x FROM TRADES)'];
  const run = await inProcess(t, { DB: url, AFTER: `${after.join(';\n')};` });
  const { stderr } = await run.exits(
    1,
    'echo "$AFTER" > after.sql; sqldiff --alter after.sql $DB > plan; sqlapply --allow ALTER $DB < plan',
  );
  t.regex(
    stderr,
    /view 'v'.* somebody else has changed table 'Trades' while the plan was applied: column 'y': none to INT/,
  );
});

test('a plan stops if somebody else changes a view while it is refreshed', async t => {
  const schema = (x: string) => [
    `CREATE TABLE base (ts TIMESTAMP, x ${x}) ${LOGGED}`,
    'CREATE MATERIALIZED VIEW m AS (SELECT ts, sum(x) n FROM base SAMPLE BY 1h) PARTITION BY DAY',
  ];
  for (const statement of schema('INT')) t.is((await server.execute(statement)).error, undefined);
  const { url } = await recordingProxy(t, server, async (query): Promise<Instead | undefined> => {
    if (!query.includes('REFRESH MATERIALIZED VIEW')) return undefined;
    for (const statement of [query.replace(/;$/, ''), 'ALTER MATERIALIZED VIEW m SET TTL 7 DAYS'])
      t.is((await server.execute(statement)).error, undefined);
    return [200, { ddl: 'OK' }];
  });
  const run = await inProcess(t, { DB: url, AFTER: `${schema('LONG').join(';')};` });
  await run.ok('echo "$AFTER" > after.sql; sqldiff --alter after.sql $DB > plan');
  const { stderr } = await run.exits(1, 'sqlapply --allow-plan $DB < plan');
  t.regex(stderr, /: accepted, but somebody else has changed materialized view 'm' while .*: TTL: none to 1 WEEK/);
});

test('an assertion about a view that somebody else has changed asks for a new plan, and for no permission', async t => {
  const view = (name: string, n: string) =>
    `CREATE MATERIALIZED VIEW ${name} AS (SELECT ts, ${n} n FROM base SAMPLE BY 1h)`;
  const base = (x: string) => `CREATE TABLE base (ts TIMESTAMP, x ${x}) ${LOGGED}`;
  for (const statement of [base('INT'), view('a', 'sum(x)'), view('b', 'sum(x)')])
    t.is((await server.execute(statement)).error, undefined);
  let isChanged = false;
  const { url } = await recordingProxy(t, server, async query => {
    if (isChanged || !/AS nothing_is_lost .* FROM 'a'/.test(query)) return;
    isChanged = true;
    await server.execute('DROP MATERIALIZED VIEW b');
    await server.execute(view('b', 'max(x)'));
  });
  const run = await inProcess(t, {
    DB: url,
    AFTER: `${[base('LONG'), view('a', 'sum(x)'), view('b', 'sum(x)')].join(';')};`,
  });
  await run.ok('echo "$AFTER" > after.sql; sqldiff --alter after.sql $DB > plan');
  // First the view is changed while the plan is applied, then it was changed before.
  for (const options of ['--allow-plan', '--stale-ok --allow ALTER,REFRESH']) {
    const { stderr } = await run.exits(1, `sqlapply ${options} $DB < plan`);
    t.regex(
      stderr,
      /statement [23] \(SELECT\): it does not fit the present state of the target; make the plan again with sqldiff --alter/,
    );
    t.notRegex(stderr, /--allow SELECT/);
  }
});

test('a statement whose object cannot be read after it is applied, and the plan goes on', async t => {
  t.is((await server.execute('CREATE TABLE t (x INT)')).error, undefined);
  let wasAltered = false;
  const { url } = await recordingProxy(t, server, (query): Instead | undefined => {
    if (wasAltered && query.startsWith('SHOW CREATE')) return [503, { error: 'busy', position: 0 }];
    wasAltered ||= query.includes('ADD COLUMN y');
    return undefined;
  });
  const run = await inProcess(t, {
    DB: url,
    AFTER: 'CREATE TABLE t (x INT, y INT, z INT); CREATE VIEW v AS (SELECT x FROM t);',
  });
  await run('echo "$AFTER" > after.sql; sqldiff --alter after.sql $DB > plan');
  const options = '--allow ALTER --retries 0 --no-verify --report report';
  const { stderr } = await run.ok(`sqlapply ${options} $DB < plan; cat report >&2`);
  t.is(stderr.match(/"result":"applied"/g)?.length, 3, stderr);
});

test('a statement that sqlapply --alter has planned has a number, and no place in the files', async t => {
  t.is((await server.execute('CREATE TABLE t (x INT)')).error, undefined);
  const { url } = await recordingProxy(t, server, query =>
    query.includes('ALTER TABLE') ? [400, { query, error: 'no', position: 0 }] : undefined,
  );
  const run = await inProcess(t, { DB: url });
  await run(`printf 'CREATE TABLE t (x INT, y INT);' > schema.sql`);
  const { stderr } = await run.exits(1, 'sqlapply --alter $DB schema.sql');
  t.regex(stderr, /^sqlapply: statement 1 \(ALTER of table 't'\): no$/m);
});

const BASE = `CREATE TABLE base (ts TIMESTAMP, x INT, d DECIMAL(18,4)) ${LOGGED}`;
const STORED = 'CREATE MATERIALIZED VIEW m AS (SELECT ts, sum(x) n FROM base SAMPLE BY 1h)';

/** Two schemas whose plan has statements of many kinds, and two tables that do not depend on each other. */
const PLANNED = {
  before: [BASE, STORED, 'CREATE VIEW v AS (SELECT x FROM base)', 'CREATE TABLE gone (x INT)'],
  after: [
    'CREATE TABLE base (ts TIMESTAMP, x INT, d DECIMAL(9,4), z INT) TIMESTAMP(ts) PARTITION BY DAY TTL 7 DAYS WAL',
    'CREATE MATERIALIZED VIEW m AS (SELECT ts, max(x) n FROM base SAMPLE BY 1h)',
    'CREATE VIEW v AS (SELECT x, z FROM base)',
    'CREATE TABLE one (x INT)',
    'CREATE TABLE other (x INT)',
    'CREATE VIEW w AS (SELECT x FROM other)',
  ],
};
const ALLOW_LOSS = ['drop:gone', 'drop:m', 'history:m', 'ttl:base', 'values:base.d'];

const withoutSemicolon = (statement: string) => statement.replace(/;$/, '');

/** A server before the changes, behind a proxy that answers one statement itself; and the statements of the plan that it has received. */
async function startStopping(t: Scope, planned: readonly string[], stopsAt: number, instead: Instead) {
  const server = await serve({ schema: PLANNED.before });
  t.teardown(() => server.close());
  const texts = planned.map(withoutSemicolon);
  const { url, queries } = await recordingProxy(t, server, query =>
    withoutSemicolon(query) === texts[stopsAt] ? instead : undefined,
  );
  const received = () => [...new Set(queries.map(query => texts.indexOf(withoutSemicolon(query))))].filter(i => i >= 0);
  return { url, received };
}

async function makePlan(
  t: Scope,
  { wanted = PLANNED.after, ignoreExtra = false }: { wanted?: string[] | Instance; ignoreExtra?: boolean } = {},
): Promise<readonly string[]> {
  const server = await serve({ schema: PLANNED.before });
  t.teardown(() => server.close());
  const { statements, omissions } = await plan(wanted, server, { allowLoss: ALLOW_LOSS, ignoreExtra });
  if (omissions.length > 0) throw new Error(JSON.stringify(omissions));
  return statements;
}

const numbersUpTo = (n: number) => Array.from({ length: n + 1 }, (_, i) => i);

const REJECTED: Instead = [400, { error: 'no', position: 0 }];
const FAILED: Instead = [503, { error: 'busy', position: 0 }];
const NOT_TRUE: Instead = [200, { columns: [{ name: 'a', type: 'BOOLEAN' }], dataset: [[false]], count: 1 }];

test('a plan stops at the first statement that is not in force, through the library and whatever the options', async t => {
  const planned = await makePlan(t);
  t.true(planned.length >= 8, planned.join('\n'));
  const verbOf = (statement: string) => /^\w+/.exec(statement.replace(/^--.*\n/gm, ''))?.[0];
  const verbs = planned.map(verbOf);
  t.deepEqual([...new Set(verbs)].sort(), ['ALTER', 'CREATE', 'DROP', 'REFRESH', 'SELECT']);
  for (const [stopsAt, statement] of planned.entries()) {
    // The first and the last one of each verb.
    if (![verbs.indexOf(verbs[stopsAt]), verbs.lastIndexOf(verbs[stopsAt])].includes(stopsAt)) continue;
    const isAssertion = verbs[stopsAt] === 'SELECT';
    const jobs = stopsAt % 2 === 0 ? 1 : 8;
    for (const instead of [REJECTED, FAILED, ...(isAssertion ? [NOT_TRUE] : [])]) {
      const { url, received } = await startStopping(t, planned, stopsAt, instead);
      const results: string[] = [];
      const run = replay(planned, { url, retries: 0, timeout: 20 }, { keepGoing: true, jobs, allowPlan: true });
      const read = async () => {
        for await (const { result } of run) results.push(result);
      };
      await (instead === FAILED ? t.throwsAsync(read) : t.notThrowsAsync(read));
      t.deepEqual(received(), numbersUpTo(stopsAt), `${jobs} jobs, ${JSON.stringify(instead)}: ${statement}`);
      const wrong = results.slice(stopsAt + 1).filter(result => result !== 'not reached');
      t.deepEqual(wrong, []);
    }
  }
});

for (const [name, script] of [
  ['sqlapply, of a plan', 'sqlapply --jobs 8 --keep-going --allow-plan $DB < plan'],
  ['sqlapply, of a plan that may be outdated', 'sqlapply --stream --stale-ok --keep-going --allow all $DB < plan'],
  ['sqlapply, of a plan after an empty file', 'sqlapply --jobs 8 --keep-going --allow all $DB empty.sql plan'],
  ['sqlapply --alter', 'sqlapply --jobs 8 --keep-going --alter $LOSSES $DB after.sql'],
  ['sqlpipe copy --alter', 'sqlpipe copy --jobs 8 --keep-going --alter $LOSSES $SRC $DB'],
] as const)
  test(`a plan stops whatever the options: ${name}`, async t => {
    const source = await serve({ schema: PLANNED.after });
    t.teardown(() => source.close());
    const wanted = script.includes('$SRC') ? source : PLANNED.after;
    const planned = await makePlan(t, { wanted, ignoreExtra: true });
    const stopsAt = planned.findIndex(statement => /^CREATE/m.test(statement));
    t.true(stopsAt < planned.length - 3, planned.join('\n'));
    const { url, received } = await startStopping(t, planned, stopsAt, REJECTED);
    const env = { DB: url, SRC: source.url, LOSSES: ALLOW_LOSS.map(name => `--allow-loss ${name}`).join(' ') };
    const run = await inProcess(t, { ...env, PLAN: planned.join('\n'), AFTER: `${PLANNED.after.join(';\n')};` });
    await run('echo "$AFTER" > after.sql; echo -n > empty.sql; sqlsplit <<< "$PLAN" > plan');
    const { stderr } = await run.exits(1, script);
    t.deepEqual(received(), numbersUpTo(stopsAt), stderr);
  });

test('a plan stops if the server reports success and has created something else', async t => {
  const { url, queries } = await recordingProxy(t, server, async (query): Promise<Instead | undefined> => {
    if (!query.includes('CREATE TABLE one')) return undefined;
    await server.execute('CREATE TABLE one (x LONG)');
    return [200, { ddl: 'OK' }];
  });
  const run = await inProcess(t, { DB: url });
  await run(
    "echo 'CREATE TABLE one (x INT); CREATE TABLE other (x INT);' | tee all.sql | sqldiff --alter - $DB > plan",
  );
  for (const script of ['sqlapply --keep-going $DB < plan', 'sqlapply --keep-going --jobs 2 --alter $DB all.sql']) {
    await server.execute('DROP TABLE IF EXISTS one');
    const { stderr } = await run.exits(1, script);
    t.regex(stderr, /statement 1 \(table 'one'\): the server created it with a different definition/);
    const isSent = queries.some(query => query.startsWith('CREATE TABLE other'));
    t.false(isSent, script);
  }
});

test('a plan is not applied with an option that would skip some of its statements', async t => {
  const table = `CREATE TABLE t (ts TIMESTAMP, x INT) ${LOGGED};`;
  const print = (value: string) =>
    `${table} CREATE MATERIALIZED VIEW m AS (SELECT ts, ${value} v FROM t SAMPLE BY 1h);`;
  const run = await inProcess(t, { DB: server.url, BEFORE: print('sum(x)'), AFTER: print('max(x)') });
  await run.ok('echo "$BEFORE" | sqlsplit | sqlapply $DB; echo "$AFTER" > after.sql; echo m > rules');
  await run.ok('sqldiff --alter --allow-loss drop:m after.sql $DB > plan');
  for (const [conflict, message] of [
    ['--if-exists skip', '--if-exists skip cannot be combined with a plan, which relies on what it creates'],
    ...['--ignore m', '--ignore "materialized view"', '--ignore-file rules', '--ignore "t: TTL"'].map(conflict => [
      conflict,
      '--ignore cannot be combined with a plan, whose statements rely on each other; make the plan with --ignore',
    ]),
  ])
    for (const options of ['--allow-plan', '--allow-plan --dry-run', '--allow all --stale-ok --stream'])
      t.is(
        (await run.exits(1, `sqlapply ${conflict} ${options} $DB < plan`)).stderr,
        `sqlapply: ${message}; nothing was sent\n`,
      );
  t.is(
    (await run.exits(1, 'sqlapply --alter --allow all $DB < plan')).stderr,
    'sqlapply: --alter cannot be combined with a plan; it makes one of a schema; nothing was sent\n',
  );
  for (const option of ['--allow-plan', '--stale-ok'])
    t.regex(
      (await run.exits(64, `sqlapply --alter ${option} nowhere after.sql`)).stderr,
      /^sqlapply: --alter cannot be combined with --allow-plan or --stale-ok, .*; remove --alter to apply a plan\n/,
    );
  const { statements } = await plan(`${run.folder}/after.sql`, server, { allowLoss: ['drop:m'] });
  const applied = replay(statements, server, { ignore: ['m'], allowPlan: true });
  await t.throwsAsync(() => applied.next(), { message: /^--ignore cannot be combined with a plan/ });
  await run.ok('echo -n > empty; sqlapply --allow-plan --ignore-file empty $DB < plan; sqldiff after.sql $DB');
});

test('nothing of a plan is sent if one of its statements is not allowed, with --keep-going neither', async t => {
  const planned = await makePlan(t);
  const { url, received } = await startStopping(t, planned, -1, REJECTED);
  const run = await inProcess(t, { DB: url, PLAN: planned.join('\n') });
  t.regex(
    (await run.exits(1, 'sqlsplit <<< "$PLAN" | sqlapply --keep-going --allow ALTER $DB')).stderr,
    /nothing was sent\n[^]*DROP of table 'gone'.*: it is not part of a schema dump\n[^]*hint: use --allow-plan/,
  );
  t.deepEqual(received(), []);
});

test('the statements after an assertion that is not true are not sent, although the run keeps going', async t => {
  const { url, queries } = await recordingProxy(t, server, query => (query.includes('AS ok') ? NOT_TRUE : undefined));
  const run = await inProcess(t, { DB: url });
  const text = 'CREATE VIEW v AS (SELECT x FROM gone); SELECT 1 = 2 AS ok; CREATE TABLE t (x INT);';
  const { stderr } = await run.exits(
    1,
    `echo '${text}' | sqlsplit | sqlapply --timeout 1 --keep-going --jobs 3 --allow SELECT $DB`,
  );
  t.regex(stderr, /: 0 of 3 applied, 2 rejected, 1 not reached/);
  t.false(queries.some(query => query.startsWith('CREATE TABLE t')));
});

test('a dry run shows all statements of a plan, also those after a reject', async t => {
  const planned = await makePlan(t);
  const { url, received } = await startStopping(t, planned, -1, REJECTED);
  const run = await inProcess(t, { DB: url, PLAN: planned.join('\n') });
  const { stdout } = await run.exits(
    1,
    'sqlsplit <<< "$PLAN" | sqlapply --dry-run --json --stale-ok --allow ALTER $DB',
  );
  const results = parseJsonLines(stdout).map(({ result }) => result);
  t.is(results.length, planned.length);
  t.false(results.includes('not reached'), stdout);
  t.true(results.includes('rejected') && results.at(-1) !== undefined, stdout);
  const others = received().filter(i => !/^SELECT/m.test(planned[i] ?? ''));
  t.deepEqual(others, []);
});

test('with --keep-going, sqlapply --alter applies the rest of a plan, and compares what was left out', async t => {
  for (const name of ['a', 'b', 'c']) await server.execute(`CREATE TABLE ${name} (x INT)`);
  const run = await inProcess(t, { DB: server.url });
  const { stderr } = await run.exits(
    1,
    "echo 'CREATE TABLE a (y INT); CREATE TABLE b (y INT); CREATE TABLE c (x INT, y INT);' | sqlsplit | sqlapply --keep-going --alter $DB",
  );
  for (const name of ['a', 'b']) t.regex(stderr, new RegExp(`table '${name}'\\): already exists with a different`));
  await run("printf 'CREATE TABLE c (x INT, y INT);\\n\\nCREATE TABLE a (y INT);\\n' > in.sql");
  const ofFile = await run.exits(1, 'sqlapply --keep-going --alter $DB in.sql');
  t.regex(ofFile.stderr, /^sqlapply: in\.sql:3: table 'a': already exists with a different/m);
  t.deepEqual((await server.execute('SHOW COLUMNS FROM c')).dataset?.length, 2);
});

test('with --keep-going, sqlapply --alter does not create what it did not rename', async t => {
  const [table, query] = [
    `CREATE TABLE t (ts TIMESTAMP, x INT) ${LOGGED}`,
    'AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h)',
  ];
  for (const statement of [table, `CREATE MATERIALIZED VIEW m ${query}`, 'CREATE VIEW reader AS (SELECT n FROM m)'])
    t.is((await server.execute(statement)).error, undefined);
  const run = await inProcess(t, { DB: server.url, AFTER: `${table}; CREATE MATERIALIZED VIEW renamed ${query};` });
  for (let runs = 0; runs < 2; runs++)
    t.regex(
      (await run.exits(1, 'echo "$AFTER" | sqlsplit | sqlapply --alter --keep-going --renamed m=renamed $DB')).stderr,
      /^sqlapply: materialized view 'renamed': left out:/m,
    );
  t.regex(String((await server.execute('SHOW CREATE MATERIALIZED VIEW renamed')).error), /does not exist/);
});
