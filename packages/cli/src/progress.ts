/*! Progress on the last line of a terminal: how many, how fast, and which one is at hand. */

import type { Writable } from 'node:stream';
import { displayName, escapeControls, identify } from '@sqlpipe/sql';
import type { SingleBar } from 'cli-progress';
import type { ProgressStep } from './progress-bar.js';

/**
 * Passes statements on, one or many at once, and draws the progress while the consumer works on them.
 *
 * @param progress where to draw; nothing is drawn where it is undefined
 * @param total how many there are, where that is known
 */
export const withProgress = <Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress | undefined,
  total?: number,
): AsyncIterable<Batch> => (progress ? drawProgress(statements, progress, total) : statements);

async function* drawProgress<Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress,
  total: number | undefined,
): AsyncGenerator<Batch> {
  let done = 0;
  try {
    for await (const batch of statements) {
      const [first = '', ...more]: string[] = [batch].flat();
      if (first) await progress.show({ done, total, what: escapeControls(displayName(identify(first))) });
      yield batch;
      done += first ? 1 + more.length : 0;
    }
  } finally {
    progress.clear();
  }
}

/** Seconds; what is over sooner is not drawn. */
const DELAY = 0.3;

/**
 * One line, drawn again and again. Whoever writes a message wipes the line first, and the next step draws it below; so
 * does the program at the other end of a pipe, which shares the terminal and knows nothing of this one.
 */
export class Progress {
  readonly #name: string;
  readonly #stream: Writable;
  readonly #started = process.uptime();
  #bar: SingleBar | undefined;

  constructor(name: string, stream: Writable) {
    this.#name = name;
    this.#stream = stream;
  }

  /** Shows a step, some time soon: at most ten times a second. */
  async show(step: ProgressStep): Promise<void> {
    const elapsed = process.uptime() - this.#started;
    if (elapsed < DELAY) return;
    const payload = { ...step, name: this.#name, rate: step.done / elapsed };
    if (this.#bar) return this.#bar.update(step.done, payload);
    const { createBar } = await import('./progress-bar.js');
    this.#bar = createBar(this.#stream);
    this.#bar.start(step.total ?? 0, step.done, payload);
  }

  /** Wipes the line. The next step draws it again. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
