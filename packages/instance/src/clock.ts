/*! How long somebody waits for a server. */

/** Runs down while it is started, stands while it is stopped, and calls `expire` when nothing is left. */
export class Clock {
  readonly #limit: number;
  readonly #expire: () => void;
  #left: number;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds; 0 for ever */
  constructor(limit: number, expire: () => void) {
    this.#limit = limit;
    this.#left = limit;
    this.#expire = expire;
  }

  /** Goes on with what is left. */
  start(): void {
    if (this.#limit === 0 || this.#timer) return;
    this.#started = performance.now();
    this.#timer = setTimeout(this.#expire, this.#left);
  }

  /** Stands still, until the next `start`. */
  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = Math.max(0, this.#left - (performance.now() - this.#started));
  }

  /** Gives the whole time again, to a clock that stands. */
  reset(): void {
    this.#left = this.#limit;
  }
}
