/*! Time limits for a server. */

/** Counts down while it is started, pauses while it is stopped, and calls `expire` at zero. */
export class PausableTimer {
  readonly #limit: number;
  readonly #expire: () => void;
  #remaining: number;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds; 0 for no limit */
  constructor(limit: number, expire: () => void) {
    this.#limit = limit;
    this.#remaining = limit;
    this.#expire = expire;
  }

  /** Continues with the remaining time. */
  start(): void {
    if (this.#limit === 0 || this.#timer) return;
    this.#started = performance.now();
    this.#timer = setTimeout(this.#expire, this.#remaining);
  }

  /** Pauses until the next `start`. */
  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remaining = Math.max(0, this.#remaining - (performance.now() - this.#started));
  }

  /** Restores the complete time of a stopped timer. */
  reset(): void {
    this.#remaining = this.#limit;
  }
}
