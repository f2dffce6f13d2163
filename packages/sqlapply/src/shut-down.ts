import type { Readable } from 'node:stream';

/** Milliseconds that a request in flight has to end in, when the user wants to stop. */
const GRACE_PERIOD = 2000;

/** Shuts down: stops reading standard input where that is read, and aborts requests that do not finish within the grace period. */
export function shutDown(input: Readable | undefined, close: () => Promise<void>): void {
  input?.destroy();
  setTimeout(close, GRACE_PERIOD).unref();
}
