/*! The columns that a CREATE TABLE … AS makes, as far as its query says so itself. */
import { foldCase } from '@sqlpipe/sql';
import { Cursor } from './grammar/cursor.js';
import { unquote } from './grammar/names.js';
import { RejectionError } from './grammar/rejection-error.js';
import { parseColumnType } from './grammar/types.js';
import { tokenizeQuery } from './query-tokens.js';

/** A column of a query; its type where a cast says so. */
export interface QueryColumn {
  readonly name: string;
  readonly type?: string | undefined;
}

/** A bare or quoted name, and no number, string or star. */
const NAME = /^(?:[\p{L}_][\p{L}\p{N}_$]*|".*"|`.*`)$/su;

/**
 * The columns of a query that is one plain SELECT, each item a column, a cast or something with an alias.
 * Undefined where more would have to be known: stars, several queries, expressions that have no name, two columns of one name.
 */
export function findQueryColumns(query: string): QueryColumn[] | undefined {
  const tokens = tokenizeQuery(query).map(({ text }) => text);
  if (tokens[0]?.toLowerCase() !== 'select' || tokens[1]?.toLowerCase() === 'distinct') return undefined;
  const columns = new Map<string, QueryColumn>();
  let item: string[] = [];
  let depth = 0;
  for (const token of [...tokens.slice(1), 'from']) {
    const ends = depth === 0 && (token === ',' || token.toLowerCase() === 'from');
    if (token === '(' || token === '[') depth++;
    if (token === ')' || token === ']') depth--;
    if (!ends) item.push(token);
    else {
      const column = toColumn(item);
      if (!column || columns.has(foldCase(column.name))) return undefined;
      columns.set(foldCase(column.name), column);
      item = [];
    }
    if (ends && token !== ',')
      return tokens.some(each => SET_OPERATORS.has(each.toLowerCase())) ? undefined : [...columns.values()];
  }
  return undefined;
}

const SET_OPERATORS = new Set(['union', 'except', 'intersect', 'pivot']);

function toColumn(item: readonly string[]): QueryColumn | undefined {
  const name = item.at(-1) ?? '';
  const before = item.at(-2)?.toLowerCase();
  if (!NAME.test(name)) return undefined;
  if (item.length === 1) return { name: unquote(name) };
  if (before === 'as') return { name: unquote(name), type: castType(item.slice(0, -2)) };
  return before === '.' && item.length === 3 ? { name: unquote(name) } : undefined;
}

/** `CAST(… AS type)`, `…::type` or `ARRAY[]`. */
function castType(expression: readonly string[]): string | undefined {
  if (expression.join('').toUpperCase() === 'ARRAY[]') return 'ARRAY';
  const isCast = expression[0]?.toLowerCase() === 'cast' && closingIndex(expression, 1) === expression.length - 1;
  if (isCast)
    return parseType(expression.slice(expression.findLastIndex(token => token.toLowerCase() === 'as') + 1, -1));
  const [operand = [], ...types] = split(expression, '::');
  if (!isOperand(operand)) return undefined;
  const known = types.map(parseType);
  return known.includes(undefined) ? undefined : known.at(-1);
}

function split(tokens: readonly string[], separator: string): string[][] {
  const parts: string[][] = [[]];
  for (const token of tokens) {
    if (token === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** Whether an expression is one token, a name with a dot, a call, or in parentheses: then `::` is about all of it. */
function isOperand(expression: readonly string[]): boolean {
  const open = expression.indexOf('(');
  if (open < 0) return expression.length === 1 || (expression.length === 3 && expression[1] === '.');
  return open <= 1 && closingIndex(expression, open) === expression.length - 1;
}

/** Where the parenthesis at an index closes. */
function closingIndex(tokens: readonly string[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at] === '(') depth++;
    else if (tokens[at] === ')' && --depth === 0) return at;
  }
  return -1;
}

function parseType(tokens: readonly string[]): string | undefined {
  const cursor = new Cursor(tokens.join(''));
  try {
    const type = parseColumnType(cursor, cursor.require('type'));
    return cursor.next() === undefined ? type : undefined;
  } catch (error) {
    if (error instanceof RejectionError) return undefined;
    throw error;
  }
}
