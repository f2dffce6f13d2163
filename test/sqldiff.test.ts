/*! sqldiff as a user has it: what it finds, how it says so, and that what it writes repairs what creating can repair. */
import { readFileSync } from 'node:fs';
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
