/*! All faults as cases, with the claims that have to hold when each occurs in a pipeline. */
import { cp } from 'node:fs/promises';
import { cases as textCases } from '../cases/cases.js';
import { inProcess, needsNoShell } from '../support/in-process.js';
import type { Scope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { reply, rowsBody } from './faulty-server.js';
import { sourceOddities } from './oddities.js';
import { type Run, runCopy, startFailingTarget } from './run.js';
import { type SourceFault, sourceFaults, startSource } from './sources.js';
import { type TargetFault, targetFaults } from './targets.js';

export interface Case {
  name: string;
  run(scope: Scope, servers: Servers): Promise<Finding>;
}

/** The good servers, which all cases share. */
export interface Servers {
  /** Empty before each case. */
  target: Server;
  /** Has a small schema, which is only read. */
  small: Server;
  /** A folder with that schema as `stream` and `schema.sql`. */
  files: string;
}

export interface Finding {
  statuses: number[];
  stderr: string;
  failedClaims: string[];
}

/** A fault on this machine: the streams of a program, the disk, and the files that it reads and writes. */
interface LocalFault {
  name: string;
  /**
   * A script for bash. `$SRC` is a server with a schema, which is also in the files `stream` and `schema.sql`, `$BIG` one
   * with a large schema, and `$DST` an empty one. Its output lists files that should not have been left.
   */
  script: string;
  status: number;
  message: RegExp;
  /** Whether the target has the complete schema afterwards, or nothing of it. The default is true if the status is 0. */
  isApplied: boolean;
}

/** What scripts may call: a record of many MiB, without its NUL, and a stream of 12 MiB, which is spooled to disk. */
const FUNCTIONS = String.raw`
huge() { printf "CREATE TABLE 'a' ("; head -c $1M /dev/zero | tr '\0' x; printf ' INT);\n'; }
large() { for i in {1..12}; do huge 1 | sed "s/'a'/'a$i'/"; printf '\0'; done; }
`;

/** Each has an expected status, `applied` or `not applied` if that does not follow from it, and a message. */
const localFaults: LocalFault[] = textCases('local-faults').map(({ title, input, output }) => {
  const [, status, not, applied, message = '^$'] = /^(\d+)(?: (not )?(applied))?(?:: (.*))?$/.exec(input) ?? [];
  return {
    name: title,
    script: output,
    status: Number(status),
    message: new RegExp(message),
    isApplied: applied === undefined ? status === '0' : not === undefined,
  };
});

const table = (name: string) =>
  `CREATE TABLE '${name}' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;`;

const SCHEMA = [
  table('a'),
  table('b'),
  "CREATE VIEW 'c' AS ( \nselect * from a\n);",
  table('d'),
  "CREATE MATERIALIZED VIEW 'e' WITH BASE 'd' REFRESH IMMEDIATE AS (\nselect ts, sum(x) x from d sample by 1h\n) PARTITION BY DAY;",
];

export async function startServers(scope: Scope): Promise<Servers> {
  const [target, small] = await Promise.all([startSqlserve(scope), startSqlserve(scope)]);
  for (const statement of SCHEMA) await small.execute(statement);
  const run = await inProcess(scope, { SRC: small.url });
  await run('sqldump $SRC > stream; sqljoin -o schema.sql < stream');
  return { target, small, files: run.folder };
}

/** The statements that a target's fault is tried at: the first, one in the middle, the last. */
export const PLACES = [0, 2, SCHEMA.length - 1];

export const cases: Case[] = [
  ...sourceFaults.map(fault => ({ name: `source: ${fault.name}`, run: run(runSource, fault) })),
  ...sourceOddities.map(oddity => ({ name: `source: ${oddity.name}`, run: run(runOddity, oddity) })),
  ...localFaults.map(fault => ({ name: `local: ${fault.name}`, run: run(runLocal, fault) })),
];

/** Cases for each target fault, at the places that `places` returns for the nth fault. */
export const targetCases = (places: (nth: number) => readonly number[]): Case[] =>
  targetFaults.flatMap((fault, nth) =>
    places(nth).map(place => ({
      name: `target: ${fault.name}, statement ${place + 1} of ${SCHEMA.length}`,
      run: run((scope, servers, fault) => runTarget(scope, servers, fault, place), fault),
    })),
  );

function run<Fault>(
  runFault: (scope: Scope, servers: Servers, fault: Fault) => Promise<Finding>,
  fault: Fault,
): Case['run'] {
  return async (scope, servers) => {
    await servers.target.dropAll();
    return runFault(scope, servers, fault);
  };
}

async function runSource(scope: Scope, { target }: Servers, fault: SourceFault): Promise<Finding> {
  const from = await fault.start(scope);
  const run = await runCopy(scope, from, target.url, fault.timeout);
  const { dataset } = await target.execute('SHOW CREATE DATABASE');
  return makeFinding(statusesOf(run), run.stderr, {
    [`sqldump's status is ${fault.status}`]: run.dump === fault.status,
    "sqlapply's status is 65": run.apply === 65,
    [`the message matches ${fault.message}`]: fault.message.test(run.stderr),
    'the message names the instance': run.stderr.includes(`sqldump: ${from.url}`) || [65, 78].includes(fault.status),
    'nothing reached the target': dataset?.length === 0,
  });
}

async function runOddity(
  scope: Scope,
  { target }: Servers,
  { answer }: (typeof sourceOddities)[number],
): Promise<Finding> {
  const run = await runCopy(scope, { url: await startSource(scope, answer) }, target.url);
  const { dataset } = await target.execute('SHOW CREATE DATABASE');
  return makeFinding(statusesOf(run), run.stderr, {
    'both programs succeed silently': run.dump === 0 && run.apply === 0 && run.stderr === '',
    'the target has the complete schema': dataset?.length === 2,
  });
}

async function runTarget(scope: Scope, { target: good }: Servers, fault: TargetFault, place: number): Promise<Finding> {
  const from = { url: await startSource(scope, socket => socket.write(reply(rowsBody(...SCHEMA)))) };
  const to = await startFailingTarget(scope, good, fault, place);
  const run = await runCopy(scope, from, to, fault.timeout);
  const isReported = fault.status !== 0;
  const again = isReported ? await runCopy(scope, from, good.url) : run;
  const { dataset } = await good.execute('SHOW CREATE DATABASE');
  return makeFinding(statusesOf(run), run.stderr, {
    "sqldump's status is 0": run.dump === 0,
    [`sqlapply's status is ${fault.status}`]: run.apply === fault.status,
    [`the message matches ${fault.message}`]: fault.message.test(run.stderr),
    'the message names the statement': !isReported || run.stderr.includes(`sqlapply: statement ${place + 1} (`),
    'the message names the instance': !isReported || run.stderr.includes(to),
    'the message has a hint for continuing': !isReported || run.stderr.includes('rerun the same command'),
    'a rerun completes the job if the run failed': again.apply === 0 && again.stderr === '',
    [`afterwards the target has the complete schema: ${JSON.stringify(dataset)}`]:
      JSON.stringify(dataset) === JSON.stringify(SCHEMA.map(statement => [statement])),
  });
}

async function runLocal(
  scope: Scope,
  { target, small, files }: Servers,
  { script, status, message, isApplied }: LocalFault,
): Promise<Finding> {
  const big = await startSource(scope, socket =>
    socket.write(reply(rowsBody(...new Array<string>(5000).fill(table('a'))))),
  );
  const run = await inProcess(scope, { SRC: small.url, BIG: big, DST: target.url });
  await cp(files, run.folder, { recursive: true });
  const isHere = needsNoShell(script) && !script.includes('/dev/');
  const { code, stdout, stderr } = await (isHere ? run(script) : run.bash(FUNCTIONS + script));
  const { dataset } = await target.execute('SHOW CREATE DATABASE');
  return makeFinding([code], stderr, {
    [`the status is ${status}`]: code === status,
    [`the message matches ${message}`]: message.test(stderr),
    [isApplied ? 'the target has the complete schema' : 'nothing reached the target']:
      dataset?.length === (isApplied ? SCHEMA.length : 0),
    [`no files are left: ${stdout}`]: stdout.length === 0,
  });
}

/** One status if both ends of the pipe have the same. */
const statusesOf = ({ dump, apply }: Run): number[] => (dump === apply ? [apply] : [dump, apply]);

export function makeFinding(statuses: number[], stderr: string, claims: Record<string, boolean>): Finding {
  const always = {
    'no control characters are shown': !/[^\P{Cc}\n\t]/u.test(stderr),
    'no stack trace is shown': !/^\s+at .*:\d+/m.test(stderr),
  };
  const failedClaims = Object.entries({ ...claims, ...always }).flatMap(([claim, holds]) => (holds ? [] : [claim]));
  return { statuses, stderr, failedClaims };
}
