/*! The planner alone: plans for schemas in memory, checked without a server. */
import { planChanges, SchemaState } from '@sqlpipe/schema';
import { databases } from './support/databases.js';
import { schemaPair } from './support/schema-pairs.js';
import { test } from './support/test.js';

test('random pairs: a plan loses nothing unless allowed, and a second plan is empty', t => {
  for (let seed = 0; seed < 400; seed++) {
    const { before, after, renamed, changes } = schemaPair(seed);
    const careful = planChanges(after, before, { renamed });
    const lossy = careful.statements.flatMap(({ consequences }) =>
      consequences.filter(({ effect }) => effect === 'loss'),
    );
    t.deepEqual(lossy, [], `seed ${seed}: ${changes}`);
    const allowLoss = careful.omissions.flatMap(({ allow }) => allow ?? []);
    const bold = planChanges(after, before, { renamed, allowLoss });
    const state = new SchemaState(before);
    for (const { statement } of bold.statements) state.apply(statement);
    const again = planChanges(after, state.statements(), { renamed, allowLoss });
    t.deepEqual(
      again.statements.map(({ statement }) => statement),
      [],
      `seed ${seed}: ${changes}`,
    );
  }
});

test('recorded databases: a plan omits nothing if all losses are allowed', t => {
  for (const [i, a] of databases.entries())
    for (const b of databases.slice(i, i + 2)) {
      const allowLoss = planChanges(a.statements, b.statements).omissions.flatMap(({ allow }) => allow ?? []);
      const { statements, omissions } = planChanges(a.statements, b.statements, { allowLoss });
      if (a === b) t.deepEqual({ statements, omissions }, { statements: [], omissions: [] }, a.name);
      else t.true(statements.length > 0);
      t.deepEqual(
        omissions.filter(({ allow }) => allow),
        [],
        `${a.name} from ${b.name}`,
      );
    }
  t.pass();
});

test('names in allowLoss and renamed may contain dots', t => {
  const [dotted, plain, third] = [
    `CREATE TABLE 'a.b' (c INT, "x y" INT);`,
    'CREATE TABLE a (b INT, c INT);',
    `CREATE TABLE 'a.b.d' (e INT);`,
  ];
  const before = [dotted, plain, third];
  const listOmissions = (after: string[], allowLoss: string[] = []) =>
    planChanges(after, before, { allowLoss }).omissions.flatMap(({ allow }) => allow ?? []);
  const withoutXy = [dotted.replace(', "x y" INT', ''), plain, third];
  t.deepEqual(listOmissions(withoutXy), ["'a.b'.'x y'"]);
  t.deepEqual(listOmissions(withoutXy, ['a.b.x y']), []);
  t.deepEqual(listOmissions(withoutXy, ["'a.b'.'x y'"]), []);
  t.deepEqual(listOmissions([dotted, plain.replace(', c INT', ''), third], ['a.c']), []);
  t.throws(() => listOmissions([plain, third], ['a.b']), {
    message: "'a.b' can be 'a.b' or 'a'.'b'; write one of them, with its quotes",
  });
  t.deepEqual(listOmissions([plain, third], ["'a.b'"]), []);
  t.deepEqual(listOmissions(before, ['nothing.of.this']), []);
  t.throws(() => planChanges(before, before, { renamed: ['a.b'] }), {
    message: "--renamed must be OLD=NEW, not 'a.b'",
  });
  t.throws(() => planChanges(before, [dotted, third], { renamed: ['u=a'] }), {
    message: "--renamed u=a: B has no 'u'",
  });
});

test('a change that ALTER cannot make is omitted with its reason', t => {
  const table = (columns: string, rest: string) => `CREATE TABLE t (ts TIMESTAMP, ${columns}) timestamp(ts) ${rest};`;
  const cases: [before: string, after: string, expected: string][] = [
    [
      table('x INT', 'PARTITION BY DAY'),
      table('x INT', 'PARTITION BY HOUR'),
      'partitioning: DAY to HOUR: cannot be altered: needs a new table; --rebuild t makes one',
    ],
    [
      table('x INT, y INT', 'PARTITION BY DAY'),
      table('y INT, x INT', 'PARTITION BY DAY'),
      'column order: x, y to y, x: cannot be altered: needs a new table; --rebuild t makes one',
    ],
    [
      table('x INT', 'PARTITION BY DAY'),
      table('x UUID', 'PARTITION BY DAY'),
      "column 'x': INT to UUID: cannot be altered: no conversion between these types: needs a new table; --rebuild t makes one",
    ],
    [
      table('x INT', 'PARTITION BY DAY'),
      table('x INT', 'PARTITION BY DAY BYPASS WAL'),
      'WAL: enabled to bypassed: cannot be altered: ALTER TABLE … SET TYPE has an effect only after a restart of the server',
    ],
    [
      table('x INT', 'PARTITION BY MONTH TTL 1 MONTH'),
      table('x INT', 'PARTITION BY MONTH'),
      'TTL: 1 MONTH to none: cannot be altered: with partitions by month or year, a TTL can be changed, but not removed',
    ],
    [
      'CREATE TABLE t (x INT);',
      'CREATE TABLE t (X INT);',
      "column 'X' name: x to X: cannot be altered: changing only the case of a name needs two renames",
    ],
  ];
  for (const [before, after, expected] of cases) {
    const { omissions } = planChanges([after], [before]);
    t.deepEqual(
      omissions.map(({ what, reason }) => `${what}: ${reason}`),
      [expected],
    );
  }
});

const BASE = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
const VIEW =
  "CREATE MATERIALIZED VIEW 'm' WITH BASE 't' REFRESH MANUAL AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;";
const OVER_IT =
  "CREATE MATERIALIZED VIEW 'over it' WITH BASE 'm' REFRESH IMMEDIATE AS (select ts, sum(n) n from m sample by 1d) PARTITION BY MONTH;";

test('materialized views whose columns get other types are created again, where that loses nothing', t => {
  const [before, after] = [
    [BASE, VIEW, OVER_IT],
    [BASE.replace('x INT', 'x DOUBLE'), VIEW, OVER_IT],
  ];
  const { statements, omissions } = planChanges(after, before);
  t.deepEqual(omissions, []);
  t.deepEqual(
    statements.map(({ statement }) => statement),
    [
      "DROP MATERIALIZED VIEW 'over it';",
      "DROP MATERIALIZED VIEW 'm';",
      "ALTER TABLE 't' ALTER COLUMN x TYPE DOUBLE;",
      VIEW,
      OVER_IT,
      "REFRESH MATERIALIZED VIEW 'm' FULL;",
    ],
  );
  const ahead = planChanges(after, before, { ahead: new Set(['m']) });
  t.deepEqual(ahead.statements, []);
  t.regex(ahead.omissions[0]?.reason ?? '', /^rebuilding materialized view 'm' loses what 't' no longer holds/);
  const plan = planChanges([after[0] as string], before, { keepExtra: true });
  t.deepEqual(plan.statements, []);
  t.regex(plan.omissions[0]?.reason ?? '', /columns of materialized view 'm' would get other types/);
  const rebuilt = planChanges([(after[0] as string).replace('DAY', 'HOUR'), VIEW], [BASE, VIEW], { rebuild: ['t'] });
  t.is(rebuilt.statements[0]?.statement, "DROP MATERIALIZED VIEW 'm';");
});

test('a rebuild grants again, and a new plan completes an interrupted rebuild', t => {
  const acl = ['CREATE USER ann;', 'GRANT SELECT ON t TO ann;'];
  const before = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
  const after = [before.replace('DAY', 'HOUR'), ...acl];
  const { statements, omissions } = planChanges(after, [before, ...acl], { rebuild: ['t'] });
  t.deepEqual(omissions, []);
  const texts = statements.map(({ statement }) => statement.replace(/_[0-9a-f]{8}/g, '_X'));
  t.deepEqual(texts.slice(1), [
    `INSERT INTO 't_new_X' ("ts", "x") SELECT "ts", "x" FROM 't';`,
    `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM 't') a CROSS JOIN (SELECT count() n FROM 't_new_X') b;`,
    `RENAME TABLE 't' TO 't_before_X';`,
    `RENAME TABLE 't_new_X' TO 't';`,
    'GRANT SELECT ON t TO ann;',
  ]);
  const whole = ['DROP', 'CREATE', 'INSERT', 'SELECT', 'RENAME', 'RENAME', 'GRANT'];
  const expected = [whole, whole, whole, ['RENAME', 'GRANT'], ['GRANT'], []];
  const state = new SchemaState([before, ...acl]);
  for (const [done, { statement }] of statements.entries()) {
    state.apply(statement);
    const rest = planChanges(after, state.statements(), { rebuild: ['t'] });
    t.deepEqual(rest.omissions, [], `interrupted after ${done + 1}`);
    const verbs = rest.statements.map(each => each.statement.split(' ', 1)[0]);
    t.deepEqual(verbs, expected[done], `interrupted after ${done + 1}`);
  }
});
