/** Something that takes time has to be prepared before a statement can be executed: a library, the hash of a password. */
export class NotReady extends Error {
  override name = 'NotReady';

  /** @param prepare after it the same call succeeds */
  constructor(readonly prepare: () => Promise<void>) {
    super('not ready');
  }
}

/** Calls a function, again after each preparation that it needs. What it has changed before must be undone by itself. */
export async function whenReady<T>(run: () => T): Promise<T> {
  for (;;)
    try {
      return run();
    } catch (error) {
      if (!(error instanceof NotReady)) throw error;
      await error.prepare();
    }
}
