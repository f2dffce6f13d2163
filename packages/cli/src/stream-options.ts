/*! Options that several programs have, because what flows between them is the same stream. */

/** `--include`: what to take of a schema. */
export const INCLUDE = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'only these categories: SCHEMA, ACL, TABLES, VIEWS, …',
} as const;

/** `--exclude`: what to leave out. */
export const EXCLUDE = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'all but these categories',
} as const;

/** `--max-record`. @param bytes how long a record may be unless told otherwise */
export const recordLimit = (bytes: number) =>
  ({ type: 'number', default: bytes, requiresArg: true, describe: 'longest record in bytes' }) as const;
