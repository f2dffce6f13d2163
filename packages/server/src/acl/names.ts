/*! Names of users, groups and service accounts. Whether anybody has one is said only to those who may know. */
import { type Cursor, type LocatedName, RejectionError, unquote } from '@sqlpipe/ddl/grammar';

/** The next token as a user, group or service account. A dump puts names in quotes: they hold none. */
export function parseEntityName(cursor: Cursor, expected: string): LocatedName {
  const name = unquote(cursor.requireNoSemicolon(expected));
  const position = cursor.at;
  if (name === '' || /['"]/.test(name)) throw new RejectionError(position, `invalid ${expected} [name=${name}]`);
  return { name, position };
}
