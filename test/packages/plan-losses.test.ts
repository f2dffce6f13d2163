/*! What a plan says of its costs and of what is lost for good, and the way back from it; without a server. */
import { type PlanOptions, planChanges, planUndo, type UndoOptions } from '@sqlpipe/plan';
import { IgnoreRules } from '@sqlpipe/schema';
import { NameMap } from '@sqlpipe/sql';
import { changesOf, executeAll, lossesOf, textsOf } from '../support/plans.js';
import { test } from '../support/test.js';

test('what cannot be undone comes last, and columns are dropped before materialized views are created', async t => {
  const before = [
    'CREATE TABLE t (ts TIMESTAMP, b INT, x LONG) timestamp(ts) PARTITION BY DAY;',
    'CREATE TABLE u (a INT);',
    'CREATE VIEW v AS (select ts, b from t);',
  ];
  const after = [
    'CREATE TABLE t (ts TIMESTAMP, x LONG, c INT) timestamp(ts) PARTITION BY DAY TTL 1 DAY;',
    'CREATE TABLE w (a INT);',
    'CREATE VIEW v AS (select ts, c from t);',
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;',
    'CREATE VIEW z AS (select n from m);',
  ];
  const plan = await planChanges(after, before, { allowLoss: ['drop:t.b', 'drop:u', 'ttl:t'] });
  const found = changesOf(plan).map(statement => statement.split(/ AS| \(/)[0]);
  t.deepEqual(found, [
    "ALTER TABLE 't' ADD COLUMN c INT;",
    "ALTER VIEW 'v'",
    'CREATE TABLE w',
    "ALTER TABLE 't' DROP COLUMN b;",
    'CREATE MATERIALIZED VIEW m WITH BASE t',
    "REFRESH MATERIALIZED VIEW 'm' FULL;", // reads the rows that the TTL expires
    'CREATE VIEW z',
    "ALTER TABLE 't' SET TTL 1 DAY;",
    "DROP TABLE 'u';",
  ]);
});

test('the head of a plan says what is done with the rows, and what nothing undoes', async t => {
  const before = [
    'CREATE TABLE t (ts TIMESTAMP, x INT, y INT) timestamp(ts) PARTITION BY DAY;',
    'CREATE TABLE k (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY;',
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, count() n from t sample by 1h) PARTITION BY DAY;',
  ];
  const after = [
    'CREATE TABLE renamed (ts TIMESTAMP, x LONG) timestamp(ts) PARTITION BY DAY;',
    'CREATE TABLE k (ts TIMESTAMP) timestamp(ts) PARTITION BY HOUR;',
    'CREATE MATERIALIZED VIEW m WITH BASE renamed AS (select ts, count() n from renamed sample by 1h) PARTITION BY DAY;',
  ];
  const sizes = new NameMap([
    ['t', { rows: 6_000_000, bytes: 239_600_000 }],
    ['k', { rows: 1, bytes: 900 }],
  ]);
  const options = { renamed: ['t=renamed'], rebuild: ['k'], allowLoss: ['drop:t.y', 'history:m'] };
  const { remarks } = await planChanges(after, before, { ...options, fetchSizes: async () => sizes });
  t.deepEqual(remarks.slice(0, 3), [
    "copies table 'k' (1 row, 900 bytes), which needs as much free disk",
    "rewrites and reads table 't' (6,000,000 rows, 240 MB)",
    'nothing undoes statements 11, 12',
  ]);
  const unasked = await planChanges(after, before, options);
  const found = unasked.remarks.slice(0, 2);
  t.deepEqual(found, ["copies table 'k', which needs as much free disk", 'nothing undoes statements 11, 12']);
});

test('the cost of a materialized view says whether the server fills it', async t => {
  const base = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
  const view = (name: string, refresh: string) =>
    `CREATE MATERIALIZED VIEW ${name} WITH BASE t REFRESH ${refresh} AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;`;
  const after = [base, view('altered', 'MANUAL'), view('late', 'MANUAL DEFERRED'), view('now', 'MANUAL')];
  const { statements } = await planChanges(after, [base, view('altered', 'IMMEDIATE')]);
  const found = statements.map(({ comments }) => comments.join());
  t.deepEqual(found, ['metadata only', 'leaves it empty until it is refreshed', 'builds it from its base']);
});

test('the way back lists all that the plan lost', async t => {
  const table = (columns: string) => `CREATE TABLE t (ts TIMESTAMP${columns}) timestamp(ts) PARTITION BY DAY;`;
  const before = [table(', a INT, b INT'), 'CREATE TABLE u (a INT);'];
  const plan = await planChanges([table('')], before, { allowLoss: ['drop:t.a', 'drop:t.b', 'drop:u'] });
  const { notUndone, remarks } = await planUndo(plan, before);
  const lines = [
    "not undone: table 't': loses column 'a'",
    "not undone: table 't': loses column 'b'",
    "not undone: table 'u': loses table 'u' and its rows",
  ];
  t.deepEqual(
    notUndone,
    lines.map(line => [line]),
  );
  t.deepEqual(remarks.slice(-3), lines);
});

test('the way back restores what no server prints', async t => {
  const table = (capacity: number, rows: number, lag: string) =>
    `CREATE TABLE t (ts TIMESTAMP, s SYMBOL CAPACITY ${capacity}) timestamp(ts) PARTITION BY DAY WITH maxUncommittedRows=${rows}, o3MaxLag=${lag};`;
  const before = [table(1024, 500, '600s')];
  const plan = await planChanges([table(4096, 700, '5s')], before);
  t.deepEqual(changesOf(await planUndo(plan, before)), [
    "ALTER TABLE 't' ALTER COLUMN s SYMBOL CAPACITY 1024;",
    "ALTER TABLE 't' SET PARAM maxUncommittedRows = 500;",
    "ALTER TABLE 't' SET PARAM o3MaxLag = 600000000us;",
  ]);
});

test('a recreated view keeps the clauses that no server prints', async t => {
  const table = 'CREATE TABLE t (ts TIMESTAMP, s SYMBOL, x INT) timestamp(ts) PARTITION BY DAY;';
  const view = (aggregate: string, rest: string) =>
    `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, s, ${aggregate}(x) x from t sample by 1h)${rest};`;
  const after = view('max', ', INDEX(S CAPACITY 64) timestamp(ts) PARTITION BY DAY TTL 1 DAY');
  const plan = await planChanges([table, after], [table, view('min', ' PARTITION BY DAY TTL 3 DAYS')]);
  t.regex(changesOf(plan)[1] ?? '', /\), INDEX\(S CAPACITY 64\) timestamp\(ts\) PARTITION BY DAY TTL 3 DAYS;$/);
});

test('the head of the way back counts its assertions too', async t => {
  const before = ['CREATE TABLE t (x INT);'];
  const plan = await planChanges(['CREATE TABLE t (x INT, y INT);', 'CREATE TABLE u (x INT);'], before);
  const { remarks, statements } = await planUndo(plan, before);
  const numbers = /^nothing undoes statements (.*)$/.exec(remarks.find(line => line.startsWith('nothing')) ?? '')?.[1];
  const drops = statements.flatMap(({ statement }, i) => (/^(?:DROP|ALTER)/.test(statement) ? [i + 1] : []));
  t.is(drops.length, 2);
  t.is(numbers, drops.join(', '));
});

test('a size has three digits, in the unit that they need after rounding', async t => {
  const table = (of: string) => `CREATE TABLE t (ts TIMESTAMP, x ${of}) timestamp(ts) PARTITION BY DAY;`;
  for (const [bytes, text] of [
    [0, '0 bytes'],
    [999, '999 bytes'],
    [999_499, '999 kB'],
    [999_999, '1 MB'],
    [1_234_567, '1.23 MB'],
  ] as const) {
    const fetchSizes = async () => new NameMap([['t', { rows: 0, bytes }]]);
    const { remarks } = await planChanges([table('LONG')], [table('INT')], { fetchSizes });
    t.is(remarks[0], `rewrites table 't' (0 rows, ${text})`);
  }
});

test('the way back does not depend on what the server holds before the plan', async t => {
  const [before, after] = ['x', 'y'].map(column => [
    `CREATE TABLE t (ts TIMESTAMP, ${column} LONG) timestamp(ts) PARTITION BY DAY;`,
    `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(${column}) n from t sample by 1h) PARTITION BY DAY;`,
  ]) as [string[], string[]];
  const options = { fetchHistory: async () => ({ answer: 'unknown', columns: undefined }) as const, ignoreExtra: true };
  const plan = await planChanges(after, before, { renamed: ['t.x=y'], allowLoss: ['history:m'] });
  const undo = await planUndo(plan, before, options as UndoOptions);
  t.deepEqual(undo.omissions, []);
  t.deepEqual(await executeAll(await executeAll(before, textsOf(plan)), textsOf(undo)), await executeAll(before, []));
});

test('the way back lists the order of columns, unless that is ignored', async t => {
  const before = ['CREATE TABLE t (x INT, y INT, z INT);'];
  const plan = await planChanges(['CREATE TABLE t (x INT, z INT);'], before, { allowLoss: ['drop:t.y'] });
  const listNotUndone = async (...ignore: string[]) =>
    (await planUndo(plan, before, { ignore: new IgnoreRules(ignore) })).notUndone.map(([text]) =>
      text.split(': ').slice(0, 4),
    );
  const lost = ['not undone', "table 't'", "loses column 'y'"];
  const order = ['not undone', "table 't'", 'left out', 'column order'];
  t.deepEqual([await listNotUndone(), await listNotUndone('t: column order')], [[lost, order], [lost]]);
});

test('the way back drops a live view that the plan created only if the loss is allowed by name', async t => {
  const before = ['CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;'];
  const query = 'SELECT ts, count(*) OVER (PARTITION BY x ORDER BY ts ROWS 3 PRECEDING) n FROM t';
  const plan = await planChanges(
    [...before, `CREATE LIVE VIEW l FLUSH EVERY 5s START FROM NOW AS (${query});`],
    before,
  );
  const undo = await planUndo(plan, before);
  t.deepEqual([changesOf(undo), lossesOf(undo)], [[], ['drop:l']]);
  t.is(undo.notUndone[0]?.[0], "not undone: live view 'l': left out: DROP LIVE VIEW 'l'");
  t.deepEqual(changesOf(await planUndo(plan, before, { allowLoss: ['drop:l'] })), ["DROP LIVE VIEW 'l';"]);
});

const chain = (...columns: readonly string[]) => {
  const read = columns.map(column => `, first(${column}) ${column}`).join('');
  return [
    `CREATE TABLE t (ts TIMESTAMP, id LONG${columns.map(column => `, ${column} LONG`).join('')}) timestamp(ts) PARTITION BY DAY;`,
    `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, count() n${read} from t sample by 1h) PARTITION BY DAY;`,
    `CREATE MATERIALIZED VIEW d WITH BASE m AS (select ts, sum(n) n${read} from m sample by 1d) PARTITION BY DAY;`,
  ];
};

test('views that are recreated are dropped while their queries can be asked, the reader first', async t => {
  const plan = await planChanges(chain(), chain('k'), { allowLoss: ['drop:t.k'] });
  const found = changesOf(plan).map(statement => statement.split(' WITH ')[0]);
  t.deepEqual(found, [
    "DROP MATERIALIZED VIEW 'd';",
    "DROP MATERIALIZED VIEW 'm';",
    "ALTER TABLE 't' DROP COLUMN k;",
    'CREATE MATERIALIZED VIEW m',
    "REFRESH MATERIALIZED VIEW 'm' FULL;",
    'CREATE MATERIALIZED VIEW d',
  ]);
});

test('a view over one that is recreated is recreated too, so that an interrupted plan needs no other loss', async t => {
  const [base, view, reader] = chain('k') as [string, string, string];
  const redefined = view.replace('count() n', 'count() + 1 n');
  const plan = await planChanges([base, redefined, reader], [base, view, reader]);
  const found = changesOf(plan).map(text => text.split(' WITH ')[0]);
  t.deepEqual(found, [
    "DROP MATERIALIZED VIEW 'd';",
    "DROP MATERIALIZED VIEW 'm';",
    'CREATE MATERIALIZED VIEW m',
    "REFRESH MATERIALIZED VIEW 'm' FULL;",
    'CREATE MATERIALIZED VIEW d',
  ]);
});

test('a history whose loss is allowed is dropped after what can fail', async t => {
  const plan = await planChanges(chain(), chain('k'), { allowLoss: ['drop:t.k', 'history:m', 'history:d'] });
  t.is(changesOf(plan)[0], "ALTER TABLE 't' DROP COLUMN k;");
});

test('the history of a view is unknown if its query does not resolve, also before the server reports that', async t => {
  const [table = ''] = chain();
  const b = [table, ...chain('k').slice(1)];
  const fetchHistory = async () => ({ answer: 'recomputable', columns: undefined }) as const;
  t.deepEqual(lossesOf(await planChanges(chain(), b, { fetchHistory, ignoreExtra: true })), ['history:m', 'history:d']);
});

test('a loss that shows only after another one was allowed is named at once', async t => {
  const table = (name: string, columns: string, rest = 'PARTITION BY DAY') =>
    `CREATE TABLE ${name} (ts TIMESTAMP, ${columns}) timestamp(ts) ${rest};`;
  const view = (base: string, ttl = '') =>
    `CREATE MATERIALIZED VIEW m WITH BASE ${base} AS (select ts, avg(x) n from ${base} sample by 1h) PARTITION BY DAY${ttl};`;
  const keys = 'PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts)';
  const cases: [before: string[], after: string[], options: PlanOptions, losses: string[]][] = [
    [
      [table('t', 'x INT'), view('t')],
      [table('u', 'x INT'), view('u', ' TTL 1 WEEK')],
      {},
      ['ttl:m', 'drop:t', 'history:m'],
    ],
    [
      [table('t', 'x DECIMAL(10,2), y INT'), view('t')],
      [table('t', 'y INT, x DECIMAL(10,2)', 'PARTITION BY DAY TTL 4 DAYS'), view('t')],
      { rebuild: ['t'] },
      ['ttl:t'], // the view is filled before the TTL is set
    ],
    [
      [table('t', 'x UUID', keys)],
      [table('t', 'x IPv4', 'PARTITION BY HOUR WAL')],
      { rebuild: ['t'], dropOld: true },
      ['keys:t', 'values:t.x'],
    ],
  ];
  for (const [before, after, options, losses] of cases) {
    t.deepEqual(lossesOf(await planChanges(after, before, options)), losses);
    t.deepEqual(lossesOf(await planChanges(after, before, { ...options, allowLoss: losses })), []);
  }
});

test('a rename is not left out because a conversion changes values of a view that both make invalid', async t => {
  const schema = (columns: string) => [
    `CREATE TABLE t (ts TIMESTAMP, ${columns}) timestamp(ts) PARTITION BY DAY WAL;`,
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, max(id) n from t sample by 1h) PARTITION BY DAY;',
  ];
  const plan = await planChanges(schema('id LONG, y INT'), schema('id DOUBLE, x INT'), { renamed: ['t.x=y'] });
  t.deepEqual(changesOf(plan), ["ALTER TABLE 't' RENAME COLUMN x TO y;", "REFRESH MATERIALIZED VIEW 'm' FULL;"]);
  t.deepEqual(
    plan.omissions.map(({ what }) => what),
    ["ALTER TABLE 't' ALTER COLUMN id TYPE LONG"],
  );
  t.deepEqual(lossesOf(plan), ['values:t.id', 'history:m']);
});

test('a rebuild is not made for what an ALTER sets, and its old table is named', async t => {
  const table = (unit: string, rest = '') =>
    `CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY ${unit}${rest};`;
  const options = { rebuild: ['t'] };
  const longer = await planChanges([table('DAY', ' TTL 9 DAYS')], [table('DAY', ' TTL 3 DAYS')], options);
  t.deepEqual(changesOf(longer), ["ALTER TABLE 't' SET TTL 9 DAYS;"]);
  const removed = await planChanges([table('MONTH')], [table('MONTH', ' TTL 2 MONTHS')], options);
  const isRebuilt = changesOf(removed).some(text => text.startsWith('INSERT'));
  t.true(isRebuilt, 'no ALTER removes the TTL of months');
  const old = await executeAll([table('MONTH', ' TTL 2 MONTHS')], textsOf(removed));
  const noted = /^table 't_before_\w{8}' is kept: it is the old table of a rebuild; --drop-old drops it$/;
  const { notes, statements } = await planChanges([table('MONTH')], old, options);
  t.deepEqual([statements.length, notes.length], [0, 1]);
  t.regex(notes[0] ?? '', noted);
  t.deepEqual((await planChanges([table('MONTH')], old, { ...options, dropOld: true })).notes, []);
  const ofUser = table('DAY').replace('TABLE t', 'TABLE t_before_20240101');
  t.deepEqual(lossesOf(await planChanges([table('DAY')], [table('DAY'), ofUser], options)), ['drop:t_before_20240101']);
});

test('a view is not said to fail on its rows if what it reads does', async t => {
  const failed = '[-1]: timestamp type mismatch';
  const health = {
    invalid: new NameMap([
      ['m', failed],
      ['d', 'base materialized view is invalidated'],
    ]),
  };
  const { omissions } = await planChanges(chain('k'), chain('k'), { health });
  const found = omissions.map(({ identity, reasons }) => `${identity.name}: ${reasons}`);
  t.deepEqual(found, [
    `m: its query would fail again on the same rows: ${failed}`,
    'd: a source stays invalid, so a refresh cannot repair the view: base materialized view is invalidated',
  ]);
});

test('a table stays a WAL table as long as the plan keeps a materialized view over it', async t => {
  const b = chain('k');
  const a = [(b[0] ?? '').replace(';', ' BYPASS WAL;')];
  const plan = await planChanges(a, b, { rebuild: ['t'] });
  t.deepEqual(changesOf(plan), []);
  t.true(plan.omissions.some(({ what }) => what === "rebuild of table 't'"));
  const dropped = await planChanges(a, b, { rebuild: ['t'], allowLoss: lossesOf(plan) });
  t.deepEqual(dropped.omissions, []);
});

test('a table that A creates from a query is left out, because its columns cannot be compared', async t => {
  const [table] = chain('k') as [string];
  const copy = table.replace('TABLE t', 'TABLE c');
  const created = 'CREATE TABLE c AS (SELECT * FROM t) TIMESTAMP(ts) PARTITION BY DAY TTL 1 DAY;';
  const allowLoss = ['drop:c.k', 'drop:c.x', 'ttl:c'];
  const plan = await planChanges([table, created], [table, copy], { allowLoss });
  t.deepEqual(textsOf(plan), []);
  t.deepEqual(plan.omissions[0]?.reasons, ['its columns follow from a query, so they cannot be compared']);
});

test('the base of an invalid view that A lacks stays, because a killed plan may have made the view invalid', async t => {
  const view = (name: string, base: string) =>
    `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' AS (select ts, count() n from ${base} sample by 1h) PARTITION BY DAY;`;
  const [base] = chain('k') as [string];
  const health = { invalid: new NameMap([['upper', 'base materialized view is invalidated']]) };
  for (const answer of ['none', 'recomputable'] as const) {
    const plan = await planChanges([base], [base, view('lower', 't'), view('upper', 'lower')], {
      health,
      allowLoss: ['drop:lower'],
      fetchHistory: async () => ({ answer, columns: undefined }),
    });
    t.deepEqual(changesOf(plan), ["REFRESH MATERIALIZED VIEW 'upper' FULL;"]);
    const omitted = plan.omissions.map(({ what }) => what);
    t.deepEqual(omitted, ["DROP MATERIALIZED VIEW 'upper'", "DROP MATERIALIZED VIEW 'lower'"]);
  }
});

test('a view that only B has is refreshed after the view that it reads is created again, if its loss is allowed', async t => {
  const [base, view, reader] = chain() as [string, string, string];
  const options = {
    ignoreExtra: true,
    health: { invalid: new NameMap([['d', 'base table is dropped or renamed']]) },
    fetchHistory: async () => ({ answer: 'unknown', columns: undefined }) as const,
  };
  for (const inB of [
    [base, reader],
    [base, view, reader],
  ]) {
    const refreshes = async (allowLoss: string[]) => {
      const plan = await planChanges([base, view], inB, { ...options, allowLoss });
      return changesOf(plan).includes("REFRESH MATERIALIZED VIEW 'd' FULL;");
    };
    t.deepEqual([await refreshes([]), await refreshes(['history:d'])], [false, true]);
  }
});

test('a view that only B has is not recreated, because an interruption would lose its definition', async t => {
  const [base, view] = chain('k') as [string, string];
  const plan = await planChanges([base.replace('k LONG', 'k TIMESTAMP')], [base, view], { ignoreExtra: true });
  t.deepEqual(changesOf(plan), []);
  t.is(plan.omissions[0]?.reasons.at(-1), "invalidates materialized view 'm': change column type operation");
  t.deepEqual(plan.omissions[0]?.hints, ["if A has materialized view 'm', the plan creates it again"]);
  const ignore = new IgnoreRules(['m']);
  const ignoring = await planChanges([base.replace('k LONG', 'k TIMESTAMP'), view], [base, view], { ignore });
  t.deepEqual(ignoring.omissions[0]?.hints, []);
});

test('a rename is offered in addition to what else can be done', async t => {
  const [base, view] = chain() as [string, string];
  const after = [base.replace('TABLE t ', 'TABLE trades '), 'CREATE VIEW t AS (select ts, id from trades);'];
  const { omissions } = await planChanges(after, [base, view], { ignoreExtra: true });
  const found = omissions.map(({ hints }) => hints);
  t.deepEqual(found, [["if A has materialized view 'm', the plan creates it again", 'renamed? --renamed t=trades']]);
});

test('a plan that only drops a materialized view does not say that it is computed again', async t => {
  const [base, view] = chain('k') as [string, string];
  const { statements } = await planChanges([base], [base, view], { allowLoss: ['drop:m', 'history:m'] });
  const costs = statements.flatMap(({ comments }) => comments);
  t.true(costs.some(cost => cost.startsWith("dropping materialized view 'm' may lose rows")));
  t.false(costs.some(cost => cost.startsWith('recomputing')));
});

test('rows that are missing while a view is being refreshed are named with that reason', async t => {
  const [base, view] = [
    'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;',
    'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;',
  ];
  const doubt = "materialized view 'l' is being refreshed; plan again when that has ended";
  const rows = { count: 1, total: 2, first: '2024-01-01', last: '2024-01-01', doubt };
  const fetchHistory = async () => ({ answer: rows, columns: undefined });
  const { omissions } = await planChanges([base, view.replace('sum', 'max')], [base, view], { fetchHistory });
  t.regex(omissions[0]?.reasons[0] ?? '', new RegExp(`2024-01-01, perhaps only because ${doubt}$`));
});
