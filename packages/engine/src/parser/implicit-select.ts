/*!
 * QuestDB reads a statement that starts with an unknown word as a query without SELECT: the word is a table, the next
 * one its alias. This explains its rejections of unknown statements.
 */
import { type Cursor, isWord, rejectReserved, unexpectedTokenError, unquote } from '@sqlpipe/ddl/grammar';

/** Words that cannot be an alias (from QuestDB's SqlParser). */
const aliasStops = new Set(
  (
    'where latest join inner left outer asof splice lt cross sample order on timestamp limit ) ; union group except ' +
    'intersect from pivot tolerance right full range window horizon , ( .'
  ).split(' '),
);

/**
 * The table of such a query, whose first token was already read; undefined if that token calls a function.
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
