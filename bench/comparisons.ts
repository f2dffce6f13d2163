/*! The rows of the table: comparisons and their results. */
import { type Cost, type Measured, measure } from './measure.js';

interface Row {
  what: string;
  against: string;
  ours: string;
  theirs: string;
  /** Ours over theirs: below 1 is faster, or smaller. */
  ratio: string;
  /** The smallest and the largest ratio of a round. */
  range: readonly [best: string, worst: string];
}

/** Ratios by what was compared with what. */
export type Ratios = Readonly<Record<string, number>>;

interface Circumstances {
  /** Variables of both command lines. */
  env?: NodeJS.ProcessEnv;
  /** Restores the initial state before each run. */
  reset?: () => Promise<void>;
  /** The size of the input; adds the rate to our time. */
  bytes?: number;
  /** How often each round runs the command lines; more for short ones, whose time varies more. */
  times?: number;
  time?: boolean;
  /** The peaks of all processes, added up. */
  memory?: boolean;
}

type Rival = readonly [name: string, script: string];

export class Comparisons {
  readonly #rounds: number;
  readonly #rows: Row[] = [];

  constructor(rounds: number) {
    this.#rounds = rounds;
  }

  /** Runs two command lines in turn, and adds a row for each requested quantity, by default the time. */
  async compare(what: string, ours: string, [against, theirs]: Rival, how: Circumstances = {}): Promise<void> {
    const measured = await measure([ours, theirs], this.#rounds * (how.times ?? 1), how.env, how.reset);
    const [mine, other] = measured as [Measured, Measured];
    const add = (row: string, quantity: keyof Cost, format: (value: number) => string, more = ''): void => {
      const [a, b] = [mine[quantity], other[quantity]];
      const ratios = mine.rounds.map((round, i) => round[quantity] / (other.rounds[i]?.[quantity] ?? Number.NaN));
      this.#rows.push({
        what: row,
        against,
        ours: format(a) + more,
        theirs: format(b),
        ratio: (a / b).toFixed(2),
        range: [Math.min(...ratios).toFixed(2), Math.max(...ratios).toFixed(2)],
      });
      console.error(this.table().split('\n').at(-1));
    };
    const rate = how.bytes ? `, ${(how.bytes / 1e6 / mine.seconds).toFixed(0)} MB/s` : '';
    const { time = true, memory = false } = how;
    if (time) add(what, 'seconds', value => `${value.toFixed(3)} s`, rate);
    if (memory) add(`${what}: memory`, 'mebibytes', value => `${value.toFixed(0)} MiB`);
  }

  /** @returns the rows in Markdown */
  table(): string {
    return [
      '| what | against | ours | theirs | ratio | range of the ratio |',
      '| --- | --- | --- | --- | --- | --- |',
      ...this.#rows.map(
        row =>
          `| ${row.what} | ${row.against} | ${row.ours} | ${row.theirs} | ${row.ratio} | ${row.range.join(' to ')} |`,
      ),
    ].join('\n');
  }

  /** The ratio of each row. */
  get ratios(): Ratios {
    return this.#byName(({ ratio }) => ratio);
  }

  /** The ratio of each row in its best round. */
  get bestRatios(): Ratios {
    return this.#byName(({ range: [best] }) => best);
  }

  #byName(choose: (row: Row) => string): Ratios {
    return Object.fromEntries(this.#rows.map(row => [`${row.what}, against ${row.against}`, Number(choose(row))]));
  }
}
