import { RejectionError } from '@sqlpipe/ddl/parser';

/** What a statement does cannot be known, because its syntax or that of an object is not known. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}

export const unknownSyntaxError = ({ kind, name }: { kind: string; name: string }): OpaqueError =>
  new OpaqueError(`the syntax of ${kind} '${name}' is not known`);

/** Whether an error means that a statement is rejected, or that its effect cannot be known. */
export const isNotExecutable = (error: unknown): error is RejectionError | OpaqueError =>
  error instanceof RejectionError || error instanceof OpaqueError;
