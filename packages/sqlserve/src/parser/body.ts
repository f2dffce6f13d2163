/*!
 * The query of a view, a materialized view or a CREATE TABLE AS: where it ends, and what of it is comment, is found with
 * the service's lexer; what it says with QuestDB's own grammar. The grammar is loaded when the first query comes, as
 * that takes most of a second.
 */
import { Cursor } from './cursor.js';
import { refuseReserved } from './names.js';
import type { Query } from './query.js';
import { Refusal, unexpected } from './refusal.js';

export interface Body {
  /** The text as views keep it: blanks and controls at both ends are dropped. */
  readonly text: string;
  /** The text as it was written. */
  readonly written: string;
  /** Where the text starts, blanks included: several refusals point there. */
  readonly position: number;
  /** Where that begins which it stands in: before the parenthesis, if there is one. */
  readonly start: number;
  readonly query: Query;
  /** Whether it stands in parentheses, and more may follow. */
  readonly enclosed: boolean;
}

/** `(query` or, to the end of the statement, `query`: the closing parenthesis is left to be read by `endBody`. */
export async function viewBody(cursor: Cursor): Promise<Body> {
  const position = cursor.reach;
  if (cursor.require("'(' or 'with' or 'select'") === '(') {
    return { ...(await enclosedBody(cursor, "'with' or 'select'")), start: position };
  }
  cursor.back();
  const code = codeOf(cursor, position, false);
  const token = cursor.next();
  // The service keeps the semicolon with the query (observed on both versions).
  const end = token === undefined ? cursor.text.length : cursor.end;
  return {
    ...texts(cursor.text.slice(position, end)),
    position,
    start: position,
    query: await parse(code, position, false),
    enclosed: false,
  };
}

/** The query behind an opening parenthesis, which was read already. */
export async function enclosedBody(
  cursor: Cursor,
  expected = "'select', 'with', 'declare' or table name expected",
): Promise<Body> {
  const position = cursor.reach;
  const first = cursor.require(expected);
  if (first === ')') throw new Refusal(cursor.at, 'table name expected');
  if (['insert', 'update', 'create', 'alter', 'drop'].includes(first.toLowerCase())) refuseReserved(first, cursor.at);
  cursor.back();
  const code = codeOf(cursor, position, true);
  return {
    ...texts(cursor.text.slice(position, position + code.length)),
    position,
    start: position,
    query: await parse(code, position, true),
    enclosed: true,
  };
}

/** What must follow a query: its closing parenthesis, or nothing. */
export function endBody(cursor: Cursor, { enclosed }: Body): void {
  if (enclosed) cursor.expect(')');
  else {
    const token = cursor.next();
    if (token !== undefined && token !== ';') throw unexpected(cursor.at, token);
  }
}

/**
 * The text from `position` to the closing parenthesis or a semicolon, comments blanked as the service reads them.
 * The cursor stands before what ended it.
 */
function codeOf(cursor: Cursor, position: number, enclosed: boolean): string {
  let code = '';
  let depth = 0;
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token === ';' || (enclosed && token === ')' && depth === 0)) {
      const end = cursor.at;
      cursor.seek(end);
      return code.padEnd(end - position);
    }
    if (token === '(') depth++;
    if (token === ')') depth--;
    code = code.padEnd(cursor.at - position) + token;
  }
  cursor.seek(cursor.text.length);
  return code.padEnd(cursor.text.length - position);
}

async function parse(code: string, position: number, enclosed: boolean): Promise<Query> {
  const { parseQuery } = await import('./query.js');
  return parseQuery(code, position, enclosed);
}

/** A whole statement that is a query. */
export async function query(text: string): Promise<Query> {
  const cursor = new Cursor(text);
  const code = codeOf(cursor, 0, false);
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token !== ';') throw unexpected(cursor.at, token);
  }
  return parse(code, 0, false);
}

/** Later than 9.3.4, which kept the ends as they were. */
const texts = (written: string) => ({ text: written.replace(/^[\0- ]+|[\0- ]+$/g, ''), written });
