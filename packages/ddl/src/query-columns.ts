/*! The columns of a query, as far as it states them. */
import { foldCase } from '@sqlpipe/sql';
import { Cursor } from './grammar/cursor.js';
import { unquote } from './grammar/names.js';
import { RejectionError } from './grammar/rejection-error.js';
import { parseColumnType } from './grammar/types.js';
import { tokenizeQuery } from './query-tokens.js';
import { findReferences } from './references.js';

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
  const columns = new Map<string, QueryColumn>();
  for (const item of findItems(tokens) ?? [[]]) {
    const column = toColumn(item);
    if (!column || columns.has(foldCase(column.name))) return undefined;
    columns.set(foldCase(column.name), column);
  }
  return [...columns.values()];
}

/**
 * Finds which columns of a query hold values as its table has them: a column, or the first, last, least or greatest of its
 * values. All others may be computed.
 * @returns whether it is so, for each item of SELECT; nothing if the query is not one SELECT from this table alone
 */
export function findStoredValues(query: string, table: string): boolean[] {
  const tokens = tokenizeQuery(query).map(({ text }) => text);
  const sources = findReferences(`CREATE VIEW v AS (\n${query}\n)`).map(foldCase);
  const isSimple = tokens.filter(token => token.toLowerCase() === 'select').length === 1;
  if (!isSimple || sources.length !== 1 || sources[0] !== foldCase(table)) return [];
  return (findItems(tokens) ?? []).map(item => STORED_VALUE.test(item.map(toPattern).join('')));
}

/** `x`, `t.x` or `first(t.x)`, with an alias or without, where a name is an `n`, a function an `f` (or a name) and AS an `a`. */
const STORED_VALUE = /^(?:f\([nf](?:\.[nf])?\)|[nf](?:\.[nf])?)(?:a?[nf])?$/;
const STORED_FUNCTION = /^(?:first|last|first_not_null|last_not_null|min|max)$/i;

function toPattern(token: string): string {
  if (token.toLowerCase() === 'as') return 'a';
  if (STORED_FUNCTION.test(token)) return 'f';
  return NAME.test(token) ? 'n' : token;
}

/** The items of a query that is one SELECT; undefined for any other. */
function findItems(tokens: readonly string[]): string[][] | undefined {
  if (tokens[0]?.toLowerCase() !== 'select' || tokens[1]?.toLowerCase() === 'distinct') return undefined;
  if (tokens.some(each => SET_OPERATORS.has(each.toLowerCase()))) return undefined;
  const items: string[][] = [[]];
  let depth = 0;
  for (const token of tokens.slice(1)) {
    if (depth === 0 && token.toLowerCase() === 'from') return items;
    if (token === '(' || token === '[') depth++;
    if (token === ')' || token === ']') depth--;
    if (depth === 0 && token === ',') items.push([]);
    else items.at(-1)?.push(token);
  }
  return depth === 0 ? items : undefined;
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
