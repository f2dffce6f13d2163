/*!
 * Runs the built programs with a server of a version: dump it, copy within the version, copy to the newest version and
 * back. Each step gives a cell of docs/COMPATIBILITY.md.
 */
import type { Server } from '../../test/support/server.js';
import type { Outcome } from '../../test/support/shell.js';
import { type Feature, SAMPLE } from './sample.js';

/** Results by the name of a row: `yes`, `no` (the version does not support it) or the error. */
export type Cells = Map<string, string>;

/** Runs scripts with the programs; `$OLD` and `$NEW` are the addresses of the two servers. */
export type Shell = (script: string) => Promise<Outcome>;

/** The rows after those of the sample. */
export const STEPS = {
  dump: '`sqldump`',
  copy: 'that dump applied to the same version: `sqlapply`, rerun, `sqldiff`',
  upgrade: 'a copy from this version to 9.3.4: `sqlapply`, rerun, `sqldiff`',
  downgrade: 'a copy from 9.3.4 to this version, without unsupported objects: `sqlapply`, rerun, `sqldiff`',
};

const YES = 'yes';

/** Runs all steps; both servers are emptied, and their contents afterwards are undefined. */
export async function check(version: string, old: Server, newest: Server, run: Shell): Promise<Cells> {
  const cells: Cells = new Map();
  await old.dropAll();
  const present = await fill(old, SAMPLE, cells);
  await checkRejections(version, cells, run);
  const count = present.flatMap(({ statements }) => statements).length;
  const step = async (name: keyof typeof STEPS, work: () => Promise<void>) =>
    cells.set(STEPS[name], await work().then(() => YES, failed));

  await step('dump', async () => {
    const { stdout } = await succeed(run, 'sqldump -o dump $OLD && tr -cd "\\0" < dump | wc -c');
    if (Number(stdout) !== count) throw new Error(`${stdout} statements of ${count} objects`);
  });
  await step('upgrade', async () => {
    await newest.dropAll();
    await succeed(run, 'sqlapply $NEW < dump');
    await rerun(run, '$NEW');
    await succeed(run, 'sqldiff $OLD $NEW');
    if ((await run('grep -q maxUncommittedRows dump')).code === 0) await checkArrived(newest);
  });
  await step('copy', async () => {
    await old.dropAll();
    await succeed(run, 'sqlapply --report made $OLD < dump');
    await requireLines(run, '"proven":true', 'made');
    await rerun(run, '$OLD');
    await succeed(run, 'sqldiff dump.stream $OLD');
  });
  await step('downgrade', async () => {
    await Promise.all([old.dropAll(), newest.dropAll()]);
    await fill(newest, present, new Map());
    await succeed(run, 'sqldump -o dump $NEW && sqlapply $OLD < dump');
    await rerun(run, '$OLD');
    await succeed(run, 'sqldiff $NEW $OLD');
  });
  return cells;
}

/** Applies the same dump again: every statement has to be skipped. */
async function rerun(run: Shell, target: string): Promise<void> {
  await succeed(run, `cp dump dump.stream && sqlapply --report again ${target} < dump`);
  await requireLines(run, '"result":"skipped"', 'again');
}

/** Checks that every line of a file has a text. */
async function requireLines(run: Shell, text: string, file: string): Promise<void> {
  const { code, stdout } = await run(`grep -v '${text}' ${file}`);
  if (code !== 1) throw new Error(`without ${text}: ${stdout}`);
}

/** Creates the features that the server supports, and returns them. */
async function fill(server: Server, features: Feature[], cells: Cells): Promise<Feature[]> {
  const present: Feature[] = [];
  for (const feature of features) {
    const errors: string[] = [];
    for (const sql of feature.statements) errors.push((await server.execute(sql)).error ?? '');
    if (errors.every(error => error === '')) present.push(feature);
    cells.set(feature.name, errors.every(error => error === '') ? YES : 'no');
  }
  return present;
}

/** Checks that sqlapply rejects every unsupported statement before anything is sent, and names the version. */
async function checkRejections(version: string, cells: Cells, run: Shell): Promise<void> {
  const missing = SAMPLE.filter(({ name }) => cells.get(name) === 'no');
  if (missing.length === 0) return;
  const statements = missing.flatMap(({ statements }) => statements);
  const text = ['CREATE TABLE never_made (x INT)', ...statements].map(sql => `${sql};\n`).join('');
  const { code, stderr } = await run(`sqlsplit <<'END' | sqlapply $OLD\n${text}END`);
  const listed = stderr.split(`the target is QuestDB ${version}, which does not support `).length - 1;
  const isReported = code === 1 && listed === statements.length && stderr.includes('; nothing was sent\n');
  for (const { name } of missing) if (!isReported || !stderr.includes(name)) cells.set(name, failed(new Error(stderr)));
}

/** Checks that properties that 9.3 does not print are copied from the statement of an older server. */
async function checkArrived(newest: Server): Promise<void> {
  const { dataset: symbols } = await newest.execute(
    `SELECT symbolCapacity, symbolCached, indexBlockCapacity FROM table_columns('readings') WHERE "column" = 'site'`,
  );
  const { dataset: parameters } = await newest.execute(
    "SELECT maxUncommittedRows, o3MaxLag FROM tables() WHERE table_name = 'readings'",
  );
  const arrived = JSON.stringify([symbols, parameters]);
  if (arrived !== '[[[1024,false,64]],[[1234,7000000]]]') throw new Error(`of table readings arrived ${arrived}`);
}

async function succeed(run: Shell, script: string): Promise<Outcome> {
  const outcome = await run(script);
  if (outcome.code !== 0)
    throw new Error(`status ${outcome.code} of ${script}: ${outcome.stdout.slice(0, 400)} ${outcome.stderr}`);
  return outcome;
}

/** The error on one line, for a cell. */
const failed = (error: Error): string => `failed: ${error.message}`.replace(/\s+/g, ' ');
