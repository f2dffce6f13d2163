/*! Runs every fault of sources, targets and this machine; prints the outcome of each and the claims that do not hold. */

import { cases, type Finding, PLACES, startServers, targetCases } from '../test/faults/table.js';
import type { Scope } from '../test/support/scope.js';
import { openScope } from '../test/support/scope.js';
import { bundleTests } from './bundler.js';
import { sweepDump, sweepReplay } from './faults/sweep.js';

const LINE = '%s  %s  %s';
const WIDTH = 80;

/** Runs work in a new scope, and cleans up. */
async function runInScope<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const scope = openScope();
  try {
    return await work(scope);
  } finally {
    await scope.end();
  }
}

/** The first message, without the address, which differs in each run. */
function message({ stderr }: Finding): string {
  const [line = ''] = stderr.split('\n');
  return line.replace(/https?:\/\/127\.0\.0\.1:\d+/, 'URL').slice(0, 160);
}

/** Runs every fault, and then a dump and a replay with each request failing in turn. */
async function* runAll(scope: Scope): AsyncGenerator<[name: string, Finding]> {
  const servers = await startServers(scope);
  for (const { name, run } of [...cases, ...targetCases(() => PLACES)])
    yield [name, await runInScope(scope => run(scope, servers))];
  yield* sweepDump(scope, servers.small, '');
  yield* sweepDump(scope, servers.small, '--via catalogue');
  yield* sweepReplay(scope, servers);
}

await bundleTests(); // with the programs that inProcess() calls
let [all, held] = [0, 0];
await runInScope(async scope => {
  console.log(LINE, 'fault'.padEnd(WIDTH), 'status', 'message');
  for await (const [name, finding] of runAll(scope)) {
    console.log(LINE, name.padEnd(WIDTH), finding.statuses.join(' ').padEnd(6), message(finding));
    for (const claim of finding.failedClaims) console.log(`  DOES NOT HOLD: ${claim}`);
    all++;
    if (finding.failedClaims.length === 0) held++;
  }
});
console.log(`${held} of ${all} held`);
process.exitCode = held === all ? 0 : 1;
