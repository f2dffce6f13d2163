/*! Writes a new name in the place of an old one, in the same quotes if possible. */
import { isBareName, type Mention } from '@sqlpipe/ddl';
import { isValidTableName } from '@sqlpipe/ddl/grammar';

/** Matches an invalid name of a user, a group or a service account. */
const NO_PRINCIPAL = /^$|['"`\0-\x1f\x7f]/;

/** Whether a server accepts a name for the object or principal that is mentioned. */
export const isValidName = (name: string, { role }: Mention): boolean =>
  role === 'object' ? isValidTableName(name) : !NO_PRINCIPAL.test(name);

/**
 * A new name, in the quotes that it needs in the place of a mention.
 * @param statement the statement with the mention
 * @param name a valid name
 */
export function quoteLike(statement: string, { place, position, end }: Mention, name: string): string {
  if (place === 'quoted-qualifier') return name;
  const written = statement.slice(position, end);
  const isBare = !/^['"`]/.test(written);
  const isAfterPublic = statement.charAt(position - 1) === '.';
  const mayHaveDots = place === 'qualifier' || (place === 'table' && !isAfterPublic);
  // In a join, the server fails on a quoted name with a dot before a column (observed on 9.3.4).
  const wantsBare = isBare || (place === 'qualifier' && name.includes('.'));
  if (wantsBare && (mayHaveDots ? name.split('.') : [name]).every(isBareName)) return name;
  const quote = isBare || (written.startsWith('`') && name.includes('`')) ? '"' : written.charAt(0);
  return quote + name + quote;
}
