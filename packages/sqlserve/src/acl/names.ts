/*! Names of users, groups and service accounts. */
import type { Cursor } from '../parser/cursor.js';
import { unquote } from '../parser/names.js';
import { Refusal } from '../parser/refusal.js';

/** A name, and where it stands. Whether anybody has it is said only to those who may know. */
export interface Located {
  readonly name: string;
  readonly position: number;
}

/** The next token as a user, group or service account. A dump puts names in quotes: they hold none. */
export function entityName(cursor: Cursor, expected: string): Located {
  const name = unquote(cursor.need(expected));
  const position = cursor.at;
  if (name === '' || /['"]/.test(name)) throw new Refusal(position, `invalid ${expected} [name=${name}]`);
  return { name, position };
}
