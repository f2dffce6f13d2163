/** What a statement does to an object cannot be known, because the syntax of that object or of the statement is not known. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}

/** The error about an object of unknown syntax. */
export const unknownSyntaxError = ({ kind, name }: { kind: string; name: string }): OpaqueError =>
  new OpaqueError(`the syntax of ${kind} '${name}' is not known`);
