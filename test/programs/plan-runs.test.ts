import type { ExecutionContext } from 'ava';
import { waitUntilApplied, waitUntilInvalid, waitUntilRefreshed, waitUntilValid } from '../support/background.js';
import { waitForHoldings } from '../support/holdings.js';
import { day, executeUntil, LONG_MONTH, make, rowsOn, SUM, table } from '../support/kept-rows.js';
import { LEDGER, makeLedger, RENAMED, shellWithFiles } from '../support/ledger.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { execute, type Server } from '../support/server.js';

const server = sharedQuestDB();

testWithQuestDB('the way back of --undo is accepted after the plan, and leads to the rows of before', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after, 'before.sql': LEDGER.before });
  const rows = await execute(server, 'SELECT ts, acc, qty, note, x FROM ledger');
  const careful = await run(`sqldiff --alter ${RENAMED} --undo undo.sql after.sql $DB > plan`);
  const lossesIn = (text: string) =>
    [...text.matchAll(/^(?:-- )? {2}hint: --allow-loss (\S+)$/gm)].map(([, name]) => name);
  const remains = lossesIn(careful.stderr);
  t.deepEqual(remains, ['values:ledger.qty', 'values:ledger.y', 'keys:ledger', 'keys:ledger']);
  t.deepEqual(lossesIn((await run('cat undo.sql')).stdout), remains);
  const allowed = remains.map(name => `--allow-loss ${name}`).join(' ');
  await run.ok(
    `sqldiff --alter ${RENAMED} ${allowed} --undo undo.sql after.sql $DB > plan && sqlapply --allow all $DB < plan`,
  );
  await run.ok('sqldiff after.sql $DB');
  await run.ok('sqlapply --allow all $DB undo.sql');
  const rest = await run('sqldiff --json before.sql $DB');
  t.is(rest.stdout, '', (await run('cat plan undo.sql')).stdout);
  t.deepEqual(await execute(server, 'SELECT ts, acc, qty, note, x FROM ledger'), rows);
});

/** A proxy before the server at $DB, which does something else first when a statement of the plan arrives. */
async function disturb(t: ExecutionContext, server: Server, statement: RegExp, first: () => Promise<unknown>) {
  let isDone = false;
  const { url } = await recordingProxy(t, server, async query => {
    if (!isDone && statement.test(query)) {
      isDone = true;
      await first();
    }
    return undefined;
  });
  return url;
}

testWithQuestDB('a plan stops before a statement that depends on what somebody else has changed meanwhile', async t => {
  await makeLedger(server);
  const proxy = await disturb(t, server, /CREATE VIEW remarks/, async () => {
    await execute(server, 'ALTER TABLE ledger ADD COLUMN other INT');
    await waitUntilApplied(server);
  });
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  const stopped = await run.exits(1, `sqlapply --allow all ${proxy} < plan`);
  t.regex(
    stopped.stderr,
    /statement 17 \(REFRESH of materialized view 'hourly'\): somebody else has changed table 'ledger' while the plan was applied: column 'other': none to INT/,
  );
  t.regex(stopped.stderr, /view 'hourly' is invalid: rename column operation/);
  t.regex(stopped.stderr, /16 of 17 applied, 1 rejected; nothing was lost\n.*make the plan again with sqldiff --alter/);
  await run.ok(
    `sqldiff --alter ${RENAMED} --allow-loss drop:ledger.other after.sql $DB | sqlapply --allow all $DB; sqldiff after.sql $DB`,
  );
});

testWithQuestDB('a refresh is not sent if its view has got a refresh limit since the assertion about it', async t => {
  await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
  const proxy = await disturb(t, server, /ALTER COLUMN x TYPE/, () =>
    execute(server, 'ALTER MATERIALIZED VIEW m SET REFRESH LIMIT 2 DAYS'),
  );
  const run = await shellWithFiles(t, server, { 'after.sql': `${table(day(''), 'x LONG')} ${SUM};` });
  await run.ok('sqldiff --alter -o plan.sql after.sql $DB');
  const { stderr } = await run.exits(1, `sqlapply --allow-plan ${proxy} plan.sql`);
  t.regex(stderr, /REFRESH of materialized view 'm': the assertion is not true: 'm' has a refresh limit/);
  t.deepEqual(await execute(server, 'SELECT count() FROM m'), [[3]]);
});

/** The first day, of which the view holds a row. */
const LOSSES = {
  detached: "ALTER TABLE t DETACH PARTITION LIST '2024-01-01'",
  dropped: "ALTER TABLE t DROP PARTITION LIST '2024-01-01'",
  truncated: 'TRUNCATE TABLE t',
};

for (const [moment, statement, after] of [
  ['REFRESH', /ALTER COLUMN x TYPE/, `${table(day(''), 'x LONG')} ${SUM};`],
  ['DROP', /AS none_limited/, `${table(day(''))} ${SUM.replace('sum', 'max')};`],
  ['CREATE', /DROP MATERIALIZED VIEW/, `${table(day(''))} ${SUM.replace('sum', 'max')};`],
] as const)
  for (const [what, loss] of Object.entries(LOSSES))
    testWithQuestDB(
      `a view's ${moment} is not sent if rows below it are ${what} after the assertion about it`,
      async t => {
        await make(server, [...rowsOn(LONG_MONTH, day('')), SUM]);
        const proxy = await disturb(t, server, statement, async () => {
          await execute(server, loss);
          await waitUntilApplied(server);
        });
        const run = await shellWithFiles(t, server, { 'after.sql': after });
        await run.ok('sqldiff --alter -o plan.sql after.sql $DB');
        const { stderr } = await run.exits(1, `sqlapply --allow-plan ${proxy} plan.sql`);
        t.regex(
          stderr,
          /materialized view 'm': rows of table 't' were removed while the plan was applied, so rows of materialized view 'm' cannot be computed again\n/,
        );
        if (moment !== 'CREATE') t.deepEqual(await execute(server, 'SELECT count() FROM m'), [[3]]);
      },
    );

testWithQuestDB('a refresh is not sent if rows are removed that the view reads through another view', async t => {
  const columns = (z: string) => `x INT, z ${z}`;
  const others = [
    'CREATE TABLE u (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL',
    'CREATE VIEW below AS (SELECT ts, x FROM u)',
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (SELECT t.ts, count() n FROM t JOIN below ON (x) SAMPLE BY 1h) PARTITION BY DAY',
  ];
  const [create = '', insert = ''] = rowsOn(LONG_MONTH, day(''), columns('INT'));
  const [u = '', below = '', m = ''] = others;
  await make(server, [create, insert, u, "INSERT INTO u VALUES ('2024-01-01', 70000)", below, m]);
  const proxy = await disturb(t, server, /ALTER COLUMN z TYPE/, () => execute(server, 'TRUNCATE TABLE u'));
  const run = await shellWithFiles(t, server, {
    'after.sql': `${[table(day(''), columns('LONG')), ...others].join(';')};`,
  });
  await run.ok('sqldiff --alter -o plan.sql after.sql $DB');
  const { stderr } = await run.exits(1, `sqlapply --allow-plan ${proxy} plan.sql`);
  t.regex(stderr, /REFRESH of materialized view 'm': rows of table 'u' were removed while the plan was applied/);
  t.deepEqual(await execute(server, 'SELECT count() FROM m'), [[1]]);
});

testWithQuestDB('a statement is not sent if what its assertions are about has changed since', async t => {
  const rows = [
    'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL',
    "INSERT INTO t VALUES ('2024-01-01', 1)",
  ];
  await make(server, rows);
  // The last assertion about the old table. An earlier one was that the new table has all of its rows.
  const proxy = await disturb(t, server, /all_attached .*'t_before/, () => execute(server, 'DROP TABLE t'));
  const run = await shellWithFiles(t, server, { 'after.sql': `${rows[0]?.replace('BY DAY', 'BY HOUR')};` });
  await run.ok('sqldiff --alter --rebuild t --drop-old -o plan.sql after.sql $DB');
  const { stderr } = await run.exits(1, `sqlapply --allow-plan ${proxy} plan.sql`);
  t.regex(
    stderr,
    /DROP of table 't_before_\w+': somebody else has dropped or renamed table 't' while the plan was applied/,
  );
});

testWithQuestDB('two plans at once: the second one is refused, and the first one is completed', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  let second: Awaited<ReturnType<typeof run>> | undefined;
  const proxy = await disturb(t, server, /RENAME COLUMN note/, async () => {
    second = await run('sqlapply --allow all $DB < plan');
  });
  const first = await run(`sqlapply --allow all ${proxy} < plan`);
  t.is(second?.code, 1);
  t.regex(second?.stderr ?? '', /the plan was made for a different state.*nothing was sent/);
  t.is(first.code, 0, first.stderr);
  await run.ok('sqldiff after.sql $DB');
});

testWithQuestDB('two plans that start at the same moment: one is completed, and the other stops', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, { 'after.sql': LEDGER.after });
  await run(`sqldiff --alter ${RENAMED} after.sql $DB > plan`);
  const both = await run.bash(
    'sqlapply --allow all $DB < plan & sqlapply --allow all $DB < plan; a=$?; wait $!; echo $a $?',
  );
  t.regex(both.stdout, /^(?:0 1|1 0)$/m, both.stderr);
  await run.ok('sqldiff after.sql $DB');
});

testWithQuestDB('a plan that stops says what nothing undoes', async t => {
  await makeLedger(server);
  const run = await shellWithFiles(t, server, {
    'after.sql': LEDGER.before
      .replace(', note VARCHAR', '')
      .replace('PARTITION BY DAY DEDUP', 'PARTITION BY DAY TTL 1 WEEK DEDUP'),
  });
  await run('sqldiff --alter --allow-loss drop:ledger.note --allow-loss ttl:ledger after.sql $DB > plan');
  const proxy = await disturb(t, server, /REFRESH MATERIALIZED/, async () => {
    await execute(server, 'ALTER TABLE ledger ADD COLUMN other INT');
    await waitUntilApplied(server);
  });
  const stopped = await run(`sqlapply --allow all ${proxy} < plan`);
  t.regex(stopped.stderr, /6 of 7 applied, 1 rejected; nothing undoes statement 5\n/);
});

testWithQuestDB('the designated timestamp of a WAL table is renamed only by a rebuild', async t => {
  const print = (name: string, rest = '') =>
    `CREATE TABLE t (${name} TIMESTAMP,${rest}\n x INT) TIMESTAMP(${name}) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${name});`;
  await execute(server, print('ts'));
  await execute(server, 'INSERT INTO t VALUES (0, 1)');
  await waitUntilApplied(server);
  t.regex(String((await server.execute('ALTER TABLE t RENAME COLUMN ts TO time')).error), /cannot rename designated/);
  const run = await shellWithFiles(t, server, {
    'a.sql': print('time'),
    'commented.sql': print('time', ' -- renamed from ts'),
  });
  for (const operands of ['--renamed t.ts=time a.sql', 'commented.sql'])
    t.regex(
      (await run.exits(1, `sqldiff --alter ${operands} $DB`)).stderr,
      /left out: ALTER TABLE 't' RENAME COLUMN ts TO time\n {2}cannot be altered: .*needs a new table\n {2}hint: --rebuild t makes one$/m,
    );
  await run.ok(
    'sqldiff --alter --rebuild t commented.sql $DB | sqlapply --allow-plan $DB && sqldiff a.sql $DB --ignore "t_before_*"',
  );
  t.deepEqual(await execute(server, 'SELECT time, x FROM t'), [['1970-01-01T00:00:00.000000Z', 1]]);
});

testWithQuestDB('a plan killed after it dropped the base of a kept view is completed before its renames', async t => {
  const reader = 'CREATE MATERIALIZED VIEW d WITH BASE m AS (select ts, sum(n) n from m sample by 1d) PARTITION BY DAY';
  for (const [option, names, after] of [
    ['t.x=y', ['y INT', 'sum(y)'], 't'],
    ['t=u', ['x INT', 'sum(x)'], 'u'],
  ] as const) {
    await server.dropAll();
    const before = await make(server, [...rowsOn(LONG_MONTH, day('')), SUM, reader]);
    const wanted = [table(day(''), names[0]), SUM.replace('sum(x)', names[1]).replace(/\bt\b(?= AS)/, after)];
    const text = `${wanted.join('\n').replace('TABLE t', `TABLE ${after}`).replace('from t', `from ${after}`)};`;
    const run = await shellWithFiles(t, server, { 'after.sql': text });
    const options = `--ignore-extra --renamed ${option} after.sql $DB`;
    await run.ok(`sqldiff --alter ${options} > plan`);
    await executeUntil(server, run, 'DROP MATERIALIZED VIEW');
    await waitUntilInvalid(server);
    await t.notThrowsAsync(run.ok(`sqldiff --alter ${options} | sqlapply -q --allow-plan $DB`));
    await waitUntilValid(server);
    await waitForHoldings(server, new Map([...before].filter(([name]) => name === 'd')));
  }
});

testWithQuestDB('a view is not compared while the view that it reads is computed again', async t => {
  const schema = [
    'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY MONTH WAL',
    "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH IMMEDIATE AS (SELECT ts, sum(x) n FROM t SAMPLE BY 1s) PARTITION BY MONTH",
    "CREATE MATERIALIZED VIEW 'd' WITH BASE 'm' REFRESH IMMEDIATE AS (SELECT ts, max(n) n FROM m SAMPLE BY 1h) PARTITION BY MONTH",
  ];
  await make(server, [
    schema[0] as string,
    "INSERT INTO t SELECT timestamp_sequence('2024-01-01', 1000000L), x::INT FROM long_sequence(400000)",
    ...schema.slice(1),
  ]);
  await waitUntilRefreshed(server);
  await make(server, ['UPDATE t SET x = x WHERE x = 1']);
  await waitUntilInvalid(server);
  // An interrupted plan has sent this just before. Its rows are gone when the next plan compares the view above.
  const url = await disturb(t, server, /rows_lost.* FROM 'd' /s, async () => {
    await execute(server, "REFRESH MATERIALIZED VIEW 'm' FULL");
    while ((await execute(server, 'SELECT 1 FROM m LIMIT 1')).length > 0);
  });
  const run = await shellWithFiles(t, { ...server, url }, { 'after.sql': `${schema.join(';\n')};` });
  await t.notThrowsAsync(run.ok('sqldiff --alter after.sql $DB > plan'));
});

/** A plain view `w` over `v`, which reads `from`; a materialized view over `w`; A and B differ in what `v` reads. */
const overView = (from: string, base: string, ...others: string[]) => [
  ...others,
  `CREATE VIEW v AS (select ts, x from ${from})`,
  'CREATE VIEW w AS (select ts, x from v)',
  'CREATE VIEW z AS (select ts, x from w)',
  `CREATE MATERIALIZED VIEW o WITH BASE ${base} AS (select ts, sum(x) n from w sample by 1h) PARTITION BY DAY`,
];

testWithQuestDB('a view over a view that reads something else is repaired, wherever the plan was killed', async t => {
  const [t1 = '', rows = ''] = rowsOn(LONG_MONTH, day(''));
  const t2 = t1.replace('TABLE t', 'TABLE t2');
  const low = (name: string) =>
    `CREATE MATERIALIZED VIEW ${name} WITH BASE t AS (select ts, max(x) x from t sample by 1m) PARTITION BY DAY`;
  for (const [before, after, options, first] of [
    [overView('t', 't', t1, rows), overView('t2', 't2', t2), '--renamed t=t2', 'RENAME TABLE'],
    [overView('t', 't', t1, rows), overView('t2', 't2', `-- renamed from t\n${t2}`), '', 'RENAME TABLE'],
    [
      overView('a', 'a', t1, rows, low('a')),
      overView('b', 'b', t1, low('b')),
      '--renamed a=b',
      "DROP MATERIALIZED VIEW 'a",
    ],
    [overView('t', 't', t1, rows, t2), overView('t2', 't2', t1, t2), '--allow-loss history:o', "ALTER VIEW 'v'"],
  ] as const)
    for (const killed of [first, "ALTER VIEW 'v'", "ALTER VIEW 'w'"]) {
      await server.dropAll();
      const holdings = await make(server, before);
      const run = await shellWithFiles(t, server, { 'after.sql': after.map(each => `${each};`).join('\n') });
      await run.ok(`sqldiff --alter ${options} after.sql $DB > plan`);
      await executeUntil(server, run, killed);
      await run.ok(`sqldiff --alter ${options} after.sql $DB | sqlapply -q --allow-plan $DB`);
      t.is((await run.ok('sqldiff after.sql $DB')).stdout, '', killed);
      for (const view of ['v', 'w', 'z']) await execute(server, `SELECT count() FROM ${view}`);
      const kept = new Map([...holdings].filter(([name]) => name === 'o'));
      if (!options.includes('history')) await waitForHoldings(server, kept, undefined, `${options} ${killed}`);
    }
});

testWithQuestDB('a view that the server cannot query is reported, and repaired unless that is ignored', async t => {
  const [t1 = '', rows = ''] = rowsOn(LONG_MONTH, day(''));
  const t2 = t1.replace('TABLE t', 'TABLE t2');
  await make(server, [...overView('t', 't', t1, rows, t2), 'ALTER VIEW v AS (select ts, x from t2)']);
  const after = overView('t2', 't', t1, t2).map(each => `${each};`);
  const run = await shellWithFiles(t, server, { 'after.sql': after.join('\n') });
  const found = await run.exits(1, 'sqldiff after.sql $DB');
  t.regex(
    found.stdout,
    /^invalid in .*: view 'w'\n {2}it reads a view whose query has changed; .*\ninvalid in .*: view 'z'/,
  );
  const ignored = await run.ok("sqldiff --alter --ignore '*: invalid' after.sql $DB");
  t.is(ignored.stdout, '\0');
  const { stdout } = await run.ok('sqldiff --alter --ignore-extra after.sql $DB | tee plan');
  t.deepEqual(stdout.match(/^ALTER VIEW '\w'/gm), ["ALTER VIEW 'w'", "ALTER VIEW 'z'"]);
});
