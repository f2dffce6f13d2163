/*! The planner alone: plans for schemas in memory, checked without a server. */
import { execFileSync } from 'node:child_process';
import { compareStatements } from '@sqlpipe/ddl';
import { type PlanOptions, planChanges } from '@sqlpipe/plan';
import { formatOmission, parsePlanHead, printPlan } from '@sqlpipe/plan/text';
import { IgnoreRules } from '@sqlpipe/schema';
import { NameMap } from '@sqlpipe/sql';
import { changesOf, executeAll, lossesOf, textsOf } from '../support/plans.js';
import { test } from '../support/test.js';

const [DOTTED, PLAIN, THIRD] = [
  `CREATE TABLE 'a.b' (c INT, "x y" INT);`,
  'CREATE TABLE a (b INT, c INT);',
  `CREATE TABLE 'a.b.d' (e INT);`,
];

test('names in allowLoss may contain dots', async t => {
  const listOmissions = async (after: string[], allowLoss: string[] = []) =>
    lossesOf(await planChanges(after, [DOTTED, PLAIN, THIRD], { allowLoss }));
  const withoutXy = [DOTTED.replace(', "x y" INT', ''), PLAIN, THIRD];
  t.deepEqual(await listOmissions(withoutXy), ["drop:'a.b'.'x y'"]);
  t.deepEqual(await listOmissions(withoutXy, ['drop:a.b.x y']), []);
  t.deepEqual(await listOmissions(withoutXy, ["drop:'a.b'.'x y'"]), []);
  t.deepEqual(await listOmissions([DOTTED, PLAIN.replace(', c INT', ''), THIRD], ['drop:a.c']), []);
  await t.throwsAsync(() => listOmissions([PLAIN, THIRD], ['drop:a.b']), {
    message: "'a.b' can be 'a.b' or 'a'.'b'; write one of them, with its quotes",
  });
  t.deepEqual(await listOmissions([PLAIN, THIRD], ["drop:'a.b'"]), []);
});

test('the losses of users are allowed by name, and a plan lists the allowances that it needs', async t => {
  const users = ["CREATE USER 'a, drop:b';", "CREATE USER 'a.b';", "CREATE USER 'c, ttl:d';", 'CREATE USER e;'];
  const names = ["drop-user:'a, drop:b'", "drop-user:'a.b'", "drop-user:'c, ttl:d'", 'drop-user:e'];
  t.deepEqual(lossesOf(await planChanges([PLAIN], [PLAIN, ...users])), names);
  const allowLoss = [names[0], 'drop-user:a.b', 'drop-user:"c, ttl:d"', names[3]] as string[];
  const plan = await planChanges([PLAIN], [PLAIN, ...users], { allowLoss });
  t.deepEqual(lossesOf(plan), []);
  t.deepEqual(parsePlanHead(printPlan(plan, [PLAIN, ...users])[0] ?? '')?.neededAllowances, allowLoss);
});

test('a plan notes the allowances of losses that it does not have', async t => {
  const names = ['drop:nothing.of.this', 'history:m'];
  const plan = await planChanges([BASE, VIEW, PLAIN], [BASE, VIEW], { allowLoss: names });
  const notes = names.map(name => `--allow-loss ${name}: nothing of this name is lost`);
  t.deepEqual([plan.notes, plan.neededAllowances], [notes, []]);
});

test('allowLoss must name losses, and renamed an object of B', async t => {
  const cases: [options: PlanOptions, message: RegExp | string][] = [
    ...['a', 'a.b', 'lose:a'].map((name): (typeof cases)[0] => [
      { allowLoss: [name] },
      /not the name of a loss; sqldiff --alter prints/,
    ]),
    [{ renamed: ['a.b'] }, "--renamed must be OLD=NEW, not 'a.b'"],
    [{ renamed: ['u=a'] }, "--renamed u=a: B has no 'u'"],
  ];
  for (const [options, message] of cases)
    await t.throwsAsync(() => planChanges([DOTTED, PLAIN], [DOTTED], options), { message }, JSON.stringify(options));
});

test('the message of a server that begins with a blank is printed without it', async t => {
  const [b, a] = ['x', '"a.b"'].map(column => `CREATE TABLE t (${column} INT);`) as [string, string];
  const [omission] = (await planChanges([a], [b])).omissions;
  t.deepEqual(omission?.reasons, ['the server would reject it: new column name contains invalid characters']);
  t.regex(compareStatements(a, b).differences[0]?.a ?? '', /^new column name contains invalid characters: /);
});

test('a loss is allowed by its own name only', async t => {
  const table = 'CREATE TABLE t (ts TIMESTAMP, x INT, y INT) timestamp(ts) PARTITION BY DAY DEDUP UPSERT KEYS(ts,x);';
  const cases: [after: string[], losses: string[]][] = [
    [[], ['drop:t']],
    [[table.replace(', y INT', '')], ['drop:t.y']],
    [[table.replace('y INT', 'y SHORT')], ['values:t.y']],
    [[table.replace('BY DAY', 'BY DAY TTL 3 DAYS')], ['ttl:t']],
    [[table.replace('KEYS(ts,x)', 'KEYS(ts)')], ['keys:t']],
  ];
  const names = cases.flatMap(([, losses]) => losses);
  for (const [after, losses] of cases) {
    const [title] = losses;
    t.deepEqual(lossesOf(await planChanges(after, [table])), losses, title);
    const others = names.filter(name => !losses.includes(name));
    t.deepEqual(lossesOf(await planChanges(after, [table], { allowLoss: others })), losses, title);
    const { omissions, neededAllowances } = await planChanges(after, [table], { allowLoss: names });
    t.deepEqual([omissions, neededAllowances], [[], losses], title);
  }
});

const BASE = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
const VIEW =
  "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH MANUAL AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;";
const OVER_IT =
  "CREATE MATERIALIZED VIEW 'over it' WITH BASE 'm' REFRESH IMMEDIATE AS (select ts, sum(n) n from m sample by 1d) PARTITION BY MONTH;";

test('materialized views whose columns get other types are created again, where that loses nothing', async t => {
  const [before, after] = [
    [BASE, VIEW, OVER_IT],
    [BASE.replace('x INT', 'x DOUBLE'), VIEW, OVER_IT],
  ];
  const planned = await planChanges(after, before);
  t.deepEqual(planned.omissions, []);
  t.deepEqual(changesOf(planned), [
    "DROP MATERIALIZED VIEW 'over it';",
    "DROP MATERIALIZED VIEW 'm';",
    "ALTER TABLE 't' ALTER COLUMN x TYPE DOUBLE;",
    VIEW,
    "REFRESH MATERIALIZED VIEW 'm' FULL;",
    OVER_IT,
  ]);
  const rebuilt = await planChanges([(after[0] as string).replace('DAY', 'HOUR'), VIEW], [BASE, VIEW], {
    rebuild: ['t'],
  });
  t.deepEqual(changesOf(rebuilt).slice(-5), [
    "DROP MATERIALIZED VIEW 'm';",
    ...changesOf(rebuilt).filter(statement => statement.startsWith('RENAME')),
    VIEW,
    "REFRESH MATERIALIZED VIEW 'm' FULL;",
  ]);
});

const LOST_ROWS = { count: 60, total: 73, first: '2026-01-01', last: '2026-11-20' };
/** Answers that no row is in the way of a change. */
const noRows = () => Promise.resolve([0, 0]);

/** Answers for some views that they hold rows that nothing can compute again, for all others that they do not. */
const lostIn =
  (...names: string[]) =>
  async ({ name }: { name: string }) => ({
    answer: names.includes(name) ? LOST_ROWS : ('recomputable' as const),
    columns: [
      { name: 'ts', type: 'TIMESTAMP' },
      { name: 'n', type: 'LONG' },
    ],
  });

test('history is lost along chains of views: a plan names each view, and is made if all are allowed', async t => {
  const before = [BASE, VIEW, OVER_IT];
  const otherQuery = [BASE, VIEW.replace('sum(x)', 'max(x)'), OVER_IT];
  const withY = [BASE.replace('x INT', 'x INT, y INT'), VIEW, OVER_IT];
  const cases: [after: string[], before: string[], asked: string[], losses: string[]][] = [
    ...[otherQuery, [BASE.replace('x INT', 'x LONG'), VIEW, OVER_IT]].flatMap((after): typeof cases => [
      [after, before, ['m'], ['history:m', "history:'over it'"]],
      [after, before, ['over it'], ["history:'over it'"]],
      [after, before, [], []],
    ]),
    [before, withY, ['m'], ['drop:t.y', 'history:m', "history:'over it'"]],
  ];
  for (const [i, [after, from, asked, losses]] of cases.entries()) {
    const title = `case ${i}: ${losses}`;
    const fetchHistory = lostIn(...asked);
    const careful = await planChanges(after, from, { fetchHistory });
    t.deepEqual(lossesOf(careful), losses, title);
    if (losses.length > 0) t.deepEqual(careful.statements, [], title);
    for (const left of losses) {
      const others = losses.filter(each => each !== left);
      t.deepEqual(lossesOf(await planChanges(after, from, { fetchHistory, allowLoss: others })), [left], title);
    }
    const bold = await planChanges(after, from, { fetchHistory, allowLoss: losses });
    t.deepEqual(bold.omissions, [], title);
    t.true(bold.statements.length > 0, title);
  }
  const [omission] = (await planChanges(otherQuery, before, { fetchHistory: lostIn('m') })).omissions;
  t.regex(omission?.reasons[0] ?? '', /rows that its query no longer returns: 60 of 73, from 2026-01-01 to 2026-11-20/);
});

test('a plan that was interrupted after a rename finds the names of its options and the timestamp of its views', async t => {
  const former = [BASE, VIEW.replace('PARTITION BY DAY', 'PARTITION BY DAY TTL 1 DAY')];
  const after = former.map(statement => statement.replace(/\bt\b(?=['" ])/g, 'u'));
  const asked: string[] = [];
  const fetchRow = async (query: string) => {
    asked.push(query);
    return [0];
  };
  const health = { invalid: new NameMap([['m', 'base table is dropped or renamed']]) };
  await planChanges(after, [after[0] as string, former[1] as string], { renamed: ['t=u'], fetchRow, health });
  t.regex(asked.join('\n'), /max\("ts"\) newest/);
  const views = ['v', 'w'].map(name => `CREATE VIEW ${name} AS (select ts from t);`);
  const ignore = new IgnoreRules(['w']);
  const { statements } = await planChanges([BASE, views[1] as string], [BASE, views[1] as string], {
    renamed: ['v=w'],
    ignore,
  });
  t.deepEqual(statements, []);
});

test('each view that is computed again is asserted before all statements: a plan that stops has changed nothing', async t => {
  const after = [BASE.replace('x INT', 'x LONG'), VIEW, OVER_IT];
  for (const fetchHistory of [undefined, lostIn()]) {
    const texts = textsOf(await planChanges(after, [BASE, VIEW, OVER_IT], { fetchHistory, fetchRow: noRows }));
    const found = texts.map(text => text.split(' ', 2).join(' '));
    t.deepEqual(found, [
      ...['SELECT sqlpipe_rows', 'SELECT coalesce(sum(CASE', 'SELECT coalesce(sum(CASE'],
      ...['SELECT count()', 'SELECT count()', 'SELECT count()'],
      ...['ALTER TABLE', 'REFRESH MATERIALIZED', 'REFRESH MATERIALIZED'],
    ]);
  }
  const views = [VIEW, VIEW.replace("'m'", "'m2'")];
  const others = views.map(view => view.replace('sum(x)', 'max(x)'));
  const texts = textsOf(
    await planChanges([BASE, ...others], [BASE, ...views], { fetchHistory: lostIn(), fetchRow: noRows }),
  );
  t.is(
    texts.findLastIndex(text => text.startsWith('SELECT')) + 1,
    texts.findIndex(text => text.startsWith('DROP')),
  );
});

test('a view that is invalid in an instance is left out, and the rest is planned', async t => {
  const broken = 'CREATE VIEW v AS (select missing from t);';
  const over = 'CREATE VIEW w AS (select * from v);';
  const options = { skipInvalid: true, fetchRow: noRows };
  const plan = await planChanges([BASE.replace('x INT', 'x LONG'), broken, over], [BASE], options);
  t.deepEqual(changesOf(plan), ["ALTER TABLE 't' ALTER COLUMN x TYPE LONG;"]);
  t.deepEqual(
    plan.omissions.map(({ what, reasons }) => `${what}: ${reasons}`),
    ["view 'v': it is invalid in A: Invalid column: missing", "view 'w': it is invalid in A: Invalid column: missing"],
  );
});

test('a schema with a view that is not valid over its own tables is an error, and nothing is planned', async t => {
  const view = 'CREATE VIEW v AS (select ts, x from t);';
  const through = ['CREATE VIEW v AS (select * from t);', 'CREATE VIEW w AS (select x from v);'];
  const broken = 'CREATE VIEW v AS (select t.x from t cross join gone);';
  const live = 'FLUSH EVERY 5s START FROM NOW AS (select ts, x from t);';
  const cases: [after: string[], before: string[], options: object, message: RegExp][] = [
    [
      [BASE.replace('x INT', 'y INT'), VIEW],
      [BASE, VIEW],
      { renamed: ['t.x=y'] },
      /^the wanted schema is not valid\n {2}materialized view 'm': Invalid column: x$/,
    ],
    [[BASE.replace('x INT', 'y INT'), view], [BASE, view], {}, /view 'v': Invalid column: x$/],
    [[view], [BASE, view], { allowLoss: ['drop:t'] }, /view 'v': table does not exist \[table=t\]$/],
    [
      [BASE, 'CREATE VIEW v AS (select n from m);'],
      [BASE, VIEW, 'CREATE VIEW v AS (select n from m);'],
      { allowLoss: ['drop:m'] },
      /view 'v': table does not exist/,
    ],
    [[BASE.replace(', x INT', ''), ...through], [BASE, ...through], {}, /view 'w': Invalid column: x$/],
    [
      [BASE, broken],
      [BASE, BASE.replace('TABLE t', 'TABLE gone'), broken],
      { allowLoss: ['drop:gone'] },
      /view 'v': table does not exist/,
    ],
    [[BASE, `CREATE LIVE VIEW l ${live}`, VIEW.replace(/\bt\b/g, 'l')], [], {}, /live views are not allowed as base/],
  ];
  for (const [i, [after, before, options, message]] of cases.entries()) {
    const plan = () => planChanges(after, before, options);
    await t.throwsAsync(plan, { name: 'RejectedViewError', message }, `case ${i}: ${message}`);
  }
});

test('materialized views that read each other, or themselves, are left out', async t => {
  const view = (name: string, base: string) =>
    `CREATE MATERIALIZED VIEW ${name} WITH BASE ${base} REFRESH MANUAL DEFERRED AS (select ${base}.ts, sum(t.x) x from ${base} asof join t sample by 1h) PARTITION BY DAY TTL 1 DAY;`;
  for (const views of [[view('a', 'b'), view('b', 'a')], [view('a', 'a')]]) {
    const created = await planChanges([BASE, ...views], [BASE]);
    t.deepEqual([changesOf(created), created.omissions.length], [[], views.length]);
    const altered = await planChanges([BASE.replace('x INT', 'x LONG'), ...views], [BASE, ...views]);
    t.deepEqual([changesOf(altered), altered.omissions.length], [[], 1]);
  }
});

test('a rebuild takes no other table for its own, and can be made again after going back', async t => {
  const [day, hour] = ['DAY', 'HOUR'].map(
    unit => `CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY ${unit};`,
  ) as [string, string];
  const other = 'CREATE TABLE t_new_20240101 (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
  const options = { rebuild: ['t'] };
  const beside = await planChanges([hour], [day, other], options);
  t.deepEqual(lossesOf(beside), ['drop:t_new_20240101']);
  t.notRegex(textsOf(beside).join('\n'), /t_new_20240101/);
  let schema = [day];
  for (const wanted of [hour, day, hour, day, hour]) {
    const plan = await planChanges([wanted], schema, options);
    t.deepEqual(plan.omissions, []);
    schema = await executeAll(schema, textsOf(plan));
  }
  t.is(schema.length, 6, 'each old table is kept');
});

test('a rebuild grants again, and a new plan completes an interrupted rebuild', async t => {
  const acl = ['CREATE USER ann;', 'GRANT SELECT ON t TO ann;'];
  const before = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
  const after = [before.replace('DAY', 'HOUR'), ...acl];
  const { statements, omissions } = await planChanges(after, [before, ...acl], { rebuild: ['t'] });
  t.deepEqual(omissions, []);
  const texts = statements.map(({ statement }) => statement.replace(/_[0-9a-f]{8}/g, '_X'));
  t.regex(texts[0] ?? '', /^SELECT .* AS all_applied FROM wal_tables\(\) WHERE name = 't';$/);
  t.deepEqual(texts.slice(2), [
    `INSERT INTO 't_new_X' ("ts", "x") SELECT "ts", "x" FROM 't';`,
    `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM 't') a CROSS JOIN (SELECT count() n FROM 't_new_X') b;`,
    `RENAME TABLE 't' TO 't_before_X';`,
    `RENAME TABLE 't_new_X' TO 't';`,
    'GRANT SELECT ON t TO ann;',
  ]);
  const whole = ['SELECT', 'CREATE', 'INSERT', 'SELECT', 'RENAME', 'RENAME', 'GRANT'];
  const again = ['SELECT', 'SELECT', 'SELECT', 'DROP', ...whole];
  const expected = [whole, again, again, again, ['RENAME', 'GRANT'], ['GRANT'], []];
  for (const done of statements.keys()) {
    const soFar = statements.slice(0, done + 1).map(({ statement }) => statement);
    const rest = await planChanges(after, await executeAll([before, ...acl], soFar), { rebuild: ['t'] });
    t.deepEqual(rest.omissions, [], `interrupted after ${done + 1}`);
    const verbs = rest.statements.map(each => each.statement.split(' ', 1)[0]);
    t.deepEqual(verbs, expected[done], `interrupted after ${done + 1}`);
  }
});

/** What an interactive shell makes of the option that a hint of the only omission names. */
async function readHint(option: string, after: string[], before: string[], options?: PlanOptions): Promise<string> {
  const [omission, ...others] = (await planChanges(after, before, options)).omissions;
  if (!omission || others.length > 0) throw new Error('not one omission');
  const [, argument] =
    new RegExp(`${option} (.*?)(?: takes .*)?$`, 'm').exec(formatOmission(omission).join('\n')) ?? [];
  const input = `set -o history -o histexpand\nprintf %s ${argument}\n`;
  return execFileSync('bash', { input, env: { HISTFILE: '' } }).toString();
}

test('hints keep their meaning in a shell and as options, whatever the name', async t => {
  for (const name of ['px$usd', 'px!usd', '!', 'a `b` "c\\"!']) {
    const before = [`CREATE TABLE '${name}' (x INT);`];
    const allowed = await readHint('--allow-loss', [], before);
    t.is(allowed, `drop:'${name}'`);
    t.deepEqual(changesOf(await planChanges([], before, { allowLoss: [allowed] })), [`DROP TABLE '${name}';`]);
  }
  const broken = ["CREATE VIEW 'grant' AS (select x from gone);"];
  const ignored = await readHint('--ignore', [...broken, 'CREATE TABLE n (x INT);'], broken);
  t.true(new IgnoreRules([ignored]).ignoresObject({ kind: 'view', name: 'grant' }));
  t.false(new IgnoreRules([ignored]).ignoresObject({ kind: 'grant', name: '' }));
});

test('a plan lists only the allowances that it uses', async t => {
  const [base, without] = [', y INT', ', z INT'].map(
    rest => `CREATE TABLE t (ts TIMESTAMP, x INT${rest}) timestamp(ts) PARTITION BY DAY;`,
  );
  const view = 'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(y) n from t sample by 1h) PARTITION BY DAY;';
  const options = { ignoreExtra: true, allowLoss: ['drop:t.y'] };
  const { omissions, neededAllowances, notes } = await planChanges(
    [without as string],
    [base as string, view],
    options,
  );
  t.is(omissions.length, 1);
  t.deepEqual([neededAllowances, notes], [[], []]); // it is needed once the other loss is allowed
});

test('the work of a plan for views that read each other in many ways grows in proportion to their number', async t => {
  const layers = (count: number, column: string) => [
    'CREATE TABLE t (ts TIMESTAMP, x INT, y INT) timestamp(ts) PARTITION BY DAY;',
    `CREATE VIEW a0 AS (select ts, ${column} x from t);`,
    'CREATE VIEW b0 AS (select ts, x from t);',
    ...Array.from({ length: count }, (_, i) =>
      ['a', 'b'].map(name => `CREATE VIEW ${name}${i + 1} AS (select a.ts, a.x from a${i} a join b${i} b on x);`),
    ).flat(),
    `CREATE MATERIALIZED VIEW m WITH BASE t AS (select t.ts, sum(a.x) n from t join a${count} a on x sample by 1h) PARTITION BY DAY;`,
  ];
  const countLookUps = async (count: number) => {
    const { get } = NameMap.prototype;
    let lookUps = 0; // a measure of the work that does not depend on the machine
    NameMap.prototype.get = function (name) {
      lookUps++;
      return get.call(this, name);
    };
    const plan = await planChanges(layers(count, 'y'), layers(count, 'x'), { allowLoss: ['history:m'] });
    NameMap.prototype.get = get;
    t.regex(changesOf(plan).join('\n'), /^ALTER VIEW 'a0'/m);
    return lookUps;
  };
  const [work, twice] = [await countLookUps(10), await countLookUps(20)];
  t.true(work > 0 && twice < 2.2 * work, `${work} look-ups for 10 layers, ${twice} for 20`);
});

test('ALTER COLUMN of a name in quotes is left out for versions that do not find it', async t => {
  const [after, before] = ['LONG', 'INT'].map(type => BASE.replace('x INT', `"a b" ${type}`)) as [string, string];
  const reason = `the server would reject it: column '"a b"' does not exist in table 't'`;
  for (const [version, reasons] of [
    ['9.3.0', [reason]],
    ['9.3.4', []],
  ] as const)
    t.deepEqual(
      (await planChanges([after], [before], { version })).omissions.flatMap(each => each.reasons),
      reasons,
    );
});
