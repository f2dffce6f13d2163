/*! Shows every way a source or a target can fail, what the programs make of it, and whether all that should hold does. */
import { cases, type Finding, PLACES, targetCases } from '../test/faults/table.js';

const LINE = '%s  %s  %s';

/** The first message, without the address, which is another each time. */
function message({ stderr }: Finding): string {
  const [line = ''] = stderr.split('\n');
  return line.replace(/https?:\/\/127\.0\.0\.1:\d+/, 'URL').slice(0, 160);
}

let broken = 0;
const all = [...cases, ...targetCases(() => PLACES)];
const width = Math.max(...all.map(({ name }) => name.length));
console.log(LINE, 'fault'.padEnd(width), 'status', 'message');
for (const { name, run } of all) {
  const work: (() => Promise<void>)[] = [];
  const finding = await run({ teardown: task => void work.push(task) });
  for (const task of work.reverse()) await task();
  console.log(LINE, name.padEnd(width), finding.statuses.join(' ').padEnd(6), message(finding));
  for (const claim of finding.broken) console.log(`  DOES NOT HOLD: ${claim}`);
  if (finding.broken.length > 0) broken++;
}
console.log(`${all.length - broken} of ${all.length} held`);
process.exitCode = broken === 0 ? 0 : 1;
