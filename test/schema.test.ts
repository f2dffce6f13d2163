/*! Dependencies and order: what a view reads from, and the service's own order, compared with real dumps. */
import { findReferences, grantTargets, LimitError, ownerOf, removeOwner } from '@sqlpipe/ddl';
import * as schema from '@sqlpipe/schema';
import { Catalog, deduplicate, dumpOrder, findCycle, topologicalOrder } from '@sqlpipe/schema';
import { foldCase, identify } from '@sqlpipe/sql';
import test from 'ava';
import fc from 'fast-check';
import { cases } from './cases/cases.js';
import { databases } from './support/databases.js';

test('the public names', t => {
  t.deepEqual(Object.keys(schema).sort(), [
    'CATEGORIES',
    'Catalog',
    'DuplicateNameError',
    'InvalidSelectionError',
    'MemoryBudget',
    'MemoryError',
    'collectStatements',
    'compareSchemas',
    'deduplicate',
    'dumpOrder',
    'findCycle',
    'parseKinds',
    'parseSelection',
    'toEntry',
    'topologicalOrder',
  ]);
});

for (const { title, input, output } of cases('references')) {
  test(`references: ${title}`, t => {
    t.is(findReferences(input, name => foldCase(name) === 'some_view').join(', '), output);
  });
}

test('references: parentheses deeper than the call stack', t => {
  const depth = 100_000;
  t.deepEqual(findReferences(`CREATE VIEW v AS (select * from ${'('.repeat(depth)}a${')'.repeat(depth)}, b)`), [
    'a',
    'b',
  ]);
});

test('references: more parentheses, expressions or variables than any query has', t => {
  const reads = (query: string) => findReferences(`CREATE VIEW v AS (${query})`);
  const expressions = (count: number) => Array.from({ length: count }, (_, i) => `c${i + 1} as (select * from c${i})`);
  const within = { instanceOf: LimitError, message: /^view 'v': more than 200000 nested parentheses: / };
  const named = { instanceOf: LimitError, message: /^view 'v': more than 200000 common table expressions and / };
  t.throws(() => reads(`select ${'('.repeat(300_000)}a${')'.repeat(300_000)} from b`), within);
  t.throws(() => reads(`with ${expressions(200_001)} select * from c9`), named);
  t.throws(() => reads(`declare ${'@a := 1,'.repeat(200_001)} @b := 2 select * from a`), named);
  t.deepEqual(reads(`with ${expressions(199_999)} select * from c199999, d`), ['c0', 'd']);
});

test('references: an expression goes out of sight with its query, and one of the same name comes back', t => {
  t.deepEqual(findReferences('CREATE VIEW v AS (with a as (b) select * from (with a as (c) select * from a) join a)'), [
    'c',
    'b',
  ]);
  t.deepEqual(findReferences('CREATE VIEW v AS (select * from (with a as (c) select 1) join a)'), ['a']);
  t.deepEqual(
    findReferences('CREATE VIEW v AS (declare @a := (select 1 from b), @a := @a, @c := @c select @a from d)'),
    ['d'],
  );
});

test('references: common table expressions that double at each step', t => {
  const steps = Array.from({ length: 200 }, (_, i) => `q${i + 1} AS (SELECT * FROM q${i} JOIN q${i} ON (k))`);
  t.deepEqual(findReferences(`CREATE VIEW v AS (WITH q0 AS (a), ${steps.join(', ')} SELECT * FROM q200)`), ['a']);
});

test('fold: names that differ in case alone are one', t => {
  t.is(foldCase('Trades'), foldCase('tRADES'));
  t.is(foldCase('ÄÖ'), foldCase('äö'));
  t.is(foldCase('ΟΔΟΣ'), foldCase('οδοσ'));
  t.not(foldCase('straße'), foldCase('strasse'));
});

test('a catalog finds objects in any case, the first of two with one name', t => {
  const first = 'CREATE TABLE Trades (x INT);';
  const found = new Catalog([first, "CREATE VIEW 'TRADES' AS (SELECT * FROM t);"]).findObject('trades');
  t.deepEqual(found, { kind: 'table', name: 'Trades', verb: 'CREATE', statement: first });
});

test('a name is found without the schema public, which is no part of it', t => {
  const found = (sql: string) => new Catalog([sql]).entries[0]?.name;
  t.is(found('CREATE TABLE public.t (x INT);'), 't');
  t.is(found('CREATE VIEW IF NOT EXISTS "Public"."t" AS (SELECT 1);'), 't');
  t.is(found("CREATE TABLE 'public.t' (x INT);"), 'public.t');
  t.is(found('CREATE TABLE a.b (x INT);'), 'a.b');
});

test('needs are those in the catalog, by their names as stored', t => {
  const schema = new Catalog([
    'CREATE TABLE Trades (x INT);',
    'CREATE VIEW v AS (SELECT * FROM trades JOIN elsewhere ON (k));',
    "CREATE VIEW w AS (WITH v AS (SELECT * FROM elsewhere) SELECT * FROM 'V' JOIN TRADES ON (k));",
  ]);
  t.deepEqual(
    [...schema.dependencies()],
    [
      ['Trades', []],
      ['v', ['Trades']],
      ['w', ['v', 'Trades']],
    ],
  );
});

const inDumpOrder = (statements: string[]): string[] =>
  dumpOrder(new Catalog(statements)).map(({ statement }) => statement);

/** A schema with an access-control layer, in the service's order. */
const LAYERED = [
  'CREATE USER abe;',
  'CREATE USER "b b";',
  'CREATE USER zoe;',
  'CREATE GROUP admins;',
  'CREATE SERVICE ACCOUNT ingest;',
  "CREATE TABLE 'm' (x INT);",
  "CREATE VIEW 'a' AS (SELECT * FROM m);",
  'ADD USER abe TO admins;',
  'ADD USER "b b" TO admins;',
  'GRANT ASSUME SERVICE ACCOUNT ingest TO zoe;',
  'GRANT INSERT ON a TO zoe;',
  'GRANT SELECT ON a TO abe;',
];

test('users, groups and accounts come first, grants and memberships last, each kind by name', t => {
  fc.assert(
    fc.property(fc.shuffledSubarray(LAYERED, { minLength: LAYERED.length }), shuffled => {
      t.deepEqual(inDumpOrder(shuffled), LAYERED);
    }),
  );
});

test('no statement is lost, whatever it is and however often it comes', t => {
  const odd = [
    'DROP TABLE x;',
    'CREATE TABLE a (x INT);',
    'CREATE TABLE A (x INT);',
    'CREATE TABLE a (x INT);',
    '???;',
  ];
  t.deepEqual(inDumpOrder(odd), [...odd.slice(1, 4), odd[0], odd[4]]);
});

test('a cycle is found, whatever else there is, and named from any of its members on', t => {
  t.is(findCycle(graph('a: b', 'b: c', 'c:')), undefined);
  t.deepEqual(findCycle(graph('a: b', 'b: c', 'c: d b', 'd:')), ['b', 'c']);
  t.deepEqual(findCycle(graph('a: a')), ['a']);
  t.is(findCycle(graph('a: elsewhere')), undefined);
});

test('a chain of 100,000 is walked for cycles in no time', t => {
  const needs = chain(100_000, 1);
  t.is(findCycle(needs), undefined);
  needs.set('v099999', ['v000000']);
  t.is(findCycle(needs)?.length, 100_000);
});

test('an order without a cycle has each behind what it needs, and one with a cycle can not', t => {
  const anyGraph = fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(anyGraph, edges => {
      const needs = new Map(edges.map((to, from) => [`n${from}`, to.map(node => `n${node}`)]));
      const place = new Map(topologicalOrder(needs).map((name, at) => [name, at]));
      const at = (name: string) => place.get(name) as number;
      const cycle = findCycle(needs);
      t.is(
        cycle === undefined,
        [...needs].every(([name, all]) => all.every(need => at(need) < at(name))),
      );
      cycle?.forEach((name, i) => {
        t.true(needs.get(name)?.includes(cycle[(i + 1) % cycle.length] as string));
      });
    }),
  );
});

test('deduplicate: equal statements become one, but for what makes nothing', t => {
  const once = ['CREATE USER a;', 'CREATE TABLE a (x INT);', 'GRANT HTTP TO a;', 'ALTER TABLE a ADD COLUMN y INT;'];
  t.deepEqual(deduplicate([...once, ...once]), [...once, once[3]]);
});

test('deduplicate: two that mean the same become the first', t => {
  const [one, other] = ["CREATE TABLE 't' ( \n\tx INT\n);", 'create table t(x int) -- by hand\n;'];
  t.deepEqual(deduplicate([one, other]), [one]);
  t.deepEqual(deduplicate([other, one]), [other]);
});

test('deduplicate: two that differ have one name, in any case and of any kind that shares names', t => {
  const differ = (a: string, b: string) => t.throws(() => deduplicate(['CREATE GROUP g;', a, b]))?.message;
  t.is(
    differ('CREATE TABLE t (x INT);', "CREATE VIEW 'T' AS (SELECT 1);"),
    "statement 2 (table 't') and statement 3 (view 'T') have the same name and different definitions; remove one of them",
  );
  t.is(
    differ('CREATE USER u;', 'CREATE SERVICE ACCOUNT U;'),
    "statement 2 (user 'u') and statement 3 (service account 'U') have the same name and different definitions; remove one of them",
  );
  t.is(
    differ("CREATE USER u WITH PASSWORD 'a';", "CREATE USER u WITH PASSWORD 'b';"),
    "statement 2 (user 'u') and statement 3 (user 'u') have the same name and different definitions; remove one of them",
  );
  const apart = ['CREATE TABLE u (x INT);', 'CREATE USER u;', 'GRANT HTTP TO u;', 'GRANT ILP TO u;'];
  t.deepEqual(deduplicate(apart), apart);
});

for (const { title, input, output } of cases('access')) {
  test(`access: ${title}`, t => {
    const { objects, principals } = grantTargets(input, identify(input).kind);
    t.is(`objects: ${objects.join(', ')}\nprincipals: ${principals.join(', ')}`, output);
  });
}

test('owner: as the last clause only, in any quotes', t => {
  t.is(ownerOf("CREATE TABLE t (x INT)\nOWNED BY 'my team';"), 'my team');
  t.is(ownerOf('CREATE VIEW v AS (SELECT 1) owned by my-team;'), 'my-team');
  t.is(ownerOf("CREATE VIEW v AS (SELECT 'OWNED BY x');"), undefined);
  t.is(ownerOf('CREATE TABLE owned (by INT);'), undefined);
  t.is(removeOwner('CREATE TABLE t (x INT)\nOWNED BY my-team;'), 'CREATE TABLE t (x INT);');
});

test('requirements: bases and owners of objects, and all that access control names', t => {
  const schema = new Catalog([
    'CREATE USER u;',
    'CREATE GROUP g;',
    'CREATE SERVICE ACCOUNT s OWNED BY g;',
    'CREATE TABLE t (x INT) OWNED BY U;',
    'CREATE VIEW v AS (SELECT * FROM T) OWNED BY g;',
    'ADD USER u TO g, elsewhere;',
    'GRANT ASSUME SERVICE ACCOUNT s TO u;',
    'GRANT SELECT ON t, v TO g;',
    'GRANT HTTP TO u;',
  ]);
  t.deepEqual(
    schema.entries.map(entry => schema.prerequisites(entry).map(({ name }) => name)),
    [[], [], ['g'], ['u'], ['t', 'g'], ['u', 'g'], ['s', 'u'], ['t', 'v', 'g'], ['u']],
  );
});

test('a common table expression may have the name of the view it is in', t => {
  const schema = new Catalog([
    'CREATE TABLE t (x INT);',
    'CREATE VIEW v AS (WITH v AS (SELECT * FROM t) SELECT * FROM v);',
  ]);
  t.deepEqual(schema.dependencies().get('v'), ['t']);
});

/** Needs written as `name: need need`. */
const graph = (...lines: string[]): Map<string, string[]> =>
  new Map(
    lines.map(line => {
      const [name = '', ...needs] = line.split(/:? /);
      return [name.replace(/:$/, ''), needs];
    }),
  );

test('order: the example of the law', t => {
  const needs = new Map([
    ['events', []],
    ['zones', []],
    ['daily', ['events', 'zones']],
    ['a_recent', ['daily']],
    ['Z_top', ['events']],
  ]);
  t.deepEqual(topologicalOrder(needs), ['events', 'Z_top', 'zones', 'daily', 'a_recent']);
});

test('order: what an object needs is sorted together with what its views need', t => {
  const needs = new Map([
    ['a', ['c', 'v']],
    ['c', []],
    ['b', []],
    ['v', ['b']],
  ]);
  t.deepEqual(
    topologicalOrder(needs, name => name === 'v'),
    ['b', 'c', 'v', 'a'],
  );
  t.deepEqual(topologicalOrder(needs), ['c', 'b', 'v', 'a']);
});

test('order: a cycle is no error', t => {
  t.deepEqual(
    topologicalOrder(
      new Map([
        ['a', ['b']],
        ['b', ['a']],
      ]),
    ),
    ['b', 'a'],
  );
});

/** The law as SERVICE.md writes it, closures and recursion and all: slow and plain. */
function plainOrder(needs: Map<string, string[]>, expands: (name: string) => boolean): string[] {
  const closure = (name: string, found = new Set<string>()) => {
    for (const need of needs.get(name) ?? []) {
      if (found.has(need) || !needs.has(need)) continue;
      found.add(need);
      if (expands(need)) closure(need, found);
    }
    return found;
  };
  const order: string[] = [];
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const need of [...closure(name)].sort()) visit(need);
    order.push(name);
  };
  for (const name of [...needs.keys()].sort()) visit(name);
  return order;
}

/** Graphs without cycles: an object needs only such with a smaller number. Names are shuffled, and views are drawn. */
const graphs = fc
  .uniqueArray(fc.stringMatching(/^[a-cA-C_é]{1,3}$/), { minLength: 1, maxLength: 40, selector: foldCase })
  .chain(names =>
    fc.record({
      names: fc.constant(names),
      views: fc.array(fc.boolean(), { minLength: names.length, maxLength: names.length }),
      edges: fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: names.length, maxLength: names.length }),
    }),
  )
  .map(({ names, views, edges }) => ({
    names,
    views: new Set(names.filter((_, i) => views[i])),
    needs: new Map(names.map((name, i) => [name, i ? (edges[i] ?? []).map(edge => names[edge % i] as string) : []])),
  }));

test('order: equal to the law in its plain form', t => {
  fc.assert(
    fc.property(graphs, ({ needs, views }) => {
      const expands = (name: string) => views.has(name);
      t.deepEqual(topologicalOrder(needs, expands), plainOrder(needs, expands));
    }),
    { numRuns: 500 },
  );
});

test('order: one that needs itself changes nothing', t => {
  fc.assert(
    fc.property(graphs, fc.nat(), ({ names, needs, views }, nth) => {
      const expands = (name: string) => views.has(name);
      const order = topologicalOrder(needs, expands);
      const name = names[nth % names.length] as string;
      t.deepEqual(topologicalOrder(new Map(needs).set(name, [...(needs.get(name) ?? []), name]), expands), order);
    }),
  );
});

test('order: the same for the same statements in any order', t => {
  const schemas = graphs.chain(({ names, needs, views }) => {
    const statements = names.map(name => {
      const tables = (needs.get(name) ?? []).map(need => `"${need.toUpperCase()}"`);
      if (!tables.length) return `CREATE TABLE '${name}' (x INT);`;
      const query = `(\nSELECT * FROM ${tables.join(' JOIN ')}\n)`;
      return views.has(name) ? `CREATE VIEW '${name}' AS ${query};` : `CREATE MATERIALIZED VIEW '${name}' AS ${query};`;
    });
    return fc.record({
      statements: fc.constant(statements),
      shuffled: fc.shuffledSubarray(statements, { minLength: statements.length }),
    });
  });
  fc.assert(
    fc.property(schemas, ({ statements, shuffled }) => {
      t.deepEqual(inDumpOrder(shuffled), inDumpOrder(statements));
    }),
  );
});

/** A view over the one before it, and so on. */
const chain = (length: number, step: 1 | -1): Map<string, string[]> => {
  const name = (i: number) => `v${String(i).padStart(6, '0')}`;
  return new Map(Array.from({ length }, (_, i) => [name(i), [name(i + step)]]));
};

test('order: a chain of 10,000 views, whichever way its names run', t => {
  const down = [...chain(10_000, -1).keys()];
  t.deepEqual(
    topologicalOrder(chain(10_000, -1), () => true),
    down,
  );
  t.deepEqual(
    topologicalOrder(chain(10_000, 1), () => true),
    down.reverse(),
  );
});

test('order: a chain of 100,000 views is put in order, one with a cycle is too much', t => {
  const views = () => true;
  t.is(topologicalOrder(chain(100_000, 1), views).length, 100_000);
  const circle = chain(100_000, 1).set('v100000', ['v000000']);
  t.throws(() => topologicalOrder(circle, views), { instanceOf: LimitError, message: /cannot be put in order/ });
});

test('order: 100,000 statements', t => {
  const tables = Array.from(
    { length: 50_000 },
    (_, i) => `CREATE TABLE 't${i}' ( \n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY DAY;`,
  );
  const views = tables.map(
    (_, i) => `CREATE VIEW 'a${i}' AS ( \nSELECT * FROM t${i} JOIN 't${(i * 7) % 50_000}' ON (ts)\n);`,
  );
  t.is(inDumpOrder([...views, ...tables]).length, 100_000);
});

for (const { name, dump } of databases) {
  test(`order: ${name}, as a real server gave it`, t => {
    fc.assert(
      fc.property(fc.shuffledSubarray(dump, { minLength: dump.length }), shuffled => {
        t.deepEqual(inDumpOrder(shuffled), dump);
      }),
      { numRuns: 5 },
    );
  });
}
