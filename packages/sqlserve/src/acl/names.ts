/*! Names of users, groups and service accounts. */
import { type Cursor, type LocatedName, RejectionError, unquote } from '@sqlpipe/ddl/grammar';

/** The next token as a name. It must not contain quotes, because a dump puts names in quotes. */
export function parseEntityName(cursor: Cursor, expected: string): LocatedName {
  const name = unquote(cursor.requireNoSemicolon(expected));
  const position = cursor.at;
  if (name === '' || /['"]/.test(name)) throw new RejectionError(position, `invalid ${expected} [name=${name}]`);
  return { name, position };
}
