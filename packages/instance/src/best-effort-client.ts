/*!
 * Side questions: what a dump would like to know and can do without. They have a connection of their own, as the
 * dump's is busy with rows, little time, and no way to fail.
 */

import type { ConnectionConfig } from './connection-config.js';
import { connect, type Instance } from './instance.js';

/** Milliseconds, with all tries; a server that leaves one side question this long is not asked another. */
const TIMEOUT = 5000;

/** Asks an instance aside; an answer that does not come, or is no answer, is undefined. */
export class BestEffortClient {
  readonly #instance: Instance;
  #hasGivenUp = false;

  constructor(target: ConnectionConfig) {
    this.#instance = connect({ ...target, timeout: TIMEOUT, connectTimeout: TIMEOUT });
  }

  /** As `Instance.table`, of a small answer. */
  async table(query: string): Promise<unknown[][] | undefined> {
    if (this.#hasGivenUp) return undefined;
    const timer = setTimeout(() => void this.close(), TIMEOUT);
    try {
      return await this.#instance.table(query);
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
