import { identify, isSameName, type LocatedName, NameMap } from '@sqlpipe/sql';
import { Cursor, tryParse } from '../parser/cursor.js';
import { unquoteToken } from '../parser/names.js';
import { parseColumnType } from '../parser/types.js';
import { findFunction } from './functions.js';
import { closingIndex, isKeyword, type QueryToken, splitList, tokenizeQuery, topLevelIndex } from './query-tokens.js';
import { findReferencesOfQuery } from './references.js';

const NAME_TOKEN = /^(?:[\p{L}_][\p{L}\p{N}_$]*|".*"|`.*`)$/su;

/** Finds the columns of a simple SELECT. Undefined, for example, for a star, UNION, an expression without an alias, or a name twice. */
export function findQueryColumns(query: string) {
  const columns = new NameMap<{ readonly name: string; readonly type?: string | undefined }>(); // a cast may state the type
  for (const item of findItems(tokenizeQuery(query))) {
    const last = item.at(-1)?.text ?? '';
    const name = unquoteToken(last);
    const hasAlias = isKeyword(item.at(-2), 'as');
    const isName = item.length === 1 || (item.length === 3 && item[1]?.text === '.');
    if (!NAME_TOKEN.test(last) || !(hasAlias || isName) || columns.has(name)) return undefined;
    columns.set(name, hasAlias ? { name, type: findCastType(item.slice(0, -2)) } : { name });
  }
  return columns.size > 0 ? [...columns.values()] : undefined;
}

/** Finds the columns that a CREATE TABLE lists or its query selects, and where the list or query ends. Empty for another statement. */
export function locateColumns(statement: string): { readonly columns: LocatedName[]; readonly end: number } {
  const tokens = identify(statement).kind === 'table' ? tokenizeQuery(statement) : [];
  const open = tokens.findIndex(({ text }) => text === '(');
  const close = closingIndex(tokens, open);
  const content = tokens.slice(open + 1, Math.max(close, 0));
  const isQuery = isKeyword(tokens[open - 1], 'as');
  const names = isQuery ? findItems(content).map(item => item.at(-1)) : splitList(content).map(([first]) => first);
  const columns = names.flatMap(token => (token ? { name: unquoteToken(token.text), start: token.start } : []));
  return { columns, end: tokens[close]?.start ?? statement.length };
}

/**
 * Finds which items of a SELECT always have exactly the same value.
 * - In a SELECT from one table: expressions over the values of one row, and the first, last, least or greatest value of a column. Any other
 *   aggregate may differ in its last digits.
 * - In a SELECT over subqueries or joins: the group keys, if no subquery has an aggregate.
 */
export function flagExactItems(query: string, table: string): boolean[] {
  const tokens = tokenizeQuery(query);
  const sources = findReferencesOfQuery(query);
  const isSimple = tokens.filter(token => isKeyword(token, 'select')).length === 1;
  const items = findItems(tokens);
  const computed = items.map(hasAggregate);
  if (isSimple && sources.length === 1 && isSameName(sources[0], table))
    return items.map((item, i) => !computed[i] || STORED_VALUE.test(item.map(toPattern).join('')));
  const isOverAggregate = hasAggregate(tokens.slice(topLevelIndex(tokens, 'from')));
  return computed.includes(true) && !isOverAggregate ? computed.map(each => !each) : [];
}

const hasAggregate = (tokens: readonly QueryToken[]): boolean =>
  tokens.some(({ text }, i) => tokens[i + 1]?.text === '(' && findFunction(unquoteToken(text))?.isAggregate);

/** `x`, `t.x` or `first(t.x)`, with an alias or without. A name is an `n`, AS is an `a`, a function is an `f` and may be a name. */
const STORED_VALUE = /^(?:f\([nf](?:\.[nf])?\)|[nf](?:\.[nf])?)(?:a?[nf])?$/;

function toPattern(token: QueryToken): string {
  if (isKeyword(token, 'as')) return 'a';
  if (/^(?:first|last|first_not_null|last_not_null|min|max)$/i.test(token.text)) return 'f';
  return NAME_TOKEN.test(token.text) ? 'n' : token.text;
}

/** The items of a simple SELECT; empty for any other query. */
function findItems(tokens: readonly QueryToken[]): QueryToken[][] {
  if (!isKeyword(tokens[0], 'select') || isKeyword(tokens[1], 'distinct')) return [];
  if (tokens.some(each => isKeyword(each, 'union', 'except', 'intersect', 'pivot'))) return [];
  const from = topLevelIndex(tokens, 'from');
  return splitList(tokens.slice(1, from < 0 ? undefined : from));
}

/** The type of an expression of the form `CAST(… AS type)`, `…::type` or `ARRAY[]`; undefined for any other. */
function findCastType(expression: readonly QueryToken[]): string | undefined {
  if (textOf(expression).toUpperCase() === 'ARRAY[]') return 'ARRAY';
  const isCast = isKeyword(expression[0], 'cast') && closingIndex(expression, 1) === expression.length - 1;
  if (isCast) return parseType(expression.slice(expression.findLastIndex(token => isKeyword(token, 'as')) + 1, -1));
  const [operand = [], ...types] = splitList(expression, '::');
  if (!isOperand(operand)) return undefined;
  const known = types.map(parseType);
  return known.includes(undefined) ? undefined : known.at(-1);
}

/** Whether `::` after an expression casts the complete expression: a token, a name with a dot, a call, or parentheses. */
function isOperand(expression: readonly QueryToken[]): boolean {
  const open = expression.findIndex(({ text }) => text === '(');
  if (open < 0) return expression.length === 1 || (expression.length === 3 && expression[1]?.text === '.');
  return open <= 1 && closingIndex(expression, open) === expression.length - 1;
}

const textOf = (tokens: readonly QueryToken[]): string => tokens.map(({ text }) => text).join('');

function parseType(tokens: readonly QueryToken[]): string | undefined {
  const cursor = new Cursor(textOf(tokens));
  return tryParse(() => {
    const type = parseColumnType(cursor, cursor.require('type'));
    return cursor.next() === undefined ? type : undefined;
  });
}

/**
 * Finds the interval (`1h` also for `h`) and time zone of the outermost SAMPLE BY, or of the outermost column that is a `timestamp_floor`.
 * Undefined if one query has both with different intervals. Which interval counts then depends on its tables.
 */
export function findSampling(body: string): { interval: string; timeZone: string | undefined } | undefined {
  const tokens = tokenizeQuery(body);
  const samplings = findSamplings(tokens);
  const least = samplings.reduce((min, { depth }) => Math.min(min, depth), Number.POSITIVE_INFINITY);
  const outermost = samplings.filter(({ depth }) => depth === least);
  const sampleBy = outermost.find(each => each.index !== undefined);
  const [{ interval, index } = {}] = sampleBy ? [sampleBy] : outermost;
  if (interval === undefined || (sampleBy && outermost.some(other => other.interval !== interval))) return undefined;
  if (index === undefined) return { interval, timeZone: undefined };
  // The time zone in `ALIGN TO CALENDAR TIME ZONE 'x'` is searched up to the end of the query.
  const end = tokens.findIndex((token, i) => i > index && token.depth < least);
  const query = tokens.slice(index, end < 0 ? undefined : end);
  const time = query.findIndex((token, i) => isKeyword(token, 'time') && isKeyword(query[i + 1], 'zone'));
  return { interval, timeZone: time < 0 ? undefined : unquoteToken(query[time + 2]?.text ?? '') };
}

/** A `timestamp_floor` counts where a column of a SELECT begins. It has no `index`, which is that of SAMPLE. */
function findSamplings(tokens: readonly QueryToken[]) {
  const inColumns: boolean[] = []; // by depth
  return tokens.flatMap((token, index) => {
    const { depth, text } = token;
    if (text === '(') inColumns[depth + 1] = false;
    if (isKeyword(token, 'select', 'from')) inColumns[depth] = isKeyword(token, 'select');
    const interval = unquoteToken(tokens[index + 2]?.text ?? '').replace(/^(?!\d)/, '1');
    if (isKeyword(token, 'sample') && isKeyword(tokens[index + 1], 'by')) return { depth, interval, index };
    const isColumn = inColumns[depth] && isKeyword(tokens[index - 1], 'select', 'distinct', ',');
    const isFloor = isKeyword(token, 'timestamp_floor') && tokens[index + 1]?.text === '(';
    return isColumn && isFloor ? { depth, interval } : [];
  });
}
