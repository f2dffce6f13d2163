/*! Many random changes of schemas with rows, and what was found. */
import { freshFolder } from './folder.js';
import { inProcess } from './in-process.js';
import { openRowServer, type Runner } from './row-runner.js';
import { runRows } from './row-runs.js';
import type { Scope } from './scope.js';
import type { Server } from './server.js';

/**
 * Runs the pairs of seeds, on a server that is started again if a statement crashes it.
 * @param report is told each run with findings, as soon as it has ended
 */
export async function runSeeds(
  scope: Scope,
  start: () => Promise<Server>,
  seeds: readonly number[],
  report: (run: Runner) => void,
): Promise<Runner[]> {
  const folder = await freshFolder(scope);
  const shell = await inProcess(scope);
  const open = async () => openRowServer(scope, await start());
  let rows = await open();
  const runs: Runner[] = [];
  for (const seed of seeds) {
    const run = await runRows(rows, folder, shell, seed);
    runs.push(run);
    if (run.findings.length > 0) report(run);
    const isDown = await rows.server.execute('SELECT 1').then(
      () => false,
      () => true,
    );
    if (isDown) rows = await open();
  }
  return runs;
}

export const formatFindings = ({ seed, findings, lines }: Runner): string =>
  `seed ${seed}: ${findings.map(({ what, about }) => `${what}: ${about}`).join('\n  ')}\n${lines.join('\n')}`;

/** What all runs have planned, left out, and lost: how often, by cause. */
export function summarizeRuns(runs: readonly Runner[]): string {
  const sum = (count: (run: Runner) => number): number => runs.reduce((total, run) => total + count(run), 0);
  const perCause = new Map<string, number>();
  for (const { findings } of runs)
    for (const what of new Set(findings.map(each => each.what))) perCause.set(what, (perCause.get(what) ?? 0) + 1);
  const ofKind = (names: readonly string[], kind: string): number => names.filter(name => name.startsWith(kind)).length;
  const needless = ['history', 'values', 'ttl'].map(kind => {
    const [lostNothing, all] = [sum(run => ofKind(run.needless, kind)), sum(run => ofKind(run.allowed, kind))];
    return `${lostNothing} of ${all} ${kind}`;
  });
  return [
    `${runs.length} runs, ${sum(run => Number(run.isRejected))} of them rejected: ${sum(run => run.planned)} statements planned, ${sum(run => run.leftOut)} changes left out`,
    `losses that were then allowed, and lost nothing: ${needless.join(', ')}`,
    `plans that an assertion has stopped: ${sum(run => run.alone)} although nothing had happened, ${sum(run => run.disturbed)} after something had`,
    `${runs.filter(({ findings }) => findings.length > 0).length} runs failed`,
    ...[...perCause].sort(([, a], [, b]) => b - a).map(([what, count]) => `  ${count} × ${what}`),
  ].join('\n');
}
