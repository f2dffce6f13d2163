/*! Counts how often two things agree, and keeps the differences. */
import type { ExecutionContext } from 'ava';

export class Tally {
  readonly #counts = new Map<string, { of: number; differing: string[] }>();

  note(what: string, agrees: boolean, difference: string): void {
    const count = this.#counts.get(what) ?? { of: 0, differing: [] };
    this.#counts.set(what, count);
    count.of++;
    if (!agrees) count.differing.push(difference);
  }

  share(what: string): number {
    const { of, differing } = this.#counts.get(what) ?? { of: 1, differing: [] };
    return (of - differing.length) / of;
  }

  /** Logs each share with examples of differences, all of them with DIFFERENCES=1. */
  log(t: ExecutionContext): void {
    for (const [what, { of, differing }] of this.#counts) {
      t.log(`${what}: ${(this.share(what) * 100).toFixed(1)} % of ${of}`);
      const examples = process.env.DIFFERENCES ? differing : differing.slice(0, 3);
      for (const difference of examples) t.log(`  ${difference}`);
    }
  }
}
