import { serverTokens } from '@sqlpipe/sql';
import { TYPE_NAMES } from '../parser/types.js';
import { RESERVED, wordsWith } from '../parser/words.js';

/** A token of a query. */
export interface QueryToken {
  readonly text: string;
  readonly start: number;
  /** The number of parentheses and brackets around the token; a parenthesis is not in itself. */
  readonly depth: number;
}

const KEYWORDS = wordsWith('keyword');
const ENDS_PHRASE = wordsWith('phrase');
const ITEM_KEYWORDS = wordsWith('item');

/** Splits a query into tokens by the server's rules, without a final `;`. Never fails. */
export function tokenizeQuery(query: string): QueryToken[] {
  const tokens: { text: string; start: number }[] = [];
  for (const { text, start } of serverTokens(query)) {
    const isUnclosed = text === '"';
    tokens.push({ text: isUnclosed ? query.slice(start) : text, start });
    if (isUnclosed) break;
  }
  if (tokens.at(-1)?.text === ';') tokens.pop();
  return withDepths(tokens);
}

/** Adds to each token its depth in parentheses and brackets. */
export function withDepths<T extends { readonly text: string }>(tokens: readonly T[]): (T & { depth: number })[] {
  let depth = 0;
  return tokens.map(token => {
    if (/^[)\]]$/.test(token.text)) depth--;
    const nested = { ...token, depth };
    if (/^[([]$/.test(token.text)) depth++;
    return nested;
  });
}

/** Whether a token is one of some words, in any case. */
export const isKeyword = (token: QueryToken | undefined, ...words: readonly string[]): boolean =>
  token !== undefined && words.includes(token.text.toLowerCase());

/** The index of the parenthesis that closes the one at an index; -1 if there is none. */
export const closingIndex = (tokens: readonly QueryToken[], open: number): number =>
  tokens[open]?.text === '(' ? nextAtDepthOf(tokens, open, 1) : -1;

/** The index of the parenthesis that opens the one at an index; -1 if there is none. */
export const openingIndex = (tokens: readonly QueryToken[], close: number): number =>
  tokens[close]?.text === ')' ? nextAtDepthOf(tokens, close, -1) : -1;

function nextAtDepthOf(tokens: readonly QueryToken[], from: number, step: 1 | -1): number {
  for (let index = from + step; tokens[index]; index += step)
    if (tokens[index]?.depth === tokens[from]?.depth) return index;
  return -1;
}

/** The index of the first of some words at the depth of the first token; -1 if there is none. */
export const topLevelIndex = (tokens: readonly QueryToken[], ...words: readonly string[]): number =>
  tokens.findIndex(token => token.depth === tokens[0]?.depth && isKeyword(token, ...words));

/** Splits a list at its separators, outside of parentheses. */
export function splitList<T extends QueryToken>(tokens: readonly T[] = [], separator = ','): T[][] {
  const items: T[][] = tokens.length > 0 ? [[]] : [];
  for (const token of tokens)
    if (token.text === separator && token.depth === tokens[0]?.depth) items.push([]);
    else items.at(-1)?.push(token);
  return items;
}

/** Finds the offsets of the first difference. White space, comments, the case of keywords, and needless quotes are no differences. */
export function findQueryDifference(a: string, b: string): { a: number; b: number } | undefined {
  if (a === b) return undefined;
  const [tokensA, tokensB] = [a, b].map(tokenizeQuery) as [QueryToken[], QueryToken[]];
  const [comparableA, comparableB] = [tokensA, tokensB].map(toComparable) as [string[], string[]];
  for (let i = 0; i < tokensA.length || i < tokensB.length; i++)
    if (comparableA[i] !== comparableB[i])
      return { a: tokensA[i]?.start ?? a.length, b: tokensB[i]?.start ?? b.length };
  return undefined;
}

/** A query as it is compared, with a blank between two tokens. */
export const normalizeQuery = (query: string): string => toComparable(tokenizeQuery(query)).join(' ');

function toComparable(tokens: readonly QueryToken[]): string[] {
  /** For each open parenthesis, whether it belongs to a CAST, where a type and not a name follows AS. */
  const areCasts: boolean[] = [];
  const naming = findNamingConstants(tokens);
  return tokens.map((token, i) => {
    const comparable = naming.has(token) ? token.text : toComparableToken(tokens, token, i, areCasts.at(-1) ?? false);
    if (token.text === '(') areCasts.push(isKeyword(tokens[i - 1], 'cast'));
    if (token.text === ')') areCasts.pop();
    const before = tokens[i - 1];
    const isApart = before !== undefined && before.start + before.text.length < token.start;
    return isApart && DOTTED.test(before.text + token.text) ? ` ${comparable}` : comparable;
  });
}

/** White space next to a dot has a meaning: `. 5` is 5, not .5, and the server rejects `1 .5` and `t. x`. */
const DOTTED = /[\p{L}\p{N}_"]\.$|^\.[\p{L}\p{N}_"]/u;

/** A token as it is compared: keywords and types in lower case, names without needless quotes, anything else as written. */
function toComparableToken(tokens: readonly QueryToken[], { text }: QueryToken, i: number, isInCast: boolean): string {
  const name = /^"([\p{L}_][\p{L}\p{N}_$]*)"$/u.exec(text)?.[1];
  const word = (name ?? text).toLowerCase();
  if (word === text) return text;
  const before = tokens[i - 1]?.text.toLowerCase();
  const after = tokens[i + 1]?.text.toLowerCase();
  const isType = TYPE_NAMES.has(word) && (before === '::' || (isInCast && before === 'as'));
  const actsAsKeyword = RESERVED.has(word)
    ? name !== undefined || !isNamePosition(before, after)
    : KEYWORDS.has(word) && !isName(word, before, after);
  // In quotes, no word is a keyword, a type, a function, or the start of an array (observed on 9.3.4).
  if (name !== undefined) return isType || actsAsKeyword || after === '(' || word === 'array' ? text : name;
  return isType || actsAsKeyword ? word : text;
}

/** Whether a word is in a position where no keyword can be. */
const isNamePosition = (before: string | undefined, after: string | undefined): boolean =>
  before === 'as' || before === '.' || after === '.';

/** Whether a possible keyword is a name: a complete item of a list, or the alias at the end of an item. */
function isName(word: string, before: string | undefined, after: string | undefined): boolean {
  if (isNamePosition(before, after)) return true;
  if (after !== undefined && after !== ',' && after !== ')' && after !== 'from') return false;
  const beginsItem = before === 'select' || before === 'distinct' || before === ',';
  return beginsItem ? !ITEM_KEYWORDS.has(word) : !ENDS_PHRASE.has(word);
}

/** The only words whose case is in the name of a view's column. Others are printed in lower case, or no column may have the name. */
const CONSTANTS = ['null', 'true', 'false', 'nan'];

/** Finds the constants in items of SELECT without an alias: the server names such a column after its expression (observed on 9.3.4). */
function findNamingConstants(tokens: readonly QueryToken[]): ReadonlySet<QueryToken> {
  const found = new Set<QueryToken>();
  let list: { readonly depth: number; constants: QueryToken[] } | undefined;
  /** For each open parenthesis, the list of the SELECT around it. */
  const outer: (typeof list)[] = [];
  const endItem = (end: number): void => {
    if (list && !hasAlias(tokens[end - 2], tokens[end - 1])) for (const each of list.constants) found.add(each);
    if (list) list.constants = [];
  };
  for (const [i, token] of tokens.entries()) {
    if (token.text === '(') outer.push(list);
    else if (token.text === ')') {
      if (list && list.depth > token.depth) endItem(i);
      list = outer.pop();
    } else if (isKeyword(token, 'select')) list = { depth: token.depth, constants: [] };
    else if (isKeyword(token, ...CONSTANTS)) list?.constants.push(token);
    else if (token.depth === list?.depth && isKeyword(token, ',', ...ENDS_LIST)) {
      endItem(i);
      if (token.text !== ',') list = undefined;
    }
  }
  endItem(tokens.length);
  return found;
}

const ENDS_LIST = ['from', 'union', 'except', 'intersect', 'where', 'order', 'limit'];

function hasAlias(before: QueryToken | undefined, last: QueryToken | undefined): boolean {
  if (!before || !last || !/^["'`\p{L}_]/u.test(last.text) || isKeyword(last, 'end', ...CONSTANTS)) return false;
  if (isKeyword(before, 'as', 'end', ...CONSTANTS)) return true;
  return /["'`)\]\p{L}\p{N}_]$/u.test(before.text) && !KEYWORDS.has(before.text);
}
