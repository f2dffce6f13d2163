/*!
 * How time and memory grow with hostile input: each is run on n and on 2n bytes; a program that takes more than 2.6 times
 * as much of either, more than it may, or that crashes, fails. BYTES (250,000) is n; ONLY chooses inputs by what they are
 * called. With --table it measures 250 kB, 500 kB and 1 MB, and prints that.
 */
import { INPUTS, type Input } from './growth/inputs.js';
import { type Run, run } from './growth/run.js';

const BYTES = Number(process.env.BYTES ?? 250_000);
const ONLY = process.env.ONLY ?? '';
const TABLE = process.argv.includes('--table');

/** The most that twice as much input may take, beside what a program takes for nothing. */
const RATIO = 2.6;
/** What is less, beside that, says nothing: seconds and MiB. */
const NOISE = { seconds: 0.3, mebibytes: 120 };
/** What a megabyte in one record may take, and so what less may. */
const MOST = { seconds: 3, mebibytes: 600 };

/** What is wrong with how a program ended, or nothing. */
function crash({ status, stderr }: Run): string {
  if (status === null) return 'it does not end';
  return status > 128 || status === 70 || /^ +at /m.test(stderr) ? `status ${status}: ${stderr.slice(0, 300)}` : '';
}

/** What is wrong with how a program grows from nothing to n and to 2n, or nothing. */
function growth({ many }: Input, [none, once, twice]: [Run, Run, Run]): string {
  const wrong = (['seconds', 'mebibytes'] as const).filter(what => {
    const [first, second] = [once[what] - none[what], twice[what] - none[what]];
    return (!many && twice[what] > MOST[what]) || (second > NOISE[what] && second / first > RATIO);
  });
  return wrong.map(what => `${once[what].toFixed(2)}, then ${twice[what].toFixed(2)} ${what}`).join('; ');
}

async function verdict(input: Input): Promise<string> {
  const runs: [Run, Run, Run] = [await run(input, 100), await run(input, BYTES), await run(input, 2 * BYTES)];
  return runs.map(crash).find(Boolean) ?? growth(input, runs);
}

const cell = ({ seconds, mebibytes }: Run): string => `${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB`;

if (TABLE) console.log('| input | program | 250 kB | 500 kB | 1 MB |\n| --- | --- | --- | --- | --- |');
let failures = 0;
const inputs = INPUTS.filter(({ what, program }) => `${program}: ${what}`.includes(ONLY));
for (const input of inputs) {
  const name = `\`${input.what.replaceAll('|', '\\|')}\` | ${input.program}`;
  if (TABLE) {
    const cells: string[] = [];
    for (const bytes of [250_000, 500_000, 1_000_000]) cells.push(cell(await run(input, bytes)));
    console.log(`| ${name} | ${cells.join(' | ')} |`);
    continue;
  }
  // Once more, as a machine that does something else can make anything slow.
  const wrong = (await verdict(input)) && (await verdict(input));
  if (wrong) console.log(`growth, ${input.program}: ${input.what}: FAILED: ${wrong}`);
  if (wrong) failures++;
}
if (!TABLE) console.log(`growth: ${inputs.length} inputs, ${failures} failed`);
if (failures) process.exitCode = 1;
