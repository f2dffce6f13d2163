/** A statement cannot be executed until something slow is prepared: a library is loaded, or a password is hashed. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';

  /** @param prepare when its promise resolves, the call can be repeated */
  constructor(readonly prepare: () => Promise<void>) {
    super('not ready');
  }
}

/** Repeats a call after each preparation that it needs. A call that throws must leave no changes behind. */
export async function whenReady<T>(run: () => T): Promise<T> {
  for (;;)
    try {
      return run();
    } catch (error) {
      if (!(error instanceof NotReadyError)) throw error;
      await error.prepare();
    }
}
