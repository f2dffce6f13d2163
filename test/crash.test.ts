/*!
 * A real server that dies in the middle of a replay, or whose replies get lost: the same command again, on the server
 * that is started again on the same folder, finishes the job. ROUNDS says how often each is tried, at other statements.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { failingTarget } from './faults/run.js';
import type { TargetFault } from './faults/targets.js';
import { freshFolder } from './support/folder.js';
import { startQuestDBIn, testWithQuestDB } from './support/questdb.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { shell } from './support/shell.js';
import { test } from './support/test.js';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const GROUPS = 10;

/** Tables, materialized views over them, and views over those: in the form and order of a dump. */
const SCHEMA = Array.from({ length: GROUPS }, (_, i) => [
  `CREATE TABLE 't${i}' ( \n\tts TIMESTAMP,\n\ts SYMBOL,\n\tx INT\n) timestamp(ts) PARTITION BY DAY\nDEDUP UPSERT KEYS(ts,s);`,
  `CREATE MATERIALIZED VIEW 'u${i}' WITH BASE 't${i}' REFRESH IMMEDIATE AS (\nselect ts, s, sum(x) x from t${i} sample by 1h\n) PARTITION BY DAY;`,
  `CREATE VIEW 'v${i}' AS ( \nselect * from u${i}\n);`,
]).flat();

/** Where things go wrong: a materialized view midway, a view, a table; the first and the last of all. */
const PLACES = [13, 5, 0, SCHEMA.length - 1, 21];
const places = PLACES.slice(0, ROUNDS);

const scope = fileScope();
let server: Server | undefined;
let folder: string | undefined;

/** The one server of this file, started where it does not run: on what was there when it died. */
async function running(): Promise<Server> {
  folder ??= await freshFolder(scope);
  server ??= await startQuestDBIn(scope, folder);
  return server;
}

async function die(): Promise<void> {
  await server?.end('SIGUSR2');
  server = undefined;
}

/** Ends the server and leaves its folder: what a kill left half made it may refuse to drop (observed on 9.3.4). */
async function startAnew(): Promise<void> {
  await die();
  folder = undefined;
}

test.afterEach.always(() => server?.dropAll());

/** A shell with the schema as the file `stream`. */
async function withStream(t: ExecutionContext) {
  const run = await shell(t, { STATEMENTS: SCHEMA.join('\u0001') });
  await run(String.raw`printf '%s\1' "$STATEMENTS" | tr '\1' '\0' > stream`);
  return run;
}

/** Replays the schema once more: all of it has to be there then, as a dump shows. Resolves to what sqlapply told. */
async function finishes(t: ExecutionContext, run: Awaited<ReturnType<typeof shell>>): Promise<string> {
  const { url } = await running();
  const replay = await run(`sqlapply -v ${url} < stream`);
  t.is(replay.code, 0, replay.stderr);
  const there = await run(`sqldump ${url} | sqlsort > dumped; sqlsort < stream | cmp - dumped`);
  t.deepEqual([there.code, there.stderr], [0, '']);
  return replay.stderr;
}

for (const [when, reached] of [
  ['before it gets a statement', false],
  ['between a statement and its reply', true],
] as const)
  testWithQuestDB(`a server that is killed ${when}`, async t => {
    const run = await withStream(t);
    for (const place of places) {
      const fault: TargetFault = {
        name: 'the server dies',
        reached,
        lasting: true,
        answer: async socket => {
          await die();
          socket.destroy();
        },
        status: 69,
        says: /whether it was applied is unknown.*closed before a reply arrived/,
      };
      const target = await failingTarget(t, await running(), fault, place);
      const { code, stderr } = await run(`sqlapply --no-verify ${target} < stream`);
      t.is(code, fault.status, stderr);
      t.regex(stderr, new RegExp(`statement ${place + 1} \\(.*${fault.says.source}`));
      const same = place + Number(reached);
      if (same > 0) t.regex(await finishes(t, run), new RegExp(`: ${SCHEMA.length} statements: .*\\b${same} skipped`));
      else await finishes(t, run);
      await startAnew();
    }
  });

testWithQuestDB('a server that is killed at any moment of a replay', async t => {
  const run = await withStream(t);
  for (let round = 0; round < ROUNDS; round++) {
    const { url } = await running();
    const replay = run(`sqlapply ${url} < stream`);
    await pause(200 + Math.random() * 600);
    await die();
    await replay;
    await finishes(t, run);
    await startAnew();
  }
});

const LOST: Record<string, TargetFault['answer']> = {
  'are cut off': socket => socket.destroy(),
  'come late': () => {},
};
for (const [name, answer] of Object.entries(LOST))
  testWithQuestDB(`replies that ${name} are settled by looking`, async t => {
    const run = await withStream(t);
    for (const place of places) {
      const fault = { name, reached: true, lasting: false, answer, status: 0, says: /^$/ };
      const target = await failingTarget(t, await running(), fault, place);
      const { code, stderr } = await run(`sqlapply -v --timeout 2 ${target} < stream`);
      t.deepEqual([code, stderr], [0, `sqlapply: ${target}: ${SCHEMA.length} statements: ${SCHEMA.length} applied\n`]);
      await finishes(t, run);
      await server?.dropAll();
    }
  });

testWithQuestDB('a lost reply is not settled by a view that has the name of the table', async t => {
  const good = await running();
  await good.execute('CREATE TABLE t (x INT)');
  await good.execute('CREATE VIEW v AS (select * from t)');
  const fault = { name: '', reached: true, lasting: false, answer: LOST['are cut off'], status: 1, says: /^$/ };
  const target = await failingTarget(t, good, fault as TargetFault, 0);
  const run = await shell(t);
  const { code, stderr } = await run(`printf "CREATE TABLE 'v' ( \\n\\tx INT\\n);\\0" | sqlapply ${target}`);
  t.is(code, fault.status, stderr);
  t.regex(stderr, /view or materialized view with the requested name already exists/);
});
