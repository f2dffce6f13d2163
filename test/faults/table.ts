/*! All faults, each with what has to hold when it is met in a real pipeline. */
import type { Scope } from '../support/scope.js';
import { startSqlserve } from '../support/sqlserve.js';
import { copy, failingTarget, type Run } from './run.js';
import { reply, rowsBody } from './server.js';
import { type SourceFault, source, sourceFaults, sourceOddities } from './sources.js';
import { type TargetFault, targetFaults } from './targets.js';

export interface Case {
  name: string;
  run(scope: Scope): Promise<Finding>;
}

export interface Finding extends Run {
  /** What did not hold; nothing is as it should be. */
  broken: string[];
}

const table = (name: string) =>
  `CREATE TABLE '${name}' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;`;

/** In the service's own form and order. */
const SCHEMA = [
  table('a'),
  table('b'),
  "CREATE VIEW 'c' AS ( \nselect * from a\n);",
  table('d'),
  "CREATE MATERIALIZED VIEW 'e' WITH BASE 'd' REFRESH IMMEDIATE AS (\nselect ts, sum(x) x from d sample by 1h\n) PARTITION BY DAY;",
];

/** The statements that a target's fault is tried at: the first, one in the middle, the last. */
export const PLACES = [0, 2, SCHEMA.length - 1];

export const cases: Case[] = [
  ...sourceFaults.map(fault => ({ name: `source: ${fault.name}`, run: (scope: Scope) => runSource(scope, fault) })),
  ...sourceOddities.map(oddity => ({
    name: `source: ${oddity.name}`,
    run: (scope: Scope) => runOddity(scope, oddity),
  })),
];

/** A case for each target's fault, at the place that it gives for the nth of them. */
export const targetCases = (places: (nth: number) => readonly number[]): Case[] =>
  targetFaults.flatMap((fault, nth) =>
    places(nth).map(place => ({
      name: `target: ${fault.name}, statement ${place + 1} of ${SCHEMA.length}`,
      run: (scope: Scope) => runTarget(scope, fault, place),
    })),
  );

async function runSource(scope: Scope, fault: SourceFault): Promise<Finding> {
  const target = await startSqlserve(scope);
  const url = await fault.start(scope);
  const run = await copy(scope, url, target.url, fault.timeout);
  const { dataset } = await target.execute('SHOW CREATE DATABASE');
  return finding(run, {
    [`sqldump's status is ${fault.status}`]: run.dump === fault.status,
    [`sqlapply's status is 65, and so is the shell's`]: run.apply === 65 && run.pipeline === 65,
    [`sqldump says ${fault.says}`]: fault.says.test(run.stderr),
    'the message names the instance': run.stderr.includes(`sqldump: ${url}`) || fault.status === 78,
    'nothing reached the target': dataset?.length === 0,
  });
}

async function runOddity(scope: Scope, { answer }: (typeof sourceOddities)[number]): Promise<Finding> {
  const target = await startSqlserve(scope);
  const run = await copy(scope, await source(scope, answer), target.url);
  const { dataset } = await target.execute('SHOW CREATE DATABASE');
  return finding(run, {
    'all is well': run.dump === 0 && run.apply === 0 && run.stderr === '',
    'the target has it all': dataset?.length === 2,
  });
}

async function runTarget(scope: Scope, fault: TargetFault, place: number): Promise<Finding> {
  const good = await startSqlserve(scope);
  const from = await source(scope, socket => socket.write(reply(rowsBody(...SCHEMA))));
  const to = await failingTarget(scope, good, fault, place);
  const run = await copy(scope, from, to, fault.timeout);
  const again = await copy(scope, from, good.url);
  const { dataset } = await good.execute('SHOW CREATE DATABASE');
  return finding(run, {
    "sqldump's status is 0": run.dump === 0,
    [`sqlapply's status is ${fault.status}`]: run.apply === fault.status,
    [`sqlapply says ${fault.says}`]: fault.says.test(run.stderr),
    'the message names the statement': fault.status === 0 || run.stderr.includes(`statement ${place + 1} (`),
    'the same command again finishes the job': again.apply === 0 && again.stderr === '',
    [`then the target has it all: ${JSON.stringify(dataset)}`]:
      JSON.stringify(dataset) === JSON.stringify(SCHEMA.map(statement => [statement])),
  });
}

function finding(run: Run, claims: Record<string, boolean>): Finding {
  const always = {
    'nothing that moves a cursor is shown': !/[^\P{Cc}\n\t]/u.test(run.stderr),
    'no stack trace is shown': !/^\s+at .*:\d+/m.test(run.stderr),
  };
  const broken = Object.entries({ ...claims, ...always }).flatMap(([claim, holds]) => (holds ? [] : [claim]));
  return { ...run, broken };
}
