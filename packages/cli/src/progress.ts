import type { Writable } from 'node:stream';
import { displayName, identify } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { formatStep, ProgressStep } from './progress-bar.js';

/** Passes statements on, and draws their progress if there is a display. @param signal aborted when the rest must not be counted */
export const withProgress = <Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress | undefined,
  total?: number,
  signal?: AbortSignal,
): AsyncIterable<Batch> => (progress ? drawProgress(statements, progress, total, signal) : statements);

async function* drawProgress<Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress,
  total: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Batch> {
  let done = 0;
  try {
    for await (const batch of statements) {
      const [first = '', ...more]: string[] = [batch].flat();
      if (first && !signal?.aborted)
        await progress.show({ done, total, what: escapeControls(displayName(identify(first))) });
      yield batch;
      done += first ? 1 + more.length : 0;
    }
  } finally {
    progress.clear();
  }
}

/** Moves to the start of the line and erases it. It may be the progress bar of another program in the pipe. */
export const CLEAR_LINE = '\r\x1b[K';

/** A line on the terminal that is drawn again and again. A message clears it first, also one of another program in the pipe. */
export class Progress {
  readonly #started = process.uptime();
  #format: typeof formatStep | undefined;
  /** Draws the latest step; undefined if it is drawn. */
  #draw: (() => void) | undefined;
  /** Runs after a drawing, until the next one may follow. */
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly name: string,
    private readonly stream: Writable & { columns?: number },
  ) {}

  /** Shows a step. The line is drawn at most ten times a second. */
  async show(step: ProgressStep): Promise<void> {
    const elapsed = process.uptime() - this.#started;
    if (elapsed < 0.3) return; // shorter work shows no progress
    this.#format ??= (await import('./progress-bar.js')).formatStep;
    const format = this.#format;
    this.#draw = () => this.stream.write(`${CLEAR_LINE}${format(this.name, step, elapsed, this.stream.columns || 80)}`);
    if (!this.#timer) this.#drawLatest();
  }

  #drawLatest(): void {
    this.#draw?.();
    this.#timer = this.#draw && setTimeout(() => this.#drawLatest(), 100);
    this.#draw = undefined;
  }

  /** Clears the line. The next step draws it again. */
  clear(): void {
    if (this.#format) this.stream.write(CLEAR_LINE);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
