/*! sqlserve's access control: which rights can be granted by whom, and what SHOW returns to whom. */
import { inProcess } from '../support/in-process.js';
import { admin, basic, executeAs, loginAs, setUp } from '../support/principals.js';
import type { Server } from '../support/server.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { type Scope, test } from '../support/test.js';

/** Starts an enterprise server with a user `ann` who may use HTTP, and executes the statements. */
async function startWithAnn(scope: Scope, ...statements: string[]): Promise<Server> {
  const server = await serveHere(scope, { edition: 'enterprise' });
  await setUp(server, "create user ann with password 'ann'", 'grant http to ann', ...statements);
  return server;
}

const ann = basic('ann', 'ann');

const fetchGrants = async (server: Server): Promise<unknown[]> =>
  (await executeAs(server, admin, 'show create database include (permissions)')).dataset?.flat() ?? [];

/** The rows of a SHOW statement after a row of column names, each as text, or the error. */
async function fetchTable(server: Server, sql: string, as = admin): Promise<string[]> {
  const { columns = [], dataset = [], error } = await executeAs(server, as, sql);
  return error === undefined ? [columns.map(({ name }) => name), ...dataset].map(row => row.join()) : [error];
}

test('ALL or DATABASE ADMIN without the grant option does not allow granting', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'create service account robot');
  for (const [held, passed, denied] of [
    ['all', 'select on t', 'SELECT WITH GRANT OPTION on t'],
    ['all', 'all', 'ALL WITH GRANT OPTION'],
    ['all on t', 'select on t', 'SELECT WITH GRANT OPTION on t'],
    ['all on all tables', 'select on all tables', 'SELECT WITH GRANT OPTION'],
    ['database admin', 'http', 'HTTP WITH GRANT OPTION'],
    ['database admin', 'database admin', 'DATABASE ADMIN WITH GRANT OPTION'],
    ['all', 'assume service account robot', 'ASSUME SERVICE ACCOUNT WITH GRANT OPTION'],
    ['database admin', 'assume service account robot', 'ASSUME SERVICE ACCOUNT WITH GRANT OPTION'],
  ]) {
    await setUp(server, 'revoke all from ann', 'grant http to ann', `grant ${held} to ann`);
    const before = await fetchGrants(server);
    for (const change of [`grant ${passed} to ann with grant option`, `grant ${passed} to bob`]) {
      const { status, error } = await executeAs(server, ann, change);
      t.deepEqual({ status, error }, { status: 403, error: `Access denied for ann [${denied}]` }, `${held}: ${change}`);
    }
    t.is((await executeAs(server, ann, `revoke ${passed} from bob`)).status, 403);
    t.deepEqual(await fetchGrants(server), before);
  }
});

test('ALL with the grant option allows granting, except of DATABASE ADMIN', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'grant all to ann with grant option');
  t.is((await executeAs(server, ann, 'grant select on t to bob')).status, 200);
  t.is((await executeAs(server, ann, 'grant database admin to ann')).status, 403);
  t.is((await executeAs(server, ann, 'drop all')).status, 403);
  await setUp(server, 'grant database admin to ann with grant option');
  t.is((await executeAs(server, ann, 'grant database admin to bob')).status, 200);
});

test('the owner of a service account may pass it on, also as a member of a group', async t => {
  const server = await startWithAnn(
    t,
    'create group ops',
    'add user ann to ops',
    'create service account robot owned by OPS',
  );
  t.is((await executeAs(server, ann, 'grant assume service account ROBOT to bob')).status, 200);
  t.deepEqual(await fetchTable(server, 'show service accounts ann'), ['name,grant_option', 'robot,true']);
});

test('a principal that may assume a service account without the grant option cannot pass it on', async t => {
  const server = await startWithAnn(t, 'create user bob', 'create group ops', 'create service account robot');
  await setUp(server, 'add user ann to ops', 'grant assume service account robot to bob');
  for (const holder of ['ann', 'ops']) {
    await setUp(server, `grant assume service account robot to ${holder}`);
    const before = await fetchGrants(server);
    for (const change of [
      'grant assume service account robot to ann with grant option',
      'grant assume service account ROBOT to ops',
      'revoke assume service account robot from bob',
    ]) {
      const { status, error } = await executeAs(server, ann, change);
      const denied = 'Access denied for ann [ASSUME SERVICE ACCOUNT WITH GRANT OPTION]';
      t.deepEqual({ status, error }, { status: 403, error: denied }, `${holder}: ${change}`);
    }
    t.deepEqual(await fetchGrants(server), before);
    await setUp(server, `revoke assume service account robot from ${holder}`);
  }
  await setUp(server, 'grant assume service account robot to ops with grant option');
  t.is((await executeAs(server, ann, 'revoke assume service account robot from bob')).status, 200);
});

test('a partly denied grant changes nothing', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'grant select on t to ann with grant option');
  const before = await fetchGrants(server);
  t.is((await executeAs(server, ann, 'grant select on t, other to bob')).status, 403);
  t.is((await executeAs(server, ann, 'grant select, insert on t to bob')).status, 403);
  await setUp(server, 'create user another');
  t.deepEqual(await fetchGrants(server), before);
});

test('a user without permission cannot find out which principals exist', async t => {
  const server = await startWithAnn(t, 'create user bob', 'create group ops', 'create service account robot');
  for (const sql of [
    'alter user NAME enable',
    "alter user NAME with password 'p'",
    'alter user NAME with no password',
    "alter user NAME create token type rest with ttl '1d'",
    'alter user NAME drop token type rest',
    'drop user NAME',
    'create user NAME',
    'add user NAME to ops',
    'add user bob to NAME',
    'show user NAME',
    'show permissions NAME',
    'show groups NAME',
    'grant http to NAME with verification',
    'grant assume service account NAME to ann',
  ]) {
    const [there, missing] = await Promise.all(
      ['bob', 'nobody'].map(name => executeAs(server, ann, sql.replace('NAME', name))),
    );
    t.is(there?.status, 403, sql);
    t.is(there?.error, missing?.error, sql);
  }
});

// Source: each check of SecurityContext takes the token of a table that was found (QuestDB 9.3.4), and tables() lists all.
test('names of objects are no secret, as on QuestDB: a missing one is missing for every user', async t => {
  const server = await startWithAnn(
    t,
    'create table secret (a int, ts timestamp) timestamp(ts) partition by day wal',
    'create view secret_view as (select * from secret)',
    'create materialized view secret_mv as (select ts, max(a) a from secret sample by 1h) partition by day',
  );
  for (const statement of [
    'select * from NAME',
    'show columns from NAME',
    'show create table NAME',
    'drop table NAME',
    'truncate table NAME',
    'rename table NAME to x',
    'alter table NAME add column b int',
    'alter table NAME resume wal',
    'drop view NAME_view',
    'alter view NAME_view as (select 1)',
    'compile view NAME_view',
    'show create view NAME_view',
    'drop materialized view NAME_mv',
    'refresh materialized view NAME_mv full',
    'show create materialized view NAME_mv',
  ]) {
    const existing = await executeAs(server, ann, statement.replace('NAME', 'secret'));
    t.regex(existing.error ?? '', /^Access denied for ann \[/, statement);
    const missing = await executeAs(server, ann, statement.replace('NAME', 'missing'));
    t.regex(missing.error ?? '', /does not exist/, statement);
  }
  t.is((await fetchTable(server, 'select table_name from tables()', ann)).length, 1 + 3);
});

test('objects of a dropped user belong to the administrator, not to a new user of that name', async t => {
  const server = await startWithAnn(
    t,
    'create table hers (a int) owned by ANN',
    'create view v as (select a from hers)',
  );
  t.is((await executeAs(server, ann, 'show columns from hers')).status, 200);
  await setUp(server, 'drop user ann', "create user ann with password 'ann'", 'grant http to ann');
  t.is((await executeAs(server, ann, 'show columns from hers')).status, 403);
  t.regex((await fetchTable(server, 'show create table hers'))[1] ?? '', /\nOWNED BY 'admin';$/);
});

test('names cannot inject statements into a dump', async t => {
  const server = await startWithAnn(t, 'create table t (a int)');
  for (const [sql, error] of [
    [`grant select on t to 'x" ; drop table t; --'`, /invalid entity name/],
    [`grant select on 'x" to y; drop table t; --' to ann`, /invalid table name/],
    [`grant select on t('a") to y; drop table t; --') to ann`, /invalid column name/],
    [`create table u (a int) owned by "x'; drop table t; --"`, /invalid owner name/],
    [`alter table t add column b int owned by 'x"; drop table t; --'`, /invalid owner name/],
    [`create service account s owned by 'x"; drop table t; --'`, /invalid owner name/],
    [`grant select on t to ''`, /invalid entity name/],
    [`grant select on '' to ann`, /invalid table name/],
    [`grant select on "*" to ann`, /invalid table name/],
  ] as const) {
    const { status, error: message } = await executeAs(server, admin, sql);
    t.is(status, 400, sql);
    t.regex(message ?? '', error, sql);
  }
  await setUp(server, `create group g with external alias "it's; --"`);
  const rows = await executeAs(server, admin, 'show create database include (groups)');
  t.deepEqual(rows.dataset, [["CREATE GROUP g WITH EXTERNAL ALIAS 'it''s; --';"]]);
  const copy = await startWithAnn(t, String(rows.dataset?.[0]?.[0]));
  t.deepEqual(await fetchTable(copy, 'show groups'), ['name,external_alias', "g,it's; --"]);
});

test('SHOW lists users, groups and service accounts', async t => {
  const server = await startWithAnn(
    t,
    'create user bob',
    'alter user bob disable',
    'create group readers',
    "create group ops with external alias 'CN=ops'",
    'add user bob to readers',
    'create service account robot',
    'create service account paused',
    'alter service account paused disable',
    'grant assume service account robot to readers with grant option',
  );
  for (const [what, ...rows] of [
    ['users', 'name,enabled', 'admin,true', 'ann,true', 'bob,false'],
    ['groups', 'name,external_alias', 'ops,CN=ops', 'readers,'],
    ['groups bob', 'name,external_alias', 'readers,'],
    ['groups ann', 'name,external_alias'],
    ['service accounts', 'name,enabled', 'paused,false', 'robot,true'],
    ['service accounts bob', 'name,grant_option', 'robot,true'],
    ['service accounts readers', 'name,grant_option', 'robot,true'],
    ['service accounts ann', 'name,grant_option'],
    ['groups nobody', 'entity does not exist [name=nobody]'],
  ])
    t.deepEqual(await fetchTable(server, `SHOW ${what};`), rows, what);
  await setUp(server, "alter group ops drop external alias 'CN=ops'", "alter group readers with external alias 'r'");
  t.deepEqual((await fetchTable(server, 'show groups')).slice(1), ['ops,', 'readers,r']);
  for (const what of ['users', 'groups', 'service accounts'])
    t.deepEqual(await fetchTable(server, `show ${what}`, ann), ['Access denied for ann [LIST USERS]'], what);
  for (const what of ['user bob', 'groups bob', 'service accounts bob', 'permissions bob', 'service account robot'])
    t.deepEqual(await fetchTable(server, `show ${what}`, ann), ['Access denied for ann [USER DETAILS]'], what);
  for (const what of ['user', 'groups ANN', 'service accounts ann', 'permissions', 'permissions ann'])
    t.is((await executeAs(server, ann, `show ${what}`)).status, 200, what);
  t.is((await executeAs(server, admin, 'show constructor')).status, 400);
});

test('SHOW USER and SHOW SERVICE ACCOUNT show who cannot log in', async t => {
  const server = await startWithAnn(t, 'create user bob with no password', 'create service account robot');
  const enabled = async (what: string) =>
    (await executeAs(server, admin, `show ${what}`)).dataset?.map(([, isEnabled]) => isEnabled);
  t.deepEqual(await fetchTable(server, 'show user ann'), [
    ...['auth_type,enabled', 'Password,true', 'JWK Token,false', 'REST Token,false'],
  ]);
  t.deepEqual(await enabled('user bob'), [false, false, false]);
  t.deepEqual(await enabled('service account robot'), [false, false, false]);
  await setUp(server, "alter service account robot create token type rest with ttl '1d'");
  t.deepEqual(await enabled('service account robot'), [false, false, true]);
  t.deepEqual(await enabled('user admin'), [true, false, false]);
  t.deepEqual(await enabled('user'), [true, false, false]);
  t.deepEqual(await fetchTable(server, 'show user robot'), ['user does not exist [name=robot]']);
});

test('SHOW PERMISSIONS has scope, option and origin, and omits missing objects', async t => {
  const server = await startWithAnn(
    t,
    'create table t (ts timestamp, a int, b int) timestamp(ts) partition by day',
    'create group readers',
    'add user ann to readers',
    'grant select on t(a) to ann',
    'grant insert on all tables to ann with grant option',
    'grant select on later, t(later) to ann',
    'grant select on t(b) to readers with grant option',
    'grant update on t to readers',
    'grant update on t(a) to readers with grant option',
  );
  const heads = 'permission,table_name,column_name,grant_option,origin';
  t.deepEqual(await fetchTable(server, 'show permissions'), [heads]);
  const groups = ['SELECT,t,b,true,G', 'UPDATE,t,,false,G', 'UPDATE,t,a,true,G', 'SELECT,t,ts,false,I'];
  t.deepEqual(await fetchTable(server, 'show permissions readers'), [heads, ...groups]);
  const own = ['HTTP,,,false,G', 'SELECT,t,a,false,G', 'INSERT,,,true,G'];
  t.deepEqual(await fetchTable(server, 'show permissions', ann), [heads, ...own, ...groups]);
  await setUp(server, 'create table later (x int)', 'grant select on t to ann');
  const rows = await fetchTable(server, 'show permissions ann');
  t.true(rows.includes('SELECT,later,,false,G'));
  t.false(rows.some(row => row.endsWith(',I')));
  await setUp(server, 'grant drop index on t to ann', 'grant drop index on t to readers with grant option');
  const indexes = (await fetchTable(server, 'show permissions ann')).filter(row => row.startsWith('DROP INDEX,'));
  t.deepEqual(indexes, ['DROP INDEX,t,,true,G']);
});

test('COMPILE VIEW needs a permission of its own', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'create view v as (select a from t)');
  t.is((await executeAs(server, ann, 'compile view v')).error, 'Access denied for ann [COMPILE VIEW on v]');
  await setUp(server, 'grant compile view on v, w to ann');
  t.is((await executeAs(server, ann, 'compile view v')).ddl, 'OK');
});

test('an added column belongs to its OWNED BY, or to the user who added it', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'grant add column on t to ann', 'create user bob');
  t.is((await executeAs(server, ann, 'alter table t add column mine symbol nocache')).ddl, 'OK');
  t.is((await executeAs(server, ann, 'alter table t add column his double[] owned by bob;')).ddl, 'OK');
  await setUp(server, 'alter table t add column plain double owned by admin', 'alter table t add column again int');
  t.deepEqual(await fetchGrants(server), [
    'GRANT HTTP TO ann;',
    'GRANT ADD COLUMN ON t TO ann;',
    'GRANT ALL ON t(his) TO bob WITH GRANT OPTION;',
    'GRANT ALL ON t(mine) TO ann WITH GRANT OPTION;',
  ]);
  t.is((await executeAs(server, ann, 'grant select on t(mine) to bob')).ddl, 'OK');
  t.is((await executeAs(server, ann, 'grant select on t(his) to bob')).status, 403);
  for (const [sql, error] of [
    ['alter table t add column x int owned by', 'owner name expected'],
    ['alter table t add column x int owned by bob, y int', 'unexpected token [,]'],
    ['alter table t add column if not exists mine int owned by bob', /different column type/],
  ] as const) {
    const message = (await executeAs(server, admin, sql)).error ?? '';
    if (typeof error === 'string') t.is(message, error, sql);
    else t.regex(message, error, sql);
  }
  const oss = await startSqlserve(t);
  await oss.execute('create table t (a int)');
  t.is((await oss.execute('alter table t add column x int owned by bob')).error, "',' expected");
});

test('a column wildcard needs an existing table and at least one remaining column', async t => {
  const server = await startWithAnn(t, 'create table t (a int, b int)');
  for (const [sql, error] of [
    ['grant select on nope(*) to ann', 'table does not exist [table=nope]'],
    ['grant select on t(* exclude (c)) to ann', 'column does not exist [table=t, column=c]'],
    ['grant select on t(* exclude (a, B)) to ann', 'no column is left [table=t]'],
    ['grant select on t(* a) to ann', "')' expected"],
    ['grant select on t(a b) to ann', "')' expected"],
  ])
    t.is((await executeAs(server, admin, sql ?? '')).error, error, sql);
  await setUp(server, 'grant select on t(* exclude (b)) to ann');
  t.true((await fetchGrants(server)).includes('GRANT SELECT ON t(a) TO ann;'));
});

test('sqlapply alters a table that its account may not read', async t => {
  const server = await startWithAnn(t, 'create table t (a int)', 'grant add column on t to ann');
  const run = await inProcess(t, { DST: server.url, ...loginAs('ann') });
  await run.ok('sqlsplit <<< "ALTER TABLE t ADD COLUMN b INT;" | sqlapply --allow ALTER $DST');
  const shown = await executeAs(server, admin, 'show create table t');
  t.regex(String(shown.dataset), /\bb INT\b/);
});
