/*! Plans that are made again after an interruption, from the schema that the first plan has left. */
import type { StoredRows } from '@sqlpipe/engine';
import { planChanges } from '@sqlpipe/plan';
import { IgnoreRules } from '@sqlpipe/schema';
import { NameMap, NameSet } from '@sqlpipe/sql';
import { changesOf, engineWith, executeAll, lossesOf } from '../support/plans.js';
import { test } from '../support/test.js';

test('after a rebuild has renamed the timestamp, the expired rows of a view over an invalid view are counted', async t => {
  const table = 'CREATE TABLE t (time TIMESTAMP, x INT) timestamp(time) PARTITION BY DAY;';
  const stored =
    "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH MANUAL AS (select ts, sum(x) n from v sample by 1h) PARTITION BY DAY TTL 1 DAY;";
  const asked: string[] = [];
  const fetchRow = async (query: string) => {
    asked.push(query);
    return [0];
  };
  const health = { invalid: new NameMap(['v', 'm'].map(name => [name, 'Invalid column: ts'])) };
  const { omissions } = await planChanges(
    [table, 'CREATE VIEW v AS (select time ts, x from t);', stored],
    [table, 'CREATE VIEW v AS (select ts, x from t);', stored],
    { renamed: ['t.ts=time'], fetchRow, health },
  );
  t.deepEqual(omissions, []);
  t.regex(asked.join('\n'), /max\("ts"\) newest/);
});

test('a view that a plan has dropped is created after the views below it, which the next plan recreates', async t => {
  const tables = (type: string) => [
    'CREATE TABLE a (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;',
    `CREATE TABLE b (ts TIMESTAMP, y ${type}) timestamp(ts) PARTITION BY DAY WAL;`,
  ];
  const stored = (name: string, base: string, query: string) =>
    `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' REFRESH IMMEDIATE AS (select ${base}.ts, ${query} sample by 1d) PARTITION BY DAY;`;
  const views = [
    stored('low', 'a', 'last(y) n from a asof join b'),
    stored('middle', 'low', 'last(n) n from low'),
    stored('high', 'middle', 'last(n) n from middle'),
  ];
  const [before, after] = [
    [...tables('INT'), ...views],
    [...tables('LONG'), ...views],
  ];
  const first = changesOf(await planChanges(after, before));
  const engine = engineWith(before);
  const dropped = first.indexOf("DROP MATERIALIZED VIEW 'high';");
  t.true(dropped >= 0, first.join('\n'));
  for (const statement of first.slice(0, dropped + 1)) engine.execute(statement);
  const next = await planChanges(after, engine.statements());
  t.deepEqual(next.omissions, []);
  t.deepEqual(changesOf(next), first.slice(dropped + 1));
});

/** A table, and a view `m` over it; `m2` reads `m`, and is filled once. */
const chain = (refresh: string, query: string, ...between: string[]) => [
  'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;',
  "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH IMMEDIATE AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;",
  ...between,
  `CREATE MATERIALIZED VIEW 'm2' ${refresh} AS (${query}) PARTITION BY MONTH;`,
];

test('a view that a plan creates is filled before a view over it that is filled once', async t => {
  const daily = 'select ts, sum(n) n from m sample by 1d';
  const joined = 'select t.ts, last(n) n from t asof join m sample by 1d';
  const plain = 'CREATE VIEW v AS (select ts, n from m);';
  const [mark = ''] = changesOf(
    await planChanges(
      chain('WITH BASE m REFRESH MANUAL DEFERRED', daily.replace('sum', 'max')),
      chain('WITH BASE m REFRESH MANUAL DEFERRED', daily),
    ),
  );
  t.regex(mark, /^CREATE TABLE 'm2_unfilled_/);
  for (const [wanted, ...left] of [
    [chain('WITH BASE m REFRESH MANUAL DEFERRED', daily), mark],
    [chain('WITH BASE m REFRESH MANUAL', daily)],
    [chain('WITH BASE m REFRESH EVERY 1h', daily)],
    [chain('WITH BASE t REFRESH IMMEDIATE', joined)],
    [chain('WITH BASE m REFRESH MANUAL', daily.replace('from m', 'from v'), plain)],
  ] as const) {
    const [table = ''] = wanted;
    const { omissions, ...plan } = await planChanges(wanted, [table, ...left]);
    t.deepEqual(omissions, []);
    const changes = changesOf({ omissions, ...plan });
    const filled = changes.indexOf("REFRESH MATERIALIZED VIEW 'm' FULL;");
    const created = changes.findIndex(change => change.startsWith("CREATE MATERIALIZED VIEW 'm2'"));
    t.true(filled > 0 && filled < created, changes.join('\n'));
    // Over an empty table, no view needs to be filled.
    const found = changesOf(await planChanges(wanted, left)).filter(change => /^REFRESH .* 'm' /.test(change));
    t.deepEqual(found, []);
  }
  const [all, health] = [chain('WITH BASE m REFRESH MANUAL', daily), { neverRefreshed: new NameSet(['m']) }];
  const [first] = changesOf(await planChanges(all, all.slice(0, 2), { health }));
  t.is(first, "REFRESH MATERIALIZED VIEW 'm' FULL;", 'the server has not begun to fill it');
  const follower = chain('WITH BASE m REFRESH IMMEDIATE', daily);
  t.deepEqual(changesOf(await planChanges(follower, follower.slice(0, 1))), follower.slice(1));
});

test('a new view gets its TTL after the views over it are filled with rows of B', async t => {
  const daily = 'select ts, sum(n) n from m sample by 1d';
  const [table = '', ...views] = chain('WITH BASE m REFRESH IMMEDIATE', daily).map((each, i) =>
    i === 1 ? each.replace(';', ' TTL 1 DAY;') : each,
  );
  const [low = '', high = ''] = views;
  const plan = await planChanges([table, ...views], [table]);
  t.deepEqual(changesOf(plan), [
    low.replace(/AS \((.*)\)(.*) TTL 1 DAY;/, 'AS (\n$1\n)$2;'),
    "REFRESH MATERIALIZED VIEW 'm' FULL;",
    high,
    "REFRESH MATERIALIZED VIEW 'm2' FULL;",
    "ALTER MATERIALIZED VIEW 'm' SET TTL 1 DAY;",
  ]);
  t.deepEqual(plan.neededAllowances, []);
  t.false(plan.remarks.some(remark => remark.includes('nothing undoes')));
  // Nothing can be lost: no table has rows, or no view reads `m`, or the option keeps the TTL as it is.
  t.deepEqual(changesOf(await planChanges([table, ...views], [])), [table, ...views]);
  t.deepEqual(changesOf(await planChanges([table, low], [table])), [low]);
  const ignore = new IgnoreRules(['m: TTL']);
  t.is(changesOf(await planChanges([table, ...views], [table], { ignore }))[0], low);
  // The partitions of this view are years. CREATE accepts the TTL, but no ALTER would set it.
  const [ofYears, reader] = [low.replace('1h', '1y'), high].map(each =>
    each.replace(' PARTITION BY DAY TTL 1 DAY', ' TTL 1 MONTH'),
  );
  t.is(changesOf(await planChanges([table, ofYears ?? '', reader ?? ''], [table]))[0], ofYears);
});

test('a view that is not filled completely keeps its mark until the next plan has filled it', async t => {
  const wanted = chain('WITH BASE m REFRESH MANUAL DEFERRED', 'select ts, sum(n) n from m sample by 1d');
  const changed = await planChanges(
    wanted,
    wanted.map(each => each.replace('sum(n)', 'max(n)')),
  );
  const [mark = ''] = changesOf(changed);
  const next = await planChanges(wanted, [...wanted, mark], { health: { partlyRefreshed: new NameSet(['m2']) } });
  t.deepEqual(changesOf(next), ["REFRESH MATERIALIZED VIEW 'm2' FULL;", mark.replace(/CREATE (.*) \(.*/, 'DROP $1;')]);
});

test('a view that a server was filling when it died is filled by the next plan', async t => {
  const daily = 'select ts, sum(n) n from m sample by 1d';
  const refreshed = (...views: string[]) => views.map(view => `REFRESH MATERIALIZED VIEW '${view}' FULL;`);
  const healthOf = (...views: string[]) => ({ neverRefreshed: new NameSet(views), unstarted: new NameSet(views) });
  for (const refresh of [
    'WITH BASE m REFRESH MANUAL',
    'WITH BASE m REFRESH EVERY 1h',
    'WITH BASE m REFRESH IMMEDIATE',
  ]) {
    const all = chain(refresh, daily);
    const plan = await planChanges(all, all, { health: healthOf('m2') });
    t.deepEqual([changesOf(plan), plan.omissions], [refreshed('m2'), []], refresh);
    t.deepEqual(changesOf(await planChanges(all, all, { health: healthOf('m', 'm2') })), refreshed('m', 'm2'), refresh);
    // The server is filling it.
    t.deepEqual(
      changesOf(await planChanges(all, all, { health: { neverRefreshed: new NameSet(['m2']) } })),
      [],
      refresh,
    );
    const ignore = new IgnoreRules(['m2']);
    t.deepEqual(changesOf(await planChanges(all, all, { health: healthOf('m2'), ignore })), [], refresh);
    // The interrupted plan may have refreshed a view that only B has.
    const extra = { health: healthOf('m2'), ignoreExtra: true };
    t.deepEqual(changesOf(await planChanges(all.slice(0, 2), all, extra)), refreshed('m2'), refresh);
  }
  const deferred = chain('WITH BASE m REFRESH MANUAL DEFERRED', daily);
  t.deepEqual(changesOf(await planChanges(deferred, deferred, { health: healthOf('m2') })), []);
});

test('the mark of a view with a long name has a name that a server accepts', async t => {
  const emoji = '\u{1f600}';
  for (const name of ['m'.repeat(109), 'm'.repeat(110), 'm'.repeat(127), emoji.repeat(63), `m${emoji.repeat(63)}`]) {
    const now = chain('WITH BASE m REFRESH MANUAL DEFERRED', 'select ts, sum(n) n from m sample by 1d').map(each =>
      each.replace("'m2'", `'${name}'`),
    );
    const wanted = now.map(each => each.replace('sum(n)', 'max(n)'));
    const changed = await planChanges(wanted, now);
    t.deepEqual(changed.omissions, []);
    const [mark = ''] = changesOf(changed);
    const drop = mark.replace(/CREATE (.*) \(.*/, 'DROP $1;');
    t.regex(mark, /^CREATE TABLE '.{1,118}_unfilled_\w{8}' /u);
    t.is(changesOf(changed).at(-1), drop);
    for (const left of [wanted.slice(0, 2), wanted]) {
      const health = { partlyRefreshed: new NameSet([name]) };
      const next = changesOf(await planChanges(wanted, [...left, mark], { health }));
      t.deepEqual(next.slice(-2), [`REFRESH MATERIALIZED VIEW '${name}' FULL;`, drop]);
    }
    const other = mark.replace(/_\w{8}'/, "_12345678'");
    t.is(lossesOf(await planChanges(wanted, [...wanted, other])).length, 1, 'it may be a table of the user');
  }
});

test('a view over a plain view that gets another query is recreated instead of refreshed, and dropped first', async t => {
  const [table, column] = ['CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;', ', n VARCHAR)'];
  const schema = (limit: number, low = 'sum') => [
    `CREATE VIEW v AS (select ts, x from t where x > ${limit});`,
    'CREATE VIEW w AS (select * from v);',
    `CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE AS (select ts, ${low}(x) n from w sample by 1h) PARTITION BY DAY;`,
    'CREATE MATERIALIZED VIEW m2 WITH BASE m REFRESH IMMEDIATE AS (select ts, sum(n) n from m sample by 1d) PARTITION BY MONTH;',
  ];
  const before = [table.replace(')', column), ...schema(10)];
  const allowLoss = ['drop:t.n'];
  for (const after of [
    [table, ...schema(50)],
    [table, ...schema(50, 'max')],
  ]) {
    const first = changesOf(await planChanges(after, before, { allowLoss }));
    t.deepEqual(first.slice(0, 2), ["DROP MATERIALIZED VIEW 'm2';", "DROP MATERIALIZED VIEW 'm';"], first.join('\n'));
    t.regex(first[2] ?? '', /^ALTER VIEW 'v'/);
    const engine = engineWith(before);
    for (const [i, statement] of first.entries()) {
      engine.execute(statement);
      const next = await planChanges(after, engine.statements(), { allowLoss });
      t.deepEqual(next.omissions, []);
      const isStoredDropped = i > 0;
      if (isStoredDropped) t.false(changesOf(next).some(change => change.startsWith('DROP MATERIALIZED')));
    }
  }
  // Without a refresh, the view keeps its rows, which are those of the former query.
  const onlyView = await planChanges([table, ...schema(50)], [table, ...schema(10)]);
  const areOfViews = changesOf(onlyView).every(change => change.startsWith('ALTER VIEW'));
  t.true(areOfViews, changesOf(onlyView).join('\n'));
  const seen = onlyView.statements[0]?.comments.slice(1);
  t.deepEqual(seen, ["materialized view 'm' keeps the rows of the former query until REFRESH … FULL"]);
});

test('after a rename was interrupted, a server is asked about a view over the query that the plain view will have', async t => {
  const view = 'CREATE VIEW v AS (select ts, x from t);';
  const stored =
    "CREATE MATERIALIZED VIEW 'm' WITH BASE 't2' REFRESH MANUAL AS (select ts, sum(x) n from v sample by 1h) PARTITION BY DAY;";
  const table = 'CREATE TABLE t2 (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
  // The server cannot query the view `v` yet, because it has no table `t`.
  const fetchRow = async (query: string) => (query.includes('from v ') ? undefined : [1]);
  const { omissions, ...plan } = await planChanges(
    [`-- renamed from t\n${table}`, view.replace('from t', 'from t2'), stored],
    [table, view],
    { fetchRow, health: { invalid: new NameMap([['v', 'table does not exist [table=t]']]) } },
  );
  t.deepEqual(omissions, []);
  t.is(changesOf({ omissions, ...plan }).at(-1), stored);
});

const partitioned = (unit: string, columns = 'x INT') =>
  `CREATE TABLE t (ts TIMESTAMP, ${columns}) timestamp(ts) PARTITION BY ${unit} WAL;`;

test('between the two renames of a rebuild, a plan without --rebuild does not create the table', async t => {
  const view = 'CREATE VIEW v AS (select x from t);';
  const [before, after] = [partitioned('DAY'), partitioned('HOUR')];
  const rebuild = changesOf(await planChanges([after], [before], { rebuild: ['t'] }));
  const renamed = rebuild.findIndex(text => text.startsWith('RENAME'));
  const engine = engineWith([before]);
  for (const statement of rebuild.slice(0, renamed + 1)) engine.execute(statement);
  const interrupted = engine.statements();
  for (const [wanted, options, hint] of [
    [after, {}, /^--rebuild t finishes that rebuild$/],
    [after, { ignoreExtra: true }, /^--rebuild t finishes that rebuild$/],
    [partitioned('WEEK'), { rebuild: ['t'] }, /^send RENAME TABLE 't_before_\w{8}' TO 't'; and plan again$/],
  ] as const) {
    const plan = await planChanges([wanted, view], interrupted, options);
    t.deepEqual([changesOf(plan), plan.notes], [[], []]);
    const [omission, ofView, ...others] = plan.omissions;
    t.regex(
      omission?.reasons[0] ?? '',
      /interrupted between its two renames; the rows are in 't_before_\w{8}' and 't_new_/,
    );
    t.regex(omission?.hints[0] ?? '', hint);
    t.deepEqual([ofView?.identity.name, others], ['v', []]);
  }
  const finished = await planChanges([after, view], interrupted, { rebuild: ['t'] });
  t.deepEqual([finished.omissions, changesOf(finished)], [[], [...rebuild.slice(renamed + 1), view]]);
  const back = changesOf(
    await planChanges([before], interrupted, { renamed: [`${rebuild[renamed]?.split("'")[3]}=t`] }),
  );
  t.deepEqual(back, [rebuild[renamed]?.replace(/'(\w+)' TO '(\w+)'/, "'$2' TO '$1'")]);
});

test('a rebuild that converts values and drops the old table is finished wherever it stopped', async t => {
  for (const [from, to] of [
    ['BOOLEAN', 'INT'],
    ['DECIMAL(10,2)', 'DECIMAL(8,1)'],
    ['VARCHAR', 'LONG'],
  ]) {
    const [before, after] = [partitioned('DAY', `"fl" ${from}`), partitioned('HOUR', `"fl" ${to}`)];
    const fetchRow = async () => [0, 0, 5];
    const options = { rebuild: ['t'], dropOld: true, fetchRow };
    const first = await planChanges([after], [before], options);
    t.deepEqual(first.omissions, []);
    const engine = engineWith([before]);
    for (const [i, statement] of changesOf(first).entries()) {
      engine.execute(statement);
      const next = await planChanges([after], engine.statements(), options);
      t.deepEqual(next.omissions, [], `${from} to ${to}: ${statement}`);
      const end = engineWith(engine.statements());
      for (const rest of changesOf(next)) end.execute(rest);
      t.deepEqual(end.statements().length, 1, `${from} to ${to}: ${statement}`);
      const isOldLeft = engine.statements().some(each => each.includes('t_before_'));
      const asked = next.statements.some(each => / AS (none_changed|all_fit) FROM 't_before_/.test(each.statement));
      t.is(asked, isOldLeft, `${i}: ${statement}`);
    }
    const changing = await planChanges([after], engineAfterExchange(before, changesOf(first)), {
      ...options,
      fetchRow: async () => [2, 0, 5],
    });
    const isMisfit = to?.startsWith('DECIMAL');
    if (!isMisfit) t.deepEqual(lossesOf(changing), ['values:t.fl']);
    if (!isMisfit)
      t.regex(changing.omissions[0]?.reasons[0] ?? '', /may lose values of column 'fl': .*; 2 of 5 values change/);
  }
});

test('a rebuild of a table whose comment renames a column ends as the first plan would, wherever it stopped', async t => {
  const after = `-- renamed from u\n${partitioned('HOUR', '\n-- renamed from o\np INT')}`;
  for (const [table, columns, omitted] of [
    ['t', 'o BOOLEAN', []],
    ['u', 'o BOOLEAN', []],
    ['T', 'o BOOLEAN', []], // the new table is called as in A
    ['t', 'o INT, p INT', ["loses column 'o'"]], // both exist, so the comment has no effect
  ] as const) {
    const before = partitioned('DAY', columns).replace('TABLE t', `TABLE ${table}`);
    const options = { rebuild: ['t'], dropOld: true, fetchRow: async () => [0, 0, 5] };
    const first = await planChanges([after], [before], options);
    const result = await executeAll([before], changesOf(first));
    t.regex(result.join(), /CREATE TABLE 't' /);
    t.deepEqual(
      first.omissions.flatMap(({ reasons }) => reasons),
      omitted,
    );
    const engine = engineWith([before]);
    for (const statement of changesOf(first)) {
      engine.execute(statement);
      const next = await planChanges([after], engine.statements(), options);
      const reasons = next.omissions.flatMap(each => each.reasons);
      t.deepEqual(reasons, statement.startsWith('DROP') ? [] : omitted, `${columns}: ${statement}`);
      t.deepEqual(await executeAll(engine.statements(), changesOf(next)), result, `${columns}: ${statement}`);
    }
  }
});

function engineAfterExchange(before: string, changes: readonly string[]): readonly string[] {
  const engine = engineWith([before]);
  for (const statement of changes.slice(0, -1)) engine.execute(statement);
  return engine.statements();
}

test('without a server, a view over a view that reads a missing table gets its query again', async t => {
  const schema = (table: string) => [
    partitioned('DAY').replace('TABLE t', `TABLE ${table}`),
    `CREATE VIEW v AS (select ts, x from ${table});`,
    'CREATE VIEW w AS (select ts, x from v);',
    'CREATE VIEW z AS (select ts, x from w);',
  ];
  const options = { renamed: ['t=u'] };
  const [rename = '', ...repairs] = changesOf(await planChanges(schema('u'), schema('t'), options));
  t.deepEqual(
    repairs.map(each => each.slice(0, 14)),
    ["ALTER VIEW 'v'", "ALTER VIEW 'w'", "ALTER VIEW 'z'"],
  );
  const engine = engineWith(schema('t'));
  engine.execute(rename);
  const invalid = new NameMap(['v', 'w', 'z'].map(name => [name, 'table does not exist [table=t]']));
  for (const health of [{}, { health: { invalid } }])
    t.deepEqual(changesOf(await planChanges(schema('u'), engine.statements(), { ...options, ...health })), repairs);
  // A view that reads what the plan creates again is valid then.
  const [table = '', ...views] = schema('t');
  t.deepEqual(changesOf(await planChanges(schema('t'), views)), [table]);
  const reasons = ['w', 'z'].map((name): [string, string] => [name, 'it cannot be queried']);
  const stale = { invalid: new NameMap(reasons), stale: new NameSet(['w', 'z']) };
  const rejected = {
    health: stale,
    fetchRow: async (query: string) => (query.includes('select ts, x from "sqlpipe view w"') ? undefined : [0]),
  };
  const { omissions, ...plan } = await planChanges(schema('u'), schema('u'), rejected);
  t.deepEqual(changesOf({ omissions, ...plan }), repairs.slice(1, 2), 'the server would reject the query of z');
  t.regex(omissions[0]?.reasons[0] ?? '', /the server rejects the query of view 'z'/);
});

test('a view that a plan has dropped is filled before the view over it, whose rows show that it had some', async t => {
  const table = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;';
  const [low, high] = [['m', 't', 'x', '1h'] as const, ['o', 'm', 'n', '1d'] as const].map(
    ([view, base, value, step]) =>
      `CREATE MATERIALIZED VIEW ${view} WITH BASE ${base} REFRESH IMMEDIATE AS (select ts, sum(${value}) n from ${base} sample by ${step}) PARTITION BY MONTH;`,
  ) as [string, string];
  const health = { invalid: new NameMap([['o', 'base table is dropped or renamed']]) };
  const found = changesOf(await planChanges([table, low, high], [table, high], { health }));
  t.deepEqual(found, [low, "REFRESH MATERIALIZED VIEW 'm' FULL;", "REFRESH MATERIALIZED VIEW 'o' FULL;"]);
});

test('an invalid view that only B has is refreshed only if that loses nothing, and is not listed otherwise', async t => {
  const table = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;';
  const view =
    'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;';
  const health = { invalid: new NameMap([['m', 'truncate operation']]) };
  const planWith = (answer: StoredRows) =>
    planChanges([table], [table, view], {
      ignoreExtra: true,
      health,
      fetchHistory: async () => ({ answer, columns: undefined }),
    });
  const lossless = await planWith('recomputable');
  t.deepEqual(changesOf(lossless), ["REFRESH MATERIALIZED VIEW 'm' FULL;"]);
  const { statements, omissions } = await planWith({ count: 1, total: 3, first: '2024-01-01', last: '2024-01-01' });
  t.deepEqual([statements, omissions], [[], []]);
});
