/*! The query in a view or a CREATE TABLE AS: its end and its comments, by the server's lexer. The query itself is not parsed here. */
import { serverTokens } from '@sqlpipe/sql';
import { Cursor } from './cursor.js';
import { rejectReserved } from './names.js';
import { findOwnerClause } from './owner-clause.js';

export interface Body {
  /** The text as views store it: without blanks and control characters at both ends. */
  readonly text: string;
  readonly written: string;
  /** The text with blanks in the place of comments (by the server's rules). So each token starts where it does in `written`. */
  readonly code: string;
  /** The start of `written`: several rejections point there. */
  readonly start: number;
  /** The start of the body with its parenthesis, if a view has one. */
  readonly outerStart: number;
  readonly isEnclosed: boolean;
}

/** Checks a query as soon as it has been read, because the server rejects errors in it at that point. */
export type CheckQuery = (body: Body) => void;

/** Parses `(query` up to its parenthesis, or `query` up to the end. @param mayHaveOwner whether `query` may end at OWNED BY */
export function parseViewBody(cursor: Cursor, check: CheckQuery, mayHaveOwner = false): Body {
  const outerStart = cursor.reach;
  if (cursor.require("'(' or 'with' or 'select'") === '(')
    return parseEnclosedBody(cursor, check, "'with' or 'select'", outerStart);
  cursor.unread();
  // If a symbol directly follows AS, `reach` is already after that symbol.
  const start = Math.min(outerStart, cursor.start);
  const { text } = cursor;
  const owner = mayHaveOwner ? findOwnerClause(text, serverTokens(text, cursor.start)) : undefined;
  const beforeOwner = owner && text.slice(start, owner.start).trimEnd();
  const code = beforeOwner === undefined ? readCode(cursor, start) : readCode(new Cursor(beforeOwner), 0);
  // The server stores the semicolon with the query (observed on 9.3.4 and 9.4.4).
  const written = beforeOwner ?? text.slice(start, cursor.next() === undefined ? text.length : cursor.end);
  if (owner) cursor.seek(owner.start);
  return toBody({ written, code, start, outerStart: start, isEnclosed: false }, check);
}

function toBody(body: Omit<Body, 'text'>, check: CheckQuery): Body {
  const checked = { ...body, text: trimQuery(body.written) };
  check(checked);
  return checked;
}

export function parseEnclosedBody(
  cursor: Cursor,
  check: CheckQuery,
  expected = "'select', 'with', 'declare' or table name expected",
  outerStart = cursor.reach,
): Body {
  const start = cursor.reach;
  const first = cursor.require(expected);
  if (first === ')') throw cursor.error('table name expected');
  if (['insert', 'update', 'create', 'alter', 'drop'].includes(first.toLowerCase()))
    rejectReserved(first, cursor.start);
  cursor.unread();
  const code = readCode(cursor, start, { isEnclosed: true });
  const written = cursor.text.slice(start, start + code.length);
  return toBody({ written, code, start, outerStart, isEnclosed: true }, check);
}

export function expectEndOfBody(cursor: Cursor, { isEnclosed }: Body): void {
  if (isEnclosed) cursor.expect(')');
  else cursor.expectEnd();
}

/** Reads up to the closing parenthesis or a semicolon, and stops before it. Returns the text with blanks in the place of comments. */
export function readCode(cursor: Cursor, start: number, { isEnclosed = false } = {}): string {
  let code = '';
  let depth = 0;
  let token = cursor.next();
  for (; token !== undefined && token !== ';'; token = cursor.next()) {
    if (isEnclosed && token === ')' && depth === 0) break;
    if (token === '(') depth++;
    if (token === ')') depth--;
    code += ' '.repeat(cursor.start - start - code.length) + token;
  }
  const end = token === undefined ? cursor.text.length : cursor.start;
  cursor.seek(end);
  return code + ' '.repeat(end - start - code.length);
}

/** Trims a query as versions after 9.3.4 do; 9.3.4 did not. A regular expression would take quadratic time. */
export function trimQuery(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charAt(start) <= ' ') start++;
  while (end > start && text.charAt(end - 1) <= ' ') end--;
  return text.slice(start, end);
}
