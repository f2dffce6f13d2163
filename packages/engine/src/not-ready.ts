/** Something that takes time has to be prepared before a statement can be executed: a library, the hash of a password. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';

  /** @param prepare when its promise resolves, the call can be repeated */
  constructor(readonly prepare: () => Promise<void>) {
    super('not ready');
  }
}

/** Repeats a call after each preparation that it needs. If it throws, the function must undo what it has changed. */
export async function whenReady<T>(run: () => T): Promise<T> {
  for (;;)
    try {
      return run();
    } catch (error) {
      if (!(error instanceof NotReadyError)) throw error;
      await error.prepare();
    }
}
