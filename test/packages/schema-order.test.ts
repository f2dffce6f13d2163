/*! The server's order of statements, and dependency order: compared with real dumps. */
import { Engine } from '@sqlpipe/engine';
import { dumpOrder, findCycle, Schema, topologicalOrder } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import { databases } from '../support/databases.js';
import { fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

const sortForDump = (statements: string[]): string[] =>
  dumpOrder(new Schema(statements)).map(({ statement }) => statement);

/** A schema with access control, in the server's order. */
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

test('dump order: principals first, then objects, then access control, each kind by name', t =>
  forAll(100, fc.shuffledSubarray(LAYERED, { minLength: LAYERED.length }), shuffled => {
    t.deepEqual(sortForDump(shuffled), LAYERED);
  }));

test('dump order: every statement is kept, including unknown ones and duplicates', t => {
  const odd = [
    'DROP TABLE x;',
    'CREATE TABLE a (x INT);',
    'CREATE TABLE A (x INT);',
    'CREATE TABLE a (x INT);',
    '???;',
  ];
  t.deepEqual(sortForDump(odd), [...odd.slice(1, 4), odd[0], odd[4]]);
});

test('findCycle ignores unknown names', t => t.is(findCycle(new Map([['a', ['elsewhere']]])), undefined));

test('findCycle handles a chain of 100,000 objects', t => {
  const needs = chain(100_000, 1);
  t.is(findCycle(needs), undefined);
  needs.set('v099999', ['v000000']);
  t.is(findCycle(needs)?.length, 100_000);
});

test('topologicalOrder puts dependencies first exactly if findCycle finds no cycle', t => {
  const anyGraph = fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 10, maxLength: 10 });
  forAll(100, anyGraph, edges => {
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
  });
});

/** The order as specified, with closures and recursion: simple and slow. */
function simpleOrder(needs: Map<string, string[]>, expands: (name: string) => boolean): string[] {
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

/** Graphs without cycles: an object depends only on objects with smaller numbers. Names and views are random. */
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

test('order: equal to a simple implementation of the specification', t =>
  forAll(500, graphs, ({ needs, views }) => {
    const expands = (name: string) => views.has(name);
    t.deepEqual(topologicalOrder(needs, expands), simpleOrder(needs, expands));
  }));

test('order: a self-reference changes nothing', t =>
  forAll(100, graphs, fc.nat(), ({ names, needs, views }, nth) => {
    const expands = (name: string) => views.has(name);
    const order = topologicalOrder(needs, expands);
    const name = names[nth % names.length] as string;
    t.deepEqual(topologicalOrder(new Map(needs).set(name, [...(needs.get(name) ?? []), name]), expands), order);
  }));

/** A schema with the given graph. */
const toStatements = ({ names, needs, views }: { names: string[]; needs: Map<string, string[]>; views: Set<string> }) =>
  names.map(name => {
    const tables = (needs.get(name) ?? []).map(need => `"${need.toUpperCase()}"`);
    if (!tables.length) return `CREATE TABLE '${name}' (x INT);`;
    const query = `(\nSELECT * FROM ${tables.join(' JOIN ')}\n)`;
    return views.has(name) ? `CREATE VIEW '${name}' AS ${query};` : `CREATE MATERIALIZED VIEW '${name}' AS ${query};`;
  });

test('order: independent of the order of the input', t => {
  const schemas = graphs.map(toStatements).chain(statements =>
    fc.record({
      statements: fc.constant(statements),
      shuffled: fc.shuffledSubarray(statements, { minLength: statements.length }),
    }),
  );
  forAll(100, schemas, ({ statements, shuffled }) => t.deepEqual(sortForDump(shuffled), sortForDump(statements)));
});

test('order: the engine has the same', t =>
  forAll(200, graphs.map(toStatements), statements => {
    const engine = new Engine();
    engine.load(statements);
    t.deepEqual(
      engine.catalogue.inDependencyOrder().map(({ name }) => name),
      dumpOrder(new Schema(statements)).map(({ name }) => name),
    );
  }));

test('order: the engine looks through views that are not chosen', t => {
  const engine = new Engine();
  engine.load([
    'CREATE TABLE t1 (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY WAL;',
    'CREATE TABLE t2 (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY WAL;',
    'CREATE VIEW v AS (SELECT t1.ts FROM t1 CROSS JOIN t2);',
    'CREATE VIEW a AS (SELECT ts FROM v);',
    'CREATE MATERIALIZED VIEW m WITH BASE t2 AS (SELECT t2.ts, count() n FROM t2 CROSS JOIN v SAMPLE BY 1h) PARTITION BY DAY;',
  ]);
  const sort = (...chosen: string[]) => engine.catalogue.inDependencyOrder(chosen).map(({ name }) => name);
  t.deepEqual(sort('m', 'v', 't2', 't1'), ['t1', 't2', 'v', 'm']);
  t.deepEqual(sort('m', 't2', 't1'), ['t1', 't2', 'm']);
  t.deepEqual(sort('a', 't2', 't1'), ['t1', 't2', 'a']);
});

const chain = (length: number, step: 1 | -1): Map<string, string[]> => {
  const name = (i: number) => `v${String(i).padStart(6, '0')}`;
  return new Map(Array.from({ length }, (_, i) => [name(i), [name(i + step)]]));
};

test('order: chains of 10,000 views in both directions of their names', t => {
  const down = [...chain(10_000, -1).keys()];
  const listed = topologicalOrder(chain(10_000, -1), () => true);
  t.deepEqual(listed, down);
  const given = topologicalOrder(chain(10_000, 1), () => true);
  t.deepEqual(given, down.reverse());
});

test('order: a chain of 100,000 views, one of them read twice, is sorted; one with a cycle exceeds the limit', t => {
  const views = () => true;
  const readTwice = chain(100_000, 1).set('v000000', ['v000001', 'v000002']);
  t.is(topologicalOrder(readTwice, views).length, 100_000);
  const circle = chain(100_000, 1).set('v100000', ['v000000']);
  t.throws(() => topologicalOrder(circle, views), { code: 'DAMAGED', message: /cannot be put in order/ });
});

test('order: 20,000 statements are sorted', t => {
  const tables = Array.from(
    { length: 10_000 },
    (_, i) => `CREATE TABLE 't${i}' ( \n\tts TIMESTAMP\n) timestamp(ts) PARTITION BY DAY;`,
  );
  const views = tables.map(
    (_, i) => `CREATE VIEW 'a${i}' AS ( \nSELECT * FROM t${i} JOIN 't${(i * 7) % 10_000}' ON (ts)\n);`,
  );
  t.is(sortForDump([...views, ...tables]).length, 20_000);
});

for (const { name, dump } of databases)
  test(`order: ${name} as a real server dumped it`, t =>
    forAll(5, fc.shuffledSubarray(dump, { minLength: dump.length }), shuffled => {
      t.deepEqual(sortForDump(shuffled), dump);
    }));
