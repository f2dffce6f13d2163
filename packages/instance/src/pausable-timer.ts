/*! How long somebody waits for a server. */

/** Runs down while it is started, stands while it is stopped, and calls `expire` when nothing is left. */
export class PausableTimer {
  readonly #limit: number;
  readonly #expire: () => void;
  #remaining: number;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds; 0 for ever */
  constructor(limit: number, expire: () => void) {
    this.#limit = limit;
    this.#remaining = limit;
    this.#expire = expire;
  }

  /** Goes on with what is left. */
  start(): void {
    if (this.#limit === 0 || this.#timer) return;
    this.#started = performance.now();
    this.#timer = setTimeout(this.#expire, this.#remaining);
  }

  /** Stands still, until the next `start`. */
  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remaining = Math.max(0, this.#remaining - (performance.now() - this.#started));
  }

  /** Gives the whole time again, to a clock that stands. */
  reset(): void {
    this.#remaining = this.#limit;
  }
}
