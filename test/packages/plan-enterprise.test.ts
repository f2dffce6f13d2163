/*! Plans for schemas with access control: what sqldiff --alter makes of users, groups, rights, owners and storage policies. */
import { isEnterpriseSchema, planChanges } from '@sqlpipe/plan';
import { test } from '../support/test.js';

const TABLE = 'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;';
const ANN = 'CREATE USER ann;';

const CASES: [what: string, before: string[], after: string[], plan: string[]][] = [
  ['a table with the name of a user', ['CREATE USER t;'], ['CREATE USER t;', TABLE], [TABLE]],
  [
    'a group with another alias',
    ["CREATE GROUP staff WITH EXTERNAL ALIAS 'it''s';", "CREATE GROUP ops WITH EXTERNAL ALIAS 'ops';"],
    ["CREATE GROUP staff WITH EXTERNAL ALIAS 'theirs';", 'CREATE GROUP ops;'],
    [
      "ALTER GROUP ops DROP EXTERNAL ALIAS 'ops';",
      "ALTER GROUP staff DROP EXTERNAL ALIAS 'it''s';",
      "ALTER GROUP staff WITH EXTERNAL ALIAS 'theirs';",
    ],
  ],
  [
    'a right given with the grant option and without',
    [ANN],
    [ANN, 'GRANT HTTP TO ann WITH GRANT OPTION;', 'GRANT HTTP TO ann;'],
    ['GRANT HTTP TO ann WITH GRANT OPTION;'],
  ],
  [
    'a right on more that would take the place of one with the grant option',
    [ANN, TABLE, 'GRANT SELECT ON t TO ann WITH GRANT OPTION;'],
    [ANN, TABLE, 'GRANT SELECT ON t TO ann WITH GRANT OPTION;', 'GRANT SELECT TO ann;'],
    ['REVOKE SELECT ON t FROM ann;', 'GRANT SELECT TO ann;', 'GRANT SELECT ON t TO ann WITH GRANT OPTION;'],
  ],
  [
    'a right on more that goes, and takes one on less with it',
    [ANN, TABLE, 'GRANT SELECT ON t TO ann;', 'GRANT SELECT ON t(x) TO ann WITH GRANT OPTION;'],
    [ANN, TABLE, 'GRANT SELECT ON t(x) TO ann WITH GRANT OPTION;'],
    ['REVOKE SELECT ON t FROM ann;', 'GRANT SELECT ON t(x) TO ann WITH GRANT OPTION;'],
  ],
  [
    'all permissions that go, and take each one with them',
    [ANN, TABLE, 'GRANT ALL, INSERT ON t TO ann;'],
    [ANN, TABLE, 'GRANT INSERT ON t TO ann;'],
    ['REVOKE ALL ON t FROM ann;', 'GRANT INSERT ON t TO ann;'],
  ],
  [
    'a view with another owner',
    [ANN, TABLE, 'CREATE VIEW v AS (select x from t) OWNED BY ann;'],
    [ANN, TABLE, 'CREATE VIEW v AS (select x from t) OWNED BY bob;'],
    [],
  ],
];

for (const [what, before, after, plan] of CASES)
  test(`planned: ${what}`, async t => {
    const { statements } = await planChanges(after, before);
    const texts = statements.map(({ statement }) => statement);
    t.deepEqual(texts, plan);
  });

test('a view whose name is that of an owner is no source of what the principal owns', async t => {
  const view = (name: string, value: string, rest = '') =>
    `CREATE MATERIALIZED VIEW ${name} WITH BASE t AS (select ts, ${value} n from t sample by 1h) PARTITION BY DAY${rest};`;
  const kept = [ANN, TABLE, view('m', 'sum(x)', ' OWNED BY ann')];
  const { statements } = await planChanges([...kept, view('ann', 'max(x)')], [...kept, view('ann', 'min(x)')], {});
  const texts = statements.map(({ statement }) => statement).filter(text => !text.startsWith('SELECT'));
  t.deepEqual(texts, ["DROP MATERIALIZED VIEW 'ann';", view('ann', 'max(x)')]);
});

test('a service account with another owner, and one with another password, are listed', async t => {
  const before = [ANN, "CREATE USER bob WITH PASSWORD 'a';", 'CREATE SERVICE ACCOUNT app OWNED BY ann;'];
  const after = [ANN, "CREATE USER bob WITH PASSWORD 'b';", 'CREATE SERVICE ACCOUNT app OWNED BY bob;'];
  const { statements, omissions } = await planChanges(after, before);
  t.deepEqual(statements, []);
  t.deepEqual(
    omissions.map(({ what, reasons }) => `${what}: ${reasons}`),
    [
      'credentials: *** to ***: cannot be altered: no server shows them',
      'owner: ann to bob: cannot be altered: no statement changes an owner',
    ],
  );
});

test('who is dropped loses what was given before', async t => {
  const { statements } = await planChanges(
    [TABLE, 'GRANT SELECT ON t TO ann;'],
    [ANN, TABLE, 'GRANT SELECT ON t TO ann;'],
    {
      allowLoss: ['drop-user:ann'],
    },
  );
  const found = statements.map(({ statement }) => statement);
  t.deepEqual(found, ['DROP USER ann;', 'GRANT SELECT ON t TO ann;']);
});

/** Statements, and whether only the enterprise edition prints them. */
const EDITIONS: readonly (readonly [statement: string, isEnterprise: boolean])[] = [
  ["CREATE TABLE t (x INT) OWNED BY 'ann';", true],
  ['CREATE VIEW v AS (\nSELECT x FROM t\n) owned  by ann;', true],
  ['CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY STORAGE POLICY(TO PARQUET 3 DAYS);', true],
  ['create table t (ts timestamp) timestamp(ts) partition by day storage /* and */ policy(drop local 3d) wal', true],
  ['CREATE USER ann;', true],
  ['CREATE TABLE t (x INT); -- OWNED BY the desk', false],
  ['CREATE TABLE t (\n\tx INT -- once owned by ann\n);', false],
  ['CREATE TABLE t ( /* no STORAGE POLICY yet */ x INT);', false],
  ["CREATE VIEW v AS (SELECT 'a STORAGE POLICY' x, ' OWNED BY ann' y FROM t);", false],
  ['CREATE VIEW v AS (SELECT storage policy FROM t);', false],
  ['CREATE VIEW v AS (SELECT owned by FROM t);', false],
  ['CREATE TABLE " owned by " (" storage policy" INT);', false],
];

for (const [statement, isEnterprise] of EDITIONS)
  test(`${isEnterprise ? 'only the enterprise edition prints' : 'every edition may print'} ${statement}`, t => {
    t.is(isEnterpriseSchema([statement]), isEnterprise);
  });
