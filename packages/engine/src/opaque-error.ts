import { RejectionError } from '@sqlpipe/ddl/parser';
import { displayName, type NamedObject } from '@sqlpipe/sql';

/** The engine cannot know what a statement does, because the syntax of the statement or of an object is unknown. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}

export const unknownSyntaxError = (object: NamedObject): OpaqueError =>
  new OpaqueError(`the syntax of ${displayName(object)} is not known`);

/** Whether an error means that a statement is rejected, or that its effect cannot be known. */
export const isNotExecutable = (error: unknown): error is RejectionError | OpaqueError =>
  error instanceof RejectionError || error instanceof OpaqueError;
