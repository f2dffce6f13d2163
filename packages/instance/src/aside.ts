/*!
 * Side questions: what a dump would like to know and can do without. They have a connection of their own, as the
 * dump's is busy with rows, little time, and no way to fail.
 */
import { connect, type Instance } from './instance.js';
import type { Target } from './target.js';

/** Milliseconds, with all tries; a server that leaves one side question this long is not asked another. */
const PATIENCE = 5000;

/** Asks an instance aside; an answer that does not come, or is no answer, is undefined. */
export class Aside {
  readonly #instance: Instance;
  #silent = false;

  constructor(target: Target) {
    this.#instance = connect({ ...target, timeout: PATIENCE, connectTimeout: PATIENCE });
  }

  /** As `Instance.table`, of a small answer. */
  async table(query: string): Promise<unknown[][] | undefined> {
    if (this.#silent) return undefined;
    const tooLong = setTimeout(() => void this.close(), PATIENCE);
    try {
      return await this.#instance.table(query);
    } catch (error) {
      this.#silent = (error as { code?: string }).code === 'UNREACHABLE';
      return undefined;
    } finally {
      clearTimeout(tooLong);
    }
  }

  close(): Promise<void> {
    return this.#instance.close();
  }
}
