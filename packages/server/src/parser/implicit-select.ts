/*!
 * A statement that starts with no word the service knows is to it a query without SELECT: the word is a table, the
 * next one its alias. This explains its rejections of unknown statements.
 */
import { type Cursor, isWord, rejectReserved, unexpectedTokenError, unquote } from '@sqlpipe/ddl/grammar';

/** Words that are no alias (read in SqlParser). */
const aliasStops = new Set(
  (
    'where latest join inner left outer asof splice lt cross sample order on timestamp limit ) ; union group except ' +
    'intersect from pivot tolerance right full range window horizon , ( .'
  ).split(' '),
);

/**
 * The table of such a query; undefined where the word is a function that is called. The first token was read.
 * @throws RejectionError for what cannot follow a table
 */
export function parseImplicitTable(cursor: Cursor, first: string): { name: string; position: number } | undefined {
  const position = cursor.at;
  rejectReserved(first, position);
  const stops = (token: string | undefined) => token === undefined || aliasStops.has(token.toLowerCase());
  let token = cursor.next();
  if (token === '(') return;
  if (!stops(token)) {
    if (isWord(token, 'as')) token = cursor.require('alias');
    rejectReserved(token ?? '', cursor.at);
    token = cursor.next();
    if (token !== undefined && !stops(token)) throw unexpectedTokenError(cursor.at, token);
  }
  return { name: unquote(first), position };
}
