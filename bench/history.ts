/*! The ratios of each release: bench/history.jsonl, a line per release, the latest last. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Ratios } from './comparisons.js';

const FILE = 'bench/history.jsonl';

/** A ratio that changed less is the same: two runs on one machine differ by as much. */
const NOISE = 0.1;

/** A ratio that grew by more than this factor, even in its best round, is a mistake in the programs, not noise. */
const MARGIN = 1.5;

/** The results of one release. */
export interface Release {
  version: string;
  date: string;
  machine: string;
  node: string;
  rounds: number;
  ratios: Ratios;
}

function readHistory(): Release[] {
  if (!existsSync(FILE)) return [];
  const lines = readFileSync(FILE, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line) as Release);
}

/** Compares ratios with those of the latest line: those that changed noticeably, and of these the ones that are clearly worse. */
export function compareWithHistory(ratios: Ratios, best: Ratios): { changed: string[]; worse: string[] } {
  const latest = readHistory().at(-1)?.ratios ?? {};
  const differ = (now: Ratios, isNoticed: (factor: number) => boolean): string[] =>
    Object.entries(now).flatMap(([name, ratio]) => {
      const before = latest[name];
      return before && isNoticed(ratio / before) ? [`${name}: ${before}, now ${ratio}`] : [];
    });
  return {
    changed: differ(ratios, factor => Math.abs(factor - 1) > NOISE),
    worse: differ(best, factor => factor > MARGIN),
  };
}

/** Adds a release, or replaces its earlier line. */
export function recordRelease(release: Release): void {
  const others = readHistory().filter(({ version }) => version !== release.version);
  writeFileSync(FILE, [...others, release].map(each => `${JSON.stringify(each)}\n`).join(''));
}
