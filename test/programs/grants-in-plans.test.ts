/*! The rights on what a plan replaces, if somebody grants or revokes some after the plan was made. */
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { loginAs, permissionsOf, setUp } from '../support/principals.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const TABLE = 'CREATE TABLE trades (ts TIMESTAMP, price DOUBLE) timestamp(ts) PARTITION BY DAY';
const viewOf = (aggregate: string, name = 'm') =>
  `CREATE MATERIALIZED VIEW ${name} WITH BASE trades AS (SELECT ts, ${aggregate}(price) p FROM trades SAMPLE BY 1h) PARTITION BY DAY`;

async function startWithView(t: ExecutionContext) {
  const server = await serveHere(t, { edition: 'enterprise' });
  await setUp(server, TABLE, viewOf('max'), 'CREATE USER zoe');
  return { server, run: await inProcess(t, { ...loginAs(), DST: server.url }) };
}

test('a plan does not stop for a right that it has no reason to give back', async t => {
  const { server, run } = await startWithView(t);
  await setUp(server, 'CREATE USER ann', 'GRANT SELECT ON m TO ann', 'GRANT SELECT ON m(p) TO zoe');
  const after = viewOf('max').replace(') p', ') top');
  await run(`cat > a.sql <<'END'\n${TABLE};\n${after};\nCREATE USER zoe;\nEND`);
  const options = '--include SCHEMA,USERS --allow-loss drop-user:ann';
  await run.ok(`sqldiff --alter ${options} -o plan.sql a.sql $DST; sqlapply -q --allow-plan $DST plan.sql`);
  t.false((await permissionsOf(server, 'zoe')).some(row => row.startsWith('SELECT')));
});

test('a plan does not stop for the rights on a plain view that it drops, because a server keeps these', async t => {
  const { server, run } = await startWithView(t);
  await setUp(server, 'CREATE VIEW v AS (SELECT price FROM trades)', 'GRANT SELECT ON v TO zoe');
  await run(`cat > a.sql <<'END'\n${TABLE};\n${viewOf('max')};\nCREATE TABLE v (x INT);\nEND`);
  await run.ok('sqlapply -q --alter --allow-loss drop:v $DST a.sql');
  t.true((await permissionsOf(server, 'zoe')).some(row => row.startsWith('SELECT v ')));
});

/** What a plan replaces, where it leads, its options, and the statement before which somebody grants a right; if none, before the plan. */
const REPLACED: readonly (readonly [what: string, after: string[], options: string, moment?: RegExp])[] = [
  ['recreated view m', [TABLE, viewOf('min')], ''],
  ['recreated view m, while the plan runs', [TABLE, viewOf('min')], '', / AS nothing_is_lost /],
  ['renamed view m', [TABLE, viewOf('max', 'n')], '--renamed m=n'],
  ['renamed table trades', [TABLE.replace('trades', 'deals')], '--renamed trades=deals'],
  ['rebuilt table trades', [TABLE.replace('DAY', 'HOUR')], '--rebuild trades'],
  ['rebuilt table trades, while the plan runs', [TABLE.replace('DAY', 'HOUR')], '--rebuild trades', /^INSERT/m],
];

for (const [what, after, options, moment] of REPLACED)
  test(`a plan stops before it loses a right that somebody grants meanwhile: on the ${what}`, async t => {
    const server = await serveHere(t, { edition: 'enterprise' });
    const object = what.includes('view') ? 'm' : 'trades';
    const replaced = object === 'm' ? [TABLE, viewOf('max')] : [TABLE];
    await setUp(server, ...replaced, 'CREATE USER zoe', `GRANT INSERT ON ${object} TO zoe`);
    const give = () => setUp(server, `GRANT SELECT ON ${object} TO zoe`);
    const { url } = await recordingProxy(t, server, async (query): Promise<Instead | undefined> => {
      if (moment?.test(query)) await give();
      return /^INSERT/m.test(query) ? [200, { dml: 'OK' }] : undefined; // sqlserve has no rows
    });
    const run = await inProcess(t, { ...loginAs(), DST: url, AFTER: `${after.join(';\n')};` });
    const plan = `sqldiff --alter --ignore-extra --include SCHEMA ${options} -o plan.sql after.sql $DST`;
    await run.ok(`echo "$AFTER" > after.sql; ${plan}`);
    if (!moment) await give();
    const { stderr } = await run.exits(1, 'sqlapply -q --allow-plan $DST plan.sql');
    t.regex(stderr, /: nothing in the plan gives back GRANT SELECT ON (?:m|trades) TO zoe\n/);
    const fetchTableRights = async () =>
      (await permissionsOf(server, 'zoe')).filter(row => /^(?:SELECT|INSERT)/.test(row));
    t.is((await fetchTableRights()).length, 2);
    await run.ok(`${plan}; sqlapply -q --allow-plan $DST plan.sql`);
    t.is((await fetchTableRights()).length, 2);
  });

test('after a plan, a statement is compared by its own place, also if one before it was not sent', async t => {
  const server = await serveHere(t, { edition: 'enterprise' });
  const tables = ['a', 'other', 'kept'].map(name => `CREATE TABLE ${name} (x INT)`);
  await setUp(server, ...tables, 'CREATE USER zoe', 'GRANT SELECT ON kept TO zoe');
  const { url } = await recordingProxy(t, server, async query => {
    if (/ALTER TABLE 'a'/.test(query)) await setUp(server, 'ALTER TABLE other ADD COLUMN new INT');
    return undefined;
  });
  const files = { 'after.sql': 'CREATE TABLE a (x INT, y INT);', 'more.sql': MORE };
  const run = await inProcess(t, { ...loginAs(), DST: url }, files);
  await run.ok('sqldiff --alter --ignore-extra --include SCHEMA after.sql $DST > plan; sqlsplit more.sql >> plan');
  const { stderr } = await run.exits(1, 'sqlapply --keep-going --allow ALTER,DROP $DST < plan');
  t.regex(stderr, /statement 2 .*: somebody else has changed table 'other'/);
  t.regex(stderr, /statement 3 .*: nothing in the plan gives back GRANT SELECT ON kept TO zoe\n/);
  t.true((await permissionsOf(server, 'zoe')).some(row => row.startsWith('SELECT')));
});

const MORE = 'ALTER TABLE other ADD COLUMN z INT; DROP TABLE kept; CREATE TABLE kept (x INT, y INT);';

test('an instance without access control is asked once whether it has grants', async t => {
  const server = await serveHere(t, { edition: 'oss' });
  await setUp(server, TABLE, viewOf('max'), viewOf('max', 'n'));
  const { url, queries } = await recordingProxy(t, server);
  const after = `${TABLE}; ${viewOf('min')}; ${viewOf('min', 'n')};`;
  const run = await inProcess(t, { DST: url }, { 'after.sql': after });
  await run.ok('sqldiff --alter after.sql $DST > plan');
  const planned = queries.length;
  await run.ok('sqlapply --allow-plan $DST < plan');
  t.is(queries.slice(planned).filter(query => query === 'SHOW USERS').length, 1);
});

test('a plan stops before it gives back a right that somebody has revoked meanwhile', async t => {
  const { server, run } = await startWithView(t);
  await setUp(server, 'GRANT SELECT ON m TO zoe', 'GRANT SELECT ON trades TO zoe');
  await run(
    `cat > a.sql <<'END'\n${TABLE.replace('trades', 'deals')};\n${viewOf('min').replaceAll('trades', 'deals')};\nEND`,
  );
  const plan = 'sqldiff --alter --include SCHEMA --renamed trades=deals -o plan.sql a.sql $DST';
  for (const [object, revoked] of [
    ['m', 'SELECT ON m'],
    ['trades', 'SELECT ON trades'],
  ]) {
    await run.ok(plan);
    await setUp(server, `REVOKE ${revoked} FROM zoe`);
    const { stderr } = await run.exits(1, 'sqlapply -q --allow-plan $DST plan.sql');
    t.regex(stderr, new RegExp(`: somebody else has revoked ${revoked} FROM zoe, and the plan would give it back\\n`));
    t.regex((await run('sqldump $DST')).stdout, new RegExp(`(?:TABLE|VIEW) '${object}'`));
  }
  await run.ok(`${plan}; sqlapply -q --allow-plan $DST plan.sql`);
  t.deepEqual(
    (await permissionsOf(server, 'zoe')).filter(row => row.startsWith('SELECT')),
    [],
  );
});
