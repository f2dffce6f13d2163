/*! Which statements only the enterprise edition prints, and rows that its storage policies drop. */
import { isEnterpriseSchema } from '@sqlpipe/ddl';
import { planChanges } from '@sqlpipe/plan';
import { IgnoreRules } from '@sqlpipe/schema';
import { test } from '../support/test.js';

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
  test(`${isEnterprise ? 'only the enterprise edition prints' : 'every edition may print'} ${statement}`, t =>
    t.is(isEnterpriseSchema([statement]), isEnterprise));

const tableWith = (stages: string, unit = 'DAY') =>
  `CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY ${unit} STORAGE POLICY(${stages});`;

const rebuilt = (stages: string) => [[tableWith(stages, 'HOUR')], [tableWith(stages)], { rebuild: ['t'] }] as const;

/** Stages of a policy, and the age that the rows must not have which a rebuild copies; undefined if none drops rows. */
const POLICIES: readonly (readonly [stages: string, age: string | undefined])[] = [
  ['TO PARQUET 3 DAYS', undefined],
  ['TO PARQUET 1 DAY, TO REMOTE 3 DAYS', undefined],
  ['TO PARQUET 1 DAY, DROP LOCAL 3 DAYS', "datediff('h', …) >= 72"],
  ['DROP LOCAL 2 MONTHS', "datediff('M', …) >= 2"],
  ['TO REMOTE 2 DAYS, DROP LOCAL 3 DAYS', "datediff('h', …) >= 72"],
  ['DROP LOCAL 3 DAYS, DROP REMOTE 9 DAYS', "datediff('h', …) >= 72"],
  ['DROP REMOTE 9 DAYS', "datediff('h', …) >= 216"],
];

for (const [stages, age] of POLICIES)
  test(`a rebuild asserts ${age ? 'first that no row' : 'nothing about rows that'} expired by STORAGE POLICY(${stages})`, async t => {
    const { statements } = await planChanges(...rebuilt(stages));
    const texts = statements.map(({ statement }) => statement);
    const expiry = texts.findIndex(text => text.includes('none_expire'));
    t.is(texts[expiry]?.replace(/.*(datediff\('.', ).*(\) >= \d+);$/s, '$1…$2'), age);
    t.true(expiry < texts.findIndex(text => text.startsWith('CREATE')));
  });

test('a rebuild is left out if a storage policy would drop rows, unless that is allowed', async t => {
  const [a, b, options] = rebuilt('DROP LOCAL 3 DAYS');
  const fetchRow = async (query: string) => [query.includes(') recent WHERE ') ? 5 : 0];
  const { omissions } = await planChanges(a, b, { ...options, fetchRow });
  t.deepEqual(
    omissions.map(({ what, losses }) => [what, losses]),
    [["rebuild of table 't'", [{ lossKind: 'ttl', object: 't' }]]],
  );
  const allowed = await planChanges(a, b, { ...options, fetchRow, allowLoss: ['ttl:t'] });
  t.deepEqual(allowed.omissions, []);
  t.is(allowed.statements.at(-1)?.statement, "ALTER TABLE 't' SET STORAGE POLICY(DROP LOCAL 3 DAYS);");
});

test('a longer storage policy is set after an assertion that it drops no row', async t => {
  const { statements } = await planChanges([tableWith('DROP LOCAL 4 DAYS')], [tableWith('DROP LOCAL 3 DAYS')]);
  t.regex(statements[0]?.statement ?? '', /^SELECT count\(\) = 0 AS none_expire FROM 't' .* >= 96;$/);
  t.is(statements[1]?.statement, "ALTER TABLE 't' SET STORAGE POLICY(DROP LOCAL 4 DAYS);");
});

test('--ignore-owner keeps the owner of a view that a plan recreates, and a view that A rejects off its list', async t => {
  const table = 'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY;';
  const schema = (of: string, owner: string) => [
    table,
    `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, ${of}(x) n from t sample by 1h) PARTITION BY DAY OWNED BY ${owner};`,
    `CREATE VIEW v AS (select y from gone) OWNED BY ${owner};`,
  ];
  const ignore = new IgnoreRules(['v: invalid']);
  const options = { ignore, ignoreOwner: true, allowLoss: ['history:m'] };
  const { statements, omissions } = await planChanges(schema('max', 'ann'), schema('min', 'bob'), options);
  t.deepEqual(omissions, []);
  const [creation = ''] = statements.flatMap(({ statement }) => (/^CREATE/.test(statement) ? [statement] : []));
  t.regex(creation, /max\(x\)[^]*\nOWNED BY 'bob';$/);
});

for (const [why, owner, ignoreOwner] of [
  ['--ignore-owner is given', 'OWNED BY ann', true],
  ['A states none', '', false],
] as const)
  test(`a rebuilt table and a recreated view keep their owner if ${why}`, async t => {
    const schema = (columns: string, of: string, owner: string) => [
      `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL ${owner};`,
      `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, ${of}(x) n from t sample by 1h) PARTITION BY DAY ${owner};`,
    ];
    const [a, b] = [schema('y INT, x INT', 'max', owner), schema('x INT, y INT', 'min', 'OWNED BY bob')];
    const { statements, omissions } = await planChanges(a, b, {
      ignoreOwner,
      rebuild: ['t'],
      allowLoss: ['history:m'],
    });
    t.deepEqual(omissions, []);
    const created = statements.map(({ statement }) => statement).filter(statement => /^CREATE/.test(statement));
    t.deepEqual(
      created.map(statement => /OWNED BY .*/.exec(statement)?.[0]),
      ["OWNED BY 'bob';", "OWNED BY 'bob';"],
    );
  });

for (const [why, options] of [
  ['with --ignore-extra', { ignoreExtra: true }],
  ['with --ignore grant', { ignore: new IgnoreRules(['grant']) }],
] as const)
  test(`${why}, a plan gives the rights of B again on what it rebuilds, renames or recreates`, async t => {
    const schema = (columns: string, of: string, deals: string) => [
      `CREATE TABLE t (ts TIMESTAMP, ${columns}) TIMESTAMP(ts) PARTITION BY DAY WAL;`,
      `CREATE TABLE ${deals} (x INT);`,
      `CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, ${of}(x) n from t sample by 1h) PARTITION BY DAY;`,
      'CREATE USER bob;',
    ];
    const rights = [
      'INSERT ON t',
      'SELECT ON t(y)',
      'SELECT ON deals',
      'SELECT ON m(n)',
      'SELECT ON gone',
      'SELECT ON t(g)',
    ];
    const a = schema('z INT, x INT', 'max', 'trades');
    const b = [
      ...[...schema('x INT, y INT, g INT', 'min', 'deals'), 'CREATE TABLE gone (x INT);'],
      ...rights.map(right => `GRANT ${right} TO bob;`),
    ];
    const renamed = ['t.y=z', 'deals=trades'];
    const allowLoss = ['history:m', 'drop:t.g', 'drop:gone'];
    const plan = await planChanges(a, b, { renamed, rebuild: ['t'], allowLoss, ...options });
    t.deepEqual(plan.omissions, []);
    t.deepEqual(
      plan.schemaAfter.statements.filter(statement => /^GRANT (?!.* gone)/.test(statement)).sort(),
      ['INSERT ON t', 'SELECT ON m(n)', 'SELECT ON t(z)', 'SELECT ON trades'].map(right => `GRANT ${right} TO bob;`),
    );
  });

const VIEW_AND_TABLE = (of: string) => [
  'CREATE TABLE t (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;',
  `CREATE MATERIALIZED VIEW m WITH BASE t REFRESH MANUAL AS (select ts, ${of}(x) n from t sample by 1h) PARTITION BY DAY;`,
];

test('a kept grant follows the CREATE at once, also if B is known without its users', async t => {
  const b = [...VIEW_AND_TABLE('min'), 'GRANT SELECT ON m TO bob WITH GRANT OPTION;', 'GRANT INSERT ON t TO bob;'];
  const { statements, omissions } = await planChanges(VIEW_AND_TABLE('max'), b, { ignore: new IgnoreRules(['grant']) });
  t.deepEqual(omissions, []);
  const texts = statements.map(({ statement }) => statement);
  const created = texts.findIndex(text => text.startsWith('CREATE MATERIALIZED VIEW'));
  t.is(texts[created + 1], 'GRANT SELECT ON m TO bob WITH GRANT OPTION;');
  t.is(texts.filter(text => text.startsWith('GRANT')).length, 1);
});

test('a right that cannot be given is listed once', async t => {
  const b = ['CREATE TABLE t (x INT);', 'CREATE GROUP g;'];
  const rights = ['ADD USER ann TO g', 'ADD USER bob TO g', 'GRANT SELECT ON t TO "o\'x"'];
  const { omissions } = await planChanges([...b, ...rights.map(each => `${each};`)], b);
  t.deepEqual(
    omissions.map(({ what }) => what),
    rights,
  );
});

test('a recreation is left out if the plan could not give back a grant of B', async t => {
  const b = [...VIEW_AND_TABLE('min'), 'GRANT SELECT ON t TO bob;', 'GRANT TELEPORT ON m TO bob;'];
  const ignore = new IgnoreRules(['grant']);
  const unknown = await planChanges(VIEW_AND_TABLE('max'), b, { ignore });
  t.deepEqual(
    unknown.omissions.map(({ what }) => what),
    ['DROP and CREATE'],
  );
  t.regex(unknown.omissions[0]?.reasons.join() ?? '', /^the server would reject it: .*TELEPORT/);
  const hidden = await planChanges(VIEW_AND_TABLE('max'), VIEW_AND_TABLE('min'), {
    isEnterprise: true,
    hiddenGrants: 'Access denied for zoe [LIST USERS]',
  });
  t.deepEqual(hidden.statements, []);
  t.deepEqual(
    hidden.omissions.map(({ what, reasons }) => [what, reasons]),
    [
      [
        'DROP and CREATE',
        ['the grants on it could not be given back, because they are not known: Access denied for zoe [LIST USERS]'],
      ],
    ],
  );
});

const OTHER_KINDS = [
  'CREATE MATERIALIZED VIEW v WITH BASE t AS (select ts, max(x) n from t sample by 1h) PARTITION BY DAY;',
  'CREATE TABLE v (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL;',
];

for (const statement of OTHER_KINDS)
  test(`an object of another kind keeps the owner of the view that it replaces: ${statement}`, async t => {
    const [table = ''] = VIEW_AND_TABLE('max');
    const b = [table, 'CREATE VIEW v AS (select x from t) OWNED BY bob;'];
    const { statements, omissions } = await planChanges([table, statement], b, { allowLoss: ['drop:v'] });
    t.deepEqual(omissions, []);
    t.regex(statements.at(-1)?.statement ?? '', /\nOWNED BY 'bob';$/);
  });

test('a change is left out if the new object would have another owner', async t => {
  const [table = ''] = VIEW_AND_TABLE('max');
  const b = [table, 'CREATE VIEW v AS (select x from t) OWNED BY bob;'];
  const options = { allowLoss: ['drop:v'] };
  const { statements, omissions } = await planChanges([table, 'CREATE TABLE v AS (select x from t);'], b, options);
  t.deepEqual(statements, []);
  const [reason] = omissions.flatMap(({ reasons }) => reasons);
  t.is(reason, "table 'v' would no longer be OWNED BY 'bob'");
  const stated = await planChanges([table, 'CREATE TABLE v AS (select x from t) OWNED BY ann;'], b, options);
  t.deepEqual(stated.omissions, []);
});
