/*! Renames in plans: by option, by comments in the wanted schema, and offered where a column or a table goes. */
import { locateColumns } from '@sqlpipe/ddl';
import { type PlanOptions, planChanges } from '@sqlpipe/plan';
import { formatOmission } from '@sqlpipe/plan/text';
import { IgnoreRules } from '@sqlpipe/schema';
import { inProcess } from '../support/in-process.js';
import { lossesOf, textsOf } from '../support/plans.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const table = (columns: string, name = 't') =>
  `CREATE TABLE ${name} (ts TIMESTAMP, ${columns}) timestamp(ts) PARTITION BY DAY;`;
const OLD = [table('qty INT, note VARCHAR'), 'CREATE VIEW v AS (select qty from t);'];
const NEW_VIEW = 'CREATE VIEW v AS (select quantity from t);';

const plan = async (after: string[], before: string[], options: PlanOptions = {}) => {
  const { omissions, notes, warnings, ...rest } = await planChanges(after, before, options);
  return { statements: textsOf(rest as never), omissions: omissions.flatMap(formatOmission), notes, warnings };
};

test('a comment on the line of a column renames it once, and can stay', async t => {
  const after = [
    `CREATE TABLE t (
  ts TIMESTAMP,
  quantity INT, -- renamed from qty
  note VARCHAR
) timestamp(ts) PARTITION BY DAY;`,
    NEW_VIEW,
  ];
  const first = await plan(after, OLD);
  t.is(first.statements[2], "ALTER TABLE 't' RENAME COLUMN qty TO quantity;");
  t.deepEqual([first.omissions, first.warnings], [[], []]);
  const done = [table('quantity INT, note VARCHAR'), NEW_VIEW];
  t.deepEqual(await plan(after, done), { statements: [], omissions: [], notes: [], warnings: [] });
  t.is((await plan(after, [])).statements.length, 2, 'a new instance');
});

test('functions and aliases with the name of a renamed column do not make another query', async t => {
  const views = (column: string) => [
    `CREATE VIEW v AS (select ts, max(${column}) as max from t);`,
    'CREATE MATERIALIZED VIEW m WITH BASE t REFRESH IMMEDIATE AS (select ts, sum(max) s from v sample by 1h);',
  ];
  const { statements, omissions } = await plan(
    [table('top DOUBLE'), ...views('top')],
    [table('max DOUBLE'), ...views('max')],
    {
      renamed: ['t.max=top'],
    },
  );
  t.deepEqual(omissions, []);
  t.deepEqual(
    statements.filter(text => !text.startsWith('SELECT')),
    [
      "ALTER TABLE 't' RENAME COLUMN max TO top;",
      "ALTER VIEW 'v' AS (\nselect ts, max(top) as max from t\n);",
      "REFRESH MATERIALIZED VIEW 'm' FULL;",
    ],
  );
});

test('a comment that contradicts B is refused, whatever an interrupted plan has made of B', async t => {
  const [from, to] = [table('note INT', 'u'), table('note INT', 'w')];
  const view = "CREATE VIEW 'w' AS (select note from t);";
  for (const existing of [to, view]) {
    const { statements, omissions } = await plan(
      [OLD[0] as string, `-- renamed from u\n${to}`],
      [OLD[0] as string, from, existing],
      { allowLoss: ['drop:u', 'drop:w'] },
    );
    t.deepEqual(statements, []);
    t.is(omissions.filter(text => text.includes("renamed from u: B has a 'w' too")).length, 2);
  }
  const swapped = table('note INT, -- renamed from quantity\nquantity INT -- renamed from note', 'w');
  for (const columns of ['a INT', 'a INT, note INT', 'a INT, note INT, quantity INT']) {
    const { statements } = await plan([swapped], [table(columns, 'w')], { allowLoss: ['drop:w.a'] });
    t.deepEqual(statements, [], columns);
  }
});

test('a TTL is changed although a rename is left out', async t => {
  const before = [table('qty INT'), 'CREATE VIEW v AS (select qty from t);'];
  const { statements, omissions } = await plan([table('quantity INT').replace('DAY;', 'DAY TTL 1 WEEK;')], before, {
    renamed: ['t.qty=quantity'],
    allowLoss: ['ttl:t'],
    ignoreExtra: true,
  });
  t.deepEqual(statements, ["ALTER TABLE 't' SET TTL 1 WEEK;"]);
  t.regex(omissions.join('\n'), /RENAME COLUMN qty TO quantity\n/);
});

test('a rename is offered for a table that is kept', async t => {
  const { notes } = await plan([table('qty INT', 'trades')], [table('qty INT')], { ignoreExtra: true });
  t.deepEqual(notes, ["table 't' is kept; renamed? --renamed t=trades"]);
});

const file = fileScope();

test('a pull request carries its renames: sqldiff and sqlapply read the comments of a folder', async t => {
  const server = await startSqlserve(file);
  const run = await inProcess(t, { DB: server.url });
  await run(`cat > old.sql <<'END'
${OLD.join('\n')}
END
cat > new.sql <<'END'
CREATE TABLE t (
  ts TIMESTAMP,
  quantity INT, -- renamed from qty
  note VARCHAR
) timestamp(ts) PARTITION BY DAY;
${NEW_VIEW}
END
sqlapply $DB old.sql; sqlsplit new.sql | sqljoin -d schema`);
  const planned = await run('sqldiff --alter schema $DB | tr -d "\\0"; echo ${PIPESTATUS[0]}');
  t.regex(planned.stdout, /RENAME COLUMN qty TO quantity;[^]*\n0\n$/, planned.stderr);
  const applied = await run('sqlapply --alter $DB schema && sqlapply --alter -v $DB schema && sqldiff schema $DB');
  t.is(applied.code, 0, applied.stderr);
  const typing = await run(
    `sed -i 's/renamed from qty/rename form qty/' schema/tables/t.sql; sqldiff --alter schema $DB | cat`,
  );
  t.regex(typing.stderr, /^sqldiff: table 't': -- rename form qty: not understood; write '-- renamed from OLD'\n$/);
  t.is((await run('sqldiff --alter --renamed t.x=y schema $DB')).code, 64);
});

/** As a server answers about a table with a detached partition, in which no column can be renamed. */
const fetchDetached = async (query: string) => (/detached/.test(query) ? [1] : [0, 0, 1]);

test('a table does not get fewer keys because one of them is not renamed', async t => {
  const keyed = (columns: string, keys: string) =>
    `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${keys});`;
  const before = 'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;';
  const { statements, omissions } = await plan([keyed('y INT -- renamed from x\n', 'ts, y')], [before], {
    fetchRow: fetchDetached,
  });
  t.deepEqual(statements, []);
  t.deepEqual(
    omissions.filter(line => line.includes('left out')),
    ['RENAME COLUMN x TO y', 'DEDUP ENABLE UPSERT KEYS(ts,y)'].map(
      what => `table 't': left out: ALTER TABLE 't' ${what}`,
    ),
  );
});

test('each other change of a column that is not renamed is listed', async t => {
  const before = [table('x SYMBOL, z INT')];
  const after = [table('y VARCHAR, -- renamed from x\nz INT').replace('y VARCHAR', 'y SYMBOL INDEX')];
  for (const [a, change] of [
    [after, 'ALTER COLUMN y ADD INDEX CAPACITY 256'],
    [[table('y VARCHAR, -- renamed from x\nz INT')], 'ALTER COLUMN y TYPE VARCHAR'],
  ] as const) {
    const { statements, omissions } = await plan([...a], before, { fetchRow: fetchDetached });
    t.deepEqual(statements, []);
    t.deepEqual(
      omissions.filter(line => line.includes('left out')),
      ['RENAME COLUMN x TO y', change].map(what => `table 't': left out: ALTER TABLE 't' ${what}`),
    );
  }
});

test('a loss is allowed by the old and the new names of a table and its column, also after the renames', async t => {
  const renamed = ['t=u', 't.x=y'];
  const after = [table('y SHORT, z INT', 'u')];
  const commented = [`-- renamed from t\n${table('y SHORT, -- renamed from x\nz INT', 'u')}`];
  const states = [table('x INT, z INT'), table('x INT, z INT', 'u'), table('y INT, z INT', 'u')];
  for (const before of states)
    for (const name of ['values:t.x', 'values:u.x', 'values:t.y', 'values:u.y'])
      for (const [a, options] of [
        [after, { renamed }],
        [commented, {}],
      ] as const) {
        const { omissions, notes } = await plan([...a], [before], { ...options, allowLoss: [name] });
        t.deepEqual([omissions, notes.filter(note => note.includes('nothing of this name'))], [[], []], name);
      }
  t.is(
    (await plan([table('x SHORT, y INT')], [table('x INT, y INT')], { allowLoss: ['values:t.y'] })).omissions.length,
    3,
  );
});

test('the columns of a CREATE TABLE are those of its list, or those that its query selects', t => {
  const cases: [statement: string, columns: string[]][] = [
    ['create table t (a decimal(9, 2), "b c" symbol) timestamp(ts)', ['a', '"b c"']],
    ['create table t as (select a, sum(x, y) b, u."c d" from u), cast(e as int)', ['a', 'b', '"c d"']],
    ['create table t as (with u as (select a) select a from u)', []],
    ['create materialized view v refresh period (length 1d) as (select a from t)', []],
    ['create table t', []],
  ];
  for (const [statement, columns] of cases)
    t.deepEqual(
      locateColumns(statement).columns.map(({ start }) => /^(?:\w+|"[^"]+")/.exec(statement.slice(start))?.[0]),
      columns,
      statement,
    );
});

test('a view loses its rows if it is created again over an ignored view that the plan leaves empty', async t => {
  const schema = (name: string) => [
    'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY WAL;',
    `CREATE MATERIALIZED VIEW ${name} WITH BASE t REFRESH MANUAL DEFERRED AS (select ts, max(x) n from t sample by 1h) PARTITION BY DAY;`,
    `CREATE MATERIALIZED VIEW n WITH BASE ${name} AS (select ts, max(n) n from ${name} sample by 1d) PARTITION BY DAY;`,
  ];
  const lossesWith = async (answer: 'none' | 'recomputable') => {
    const fetchHistory = async () => ({ answer, columns: undefined });
    const options = { renamed: ['m=m2'], ignore: new IgnoreRules(['m2']), fetchHistory };
    return lossesOf(await planChanges(schema('m2'), schema('m'), options));
  };
  t.deepEqual(await lossesWith('recomputable'), ['history:m2', 'history:n']);
  t.deepEqual(await lossesWith('none'), []);
});

test('an option about an object that A lacks, or that is ignored, is an error that says so', async t => {
  const named = (name: string, column = 'x') => table(`${column} INT`, name);
  const [ignored, lacking] = [{ ignore: new IgnoreRules(['tmp_*']) }, "'tmp_m' is ignored, so it is not changed"];
  for (const [a, b, options, message] of [
    [named('tmp_m'), named('m'), { renamed: ['m=tmp_m'], ...ignored }, `--renamed m=tmp_m: ${lacking}`],
    [named('tmp_m'), named('m'), { renamed: ['m=tmp_n'] }, "--renamed m=tmp_n: A has no 'tmp_n'; did you mean tmp_m?"],
    [named('tmp_m', 'y'), named('tmp_m'), { renamed: ['tmp_m.x=y'], ...ignored }, `--renamed tmp_m.x=y: ${lacking}`],
    [
      named('tmp_m', 'y'),
      named('tmp_m'),
      { renamed: ['tmp_m.x=z'] },
      "--renamed tmp_m.x=z: A has no column 'z' in 'tmp_m'",
    ],
    [named('tmp_m'), named('tmp_m'), { rebuild: ['tmp_m'], ...ignored }, `--rebuild tmp_m: ${lacking}`],
    [named('n'), named('m'), { rebuild: ['m'] }, '--rebuild m: A has no such table'],
  ] as const)
    await t.throwsAsync(() => planChanges([a], [b], options), { message }, message);
});

test('a plan names a renamed view as B writes it', async t => {
  const [base = ''] = OLD;
  const view = (name: string) => `CREATE VIEW ${name} AS (select qty from t);`;
  const { remarks } = await planChanges([base, view('Sums')], [base, view('MyView')], { renamed: ['myview=Sums'] });
  t.deepEqual(remarks, ["renamed views: 'MyView'='Sums'"]);
});
