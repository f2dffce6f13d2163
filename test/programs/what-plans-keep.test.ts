/*!
 * What a plan keeps as long as nobody allows a loss, and what goes when it is allowed: asked of a real QuestDB before and after,
 * never of the planner.
 */
import { cases } from '../cases/cases.js';
import { waitUntilApplied, waitUntilInvalid, waitUntilNone } from '../support/background.js';
import { findMissing, type NewNames, takeHoldings, waitForHoldings } from '../support/holdings.js';
import { day, LONG_MONTH, make, namesOf, rowsOn, SUM, table } from '../support/kept-rows.js';
import { shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

/** What a plan is told and loses: lines such as `loss: ttl:t`, in their order. */
const linesOf = (text: string, what: string): string[] =>
  Array.from(text.matchAll(new RegExp(`^${what}: (.*)$`, 'gm')), ([, line = '']) => line);

// The last part has the options, the losses that are left out, and what is missing when these are allowed.
for (const { title, input, output, more } of cases('kept-rows'))
  testWithQuestDB(`a plan keeps what nobody allowed to lose: ${title}`, async t => {
    const before = await make(server, input.split('\n'));
    const run = await shellWithFiles(t, server, { 'after.sql': output });
    const [[options = ''], losses, missing] = [
      linesOf(more, 'options'),
      linesOf(more, 'loss'),
      linesOf(more, 'missing'),
    ];
    const renamed = new Map(Array.from(more.matchAll(/renamed ([\w.]+)=(\w+)/g), ([, from, to]) => [from, to]));
    const names: NewNames = {
      object: name => renamed.get(name),
      column: (object, column) => renamed.get(`${object}.${column}`),
      isRedefined: name => linesOf(more, 'redefined').includes(name),
    };
    const apply = async (allowed: string) =>
      run(`sqldiff --alter ${options} ${allowed} after.sql $DB > plan; echo $?; sqlapply -q --allow-plan $DB < plan`);
    const careful = await apply('');
    t.is(careful.code, 0, careful.stderr);
    t.is(careful.stdout, losses.length > 0 ? '1\n' : '0\n', careful.stderr);
    t.deepEqual(namesOf(careful.stderr), losses, careful.stderr);
    await waitForHoldings(server, before, names, careful.stderr);
    if (losses.length === 0) return;
    const bold = await apply(losses.map(name => `--allow-loss ${name}`).join(' '));
    t.deepEqual([bold.code, bold.stdout, bold.stderr], [0, '0\n', '']);
    // A permission is asked for only where something really goes.
    const isMissing = (line: string, found: string[]) => found.some(each => each.startsWith(line));
    await waitUntilNone(async () => {
      const found = findMissing(before, await takeHoldings(server), names);
      return missing.every(line => isMissing(line, found)) ? [] : [missing, found];
    });
  });

testWithQuestDB('a view that fails on its rows keeps those that it has, whatever is allowed', async t => {
  const view = SUM.replace('sum(x)', 'max(cast(x as decimal(2,0)))');
  await make(server, [table(day('')), "INSERT INTO t VALUES ('2024-01-01', 1), ('2024-01-02', 2)", view]);
  await execute(server, "INSERT INTO t VALUES ('2024-01-03', 1000)");
  await waitUntilInvalid(server);
  const before = await takeHoldings(server);
  t.is(before.get('m')?.rows, 2);
  const after = [table(day(''), 'x INT, y INT'), `${view};`].join('\n');
  const run = await shellWithFiles(t, server, { 'after.sql': after });
  const plan = await run(
    'sqldiff --alter --allow-loss history:m after.sql $DB > plan; sqlapply --allow-plan $DB < plan',
  );
  t.regex(
    plan.stderr,
    /'m': left out: a repair\n {2}its query would fail again on the same rows: inconvertible value: 1000/,
  );
  t.is(plan.code, 0);
  const now = await takeHoldings(server);
  t.deepEqual([findMissing(before, now), now.get('m')?.rows], [[], 2]);
});

testWithQuestDB('only a full refresh repairs an invalid view', async t => {
  await make(server, [...rowsOn(LONG_MONTH, day(''), 'x INT, y INT'), SUM]);
  await execute(server, 'ALTER TABLE t DROP COLUMN y');
  await waitUntilInvalid(server);
  const run = await shellWithFiles(t, server, {
    'incremental.sql': 'REFRESH MATERIALIZED VIEW m INCREMENTAL;',
    'range.sql': "REFRESH MATERIALIZED VIEW m RANGE FROM '2024-01-01' TO '2024-01-02';",
    'full.sql': 'REFRESH MATERIALIZED VIEW m FULL;',
  });
  const isForetold = async (file: string) =>
    (await run(`sqlapply --dry-run --allow REFRESH $DB ${file}`)).stdout.includes('repairs');
  for (const file of ['incremental.sql', 'range.sql']) {
    t.false(await isForetold(file));
    await run(`sqlapply --allow REFRESH $DB ${file}`);
    t.is((await takeHoldings(server)).get('m')?.invalid, 'drop column operation');
  }
  t.true(await isForetold('full.sql'));
  await run.ok('sqlapply --allow REFRESH $DB full.sql');
  t.like((await takeHoldings(server)).get('m'), { rows: 3, invalid: undefined });
});

testWithQuestDB('rows that only a key of before kept apart overwrite each other', async t => {
  const keys = (names: string) =>
    `CREATE TABLE t (ts TIMESTAMP, x INT, y INT) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${names});`;
  await make(server, [keys('ts,x')]);
  const insert = async (time: string) => {
    await execute(server, `INSERT INTO t VALUES ('${time}', 1, 7), ('${time}', 2, 7)`);
    await waitUntilApplied(server);
    return (await takeHoldings(server)).get('t')?.rows;
  };
  t.is(await insert('2024-01-01'), 2);
  const run = await shellWithFiles(t, server, { 'after.sql': keys('ts,y') });
  const careful = await run('sqldiff --alter after.sql $DB | sqlapply --allow-plan $DB');
  t.deepEqual(namesOf(careful.stderr), ['keys:t']);
  t.is(await insert('2024-01-02'), 4);
  await run('sqldiff --alter --allow-loss keys:t after.sql $DB | sqlapply --allow-plan $DB');
  t.is(await insert('2024-01-03'), 5);
});

testWithQuestDB('a plan that drops a table does not drop another one of its name', async t => {
  const run = await shellWithFiles(t, server, { 'after.sql': table(day('')) });
  const extra = 'CREATE TABLE extra (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY WAL';
  for (const change of [
    ['ALTER TABLE extra ADD COLUMN b INT'],
    ['DROP TABLE extra', extra.replace('a INT', 'a LONG'), "INSERT INTO extra VALUES ('2024-01-01', 1)"],
  ]) {
    await server.dropAll();
    await make(server, [table(day('')), extra, "INSERT INTO extra VALUES ('2024-01-01', 1)"]);
    await run('sqldiff --alter --allow-loss drop:extra after.sql $DB > plan');
    for (const statement of change) await execute(server, statement);
    await waitUntilApplied(server);
    t.regex((await run.exits(1, 'sqlapply --allow-plan $DB < plan')).stderr, /the plan was made for a different state/);
    t.is((await takeHoldings(server)).get('extra')?.rows, 1);
  }
});
