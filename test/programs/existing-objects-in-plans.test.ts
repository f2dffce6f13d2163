/*! What a plan creates did not exist when the plan was made. If it exists, the plan stops, because another run may be applying it. */
import { type Outcome, plan, type ReplayOptions, replay, serve } from '@sqlpipe/api';
import type { ExecutionContext } from 'ava';
import { waitUntilApplied, waitUntilRefreshed } from '../support/background.js';
import { deferred } from '../support/deferred.js';
import { inProcess } from '../support/in-process.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { execute } from '../support/server.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const questdb = sharedQuestDB();

/** What a plan creates, and what somebody else creates when the plan has begun: the same, or something else. */
const CREATED_MEANWHILE: readonly (readonly [create: string, meanwhile?: string])[] = [
  ['CREATE TABLE m (x INT)'],
  ['CREATE TABLE IF NOT EXISTS m (x INT)'],
  ['CREATE TABLE m (x INT)', 'CREATE TABLE m (y INT)'],
  ['CREATE VIEW m AS (SELECT x FROM a)'],
  ['CREATE OR REPLACE VIEW m AS (SELECT x FROM a)'],
  ['CREATE OR REPLACE VIEW m AS (SELECT x FROM a)', 'CREATE VIEW m AS (SELECT 1 x FROM a)'],
  ['CREATE USER m'],
  ['CREATE GROUP m'],
  ['CREATE SERVICE ACCOUNT m'],
];
const LOGIN = { user: 'admin', password: 'quest' };

/** Starts a server on which somebody else executes a statement when the plan for it begins. Returns the plan and what is sent. */
async function startChanging(
  t: ExecutionContext,
  { before, after, meanwhile }: Record<'before' | 'after', string[]> & { meanwhile: string },
) {
  const server = await serve({ edition: 'enterprise', schema: before });
  t.teardown(() => server.close());
  const other = { ...LOGIN, url: server.url };
  const { url, queries } = await recordingProxy(t, server, async query => {
    if (query.includes('CREATE USER first'))
      for await (const { result } of replay([meanwhile], other, { allow: ['all'] })) t.is(result, 'applied');
    return undefined;
  });
  const { statements } = await plan(['CREATE USER first', ...after], other, { allowLoss: ['drop-user:old'] });
  const apply = async (more: string[], options: ReplayOptions) => {
    const outcomes: Outcome[] = [];
    for await (const outcome of replay([...statements, ...more], { ...LOGIN, url }, options)) outcomes.push(outcome);
    return outcomes;
  };
  return { apply, queries };
}

for (const [create, meanwhile = create] of CREATED_MEANWHILE)
  test(`a plan stops if what it creates exists: ${create}, after ${meanwhile}`, async t => {
    const before = ['CREATE TABLE a (x INT)', 'CREATE USER old'];
    const after = ['CREATE TABLE a (x INT)', create, 'CREATE VIEW z AS (SELECT x FROM a)'];
    const { apply, queries } = await startChanging(t, { before, after, meanwhile });
    const allow = create.includes('REPLACE') ? ['REPLACE'] : [];
    const stopsWith = create === meanwhile ? 'rejected' : 'differs';
    const outcomes = await apply([], { allow, allowPlan: true });
    t.deepEqual(
      outcomes.map(({ result }) => result),
      ['applied', stopsWith, 'not reached', 'not reached'],
    );
    const error = 'already exists, and the plan was made for a target without it';
    if (stopsWith === 'rejected') t.is(outcomes[1]?.error, error);
    t.false(queries.some(query => /DROP USER|VIEW z|OR REPLACE/.test(query)));
    const again = await apply([], { allow: ['all'], staleOk: true, dryRun: true });
    t.deepEqual(
      again.map(({ result }) => result),
      ['rejected', stopsWith, 'would create', 'would send'],
    );
  });

test('a right that a plan gives is given again if it exists, and what follows the plan is skipped', async t => {
  const a = 'CREATE TABLE a (x INT)';
  const grants = ['GRANT SELECT ON a TO ann', 'GRANT HTTP TO ann'];
  const { apply } = await startChanging(t, {
    before: [a, 'CREATE USER ann', 'CREATE USER old'],
    after: [a, 'CREATE USER ann', ...grants],
    meanwhile: 'GRANT SELECT, INSERT ON a TO ann',
  });
  const outcomes = await apply([`${a};`, `${grants[0]};`], { allowPlan: true });
  t.deepEqual(
    outcomes.map(({ result }) => result),
    [...new Array(4).fill('applied'), 'skipped', 'skipped'],
  );
});

test('sqlapply --alter does not skip what its plan creates, although it is ignored', async t => {
  const server = await serveHere(t, {});
  const { url, queries } = await recordingProxy(t, server, async query => {
    if (query.includes('CREATE TABLE first')) await server.execute('CREATE TABLE needed (y INT)');
    return undefined;
  });
  const text = 'CREATE TABLE first (x INT); CREATE TABLE needed (x INT); CREATE VIEW v AS (SELECT x FROM needed);';
  const run = await inProcess(t, { DB: url }, { 'a.sql': text });
  const { stderr } = await run.exits(1, 'sqlapply --alter --ignore needed $DB a.sql');
  t.regex(stderr, /statement 2 \(table 'needed'\): already exists with a different definition/);
  t.false(queries.some(query => query.includes('CREATE VIEW v')));
});

testWithQuestDB('a rule about tables does not skip the table that a plan creates to mark a view', async t => {
  const print = (column: string) =>
    `CREATE MATERIALIZED VIEW m REFRESH MANUAL DEFERRED AS (SELECT ts, ${column} FROM t SAMPLE BY 1h);`;
  await planRebuild(t);
  await execute(questdb, print('sum(x) n'));
  await execute(questdb, 'REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilRefreshed(questdb);
  const files = { 'a.sql': print('sum(x) n, max(x) y'), 'b.sql': print('sum(x) n, min(x) y') };
  const run = await inProcess(t, { DB: questdb.url }, files);
  for (const operands of ['--ignore table $DB a.sql', '--ignore "*_unfilled_*" $DB b.sql']) {
    const { stderr } = await run.ok(`sqlapply -v --alter ${operands}`);
    t.regex(stderr, /\(table 'm_unfilled_\w+'\): applied/);
  }
});

test('a plan goes on if the reply to a CREATE is lost and the object is there', async t => {
  const server = await serveHere(t, {});
  const { url } = await recordingProxy(t, server, async query => {
    if (!/^(?!SHOW ).*CREATE TABLE b/s.test(query)) return undefined;
    await execute(server, query.replace(/;$/, ''));
    return [502, 'bad gateway'];
  });
  const run = await inProcess(t, { DB: url }, { 'a.sql': 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);' });
  const { stderr } = await run('sqldiff --alter a.sql $DB > plan; sqlapply -v $DB < plan');
  t.regex(stderr, /2 statements: 2 applied/);
  await run.ok('sqldiff a.sql $DB');
});

for (const [how, apply] of [
  ['in a plan', 'sqldiff --alter a.sql $DB | sqlapply -v $DB'],
  ['without a plan', 'sqlsplit a.sql | sqlapply -v $DB'],
] as const)
  test(`a CREATE whose reply is lost, and whose object is there only when it is sent again, is applied ${how}`, async t => {
    const server = await serveHere(t, {});
    const create = 'CREATE TABLE b (x INT)';
    let [isLost, isCreated] = [false, false];
    const { url } = await recordingProxy(t, server, async query => {
      if (!isLost) {
        isLost = /^(?!SHOW ).*CREATE TABLE b/s.test(query);
        return isLost ? [502, 'bad gateway'] : undefined;
      }
      if (isCreated || !query.startsWith('SHOW CREATE')) return undefined;
      isCreated = true;
      await execute(server, create);
      return [400, { query, error: 'table does not exist [table=b]', position: 18 }];
    });
    const run = await inProcess(t, { DB: url }, { 'a.sql': `CREATE TABLE a (x INT); ${create};` });
    const { stderr } = await run(apply);
    t.regex(stderr, /2 statements: 2 applied/);
    t.true(isCreated);
  });

const SUM = 'SELECT count(), sum(x) FROM t';

/** Makes a table with rows, and the file `plan`, which copies them to a new one. */
async function planRebuild(t: ExecutionContext) {
  const print = (unit: string) => `CREATE TABLE t (ts TIMESTAMP, x LONG) TIMESTAMP(ts) PARTITION BY ${unit} WAL;`;
  await execute(questdb, print('DAY'));
  await execute(questdb, "INSERT INTO t SELECT timestamp_sequence('2024-01-01', 60000000), x FROM long_sequence(5000)");
  await waitUntilApplied(questdb);
  const run = await inProcess(t, { DB: questdb.url }, { 'a.sql': print('HOUR') });
  await run('sqldiff --alter --rebuild t a.sql $DB > plan');
  return { run, rows: await execute(questdb, SUM) };
}

for (const [until, message] of [
  ['has copied the rows', /already exists, and the plan was made for a target without it/],
  ['has ended', /somebody else has replaced table 't' while the plan was applied/],
] as const)
  testWithQuestDB(
    `a plan that is applied twice at the same time stops, and rows are copied once: one run ${until}`,
    async t => {
      const { run, rows } = await planRebuild(t);
      const [hasCopied, isOtherOver] = [deferred(), deferred()];
      const { url } = await recordingProxy(t, questdb, async query => {
        if (!query.includes('RENAME TABLE') || until === 'has ended') return undefined;
        hasCopied.resolve();
        await isOtherOver.promise;
        return undefined;
      });
      let applied: Promise<{ code: number }> | undefined;
      const other = await recordingProxy(t, questdb, async query => {
        if (!/^(?!SHOW ).*CREATE TABLE/s.test(query)) return undefined;
        applied ??= run(`sqlapply --allow-plan ${url} < plan`);
        await (until === 'has ended' ? applied : hasCopied.promise);
        return undefined;
      });
      const { stderr } = await run.exits(1, `sqlapply --allow-plan ${other.url} < plan`);
      t.regex(stderr, message);
      t.regex(stderr, /; nothing was lost\n.* make the plan again with sqldiff --alter/);
      isOtherOver.resolve();
      t.like(await applied, { code: 0 });
      t.deepEqual(await execute(questdb, SUM), rows);
    },
  );

for (const [name, trigger, kept] of [
  ['before the first RENAME', /AS as_many_rows/, 't'],
  ['before the second RENAME', /RENAME TABLE 't' TO/, 't_before_'],
] as const)
  testWithQuestDB(
    `a plan does not exchange a table for one that somebody has created again: it stops ${name}`,
    async t => {
      const { run, rows } = await planRebuild(t);
      const { url, queries } = await recordingProxy(t, questdb, async query => {
        if (!trigger.test(query)) return undefined;
        const create = queries.find(each => /^(?!SHOW ).*CREATE TABLE/s.test(each)) ?? '';
        await execute(questdb, `DROP TABLE ${/'t_new_\w+'/.exec(create)?.[0]}`);
        await execute(questdb, create);
        return kept === 't'
          ? [200, { columns: [{ name: 'a', type: 'BOOLEAN' }], dataset: [[true]], count: 1 }]
          : undefined;
      });
      const { stderr } = await run.exits(1, `sqlapply --allow-plan ${url} < plan`);
      const message =
        /\(RENAME of table 't.*'\): somebody else has replaced table 't_new_\w+' while the plan was applied/;
      t.regex(stderr, message);
      const [[table] = []] = await execute(
        questdb,
        `SELECT table_name FROM tables() WHERE table_name LIKE '${kept}%' ORDER BY 1`,
      );
      t.deepEqual(await execute(questdb, SUM.replace(' t', ` '${table}'`)), rows);
    },
  );

testWithQuestDB('a plan stops if somebody else replaces a view while it is refreshed', async t => {
  const table = (columns: string) => `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
  const view =
    'CREATE MATERIALIZED VIEW m REFRESH MANUAL DEFERRED AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h) PARTITION BY DAY;';
  for (const statement of [table('x INT, y INT'), "INSERT INTO t VALUES ('2024-01-01', 1, 1)", view])
    await execute(questdb, statement);
  await waitUntilApplied(questdb);
  await execute(questdb, 'REFRESH MATERIALIZED VIEW m FULL');
  await waitUntilRefreshed(questdb);
  const { url } = await recordingProxy(t, questdb, async query => {
    if (!query.includes('REFRESH MATERIALIZED VIEW')) return undefined;
    await execute(questdb, query.replace(/;$/, ''));
    for (const statement of ['DROP MATERIALIZED VIEW m', view]) await execute(questdb, statement);
    return [200, { ddl: 'OK' }];
  });
  const run = await inProcess(t, { DB: questdb.url }, { 'a.sql': `${table('x INT')} ${view}` });
  await run('sqldiff --alter --allow-loss drop:t.y a.sql $DB > plan');
  const { stderr } = await run.exits(1, `sqlapply --allow-plan ${url} < plan`);
  t.regex(stderr, /accepted, but somebody else has replaced materialized view 'm' while the plan was applied/);
});

testWithQuestDB('a plan gives the name of a view to a table, and then to a materialized view', async t => {
  const base = 'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;';
  await execute(questdb, base);
  await execute(questdb, 'CREATE VIEW v AS (SELECT ts, x FROM t)');
  const view = 'CREATE MATERIALIZED VIEW v AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1h) PARTITION BY DAY;';
  const files = { 'table.sql': `${base} CREATE TABLE v (x INT);`, 'view.sql': `${base} ${view}` };
  const run = await inProcess(t, { DB: questdb.url }, files);
  for (const file of ['table.sql', 'view.sql'])
    await t.notThrowsAsync(
      run.ok(`sqldiff --alter --allow-loss drop:v ${file} $DB > plan; sqlapply --allow-plan $DB < plan`),
    );
});
