/*!
 * The query of a view, a materialized view, a live view or a CREATE TABLE AS: where it ends and what of it is comment,
 * found with the server's lexer. What it says is for code with a grammar of queries.
 */
import type { Cursor } from './cursor.js';
import { rejectReserved } from './names.js';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';

export interface Body {
  /** The text as views keep it: blanks and controls at both ends are dropped. */
  readonly text: string;
  /** The text as it was written. */
  readonly written: string;
  /** The text with its comments blanked, as the server reads them: offsets are those of `written`. */
  readonly code: string;
  /** Where the text starts, blanks included: several rejections point there. */
  readonly position: number;
  /** Where its enclosing part begins: before the parenthesis, if there is one. */
  readonly start: number;
  /** Whether it stands in parentheses, and more may follow. */
  readonly enclosed: boolean;
}

/** Called with each query as soon as it has been read, which is when the server rejects what is wrong in it. */
export type CheckQuery = (body: Body) => void;

/** `(query` or, to the end of the statement, `query`: the closing parenthesis is left to be read by `expectEndOfBody`. */
export function parseViewBody(cursor: Cursor, check: CheckQuery): Body {
  const position = cursor.readOffset;
  if (cursor.require("'(' or 'with' or 'select'") === '(') {
    return { ...parseEnclosedBody(cursor, check, "'with' or 'select'"), start: position };
  }
  cursor.unread();
  const code = readCode(cursor, position, false);
  const token = cursor.next();
  // The server keeps the semicolon with the query (observed on 9.3.4 and 9.4.4).
  const end = token === undefined ? cursor.text.length : cursor.end;
  const body = { ...trimBody(cursor.text.slice(position, end)), code, position, start: position, enclosed: false };
  check(body);
  return body;
}

/** The query after an opening parenthesis, which was read already. */
export function parseEnclosedBody(
  cursor: Cursor,
  check: CheckQuery,
  expected = "'select', 'with', 'declare' or table name expected",
): Body {
  const position = cursor.readOffset;
  const first = cursor.require(expected);
  if (first === ')') throw new RejectionError(cursor.at, 'table name expected');
  if (['insert', 'update', 'create', 'alter', 'drop'].includes(first.toLowerCase())) rejectReserved(first, cursor.at);
  cursor.unread();
  const code = readCode(cursor, position, true);
  const written = cursor.text.slice(position, position + code.length);
  const body = { ...trimBody(written), code, position, start: position, enclosed: true };
  check(body);
  return body;
}

/** What must follow a query: its closing parenthesis, or nothing. */
export function expectEndOfBody(cursor: Cursor, { enclosed }: Body): void {
  if (enclosed) cursor.expect(')');
  else {
    const token = cursor.next();
    if (token !== undefined && token !== ';') throw unexpectedTokenError(cursor.at, token);
  }
}

/**
 * The text from `position` to the closing parenthesis or a semicolon, comments blanked as the server reads them.
 * The cursor stands before what ended it.
 */
export function readCode(cursor: Cursor, position: number, enclosed: boolean): string {
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string, at: number): void => {
    pieces.push(' '.repeat(at - position - length), piece);
    length = at - position + piece.length;
  };
  let depth = 0;
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token === ';' || (enclosed && token === ')' && depth === 0)) {
      const end = cursor.at;
      cursor.seek(end);
      add('', end);
      return pieces.join('');
    }
    if (token === '(') depth++;
    if (token === ')') depth--;
    add(token, cursor.at);
  }
  cursor.seek(cursor.text.length);
  add('', cursor.text.length);
  return pieces.join('');
}

/** Later than 9.3.4, which kept the ends as they were. A regular expression would be quadratic in blanks. */
function trimBody(written: string): Pick<Body, 'text' | 'written'> {
  let start = 0;
  let end = written.length;
  while (start < end && written.charAt(start) <= ' ') start++;
  while (end > start && written.charAt(end - 1) <= ' ') end--;
  return { text: written.slice(start, end), written };
}
