import type { Input } from './input.js';

/** Milliseconds for a request in flight to end after the user wants to stop. */
const GRACE_PERIOD = 2000;

/** Shuts down: stops reading the input, and aborts requests that outlast the grace period. */
export function shutDown(input: Input, close: () => Promise<void>): void {
  input.stop();
  setTimeout(close, GRACE_PERIOD).unref();
}
