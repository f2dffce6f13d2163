import { displayName, identify } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import type { Output } from './process-like.js';
import type { ProgressStep } from './progress-bar.js';

/** Passes statements on, and draws their progress if there is a display. @param stopped aborted when the rest must not be counted */
export const withProgress = <Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress | undefined,
  total?: number,
  stopped?: AbortSignal,
): AsyncIterable<Batch> => (progress ? drawProgress(statements, progress, total, stopped) : statements);

async function* drawProgress<Batch extends string | string[]>(
  statements: AsyncIterable<Batch>,
  progress: Progress,
  total: number | undefined,
  stopped: AbortSignal | undefined,
): AsyncGenerator<Batch> {
  let done = 0;
  try {
    for await (const batch of statements) {
      const [first = '', ...more]: string[] = [batch].flat();
      if (first && !stopped?.aborted)
        await progress.show({ done, total, what: escapeControls(displayName(identify(first))) });
      yield batch;
      done += first ? 1 + more.length : 0;
    }
  } finally {
    progress.clear();
  }
}

/** The number of seconds before the first drawing: shorter work shows no progress. */
const DELAY = 0.3;

/** Milliseconds between two drawings. */
const INTERVAL = 100;

/** Moves to the start of the line and erases it, also the progress of another program in the pipe. */
export const CLEAR_LINE = '\r\x1b[K';

/** A line that is drawn again and again. A message clears the line first, also one of a program at the other end of the pipe. */
export class Progress {
  readonly #started = process.uptime();
  /** Draws the last step, if it is not drawn yet. */
  #draw: (() => void) | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  readonly #name: string;
  readonly #stream: Output;

  constructor(name: string, stream: Output) {
    this.#name = name;
    this.#stream = stream;
  }

  /** Shows a step: at once, or after others within an interval at the end of it. */
  async show(step: ProgressStep): Promise<void> {
    const elapsed = process.uptime() - this.#started;
    if (elapsed < DELAY) return;
    const { formatProgress } = await import('./progress-bar.js');
    this.#draw = () => {
      const line = formatProgress(this.#name, step, step.done / elapsed, this.#stream.columns ?? 80);
      this.#stream.write(CLEAR_LINE + line);
      this.#draw = undefined;
      this.#drawnAt = performance.now();
    };
    if (performance.now() - this.#drawnAt >= INTERVAL) this.#draw();
    this.#timer ??= setInterval(() => this.#draw?.(), INTERVAL);
  }

  /** Clears the line. The next step draws it again. */
  clear(): void {
    if (this.#timer) this.#stream.write(CLEAR_LINE);
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }
}
