import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionConfig } from './configuration/connection-config.js';
import { connect } from './http/client.js';
import { canWaitingHelp } from './http/retry.js';
import { InstanceError } from './instance-error.js';

const PROBE_INTERVAL = 500;

/**
 * Resolves when an instance answers a query, even with an error message. A wrong address, certificate or credential fails at once, because
 * waiting cannot help.
 * @param seconds the maximum time; 0 for a single attempt. Pauses after the status 429 may prolong the last attempt.
 * @throws InstanceError: `UNREACHABLE` when the time is up
 */
export async function waitUntilReady(
  config: ConnectionConfig,
  seconds: number,
  signal: AbortSignal,
  info: (message: string) => void,
): Promise<void> {
  const deadline = performance.now() + 1000 * seconds;
  for (let isFirst = true; ; isFirst = false) {
    const failure = await probe(config, deadline - performance.now(), signal);
    signal.throwIfAborted();
    if (!failure) return;
    if (!canWaitingHelp(failure)) throw failure;
    const { message, status, cause } = failure;
    if (performance.now() + PROBE_INTERVAL > deadline)
      throw new InstanceError('UNREACHABLE', `${message}; waited ${seconds} s`, { status, cause });
    if (isFirst) info(`${message}; waiting up to ${seconds} s`);
    await pause(PROBE_INTERVAL, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Tries for at most `remaining` milliseconds, but at least a second. @returns the failure, if there was one */
async function probe(config: ConnectionConfig, remaining: number, signal: AbortSignal) {
  const limit = (given: number) => Math.min(given || Number.POSITIVE_INFINITY, Math.max(remaining, 1000));
  const limits = { timeout: limit(config.timeout), connectTimeout: limit(config.connectTimeout) };
  const client = connect({ ...config, ...limits, retries: 0 });
  const close = () => client.close();
  signal.addEventListener('abort', close);
  try {
    await client.queryRows('SELECT build()');
    return undefined;
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return error.code === 'REJECTED' ? undefined : error;
  } finally {
    signal.removeEventListener('abort', close);
    await close();
  }
}
