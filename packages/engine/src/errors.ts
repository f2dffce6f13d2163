/*! The errors of an engine that do not mean that a server rejects the statement. */
import { RejectionError } from '@sqlpipe/ddl/parser';
import { displayName, type KindAndName } from '@sqlpipe/sql';

/** The engine cannot know what a statement does, because the syntax of the statement or of an object is unknown. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}

export const unknownSyntaxError = (object: KindAndName): OpaqueError =>
  new OpaqueError(`the syntax of ${displayName(object)} is not known`);

/** Whether an error means that a statement is rejected, or that its effect cannot be known. */
export const isNotExecutable = (error: unknown): error is RejectionError | OpaqueError =>
  error instanceof RejectionError || error instanceof OpaqueError;

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
