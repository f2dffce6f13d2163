/*! The engine: a schema in memory that executes statements, says what they do, and undoes them. */
import { Engine, type EngineOptions, OpaqueError, whenReady } from '@sqlpipe/engine';
import { NameMap, NameSet } from '@sqlpipe/sql';
import { fc, forAllAsync } from '../support/seed.js';
import { test } from '../support/test.js';

const TRADES = `CREATE TABLE 'trades' ( 
	ts TIMESTAMP,
	sym SYMBOL CACHE,
	qty INT,
	price DOUBLE
) timestamp(ts) PARTITION BY DAY WAL
DEDUP UPSERT KEYS(ts,sym);`;
const DUMP = [
  TRADES,
  "CREATE TABLE 'other' ( \n\tts TIMESTAMP,\n\tv INT\n) timestamp(ts) PARTITION BY DAY WAL;",
  "CREATE VIEW 'big' AS ( \nselect sym, qty from trades where qty > 9\n);",
  "CREATE VIEW 'bigger' AS ( \nselect qty from big where qty > 99\n);",
  "CREATE VIEW 'whole' AS ( \nselect * from trades\n);",
  "CREATE MATERIALIZED VIEW 'm1' WITH BASE 'trades' REFRESH IMMEDIATE AS (\nselect ts, max(price) price from trades sample by 1h\n) PARTITION BY DAY;",
  "CREATE MATERIALIZED VIEW 'm2' WITH BASE 'm1' REFRESH IMMEDIATE AS (\nselect ts, max(price) price from m1 sample by 1d\n) PARTITION BY YEAR;",
];

function loaded(options?: EngineOptions, statements: readonly string[] = DUMP): Engine {
  const engine = new Engine({ rows: 'assumed', ...options });
  engine.load(statements);
  return engine;
}

const effectsOf = async (engine: Engine, statement: string): Promise<string[]> => {
  const { effects } = await whenReady(() => engine.execute(statement));
  return effects.map(({ type, lossKind, text }) => `${type}${lossKind === undefined ? '' : ` ${lossKind}`}: ${text}`);
};

test('columns that swap their names lose nothing', async t => {
  const engine = loaded({}, [
    'CREATE TABLE b (ts TIMESTAMP, a INT, b STRING) timestamp(ts) PARTITION BY DAY BYPASS WAL;',
  ]);
  t.deepEqual(await effectsOf(engine, 'alter table b rename column a to x, b to a, x to b'), []);
});

test('what a statement does to tables, columns and keys', async t => {
  for (const [statement, expected] of [
    ['alter table trades drop column price', ["lost drop: loses column 'price'", ...over('drop column operation')]],
    [
      'alter table trades alter column qty type long',
      ["rewritten: rewrites column 'qty'", ...over('change column type operation')],
    ],
    [
      'alter table trades alter column qty type short',
      [
        "rewritten: rewrites column 'qty'",
        "lost values: may lose values of column 'qty': INT to SHORT",
        ...over('change column type operation'),
      ],
    ],
    ['alter table trades alter column sym add index', ["rewritten: builds the index of column 'sym'"]],
    ['alter table other rename column v to w', []],
    [
      'alter table trades rename column sym to symbol',
      [
        ...over('rename column operation'),
        "invalidated: invalidates view 'big': Invalid column: sym",
        "invalidated: invalidates view 'bigger': Invalid column: sym",
      ],
    ],
    ['alter table trades dedup disable', ['lost keys: switches deduplication off']],
    ['alter table trades dedup enable upsert keys(ts)', ["lost keys: removes dedup key 'sym'"]],
    ['alter table trades set ttl 2 days', ["lost ttl: expires rows of table 'trades' that are older than 2 DAYS"]],
    ['alter table trades add column x int', []],
    ['drop table other', ["lost drop: loses table 'other' and its rows"]],
    ['drop materialized view m2', ["lost drop: loses materialized view 'm2' and its rows"]],
    ['drop view bigger', ["removed: removes view 'bigger'"]],
    ['rename table other to another', []],
    ['alter table trades alter column sym nocache', []],
  ] as const)
    t.deepEqual(await effectsOf(loaded(), statement), [...expected], statement);
});

const over = (reason: string): string[] => [
  `invalidated: invalidates materialized view 'm1': ${reason}`,
  "invalidated: invalidates materialized view 'm2': base materialized view is invalidated",
];

test('views that a statement makes invalid, and valid again', async t => {
  const engine = loaded();
  const missing = 'Invalid column: qty';
  t.deepEqual(await effectsOf(engine, 'alter table trades rename column qty to quantity'), [
    ...over('rename column operation'),
    `invalidated: invalidates view 'big': ${missing}`,
    `invalidated: invalidates view 'bigger': ${missing}`,
  ]);
  t.deepEqual(await effectsOf(engine, 'alter table trades add column qty int'), [
    "repaired: repairs view 'big'",
    "repaired: repairs view 'bigger'",
  ]);
  t.deepEqual(await effectsOf(engine, 'create or replace view big as (select sym from trades)'), [
    "invalidated: invalidates view 'bigger': Invalid column: qty",
  ]);
  t.deepEqual(await effectsOf(engine, 'refresh materialized view m2 full'), [
    "rewritten: recomputes materialized view 'm2' from what 'm1' holds",
  ]);
  t.deepEqual(await effectsOf(engine, 'refresh materialized view m1 full'), [
    "rewritten: recomputes materialized view 'm1' from what 'trades' holds",
    "repaired: repairs materialized view 'm1'",
  ]);
  const gone = 'table does not exist [table=trades]';
  t.deepEqual(await effectsOf(engine, 'drop table trades'), [
    "lost drop: loses table 'trades' and its rows",
    "invalidated: invalidates materialized view 'm1': base table is dropped or renamed",
    `invalidated: invalidates view 'big': ${gone}`,
    `invalidated: invalidates view 'whole': ${gone}`,
  ]);
});

test('a full refresh makes the views over a view invalid', async t =>
  t.deepEqual(await effectsOf(loaded(), 'refresh materialized view m1 full'), [
    "rewritten: recomputes materialized view 'm1' from what 'trades' holds",
    "invalidated: invalidates materialized view 'm2': truncate operation",
  ]));

test('a view that joins what is gone counts as invalid at once, and its refresh makes even new views over it invalid', async t => {
  const view = (name: string, base: string, query: string) =>
    `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' REFRESH MANUAL DEFERRED AS (${query} sample by 1d) PARTITION BY DAY;`;
  const upper = view('upper', 'lower', 'select ts, max(n) n from lower');
  const engine = loaded(undefined, [
    TRADES,
    TRADES.replace('trades', 'joined'),
    view('joins', 'trades', 'select trades.ts, max(joined.price) n from trades asof join joined'),
    view('lower', 'joins', 'select ts, max(n) n from joins'),
  ]);
  await effectsOf(engine, 'rename table joined to other');
  await effectsOf(engine, 'rename table other to joined');
  await effectsOf(engine, upper);
  t.deepEqual(await effectsOf(engine, 'refresh materialized view joins full'), [
    "rewritten: recomputes materialized view 'joins' from what 'trades' holds",
    "repaired: repairs materialized view 'joins'",
    "invalidated: invalidates materialized view 'upper': base materialized view is invalidated",
  ]);
});

test('a view of all columns of a query that gives fewer columns cannot be refreshed', async t => {
  const hourly = (values: string) => `(select ts, ${values} from trades sample by 1h)`;
  const engine = loaded(undefined, [
    TRADES,
    `CREATE VIEW 'wide' AS ( \n${hourly('max(price) high, min(price) low')}\n);`,
    "CREATE MATERIALIZED VIEW 'all' WITH BASE 'trades' REFRESH IMMEDIATE AS (\nselect * from wide\n) PARTITION BY DAY;",
  ]);
  t.deepEqual(await effectsOf(engine, `alter view wide as ${hourly('max(price) high')}`), [
    "invalidated: invalidates materialized view 'all': its query gives columns of other types",
  ]);
});

test('a comma before FROM is accepted, as QuestDB does', async t => {
  const engine = loaded();
  await effectsOf(engine, 'create view v as (select ts, qty, from trades)');
  t.deepEqual(await effectsOf(engine, 'alter table trades rename column qty to quantity'), [
    ...over('rename column operation'),
    ...['big', 'bigger', 'v'].map(name => `invalidated: invalidates view '${name}': Invalid column: qty`),
  ]);
});

test('what the server says of views is their state before', async t => {
  const health = {
    invalid: new NameMap([
      ['m1', 'some reason'],
      ['bigger', 'another'],
    ]),
    neverRefreshed: new NameSet(['m2']),
  };
  const engine = loaded({ health });
  t.deepEqual(await effectsOf(engine, 'alter table trades drop column qty'), [
    "lost drop: loses column 'qty'",
    "invalidated: invalidates view 'big': Invalid column: qty",
  ]);
  // A view that was never refreshed stays valid, but not over an invalid one.
  t.deepEqual(await effectsOf(loaded({ health: { neverRefreshed: new NameSet(['m2']) } }), 'truncate table trades'), [
    "lost drop: loses all rows of table 'trades'",
    ...over('truncate operation'),
  ]);
  t.deepEqual(await effectsOf(loaded({ health: { neverRefreshed: new NameSet(['m1']) } }), 'drop table trades'), [
    "lost drop: loses table 'trades' and its rows",
    "invalidated: invalidates materialized view 'm2': base materialized view is invalidated",
    ...['big', 'bigger', 'whole'].map(
      name => `invalidated: invalidates view '${name}': table does not exist [table=trades]`,
    ),
    "invalidated: invalidates materialized view 'm1': [-105]: table does not exist [table=trades]",
  ]);
});

test('a view that was invalid before, and was never compiled, is not invalidated', async t => {
  const broken = "CREATE VIEW 'broken' AS ( \nselect nothing from trades\n);";
  const engine = loaded(undefined, [TRADES, broken]);
  t.deepEqual(await effectsOf(engine, 'alter table trades drop column qty'), ["lost drop: loses column 'qty'"]);
  t.deepEqual(await effectsOf(engine, 'alter table trades add column nothing int'), [
    "repaired: repairs view 'broken'",
  ]);
});

test('only the views over what changes are compiled', async t => {
  const engine = loaded();
  const compiled = () =>
    engine.catalogue
      .list()
      .filter(object => object.kind !== 'table' && !object.isUncompiled)
      .map(({ name }) => name);
  await effectsOf(engine, 'create view v as (select v from other)');
  await effectsOf(engine, 'alter table other drop column v');
  await effectsOf(engine, 'alter table trades set ttl 1 year');
  t.deepEqual(compiled(), ['v']);
  await effectsOf(engine, 'create or replace view big as (select qty, sym from trades)');
  t.deepEqual(compiled(), ['big', 'bigger', 'v']);
});

test('principals and grants that go with what is dropped', async t => {
  const acl = [
    'CREATE USER ann;',
    'CREATE GROUP staff;',
    'ADD USER ann TO staff;',
    'GRANT INSERT ON trades TO ann;',
    'GRANT SELECT ON trades TO ann;',
    'GRANT SELECT ON other(ts) TO staff;',
    'GRANT SELECT ON other(v) TO staff;',
  ];
  const engine = loaded({ isEnterprise: true }, [...DUMP, ...acl]);
  const added = engine.statements().filter(statement => !DUMP.includes(statement));
  t.deepEqual(added, acl);
  await effectsOf(engine, 'grant update on trades(qty) to staff with grant option');
  await effectsOf(engine, 'alter table trades rename column qty to quantity');
  t.true(engine.statements().includes('GRANT UPDATE ON trades(quantity) TO staff WITH GRANT OPTION;'));
  await effectsOf(engine, 'revoke update on trades(quantity) from staff');
  t.deepEqual(await effectsOf(engine, 'alter table other drop column v'), [
    "lost drop: loses column 'v'",
    "removed: removes 1 grant on column 'v'",
  ]);
  await effectsOf(engine, 'drop materialized view m2');
  await effectsOf(engine, 'drop materialized view m1');
  for (const view of ['whole', 'bigger', 'big']) await effectsOf(engine, `drop view ${view}`);
  t.deepEqual(await effectsOf(engine, 'drop table trades'), [
    "lost drop: loses table 'trades' and its rows",
    "removed: removes 2 grants on table 'trades'",
  ]);
  t.deepEqual(await effectsOf(engine, 'drop user ann'), [
    "lost drop-user: loses user 'ann' with its credentials and rights",
  ]);
  t.deepEqual(engine.statements(), [
    'CREATE GROUP staff;',
    "CREATE TABLE 'other' ( \n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY DAY WAL;",
    'GRANT SELECT ON other(ts) TO staff;',
  ]);
});

test('statements about rows are executed if there are rows', async t => {
  const rows = 'assumed';
  const lost = (verb: string) => [`lost drop: loses ${verb} rows of table 'trades'`];
  for (const [statement, expected] of [
    ['truncate table trades', [...lost('all'), ...over('truncate operation')]],
    ["alter table trades drop partition where ts < '2020'", [...lost('some'), ...over('drop partition operation')]],
    ['update trades set qty = 1', ["rewritten: rewrites rows of table 'trades'", ...over('update operation')]],
    ['insert into trades values (1)', ["rewritten: writes rows to table 'trades'"]],
  ] as const)
    t.deepEqual(await effectsOf(loaded({ rows }), statement), [...expected], statement);
  t.throws(() => loaded({ rows }).execute('insert into nothing values (1)'), {
    message: 'table does not exist [table=nothing]',
  });
  t.throws(() => loaded({ rows: 'none' }).execute('update trades set qty = 1'), {
    message: /keeps the schema and no rows/,
  });
});

test('an object of unknown syntax has any column, and cannot be changed', async t => {
  const opaque = "CREATE TABLE 'later' (a INT) SOME NEWER CLAUSE;";
  const unread = "CREATE VIEW 'unread' AS ( \nselect qty ?? 1 from trades\n);";
  const engine = loaded(undefined, [TRADES, opaque, unread]);
  t.deepEqual(engine.statements().toSorted(), [opaque, TRADES, unread].toSorted());
  await effectsOf(engine, 'create view v as (select anything from later)');
  await effectsOf(engine, 'create view w as (select anything from unread)');
  await effectsOf(engine, 'insert into later (anything) values (1)');
  for (const statement of [
    'alter table later drop column x',
    'rename table later to earlier',
    'create table copy (like later)',
  ])
    t.throws(() => engine.execute(statement), { instanceOf: OpaqueError }, statement);
  t.deepEqual(await effectsOf(engine, 'alter table trades drop column qty'), ["lost drop: loses column 'qty'"]);
  t.deepEqual(await effectsOf(engine, 'drop table later'), [
    "lost drop: loses table 'later' and its rows",
    "invalidated: invalidates view 'v': table does not exist [table=later]",
  ]);
});

test('a change of a table invalidates a view that was created over a plain view of the table', async t => {
  const engine = loaded();
  await effectsOf(engine, 'create view o as (select ts, v from other)');
  await effectsOf(engine, 'create materialized view m as (select ts, sum(v) n from o sample by 1h) partition by day');
  await effectsOf(engine, 'alter table other add column w int');
  const effects = await effectsOf(engine, 'alter table other drop column w'); // observed on 9.3.4
  t.is(effects.at(-1), "invalidated: invalidates materialized view 'm': drop column operation");
});

test('a rejected statement changes nothing', async t => {
  const engine = loaded();
  const before = engine.statements();
  for (const statement of [
    'alter table trades drop column nothing',
    'create view v as (select nothing from trades)',
    'truncate table trades, nothing',
    'rename table trades to other',
  ]) {
    await t.throwsAsync(() => whenReady(() => engine.execute(statement)), { name: 'RejectionError' }, statement);
    t.deepEqual(engine.statements(), before);
    t.deepEqual(engine.log.journalEntries(), []);
  }
});

/** Statements of which some are rejected, depending on those before. */
const anyStatement = (): fc.Arbitrary<string> => {
  const table = fc.constantFrom('trades', 'other', 'fresh');
  const column = fc.constantFrom('qty', 'price', 'v', 'x', 'sym');
  const view = fc.constantFrom('big', 'bigger', 'whole', 'made');
  return fc.oneof(
    fc.tuple(table, column).map(([t, c]) => `alter table ${t} drop column ${c}`),
    fc.tuple(table, column).map(([t, c]) => `alter table ${t} add column ${c} int`),
    fc.tuple(table, column, column).map(([t, c, to]) => `alter table ${t} rename column ${c} to ${to}`),
    table.map(t => `create table ${t} (ts timestamp, qty int) timestamp(ts) partition by day`),
    table.map(t => `drop table ${t}`),
    fc.tuple(table, fc.constantFrom('', 'bypass')).map(([t, bypass]) => `alter table ${t} set type ${bypass} wal`),
    fc.tuple(table, table).map(([t, to]) => `rename table ${t} to ${to}`),
    view.map(v => `drop view ${v}`),
    fc.tuple(view, table, column).map(([v, t, c]) => `create or replace view ${v} as (select ${c} from ${t})`),
    fc.constantFrom('m1', 'm2').map(m => `refresh materialized view ${m} full`),
    fc.constantFrom('m1', 'm2').map(m => `drop materialized view ${m}`),
    fc.constantFrom('ann', 'bob').map(user => `create user ${user} with password 'p'`),
    fc.constantFrom('ann', 'bob').map(user => `drop user ${user}`),
    fc.tuple(table, column).map(([t, c]) => `grant select on ${t}(${c}) to ann`),
    fc.tuple(table).map(([t]) => `grant select, insert on ${t} to ann`),
    fc.constantFrom('all', 'select').map(permission => `grant ${permission} to ann`),
    table.map(t => `revoke all on ${t} from ann`),
    fc
      .constantFrom('create group', 'drop group', 'add user ann to', 'remove user ann from')
      .map(verb => `${verb} staff`),
    fc.constantFrom('create', 'drop').map(verb => `${verb} service account app`),
    fc.constantFrom('ann', 'staff').map(entity => `grant assume service account app to ${entity}`),
    fc.constantFrom('ann', 'staff').map(entity => `revoke assume service account app from ${entity}`),
    fc.constant('drop all tables'),
  );
};

/** All that a server would show. A number is never given again. */
const stateOf = (engine: Engine) => ({
  statements: engine.statements(),
  restart: engine
    .effectsOfRestart()
    .map(({ text }) => text)
    .sort(),
  objects: engine.catalogue
    .list()
    .map(({ name, columns, ...object }) => [
      name,
      columns.map(column => ({ ...column, id: undefined })),
      'rejection' in object ? object.rejection : 'invalidReason' in object && object.invalidReason,
    ]),
});

async function executeAll(engine: Engine, statements: readonly string[]): Promise<void> {
  for (const statement of statements)
    await whenReady(() => engine.execute(statement)).catch((error: Error) => {
      if (error.name !== 'RejectionError') throw error;
    });
}

test('the time of an ALTER is linear in the number of columns', t => {
  const columns = Array.from({ length: 20_000 }, (_, i) => `c${i} INT`);
  const engine = loaded({}, [`CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY;`]);
  const start = process.cpuUsage();
  for (const change of ['SET TTL 1 DAY', 'RENAME COLUMN c1 TO d', 'DROP COLUMN d'])
    engine.execute(`ALTER TABLE t ${change}`);
  t.true(process.cpuUsage(start).user < 5e6); // 0.1 s; quadratic it is 40 s
});

test('a rollback leaves exactly what was there, and the same statements then do the same', t =>
  forAllAsync(100, fc.array(anyStatement(), { maxLength: 8 }), fc.array(anyStatement()), async (first, then) => {
    const engine = loaded({ isEnterprise: true });
    await whenReady(() => {
      for (const { name } of engine.catalogue.list()) engine.catalogue.compileAndFind(name);
    });
    await executeAll(engine, first);
    const before = stateOf(engine);
    const savepoint = engine.log.savepoint();
    await executeAll(engine, then);
    const after = stateOf(engine);
    engine.log.rollback(savepoint);
    t.deepEqual(stateOf(engine), before);
    await executeAll(engine, then);
    t.deepEqual(stateOf(engine), after);
  }));
