import type { Readable } from 'node:stream';

/** Milliseconds for a request in flight to end after the user wants to stop. */
const GRACE_PERIOD = 2000;

/** Shuts down: stops reading the input, if it is standard input, and aborts requests that outlast the grace period. */
export function shutDown(input: Readable | undefined, close: () => Promise<void>): void {
  input?.destroy();
  setTimeout(close, GRACE_PERIOD).unref();
}
