/** Something that takes time has to be prepared before a statement can be executed: a library, the hash of a password. */
export class NotReady extends Error {
  override name = 'NotReady';

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
      if (!(error instanceof NotReady)) throw error;
      await error.prepare();
    }
}

/** What a statement does cannot be known, because its syntax or that of an object is not known. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}

export const unknownSyntaxError = ({ kind, name }: { kind: string; name: string }): OpaqueError =>
  new OpaqueError(`the syntax of ${kind} '${name}' is not known`);
