import type { Readable } from 'node:stream';
import type { Instance } from '@sqlpipe/instance';

/** Milliseconds that a request in flight has to end in, when the user wants to stop. */
const GRACE = 2000;

/** Has a run end soon: no more input is waited for, and what the target does not answer in time is abandoned. */
export function windUp(input: Readable, targets: readonly Instance[]): void {
  input.destroy();
  setTimeout(() => targets.map(target => target.close()), GRACE).unref();
}
