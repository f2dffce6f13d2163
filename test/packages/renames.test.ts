/*! Renames in plans: by option, by comments in the wanted schema, and offered where a column or a table goes. */
import { locateColumns } from '@sqlpipe/ddl';
import { type PlanOptions, planChanges } from '@sqlpipe/plan';
import { describeOmission } from '@sqlpipe/plan/text';
import { normalizeStatement } from '@sqlpipe/sql';
import { inProcess } from '../support/in-process.js';
import { textsOf } from '../support/plans.js';
import { fileScope } from '../support/scope.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const table = (columns: string, name = 't') =>
  `CREATE TABLE ${name} (ts TIMESTAMP, ${columns}) timestamp(ts) PARTITION BY DAY;`;
const OLD = [table('qty INT, note VARCHAR'), 'CREATE VIEW v AS (select qty from t);'];
const NEW_VIEW = 'CREATE VIEW v AS (select quantity from t);';

const plan = async (after: string[], before: string[], options: PlanOptions = {}) => {
  const { omissions, notes, warnings, ...rest } = await planChanges(after, before, options);
  return { statements: textsOf(rest as never), omissions: omissions.flatMap(describeOmission), notes, warnings };
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
  t.is(first.statements[1], "ALTER TABLE 't' RENAME COLUMN qty TO quantity;");
  t.deepEqual([first.omissions, first.warnings], [[], []]);
  const done = [table('quantity INT, note VARCHAR'), NEW_VIEW];
  t.deepEqual(await plan(after, done), { statements: [], omissions: [], notes: [], warnings: [] });
  t.is((await plan(after, [])).statements.length, 2, 'a new instance');
});

test('of two options that rename one column, the last one counts, however the column is written', async t => {
  const [after, before] = [[table('a INT, b INT')], [table('x INT')]];
  const same = await plan(after, before, { renamed: ['t.x=a', 't.x=b'], rebuild: ['t'] });
  t.regex(same.statements.join('\n'), /\("ts", "b"\) SELECT "ts", "x" FROM 't'/);
  t.deepEqual(await plan(after, before, { renamed: ['t.X=a', 't.x=b'], rebuild: ['t'] }), same);
});

test('an option renames a name with a letter of two UTF-16 units', async t => {
  const { statements } = await plan([table('x INT', 'b')], [table('x INT', '𝒜')], { renamed: ['𝒜=b'] });
  t.is(statements.at(-1), "RENAME TABLE '𝒜' TO 'b';");
});

const COMMENTS: [what: string, after: string, statement: RegExp | undefined, warning?: RegExp][] = [
  [
    'a list of former names',
    table('note VARCHAR, quantity INT -- renamed from amount, qty\n'),
    /RENAME COLUMN qty TO quantity/,
  ],
  ['quoted names', table('"my note" VARCHAR, -- renamed from "note"\nqty INT'), /RENAME COLUMN note TO "my note"/],
  [
    'a line above the column',
    table('note VARCHAR,\n-- renamed from qty\nquantity INT'),
    /RENAME COLUMN qty TO quantity/,
  ],
  ['a comma at its end', table('quantity INT, -- renamed from qty,\nnote VARCHAR'), /RENAME COLUMN qty TO quantity/],
  [
    'two columns of one',
    table('quantity INT, -- renamed from qty\namount INT, -- renamed from qty\nnote VARCHAR'),
    /RENAME COLUMN qty TO quantity[^]*ADD COLUMN amount/,
  ],
  ['an object', `-- renamed from 't'\n${table('qty INT, note VARCHAR', 'trades')}`, /RENAME TABLE 't' TO 'trades'/],
  [
    'an object, after it',
    normalizeStatement(`${table('qty INT, note VARCHAR', 'trades')} -- renamed from t`),
    /RENAME TABLE 't' TO 'trades'/,
  ],
  [
    'an object, after the parenthesis that opens the columns',
    table('qty INT, note VARCHAR', 'trades').replace('(', '( -- renamed from t\n'),
    /RENAME TABLE 't' TO 'trades'/,
  ],
  [
    'text before the end of the statement',
    table('qty INT, note VARCHAR', 'trades').replace('TIMESTAMP(ts)', '-- renamed from t\n$&'),
    /CREATE TABLE trades/,
  ],
  [
    'an object and its column',
    `-- renamed from t\n${table('quantity INT, -- renamed from qty\nnote VARCHAR', 'trades')}`,
    /RENAME COLUMN/,
  ],
  [
    'another former name than B has',
    table('quantity INT, -- renamed from qtty\nnote VARCHAR'),
    undefined,
    /B has no column 'qtty'; did you mean qty\?$/,
  ],
  [
    'a name that A still has',
    table('quantity INT, -- renamed from qty\nqty INT, note VARCHAR'),
    undefined,
    /A has a column 'qty' too/,
  ],
  [
    'a comment with a typing error',
    table('quantity INT, -- rename form qty\nnote VARCHAR'),
    undefined,
    /table 't': -- rename form qty: not understood; write -- renamed from OLD$/,
  ],
  [
    'the same name in another case',
    table('QTY INT, -- renamed from qty\nnote VARCHAR'),
    undefined,
    /-- renamed from qty: for QuestDB, names that differ only in case are the same name$/,
  ],
  [
    'text that looks like a comment',
    table('note VARCHAR, quantity INT').replace('DAY;', 'DAY -- not renamed from qty\n;'),
    /ADD COLUMN quantity/,
  ],
];

for (const [what, after, statement, warning] of COMMENTS)
  test(`a comment about a rename: ${what}`, async t => {
    const { statements, ...remarks } = await plan([after], [OLD[0] as string]);
    const warnings = [...remarks.warnings, ...remarks.omissions.filter(text => text.includes('renamed from'))];
    if (statement) t.regex(statements.join('\n'), statement);
    else t.notRegex(statements.join('\n'), /RENAME/);
    if (warning) t.regex(warnings.join('\n'), warning);
    else t.deepEqual(warnings, []);
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

test('a rename to another kind or to the same name, and two renames to one name, are errors', async t => {
  const [x, y, w] = ['x', 'y', 'w'].map(name => table('note INT', name)) as [string, string, string];
  const view = "CREATE VIEW 'w' AS (select note from t);";
  const old = OLD[0] as string;
  const message = (after: string[], before: string[], ...renamed: string[]) =>
    t.throwsAsync(plan(after, before, { renamed })).then(error => error?.message);
  t.is(await message([old, view], [old, x], 'x=w'), "--renamed x=w: B has table 'x', A has view 'w'");
  t.is(await message([w], [x, y], 'x=w', 'y=w'), "--renamed y=w: 'x' gets the name 'w' too");
  const sameName = 'for QuestDB, names that differ only in case are the same name';
  t.is(await message([old, table('note INT', 'X')], [old, x], 'x=X'), `--renamed x=X: ${sameName}`);
  t.is(await message([old], [old], 't.note=NOTE'), `--renamed t.note=NOTE: ${sameName}`);
  const { statements } = await plan([old, `-- renamed from x\n${view}`], [old, x]);
  t.deepEqual(statements, []);
});

test('an option takes precedence over a comment', async t => {
  const after = [table('quantity INT, -- renamed from qty\nnote VARCHAR'), NEW_VIEW];
  const before = [table('qty INT, amount INT, note VARCHAR'), 'CREATE VIEW v AS (select qty from t);'];
  const { statements } = await plan(after, before, { renamed: ['t.amount=quantity'] });
  t.is(statements[1], "ALTER TABLE 't' RENAME COLUMN amount TO quantity;");
});

test('an option takes precedence over a comment that writes the old name in another case', async t => {
  const after = [table('quantity INT,\nx INT -- renamed from qty\n')];
  const { statements } = await plan(after, [table('qty INT')], { renamed: ['t.Qty=quantity'], rebuild: ['t'] });
  t.regex(
    statements.find(statement => statement.startsWith('INSERT')) ?? '',
    /\("ts", "quantity"\) SELECT "ts", "qty" FROM 't'/,
  );
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

test('a rename is offered before a loss, for columns of the same type and tables of the same columns', async t => {
  const columns = await plan([table('note VARCHAR, quantity INT')], [table('qty INT, note VARCHAR')]);
  t.deepEqual(columns.omissions, [
    "table 't': left out: ALTER TABLE 't' DROP COLUMN qty",
    "loses column 'qty'",
    'hint: renamed? --renamed t.qty=quantity',
    'hint: --allow-loss drop:t.qty',
  ]);
  const two = await plan([table('other INT, quantity INT')], [table('note VARCHAR, qty INT')]);
  t.regex(two.omissions.join('\n'), /--renamed t\.qty=quantity/, 'the one in its place');
  const other = await plan([table('quantity LONG, note VARCHAR')], [table('qty INT, note VARCHAR')]);
  t.notRegex(other.omissions.join('\n'), /renamed/);
  const kept = await plan([table('qty INT', 'trades')], [table('qty INT')], { ignoreExtra: true });
  t.deepEqual(kept.notes, ["table 't' is kept; renamed? --renamed t=trades"]);
  const tables = await plan([table('qty INT', "'my-trades'")], [table('qty INT')]);
  t.deepEqual(tables.omissions, [
    "table 't': left out: DROP TABLE 't'",
    "loses table 't' and its rows",
    'hint: renamed? --renamed t=my-trades',
    'hint: --allow-loss drop:t',
  ]);
});

test('a rename that has been done is a note, one of a name that B never had is an error with a suggestion', async t => {
  const done = [table('quantity INT, note VARCHAR')];
  t.deepEqual((await plan(done, done, { renamed: ['t.qty=quantity'] })).notes, [
    '--renamed t.qty=quantity: an earlier plan has already made this rename',
  ]);
  const view = 'CREATE MATERIALIZED VIEW m2 AS (select ts, sum(qty) from t sample by 1h) PARTITION BY DAY;';
  const interrupted = await plan([table('qty INT'), view], [table('qty INT')], { renamed: ['m=m2'] });
  t.deepEqual(interrupted.notes, ["--renamed m=m2: B has neither name; 'm2' is created"]);
  const ERRORS: [string, string][] = [
    ['t.qtty=quantity', "--renamed t.qtty=quantity: B has no 't.qtty'; did you mean t.qty?"],
    ['tt=trades', "--renamed tt=trades: B has no 'tt'"],
    ['t.qty=quantiy', "--renamed t.qty=quantiy: A has no column 'quantiy' in 't'; did you mean quantity?"],
  ];
  for (const [renamed, message] of ERRORS)
    await t.throwsAsync(() => planChanges(done, [OLD[0] as string], { renamed: [renamed] }), { message });
});

test('a renamed view whose DROP would lose rows keeps its name, and is listed under both names', async t => {
  const view = (name: string) =>
    `CREATE MATERIALIZED VIEW ${name} REFRESH IMMEDIATE PERIOD (LENGTH 1d) AS (select ts, sum(qty) from t sample by 1h) PARTITION BY DAY;`;
  const { statements, omissions } = await plan([table('qty INT'), view('m2')], [table('qty INT'), view('m')], {
    renamed: ['m=m2'],
  });
  t.deepEqual(statements, []);
  t.deepEqual(
    omissions.filter(line => /left out|still/.test(line)),
    [
      "materialized view 'm': left out: DROP MATERIALIZED VIEW 'm'",
      "materialized view 'm2': left out: materialized view 'm2'",
      "it is still called 'm'",
    ],
  );
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
  t.regex(planned.stdout.toString(), /RENAME COLUMN qty TO quantity;[^]*\n0\n$/, planned.stderr);
  const applied = await run('sqlapply --alter $DB schema && sqlapply --alter -v $DB schema && sqldiff schema $DB');
  t.is(applied.code, 0, applied.stderr);
  const typing = await run(
    `sed -i 's/renamed from qty/rename form qty/' schema/tables/t.sql; sqldiff --alter schema $DB | cat`,
  );
  t.regex(typing.stderr, /^sqldiff: table 't': -- rename form qty: not understood; write -- renamed from OLD\n$/);
  t.is((await run('sqldiff --alter --renamed t.x=y schema $DB')).code, 64);
});

/** As a server answers about a table with a detached partition, in which no column can be renamed. */
const askDetached = async (query: string) => (/detached/.test(query) ? [1] : [0, 0, 1]);

test('a table does not get fewer keys because one of them is not renamed', async t => {
  const keyed = (columns: string, keys: string) =>
    `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${keys});`;
  const before = 'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;';
  const { statements, omissions } = await plan([keyed('y INT -- renamed from x\n', 'ts, y')], [before], {
    askRow: askDetached,
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
    const { statements, omissions } = await plan([...a], before, { askRow: askDetached });
    t.deepEqual(statements, []);
    t.deepEqual(
      omissions.filter(line => line.includes('left out')),
      ['RENAME COLUMN x TO y', change].map(what => `table 't': left out: ALTER TABLE 't' ${what}`),
    );
  }
});

test('a chain of rename comments names the object that has each comment', async t => {
  const [a, b, c] = ['a', 'b', 'c'].map(name => table('x INT', name)) as [string, string, string];
  const reasons = [
    ["table 'c': left out: table 'c'", "-- renamed from b: A has a 'b' too"],
    ["table 'b': left out: table 'b'", "-- renamed from a: B has a 'b' too"],
    ["table 'a': left out: table 'a'", "table 'b': -- renamed from a: B has a 'b' too"],
  ];
  const chain = [`-- renamed from b\n${c}`, `-- renamed from a\n${b}`];
  for (const after of [chain, chain.toReversed()]) {
    const { omissions } = await planChanges(after, [a, b]);
    t.deepEqual(omissions.map(describeOmission).toSorted(), reasons.toSorted());
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
      locateColumns(statement).columns.map(({ position }) => /^(?:\w+|"[^"]+")/.exec(statement.slice(position))?.[0]),
      columns,
      statement,
    );
});
