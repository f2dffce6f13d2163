/*!
 * Optional queries, which are useful to a dump but not necessary. They never fail, and have a short timeout and a
 * connection of their own, because the dump's connection is busy with rows.
 */

import type { ConnectionConfig } from './connection-config.js';
import { connect, type Instance } from './instance.js';

/**
 * Milliseconds for an attempt with all its tries, unless the timeout of the target is shorter. A server that does not answer a
 * query within this time gets no more.
 */
const MAX_TIMEOUT = 5000;

/** Queries an instance on a connection of its own; a missing or invalid answer is undefined. */
export class BestEffortClient {
  readonly #timeout: number;
  readonly #instance: Instance;
  #hasGivenUp = false;
  /** The attempt before. They come one after the other, because an instance has one request at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(target: ConnectionConfig) {
    const timeout = Math.min(target.timeout || MAX_TIMEOUT, MAX_TIMEOUT);
    this.#timeout = timeout;
    this.#instance = connect({ ...target, timeout, connectTimeout: timeout, retries: 0 });
  }

  /** As `Instance.table`; undefined if the query fails. */
  table(query: string): Promise<unknown[][] | undefined> {
    return this.attempt(instance => instance.table(query));
  }

  /** The result of one or more queries; undefined if one fails. */
  attempt<T>(use: (instance: Instance) => Promise<T>): Promise<T | undefined> {
    const attempt = this.#last.then(() => this.#attempt(use));
    this.#last = attempt;
    return attempt;
  }

  async #attempt<T>(use: (instance: Instance) => Promise<T>): Promise<T | undefined> {
    if (this.#hasGivenUp) return undefined;
    const timer = setTimeout(() => void this.close(), this.#timeout);
    try {
      return await use(this.#instance);
    } catch (error) {
      this.#hasGivenUp = (error as { code?: string }).code === 'UNREACHABLE';
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    return this.#instance.close();
  }
}
