/*! A set of definitions: references and dependencies of its objects, and duplicate statements. */
import { findReferences, locateNamesInRights, ownerOf, removeOwner } from '@sqlpipe/ddl';
import { compareSchemas, deduplicate, Schema } from '@sqlpipe/schema';
import { foldCase, identify } from '@sqlpipe/sql';
import { cases } from '../cases/cases.js';
import { test } from '../support/test.js';

for (const { title, input, output } of cases('references'))
  test(`references: ${title}`, t =>
    t.is(findReferences(input, name => foldCase(name) === 'some_view').join(', '), output));

test('references: parentheses nested deeper than the call stack', t => {
  const depth = 100_000;
  const found = findReferences(`CREATE VIEW v AS (select * from ${'('.repeat(depth)}a${')'.repeat(depth)}, b)`);
  t.deepEqual(found, ['a', 'b']);
});

test('references: a chain of common table expressions longer than the call stack', t => {
  const expressions = Array.from({ length: 20_000 }, (_, i) => `c${i + 1} as (select * from c${i})`);
  t.deepEqual(findReferences(`CREATE VIEW v AS (with ${expressions} select * from c20000, d)`), ['c0', 'd']);
});

test('references: common table expressions that double at each step are resolved', t => {
  const steps = Array.from({ length: 200 }, (_, i) => `q${i + 1} AS (SELECT * FROM q${i} JOIN q${i} ON (k))`);
  t.deepEqual(findReferences(`CREATE VIEW v AS (WITH q0 AS (a), ${steps.join(', ')} SELECT * FROM q200)`), ['a']);
});

test('foldCase: names that differ only in case are equal', t => {
  t.is(foldCase('Trades'), foldCase('tRADES'));
  t.is(foldCase('ÄÖ'), foldCase('äö'));
  t.is(foldCase('ΟΔΟΣ'), foldCase('οδοσ'));
  t.not(foldCase('straße'), foldCase('strasse'));
});

test('a schema finds objects in any case, and the first of two with the same name', t => {
  const first = 'CREATE TABLE Trades (x INT);';
  const found = new Schema([first, "CREATE VIEW 'TRADES' AS (SELECT * FROM t);"]).findObject('trades');
  t.deepEqual(found, { kind: 'table', name: 'Trades', verb: 'CREATE', statement: first });
});

test('the schema public is not part of a name', t => {
  const storedName = (sql: string) => new Schema([sql]).entries[0]?.name;
  t.is(storedName('CREATE TABLE public.t (x INT);'), 't');
  t.is(storedName('CREATE VIEW IF NOT EXISTS "Public"."t" AS (SELECT 1);'), 't');
  t.is(storedName("CREATE TABLE 'public.t' (x INT);"), 'public.t');
  t.is(storedName('CREATE TABLE a.b (x INT);'), 'a.b');
});

test('references contain only objects of the schema, with their stored names', t => {
  const schema = new Schema([
    'CREATE TABLE Trades (x INT);',
    'CREATE VIEW v AS (SELECT * FROM trades JOIN elsewhere ON (k));',
    "CREATE VIEW w AS (WITH v AS (SELECT * FROM elsewhere) SELECT * FROM 'V' JOIN TRADES ON (k));",
  ]);
  const found = [...schema.objectReferences()];
  t.deepEqual(found, [
    ['Trades', []],
    ['v', ['Trades']],
    ['w', ['v', 'Trades']],
  ]);
});

test('compareSchemas: a table like another has the columns of that table in its own schema', t => {
  const schema = (type: string, x: string) => [`CREATE TABLE m (a ${type});`, `CREATE TABLE x ${x};`];
  const differing = (a: string[], b: string[]) => compareSchemas(a, b).differences.map(({ identity }) => identity.name);
  t.deepEqual(differing(schema('INT', '(a LONG)'), schema('LONG', '(LIKE m)')), ['m']);
  t.deepEqual(differing(schema('INT', '(LIKE m)'), schema('LONG', '(LIKE m)')), ['m', 'x']);
});

test('deduplicate: equal statements become one, except those that create nothing', t => {
  const once = ['CREATE USER a;', 'CREATE TABLE a (x INT);', 'GRANT HTTP TO a;', 'ALTER TABLE a ADD COLUMN y INT;'];
  t.deepEqual(deduplicate([...once, ...once]), [...once, once[3]]);
});

test('deduplicate: a statement with a parameter that the first one leaves out is not removed', t => {
  const table = (rest: string) => `CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY${rest};`;
  const more = table(' WITH maxUncommittedRows=1000, o3MaxLag=5s');
  for (const both of [
    [table(''), more],
    [more, table('')],
  ])
    t.throws(() => deduplicate(both), { name: 'DuplicateNameError' });
});

test('deduplicate: statements with the same meaning become the first of them', t => {
  const [one, other] = ["CREATE TABLE 't' ( \n\tx INT\n);", 'create table t(x int) -- by hand\n;'];
  t.deepEqual(deduplicate([one, other]), [one]);
  t.deepEqual(deduplicate([other, one]), [other]);
});

test('deduplicate: tables like one that is not there are the same in any case, but not with two owners', t => {
  const [one, other] = ['CREATE TABLE t (LIKE m) OWNED BY alice;', 'CREATE TABLE t (LIKE M) OWNED BY Alice;'];
  t.deepEqual(deduplicate([one, other]), [one]);
  t.throws(() => deduplicate([one, 'CREATE TABLE t (LIKE m) OWNED BY bob;']), { name: 'DuplicateNameError' });
});

test('deduplicate: two definitions of one name are an error, across kinds that share names', t => {
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

for (const { title, input, output } of cases('access'))
  test(`access: ${title}`, t => {
    const { objects, principals } = locateNamesInRights(input, identify(input).kind);
    const [objectNames, principalNames] = [objects, principals].map(names => names.map(({ name }) => name).join(', '));
    t.is(`objects: ${objectNames}\nprincipals: ${principalNames}`, output);
  });

test('ownerOf: only as the last clause, in any quotes', t => {
  t.is(ownerOf("CREATE TABLE t (x INT)\nOWNED BY 'my team';"), 'my team');
  t.is(ownerOf('CREATE VIEW v AS (SELECT 1) owned by my-team;'), 'my-team');
  t.is(ownerOf("CREATE VIEW v AS (SELECT 'OWNED BY x');"), undefined);
  t.is(ownerOf('CREATE TABLE owned (by INT);'), undefined);
  t.is(removeOwner('CREATE TABLE t (x INT)\nOWNED BY my-team;'), 'CREATE TABLE t (x INT);');
  t.is(removeOwner('CREATE TABLE t (x INT) -- note\nOWNED BY ops;'), 'CREATE TABLE t (x INT) -- note\n;');
});

test('dependencies: bases and owners of objects, and all names in access control', t => {
  const schema = new Schema([
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
  const found = schema.entries.map(entry => schema.dependenciesOf(entry).map(({ name }) => name));
  t.deepEqual(found, [[], [], ['g'], ['u'], ['t', 'g'], ['u', 'g'], ['s', 'u'], ['t', 'v', 'g'], ['u']]);
});

test('a common table expression may have the name of its own view', t => {
  const schema = new Schema([
    'CREATE TABLE t (x INT);',
    'CREATE VIEW v AS (WITH v AS (SELECT * FROM t) SELECT * FROM v);',
  ]);
  t.deepEqual(schema.objectReferences().get('v'), ['t']);
});
