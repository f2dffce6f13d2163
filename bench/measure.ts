/*! Measures time and memory of complete command lines in turn, so that other load affects all of them alike. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What one run costs. */
export interface Cost {
  seconds: number;
  /** The sum of the peaks of all processes, in MiB. */
  mebibytes: number;
}

/** Medians over the rounds. */
export interface Measured extends Cost {
  /** Each round, in their order: those of several scripts were measured together. */
  rounds: readonly Cost[];
}

/**
 * Runs each script in bash, one after the other, `rounds` times.
 * @param env variables of the scripts
 * @param reset restores the initial state before each run; it is not measured
 */
export async function measure(
  scripts: readonly string[],
  rounds: number,
  env: NodeJS.ProcessEnv = {},
  reset: () => Promise<void> = async () => {},
): Promise<Measured[]> {
  const runs = scripts.map((): Cost[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, script] of scripts.entries()) {
      await reset();
      runs[i]?.push(await run(script, env));
    }
  }
  return runs.map(all => ({
    seconds: median(all.map(one => one.seconds)),
    mebibytes: median(all.map(one => one.mebibytes)),
    rounds: all,
  }));
}

async function run(script: string, env: NodeJS.ProcessEnv): Promise<Cost> {
  const path = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  const started = performance.now();
  const bash = spawn('bash', ['-c', `set -e -o pipefail; ${script}`], {
    // Node 20 reads these certificates at each start, which takes longer than the rest of starting.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, ...env, PATH: path },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const peaks = new Map<number, number>();
  const watch = setInterval(() => recordPeaks(bash.pid as number, peaks), 20);
  const [status] = await once(bash, 'close');
  const seconds = (performance.now() - started) / 1000;
  clearInterval(watch);
  if (status !== 0) throw new Error(`exit status ${status}: ${script}`);
  return { seconds, mebibytes: [...peaks.values()].reduce((sum, peak) => sum + peak, 0) / 1024 };
}

/** Records the peaks, in KiB, of a process and its descendants. */
function recordPeaks(root: number, peaks: Map<number, number>): void {
  const family = new Set([root]);
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!pid) continue;
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const field = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
      if (family.has(field('PPid'))) family.add(pid);
      if (family.has(pid)) peaks.set(pid, field('VmHWM') || (peaks.get(pid) ?? 0));
    } catch {
      // it has just ended
    }
  }
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
