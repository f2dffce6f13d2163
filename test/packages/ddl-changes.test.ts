/*! Statements that change objects: what they say, whether or not the objects are known, and that parsing inverts printing. */
import { readFileSync } from 'node:fs';
import {
  type Alter,
  type Alteration,
  type Column,
  type Command,
  createFeatureCheck,
  findColumn,
  type Index,
  parseCommand,
  parseDefinition,
  printAlter,
  SERVER_DEFAULTS,
} from '@sqlpipe/ddl';
import { Cursor, type NameLookup, parseCommandAfter, RejectionError, readMainVerb } from '@sqlpipe/ddl/parser';
import { isSameName } from '@sqlpipe/sql';
import type { Arbitrary } from 'fast-check';
import { materializedViews, tables, views } from '../support/definitions.js';
import { fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

const symbol: Column = { name: 's', type: 'SYMBOL', cached: true, dedup: false };

const objects = [
  ...[
    'CREATE TABLE t (ts TIMESTAMP, s SYMBOL INDEX, u SYMBOL, v DOUBLE, i INT) TIMESTAMP(ts) PARTITION BY DAY STORAGE POLICY(DROP LOCAL 1 DAY)',
    'CREATE TABLE b (a INT, s SYMBOL)',
    'CREATE VIEW w AS (SELECT s FROM t)',
    'CREATE LIVE VIEW l FLUSH EVERY 5s START FROM NOW AS (SELECT s FROM t)',
  ].map(statement => parseDefinition(statement)),
  { ...parseDefinition('CREATE TABLE stuck (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY'), isSuspended: true },
  {
    ...parseDefinition('CREATE MATERIALIZED VIEW m AS (SELECT ts, max(v) v FROM t SAMPLE BY 1d) PARTITION BY MONTH'),
    columns: [symbol, { ...symbol, name: 'x', index: { type: 'BITMAP', capacity: 256 } } as const],
  },
];

const server = (isEnterprise: boolean): NameLookup => ({
  hasFeature: createFeatureCheck(isEnterprise ? { isEnterprise } : { version: '9.3.4' }),
  defaults: SERVER_DEFAULTS,
  checkQuery() {},
  find: name => objects.find(object => isSameName(object.name, name)),
});

function parseOn(isEnterprise: boolean, statement: string): Command {
  const cursor = new Cursor(statement);
  return parseCommandAfter(cursor, readMainVerb(cursor) ?? '', server(isEnterprise));
}

/** In each line what a statement does, and whether only the enterprise edition has it. */
const CHANGES = readFileSync('test/cases/changes.txt', 'utf8').matchAll(/^(.*?)( \(enterprise\))?: (.*)$/gm);

for (const [, what, enterprise, statement = ''] of CHANGES)
  test(`known to be the same with and without the objects: ${statement}`, t => {
    const change = parseCommand(statement);
    t.deepEqual(parseOn(enterprise !== undefined, statement), change as Command);
    const found: string | undefined = change?.action === 'alter' ? change.alters[0]?.alteration.action : change?.action;
    t.is(found, what);
    if (enterprise) t.throws(() => parseOn(false, statement), { instanceOf: RejectionError });
  });

const ATOMIC = "'atomic' keyword can only be used in INSERT INTO SELECT statements.";

const RESERVED = (word: string) =>
  `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${word}"`;

const BAD: Record<string, [rest: string, message: string, position: number][]> = {
  insert: [
    ['', 'atomic or into or batch expected', 6],
    [' foo', "'into' expected", 7],
    [' atomic', 'into expected', 13],
    [' batch', 'long integer expected', 12],
    [' batch x', "found [tok='x', len=1] bad long integer", 13],
    [' batch 0 into t', 'batch size must be positive integer', 13],
    [' batch -1 into t', 'batch size must be positive integer', 14],
    [' batch 5', 'into or o3MaxLag expected', 14],
    [' batch 5;', "'into' expected", 14],
    [' batch 5 atomic into t', "'into' expected", 15],
    [' batch 5 o3maxlag', 'lag value expected', 23],
    [' batch 5 o3maxlag x into t', 'invalid interval qualifier x', 25],
    [' batch 5 o3maxlag -5s into t', 'invalid interval qualifier -', 25],
    [' batch 5 o3maxlag 5s', 'into expected', 26],
    [' batch 5 o3maxlag 5s foo', "'into' expected", 27],
    [' into select values (1)', RESERVED('select'), 12],
    [' into t', "'(' or 'select' expected", 13],
    [' into t foo', "found [tok='foo', len=3] 'select' or 'values' expected", 14],
    [' into t.s values (1)', "found [tok='.', len=1] 'select' or 'values' expected", 13],
    [' into nope values (1)', 'table does not exist [table=nope]', 12],
    [' into w values (1)', 'cannot modify view [view=w]', 12],
    [' into w foo', "found [tok='foo', len=3] 'select' or 'values' expected", 14],
    [' into t ()', "found [tok=')', len=1] missing column name", 15],
    [' into t (,)', "'select' or 'values' expected", 17],
    [' into t (ts', "',' expected", 17],
    [' into t (ts v)', "')' expected", 18],
    [' into t (ts) foo', "found [tok='foo', len=3] 'select' or 'values' expected", 19],
    [' into t (select ts from b)', RESERVED('select'), 15],
    [' into t (v, nope) values (1, 2)', 'Invalid column: nope', 18],
    [' into t ("Nope") select v from b', 'Invalid column: Nope', 15],
    [' into t (ts, "V", v', 'Duplicate column [name=v]', 24],
    [' into t (nope, nope) values (1, 2)', 'Duplicate column [name=nope]', 21],
    [' into t (nope) select v from b; foo', 'unexpected token [foo]', 38],
    [' into t select v from b; foo', 'unexpected token [foo]', 31],
    [' atomic into t foo', ATOMIC, 21],
    [' atomic into t values (1)', ATOMIC, 21],
    [' atomic into t (ts, v) values (1, 2)', ATOMIC, 29],
    [' atomic into nope values (1)', ATOMIC, 24],
  ],
  update: [
    [' set', RESERVED('set'), 7],
    [' t', 'AS, SET or table alias expected expected', 8],
    [' t as', 'table alias expected expected', 11],
    [' t as set set v = 1', 'table alias expected', 12],
    [' t a', 'SET expected expected', 10],
    [' t a b set v = 1', 'SET expected', 11],
    [' t.s set v = 1', 'SET expected', 9],
    [' t set', 'column name expected', 12],
    [' t set v', "'=' expected", 14],
    [' t a set a.v = 1', "'=' expected", 16],
    [' t set v + 1', "'=' expected", 15],
    [' t set v = 1,', 'column name expected', 19],
    [' nope set', 'column name expected', 15],
    [' nope set v = 1', 'table does not exist [table=nope]', 0],
    [' w set v = 1', 'cannot modify view [view=w]', 0],
    [' t set v = 1, nope = 2', 'Invalid column: nope', 20],
    [' nope set nope = 2', 'table does not exist [table=nope]', 0],
    [' t set nope = 1, "Nope" = 2', 'Duplicate column [name=Nope] in SET clause', 23],
    [' t set v = 1, v', "'=' expected", 21],
  ],
};

for (const [verb, rejected] of Object.entries(BAD))
  test(`a bad ${verb.toUpperCase()} is rejected as QuestDB 9.3.4 does`, t => {
    for (const [rest, message, position] of rejected) {
      const error = t.throws(() => parseOn(false, `${verb}${rest}`), { instanceOf: RejectionError }, rest);
      t.like(error, { message, position }, rest);
    }
  });

test('the columns that an UPDATE sets', t => {
  for (const [rest, ...columns] of [
    ['t set v = 1', 'v'],
    ['public.t as a set "v" = a.s, \'s\' = 2 where v = 1, x = 2', 'v', 's'],
    ["t a set v = case when v in (1, 2) then f(3, 4) else 5 end, s = concat('a', ',')", 'v', 's'],
    ['t set v = array[1, 2], s = x from b where b.v = 1', 'v', 's'],
    ['t set v = (select s from b where x = 1), s = 2;', 'v', 's'],
  ] as const)
    t.deepEqual(parseCommand(`update ${rest}`), { action: 'update', name: 't', columns }, rest);
});

test('a server rejects what does not fit its objects, and without them it is still understood', t => {
  for (const [statement, message, position] of [
    ['ALTER TABLE nope ADD COLUMN x INT', 'table does not exist [table=nope]', 12],
    ['ALTER TABLE w ADD COLUMN x INT', 'cannot modify view [view=w]', 12],
    ['ALTER TABLE t DROP COLUMN x', 'Invalid column: x', 26],
    ['ALTER TABLE t ALTER COLUMN v NOCACHE', 'cache is only supported for symbol type [column=v, type=DOUBLE]', 27],
    ['ALTER TABLE t DEDUP UPSERT KEYS(s)', 'deduplicate key list must include dedicated timestamp column', 32],
    ['DROP VIEW t', 'view name expected, got table or materialized view name', 10],
    ['RENAME TABLE t TO b', 'cannot rename table, new name is already in use [table=t, toTableName=b]', 0],
  ] as const) {
    const error = t.throws(() => parseOn(false, statement), { instanceOf: RejectionError }, statement);
    t.like(error, { message, position }, statement);
    t.truthy(parseCommand(statement), statement);
  }
});

const BITMAP: Index = { type: 'BITMAP', capacity: 4 };
const column = fc.constantFrom('a', 'column', 'if', 'select', 'order by', 'Ünï');
const capacity = fc.constantFrom(2, 256, 2 ** 20);
const ttl = fc.constantFrom(0, 1, 24, 14 * 24, -1, -24);
const action = <T extends Alteration['action']>(name: T): Arbitrary<T> => fc.constant(name);
const columns = tables.chain(table => fc.constantFrom(...table.columns));
const symbols = columns.filter(({ type }) => type === 'SYMBOL');

/** The part of a column that ADD COLUMN and TYPE can say. */
const withoutRest = ({ parquet: _, ...rest }: Column): Column => JSON.parse(JSON.stringify({ ...rest, dedup: false }));

const owners = fc.constantFrom({}, { owner: 'etl user' });

const tableAlterations: Record<string, Arbitrary<Alteration>> = {
  'add column': fc
    .tuple(columns.map(withoutRest), owners)
    .map(([column, owner]) => ({ action: 'add column', column, ...owner })),
  'drop column': fc.record({ action: action('drop column'), column }),
  'rename column': fc.record({ action: action('rename column'), column, to: fc.constantFrom('b', 'table', 'x y') }),
  type: fc
    .tuple(column, columns.map(withoutRest))
    .map(([column, { name: _, dedup: __, ...rest }]) => ({ action: 'type', column, ...rest })),
  cache: fc.record({ action: action('cache'), column, cached: fc.boolean() }),
  'symbol capacity': fc.record({ action: action('symbol capacity'), column, capacity }),
  'add index': fc
    .tuple(column, symbols)
    .map(([column, { index = BITMAP }]) => ({ action: 'add index', column, index })),
  'drop index': fc.record({ action: action('drop index'), column }),
  'parquet settings': fc.record({
    action: action('parquet settings'),
    column,
    parquet: fc.constantFrom('', 'rle_dictionary, lz4_raw', 'default, zstd(3)', 'bloom_filter'),
  }),
  ttl: fc.record({ action: action('ttl'), ttl }),
  'dedup keys': fc.record({ action: action('dedup keys'), keys: fc.uniqueArray(column) }),
  parameter: fc.record({
    action: action('parameter'),
    name: fc.constantFrom('maxUncommittedRows' as const, 'o3MaxLag' as const),
    value: fc.nat(2 ** 31 - 1),
  }),
  format: fc.record({ action: action('format'), isParquet: fc.boolean() }),
  'storage policy': tables.map(({ policy }) => ({
    action: 'storage policy',
    policy: policy && { after: policy.after },
  })),
  'storage policy state': fc.record({ action: action('storage policy state'), disabled: fc.boolean() }),
};

const alters: Record<string, Arbitrary<Alter>> = {
  ...Object.fromEntries(
    Object.entries(tableAlterations).map(([name, alterations]) => [
      `table: ${name}`,
      fc.tuple(tables, alterations).map(([{ name }, alteration]) => ({ kind: 'table', name, alteration }) as Alter),
    ]),
  ),
  'view: query': views.map(({ name, body }) => ({ kind: 'view', name, alteration: { action: 'query', body } })),
  'materialized view: refresh': fc.tuple(materializedViews, fc.boolean()).map(([{ name, refresh }, isSampled]) => {
    const { timeZone: _, start: __, ...rest } = refresh;
    const sampled = isSampled ? { ...rest, period: 'sample by interval' as const } : refresh;
    return {
      kind: 'materialized view',
      name,
      alteration: { action: 'refresh', refresh: { ...sampled, deferred: false } },
    };
  }),
  'materialized view: expire rows': materializedViews.map(({ name, expire }) => ({
    kind: 'materialized view',
    name,
    alteration: { action: 'expire rows', expire },
  })),
};

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const [what, arbitrary] of Object.entries(alters))
  test(`a printed ALTER parses back to the same change: ${what}`, t =>
    forAll(200, arbitrary, alter => {
      const printed = printAlter(alter);
      t.deepEqual(plain(parseCommand(printed)), plain({ action: 'alter', alters: [alter] }), printed);
    }));

test('the columns of a wide table are found without reading all their names each time', t => {
  let reads = 0;
  const columns = Array.from({ length: 1000 }, (_, i) => ({
    type: 'INT',
    cached: false,
    dedup: false,
    get name() {
      reads++;
      return `c${i}`;
    },
  }));
  for (const [i, column] of columns.entries()) t.is(findColumn({ columns }, `C${i}`), column);
  t.is(findColumn({ columns }, 'd'), undefined);
  t.true(reads < 10 * columns.length, `${reads} names read`);
  const twice = [...columns, ...columns.map(({ name }) => ({ ...symbol, name }))];
  t.is(findColumn({ columns: twice }, 'c1'), twice[1], 'the first of two with one name, as in a short table');
});
