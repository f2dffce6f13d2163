/*!
 * Compares dry runs with runs: generated and recorded streams on a real QuestDB, and streams about access control on
 * sqlserve. STREAMS sets their number, SEED the first seed. Ends with 1 if a verdict or an exit status differs, or if a dry
 * run has changed its target.
 */
import { readStatementHead, significantTokens } from '@sqlpipe/sql';
import {
  type Comparison,
  type Difference,
  describe,
  formatDifference,
  makeTarget,
  openDryRuns,
  type Verdict,
} from '../test/support/dry-runs.js';
import { compareOnSqlserve } from '../test/support/enterprise-streams.js';
import { recordedStream } from '../test/support/recorded-streams.js';
import { openScope } from '../test/support/scope.js';
import { startServer } from '../test/support/server.js';
import { statementStream } from '../test/support/statement-streams.js';

const [STREAMS, SEED] = [Number(process.env.STREAMS ?? 500), Number(process.env.SEED ?? 0)];

/** One in eight streams is about access control, and three of them are recorded if there are recordings. */
const KINDS = ['generated', 'recorded', 'generated', 'enterprise', 'generated', 'recorded', 'generated', 'recorded'];

/** Counts of statements. */
interface Share {
  equal: number;
  all: number;
}

const bySource = new Map<string, Share>();
const classes = new Map<string, number>();
let [unknown, unstable, wrongStatus, changed, failed, withRejects] = [0, 0, 0, 0, 0, 0];

function add(comparison: Comparison, timeDependent: readonly number[]): void {
  const { stream, status, failure } = comparison;
  const isStable = ({ run }: Difference) => !timeDependent.includes(run?.n ?? 0);
  const differences = comparison.differences.filter(isStable);
  const differing = new Set(differences.map(({ run }) => run));
  const leftOut = new Set(
    [...comparison.unknown, ...comparison.differences.filter(each => !isStable(each))].map(({ run }) => run),
  );
  unknown += comparison.unknown.length;
  unstable += comparison.differences.length - differences.length;
  withRejects += Number(status.run !== 0);
  for (const verdict of comparison.run.filter(each => !leftOut.has(each))) {
    const { equal, all } = bySource.get(stream.source) ?? { equal: 0, all: 0 };
    bySource.set(stream.source, { equal: equal + Number(!differing.has(verdict)), all: all + 1 });
  }
  for (const difference of differences) {
    console.log(formatDifference(stream, difference));
    const key = classify(difference);
    classes.set(key, (classes.get(key) ?? 0) + 1);
  }
  if (failure) {
    failed++;
    console.log(
      `seed ${stream.seed}, statement ${failure.n}: the server failed: ${stream.statements[failure.n - 1]}\n  ${failure.error}`,
    );
  }
  if (!comparison.isSameStatus) {
    wrongStatus++;
    console.log(`seed ${stream.seed}: dry run ended with ${status.dry}, run with ${status.run}`);
  }
  if (!comparison.isUnchanged) {
    changed++;
    console.log(`seed ${stream.seed}: the target is not the same after the dry run: ${comparison.messages}`);
  }
}

/** The class of a difference: what kind of statement, and both verdicts without names and numbers. */
function classify({ statement, dry, run }: Difference): string {
  const general = (text: string) =>
    text
      .replace(/\[([^\]=]*=)?[^\]]*\]/g, '[$1…]')
      .replace(/'[^']*'/g, "'…'")
      .replace(/\d+/g, '#');
  const [one, other] = [general(describe(dry)), general(describe(run))];
  const what = formatHead(statement);
  return one === other
    ? `${what}: ${one}, with other names or another position`
    : `${what}: dry run ${one} · run ${other}`;
}

/** `CREATE table`, `ALTER MATERIALIZED`, … */
function formatHead(statement: string): string {
  const { verb, kind } = readStatementHead(statement);
  if (kind !== 'other') return `${verb} ${kind}`;
  const [, second] = significantTokens(statement);
  return `${verb} ${/^[a-z]+$/i.test(second?.text ?? '') ? second?.text.toUpperCase() : '…'}`;
}

/** The numbers of the statements on which two runs of one stream differ: there the verdict depends on time. */
const findUnstable = (one: readonly Verdict[], other: readonly Verdict[]): number[] =>
  one.flatMap((verdict, i) => (describe(verdict) === describe(other[i]) ? [] : [verdict.n]));

const percent = ({ equal, all }: Share): string => `${((100 * equal) / (all || 1)).toFixed(1)} %`;

const scope = openScope();
try {
  const questdb = await startServer(scope, process.execPath, ['--import=tsx', 'scripts/questdb.ts']);
  const dryRuns = await openDryRuns(scope);
  for (let seed = SEED; seed < SEED + STREAMS; seed++) {
    const kind = KINDS[seed % KINDS.length];
    if (kind === 'enterprise') {
      add(await compareOnSqlserve(dryRuns, seed), []);
      continue;
    }
    const stream = (kind === 'recorded' && recordedStream(seed)) || (await statementStream(seed));
    await makeTarget(questdb, stream);
    const comparison = await dryRuns.compare(questdb, stream);
    if (comparison.differences.length === 0) {
      add(comparison, []);
      continue;
    }
    // A verdict that depends on time says nothing about the dry run.
    await makeTarget(questdb, stream);
    const unstable = findUnstable(comparison.run, await dryRuns.run(questdb, stream));
    for (const n of unstable) console.log(`seed ${seed}, statement ${n}: two runs differ: ${stream.statements[n - 1]}`);
    add(comparison, unstable);
  }
} finally {
  await scope.end();
}

console.log('\nclasses of differences');
for (const [key, count] of [...classes].toSorted(([, one], [, other]) => other - one)) console.log(`${count} × ${key}`);
console.log('\nequal verdicts by source');
for (const [source, share] of [...bySource].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  console.log(`${percent(share).padStart(8)}  ${share.equal} of ${share.all}  ${source}`);
const sum = (key: keyof Share): number => [...bySource.values()].reduce((sum, share) => sum + share[key], 0);
const [equal, all] = [sum('equal'), sum('all')];
console.log(`
seeds ${SEED} to ${SEED + STREAMS - 1}: ${STREAMS} streams, ${withRejects} of them with a rejection
${equal} of ${all} verdicts equal: ${percent({ equal, all })}; ${unknown} more unknown, ${unstable} more that depend on time
${wrongStatus} streams with another exit status, ${changed} targets changed by a dry run, ${failed} runs ended by a failure of the server`);
process.exitCode = classes.size === 0 && wrongStatus === 0 && changed === 0 ? 0 : 1;
