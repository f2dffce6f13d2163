/** What a statement does to an object cannot be known, because the syntax of that object or of the statement is not known. */
export class OpaqueError extends Error {
  override name = 'OpaqueError';
}
