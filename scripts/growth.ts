/*!
 * Measures how time and memory grow with hostile input: each program is run on n and on 2n bytes. A program fails if it
 * needs more than 2.6 times as much of either, exceeds its limit or crashes. BYTES (250,000) is n; ONLY selects inputs by
 * name.
 */
import { INPUTS, type Input } from './growth/inputs.js';
import { type Run, run } from './growth/run.js';

const BYTES = Number(process.env.BYTES ?? 250_000);
const ONLY = process.env.ONLY ?? '';

/** The maximum ratio of the costs of 2n and n bytes, without the costs of starting. */
const MAX_RATIO = 2.6;
/** Smaller costs are not significant: seconds and MiB. */
const NOISE = { seconds: 0.3, mebibytes: 120 };
/** The maximum costs of one record of up to a megabyte. */
const MAX_COSTS = { seconds: 3, mebibytes: 600 };

/** Describes a crash, or returns ''. */
function formatCrash({ status, stderr }: Run): string {
  if (status === null) return 'it does not end';
  return status > 128 || status === 70 || /^ +at /m.test(stderr) ? `status ${status}: ${stderr.slice(0, 300)}` : '';
}

/** Describes excessive growth from 100 to n and to 2n bytes, or returns ''. */
function formatGrowth({ many }: Input, [none, once, twice]: [Run, Run, Run]): string {
  const wrong = (['seconds', 'mebibytes'] as const).filter(what => {
    const [first, second] = [once[what] - none[what], twice[what] - none[what]];
    return (!many && twice[what] > MAX_COSTS[what]) || (second > NOISE[what] && second / first > MAX_RATIO);
  });
  return wrong.map(what => `${once[what].toFixed(2)}, then ${twice[what].toFixed(2)} ${what}`).join('; ');
}

async function findProblem(input: Input): Promise<string> {
  const runs: [Run, Run, Run] = [await run(input, 100), await run(input, BYTES), await run(input, 2 * BYTES)];
  return runs.map(formatCrash).find(Boolean) ?? formatGrowth(input, runs);
}

let failures = 0;
const inputs = INPUTS.filter(({ what, program }) => `${program}: ${what}`.includes(ONLY));
for (const input of inputs) {
  // Measured again, since other work on the machine can make anything slow.
  const wrong = (await findProblem(input)) && (await findProblem(input));
  if (wrong) console.log(`growth, ${input.program}: ${input.what}: FAILED: ${wrong}`);
  if (wrong) failures++;
}
console.log(`growth: ${inputs.length} inputs, ${failures} failed`);
if (failures) process.exitCode = 1;
