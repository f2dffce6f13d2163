/*! sqldiff as a user has it: what it finds, how it says so, and that what it writes repairs what creating can repair. */
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { questdb, type Service, sqlserve } from './support/instances.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { shell } from './support/shell.js';

const file = fileScope();

/** Two instances of each service, started when first asked for. */
const started = new Map<Service, Promise<[Server, Server]>>();

const SCHEMA = [
  'CREATE TABLE trades (ts TIMESTAMP, pair SYMBOL, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE venues (mic SYMBOL, city VARCHAR)',
  'CREATE VIEW last AS (SELECT * FROM trades LATEST ON ts PARTITION BY pair)',
  'CREATE VIEW cities AS (SELECT city FROM venues)',
];

/** A bash with that schema at $A, and at $B too. */
async function twins(t: ExecutionContext, service: Service) {
  const both = started.get(service) ?? Promise.all([service.start(file), service.start(file)]);
  started.set(service, both);
  const [a, b] = await both;
  for (const server of [a, b]) {
    await server.empty();
    for (const sql of SCHEMA) t.like(await server.execute(sql), { ddl: 'OK' });
  }
  return { run: await shell(t, { A: a.url, B: b.url }), a, b };
}

for (const service of [sqlserve, questdb]) {
  service.test(`${service.name}: equal instances do not differ`, async t => {
    const { run } = await twins(t, service);
    t.like(await run('sqldiff $A $B'), { code: 0, stderr: '', stdout: Buffer.from('') });
  });

  service.test(`${service.name}: drift is found and named, and --missing repairs what creating can`, async t => {
    const { run, a, b } = await twins(t, service);
    await b.execute('ALTER TABLE trades ADD COLUMN size LONG');
    await b.execute('CREATE OR REPLACE VIEW last AS (SELECT * FROM trades LIMIT 1)');
    await b.execute('DROP VIEW cities');
    await b.execute('DROP TABLE venues');
    await b.execute('CREATE TABLE extra (x INT)');
    const found = await run('sqldiff --names $A $B');
    t.is(
      found.stdout.toString(),
      `only in ${a.url}: table 'venues'
only in ${a.url}: view 'cities'
differs: table 'trades'
differs: view 'last'
only in ${b.url}: table 'extra'
`,
    );
    t.is(found.code, 1);
    t.regex((await run('sqldiff $A $B')).stdout.toString(), /^\+\tsize LONG$/m);

    const repaired = await run('sqldiff --missing $A $B | sqlapply $B; echo "${PIPESTATUS[@]}"');
    t.is(repaired.stdout.toString(), '1 0\n');
    t.regex(repaired.stderr, /table 'trades' is there and differs/);
    const rest = await run('sqldiff --names --ignore-extra $A $B');
    t.is(rest.stdout.toString(), "differs: table 'trades'\ndiffers: view 'last'\n");
  });
}

questdb.test('same text, different meaning: told for two instances, and no difference', async t => {
  const { run, a, b } = await twins(t, questdb);
  const other = await questdb.start(t, { QDB_CAIRO_WAL_ENABLED_DEFAULT: 'false', QDB_CAIRO_O3_MAX_LAG: '7s' });
  const copied = await run(`sqldump $A | sqlapply -q ${other.url}; sqldiff --names ${a.url} ${other.url}`);
  t.regex(copied.stderr, /may mean something else: cairo\.wal\.enabled\.default is true in \S+ and false in /);
  t.regex(copied.stdout.toString(), /differs: table 'trades'/);

  const FILLS = 'CREATE TABLE fills (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY';
  await a.execute(FILLS);
  await b.execute(`${FILLS} WITH maxUncommittedRows=1234`);
  await a.execute(
    'CREATE MATERIALIZED VIEW daily AS (SELECT ts, count() n FROM trades SAMPLE BY 1d) PARTITION BY YEAR',
  );
  await run('sqldiff --missing $A $B | sqlapply $B');
  await b.execute('ALTER MATERIALIZED VIEW daily SET REFRESH LIMIT 2 DAYS');
  const limit = 'SELECT refresh_limit FROM materialized_views() WHERE refresh_limit = 2';
  while (!(await b.execute(limit)).dataset?.length) await pause(20);
  const { code, stdout, stderr } = await run('sqldiff $A $B');
  t.deepEqual([code, stdout.toString()], [0, '']);
  const [A, B] = [a.url, b.url];
  t.is(
    stderr,
    `sqldiff: same text, different meaning: table 'fills': maxUncommittedRows is 500000 in ${A} and 1234 in ${B}
sqldiff: same text, different meaning: materialized view 'daily': the refresh limit is 0 in ${A} and 2 DAY in ${B}
`,
  );
});
