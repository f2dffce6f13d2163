/*! When a request is sent again. `connection.ts` has one more case: a closed connection. So has `client.ts`: the status 404. */
import { setTimeout } from 'node:timers/promises';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { InstanceError } from '../instance-error.js';
import type { OpenResponse } from './connection.js';
import { parseRetryAfter } from './reply.js';
import { firstCause } from './transport-messages.js';

/** A query may always be sent again. A statement is sent again only if the server has certainly not executed it. */
export type Purpose = 'query' | 'execute';

/** Whether a failed request may have changed something. A query changes nothing. @param status undefined if there was no reply */
export const mayHaveRun = (purpose: Purpose, status: number | undefined): boolean =>
  purpose === 'execute' && (status === undefined || status < 300 || status === 408 || status >= 500);

/**
 * Sends a request up to five times more while its status is 429, unless the server asks for a pause of more than 30 s. All pauses together
 * are no longer than the time limit.
 */
export async function sendWhileBusy(
  send: () => Promise<OpenResponse>,
  { label, timeout, info, pause = pauseFor }: ConnectionConfig,
  ended: AbortSignal,
): Promise<OpenResponse> {
  let remaining = timeout || Number.POSITIVE_INFINITY;
  for (const milliseconds of [250, 500, 1000, 2000, 4000]) {
    const response = await send();
    const delay = Math.max(milliseconds, 1000 * (parseRetryAfter(response) ?? 0));
    remaining -= delay;
    if (response.status !== 429 || delay > 30_000 || remaining < 0 || ended.aborted) return response;
    response.body.destroy();
    if (delay >= 1000) info?.(`${label}: too busy; trying again in ${Math.round(delay / 1000)} s`);
    // If the pause is aborted, the request is sent once more, and its result is final.
    await pause(delay, ended).catch(() => {});
  }
  return send();
}

const pauseFor = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  setTimeout(milliseconds, undefined, { signal });

/**
 * Returns a function to call after each failure of one request. It resolves when it is time to send the request again. It throws the given
 * error if a retry would not help, if the statement may have been executed, or if there were enough retries.
 */
export function createRetryPause({ retries = 0, warn, pause = pauseFor }: ConnectionConfig, signal: AbortSignal) {
  let count = 0;
  return async (error: unknown): Promise<void> => {
    if (count >= retries || signal.aborted || !isRetriable(error) || error.mayHaveRun) throw error;
    const milliseconds = Math.min(1000 * 2 ** count, 30_000);
    count++;
    warn?.(`${error.message}; retrying in ${milliseconds / 1000} s (${count} of ${retries})`);
    await pause(milliseconds, signal).catch(() => {
      throw error;
    });
  };
}

/** A retry does not help against an error message of the server, or against missing credentials. */
const isRetriable = (error: unknown): error is InstanceError =>
  error instanceof InstanceError && ([502, 503, 504].includes(error.status ?? 0) || isTransient(error));

/** Whether waiting can help: no reply came, or not all of it, or the status is 429, 503 or another above 500. */
export const canWaitingHelp = (error: InstanceError): boolean =>
  (error.status ?? 200) === 200 ? isTransient(error) : error.code === 'UNREACHABLE';

/** Codes of the system and of undici for failures that can pass by themselves. */
const TRANSIENT_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ETIMEDOUT', 'TIMEOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]);

/** Whether no reply came, or not all of it, for a reason that can pass by itself. */
const isTransient = ({ cause = {} }: InstanceError): boolean =>
  TRANSIENT_CODES.has(firstCause(cause as NodeJS.ErrnoException).code ?? '');
