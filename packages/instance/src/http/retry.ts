import { setTimeout } from 'node:timers/promises';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { InstanceError } from '../instance-error.js';
import { firstCause } from './transport-messages.js';

/** Milliseconds before the first retry; each further pause is twice as long, up to the maximum. */
const FIRST_PAUSE = 1000;
const MAX_PAUSE = 30_000;

const GATEWAY_STATUSES = new Set([502, 503, 504]);

export const pauseFor = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, { signal });

/**
 * Returns a function to call after each failure of one request. It resolves when it is time to send the request again. It throws the given
 * error if a retry would not help, or if there were enough retries.
 */
export function createRetryPause({ retries = 0, warn, pause = pauseFor }: ConnectionConfig, signal: AbortSignal) {
  let count = 0;
  return async (error: unknown): Promise<void> => {
    if (count >= retries || signal.aborted || !isRetriable(error)) throw error;
    const milliseconds = Math.min(FIRST_PAUSE * 2 ** count, MAX_PAUSE);
    count++;
    warn?.(`${error.message}; retrying in ${milliseconds / 1000} s (${count} of ${retries})`);
    await pause(milliseconds, signal).catch(() => {
      throw error;
    });
  };
}

/** A retry does not help against an error message of the server, or against missing credentials. */
const isRetriable = (error: unknown): error is InstanceError =>
  error instanceof InstanceError && (GATEWAY_STATUSES.has(error.status ?? 0) || isTransientFailure(error));

/** Codes of the system and of undici for failures that can pass by themselves. */
const TRANSIENT_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT', 'TIMEOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]);

/** Whether no reply came, or not all of it, for a reason that can pass by itself. */
export const isTransientFailure = ({ cause = {} }: InstanceError): boolean =>
  TRANSIENT_CODES.has(firstCause(cause as NodeJS.ErrnoException).code ?? '');
