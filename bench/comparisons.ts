/*! The rows of the table: comparisons and their results. */
import { type Measured, measure } from './measure.js';

interface Row {
  what: string;
  against: string;
  ours: string;
  theirs: string;
  /** Ours over theirs: below 1 is faster, or smaller. */
  ratio: string;
}

/** The factor by which a ratio may exceed the recorded one: the difference between two runs on a noisy machine. */
const MARGIN = 1.5;

interface Circumstances {
  /** Variables of both command lines. */
  env?: NodeJS.ProcessEnv;
  /** Restores the initial state before each run. */
  reset?: () => Promise<void>;
  /** The size of the input; adds the rate to our time. */
  bytes?: number;
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
    const measured = await measure([ours, theirs], this.#rounds, how.env, how.reset);
    const [mine, other] = measured as [Measured, Measured];
    const add = (row: string, a: number, b: number, shown: (value: number) => string, more = ''): void => {
      this.#rows.push({ what: row, against, ours: shown(a) + more, theirs: shown(b), ratio: (a / b).toFixed(2) });
      console.error(this.table().split('\n').at(-1));
    };
    const rate = how.bytes ? `, ${(how.bytes / 1e6 / mine.seconds).toFixed(0)} MB/s` : '';
    const { time = true, memory = false } = how;
    if (time) add(what, mine.seconds, other.seconds, value => `${value.toFixed(3)} s`, rate);
    if (memory) add(`${what}: memory`, mine.mebibytes, other.mebibytes, value => `${value.toFixed(0)} MiB`);
  }

  /** @returns the rows in Markdown */
  table(): string {
    return [
      '| what | against | ours | theirs | ratio |',
      '| --- | --- | --- | --- | --- |',
      ...this.#rows.map(row => `| ${row.what} | ${row.against} | ${row.ours} | ${row.theirs} | ${row.ratio} |`),
    ].join('\n');
  }

  /**
   * Compares the ratios with recorded ones.
   * @param table an earlier `table()`
   * @returns a line for each ratio that is clearly worse
   */
  worseThan(table: string): string[] {
    const before = new Map(
      table.split('\n').map(line => {
        const cells = line.split(' | ');
        return [cells.slice(0, 2).join(' | '), Number.parseFloat(cells[4] ?? '')];
      }),
    );
    return this.#rows.flatMap(({ what, against, ratio }) => {
      const was = before.get(`| ${what} | ${against}`);
      return was && Number(ratio) > was * MARGIN ? `${what}, against ${against}: was ${was}, is ${ratio}` : [];
    });
  }
}
