/*! Shows every way a source or a target can fail, what the programs make of it, and whether all that should hold does. */
import {
  type Case,
  cases,
  type Finding,
  PLACES,
  type Servers,
  startServers,
  targetCases,
} from '../test/faults/table.js';
import type { Scope } from '../test/support/scope.js';

const LINE = '%s  %s  %s';

/** Runs work in a scope of its own, and cleans up. */
async function scoped<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const left: (() => Promise<void>)[] = [];
  try {
    return await work({ teardown: task => void left.push(task) });
  } finally {
    for (const task of left.reverse()) await task();
  }
}

/** The first message, without the address, which is another each time. */
function message({ stderr }: Finding): string {
  const [line = ''] = stderr.split('\n');
  return line.replace(/https?:\/\/127\.0\.0\.1:\d+/, 'URL').slice(0, 160);
}

/** Prints a line per case; resolves to how many did not hold. */
async function show(all: readonly Case[], servers: Servers): Promise<number> {
  const width = Math.max(...all.map(({ name }) => name.length));
  console.log(LINE, 'fault'.padEnd(width), 'status', 'message');
  let failed = 0;
  for (const { name, run } of all) {
    const finding = await scoped(scope => run(scope, servers));
    console.log(LINE, name.padEnd(width), finding.statuses.join(' ').padEnd(6), message(finding));
    for (const claim of finding.broken) console.log(`  DOES NOT HOLD: ${claim}`);
    if (finding.broken.length > 0) failed++;
  }
  return failed;
}

const all = [...cases, ...targetCases(() => PLACES)];
const failed = await scoped(async scope => show(all, await startServers(scope)));
console.log(`${all.length - failed} of ${all.length} held`);
process.exitCode = failed === 0 ? 0 : 1;
