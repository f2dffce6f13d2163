/*!
 * The query of a view, a materialized view or a CREATE TABLE AS: where it ends is found with the service's lexer, what
 * it says with QuestDB's own grammar. The grammar is loaded when the first query comes, as that takes most of a second.
 */
import type { Cursor } from './cursor.js';
import type { Query } from './query.js';
import { Refusal, unexpected } from './refusal.js';

export interface Body {
  /** The text between the parentheses as it is kept: blanks and controls at both ends are dropped. */
  readonly text: string;
  /** Where the text between the parentheses starts, blanks included: several refusals point there. */
  readonly position: number;
  readonly query: Query;
}

/** `(query)` or, to the end of the statement, `query`. `enclosed` tells whether more may follow. */
export async function viewBody(cursor: Cursor): Promise<Body & { enclosed: boolean }> {
  const position = cursor.reach;
  const enclosed = cursor.require("'(' or 'with' or 'select'") === '(';
  if (enclosed) return { ...(await enclosedBody(cursor, "'with' or 'select'")), enclosed };
  cursor.back();
  let token = cursor.next();
  while (token !== undefined && token !== ';') token = cursor.next();
  const end = token === ';' ? cursor.end : cursor.text.length;
  const tree = await query(cursor.text.slice(position, cursor.at + (token === ';' ? 0 : cursor.text.length)), position);
  if (token === ';') {
    const rest = cursor.next();
    if (rest !== undefined && rest !== ';') throw unexpected(cursor.at, rest);
  }
  return { text: trim(cursor.text.slice(position, end)), position, query: tree, enclosed };
}

/** The query behind an opening parenthesis, which was read already, and the closing one. */
export async function enclosedBody(
  cursor: Cursor,
  expected = "'select', 'with', 'declare' or table name expected",
): Promise<Body> {
  const position = cursor.reach;
  cursor.require(expected);
  cursor.back();
  let depth = 0;
  let token = cursor.next();
  for (; token !== undefined && (token !== ')' || depth > 0); token = cursor.next()) {
    if (token === '(') depth++;
    if (token === ')') depth--;
  }
  const end = token === undefined ? cursor.text.length : cursor.at;
  const tree = await query(cursor.text.slice(position, end), position);
  if (token === undefined) throw new Refusal(cursor.reach, "')' expected");
  return { text: trim(cursor.text.slice(position, end)), position, query: tree };
}

/** A query that stands at `position` of its statement. */
export async function query(text: string, position: number): Promise<Query> {
  const { parseQuery } = await import('./query.js');
  return parseQuery(text, position);
}

/** Later than 9.3.4, which kept the ends as they were. */
const trim = (text: string): string => text.replace(/^[\0- ]+|[\0- ]+$/g, '');
