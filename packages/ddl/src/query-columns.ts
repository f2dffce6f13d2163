/*! The columns of a table that CREATE TABLE … AS creates, as far as its query states them. */
import { foldCase } from '@sqlpipe/sql';
import { Cursor } from './grammar/cursor.js';
import { unquote } from './grammar/names.js';
import { RejectionError } from './grammar/rejection-error.js';
import { parseColumnType } from './grammar/types.js';
import { tokenizeQuery } from './query-tokens.js';

/** A column of a query; its type is known only if a cast states it. */
export interface QueryColumn {
  readonly name: string;
  readonly type?: string | undefined;
}

/** Matches a bare or quoted name, but no number, string or star. */
const NAME = /^(?:[\p{L}_][\p{L}\p{N}_$]*|".*"|`.*`)$/su;

/**
 * Finds the columns of a query that is one simple SELECT. Each item is a column or an expression with an alias. Returns
 * undefined if the columns cannot be known from the query alone: for a star, a set operator, an expression without an
 * alias, or two columns of the same name.
 */
export function findQueryColumns(query: string): QueryColumn[] | undefined {
  const tokens = tokenizeQuery(query).map(({ text }) => text);
  if (tokens[0]?.toLowerCase() !== 'select' || tokens[1]?.toLowerCase() === 'distinct') return undefined;
  const columns = new Map<string, QueryColumn>();
  let item: string[] = [];
  let depth = 0;
  for (const token of [...tokens.slice(1), 'from']) {
    const isItemEnd = depth === 0 && (token === ',' || token.toLowerCase() === 'from');
    if (token === '(' || token === '[') depth++;
    if (token === ')' || token === ']') depth--;
    if (!isItemEnd) item.push(token);
    else {
      const column = toColumn(item);
      if (!column || columns.has(foldCase(column.name))) return undefined;
      columns.set(foldCase(column.name), column);
      item = [];
    }
    if (isItemEnd && token !== ',')
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

/** The type of an expression of the form `CAST(… AS type)`, `…::type` or `ARRAY[]`; undefined for any other. */
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

/** Whether `::` after an expression casts all of it: it is one token, a name with a dot, a call, or in parentheses. */
function isOperand(expression: readonly string[]): boolean {
  const open = expression.indexOf('(');
  if (open < 0) return expression.length === 1 || (expression.length === 3 && expression[1] === '.');
  return open <= 1 && closingIndex(expression, open) === expression.length - 1;
}

/** The index of the parenthesis that closes the one at an index; -1 if none does. */
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
