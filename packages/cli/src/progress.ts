import type { Writable } from 'node:stream';
import { displayName, identify } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { SingleBar } from 'cli-progress';
import type { ProgressStep } from './progress-bar.js';

/** Passes statements on, and draws their progress if there is a display. @param signal aborted when the rest must not be counted */
export const withProgress = <Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress | undefined,
  total?: number,
  signal?: AbortSignal,
): AsyncIterable<Batch> => progress?.track(statements, total, signal) ?? statements;

/** The number of seconds before the first drawing: shorter work shows no progress. */
const FIRST_DELAY = 0.3;

/** A line on the terminal that is drawn again and again. A message clears it first, also one of another program in the pipe. */
export class Progress {
  readonly #started = process.uptime();
  #bar: SingleBar | undefined;

  constructor(
    private readonly name: string,
    private readonly stream: Writable,
  ) {}

  async *track<Batch extends string | string[]>(
    statements: AsyncIterable<Batch>,
    total?: number,
    signal?: AbortSignal,
  ) {
    let done = 0;
    try {
      for await (const batch of statements) {
        const [first = '', ...more]: string[] = [batch].flat();
        if (first && !signal?.aborted)
          await this.#show({ done, total, what: escapeControls(displayName(identify(first))) });
        yield batch;
        done += first ? 1 + more.length : 0;
      }
    } finally {
      this.clear();
    }
  }

  /** Shows a step. The line is drawn at most ten times a second. */
  async #show(step: ProgressStep): Promise<void> {
    const elapsed = process.uptime() - this.#started;
    if (elapsed < FIRST_DELAY) return;
    const payload = { ...step, name: this.name, rate: step.done / elapsed };
    if (this.#bar) return this.#bar.update(step.done, payload);
    const { createBar } = await import('./progress-bar.js');
    this.#bar = createBar(this.stream);
    this.#bar.start(step.total ?? 0, step.done, payload);
  }

  /** Clears the line. The next step draws it again. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
