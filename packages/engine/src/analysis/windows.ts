/*!
 * The windows of a query as they are written, with positions. They are read with the server's lexer: the syntax tree has no
 * named windows, and none of what only live views have.
 */
import { Cursor } from '@sqlpipe/ddl/grammar';

/** A word or a sign of a query. */
export interface Token {
  readonly text: string;
  /** The offset in the query's text. */
  readonly at: number;
}

/** The definition of a window: what stands in its parentheses. */
export interface Window {
  readonly partitionBy: readonly Token[][];
  readonly orderBy: readonly Token[][];
  /** ROWS, RANGE or another frame, in lower case; undefined if it is the default frame. */
  readonly frame?: string | undefined;
  /** How the frame starts and ends, in lower case: `unbounded preceding`, `3 preceding`, `current row`. */
  readonly from: string;
  readonly to: string;
  readonly excludesCurrentRow: boolean;
  readonly anchor?: Anchor | undefined;
}

export interface Anchor {
  readonly at: number;
  /** The tokens after ANCHOR EXPRESSION; undefined for ANCHOR DAILY. */
  readonly expression?: readonly Token[] | undefined;
}

export interface NamedWindow extends Window {
  readonly name: string;
}

/** A call of a window function. */
export interface WindowCall {
  readonly name: string;
  readonly at: number;
  readonly arguments: readonly Token[];
  readonly ignoresNulls: boolean;
  /** The name of the window, in lower case; undefined for a window without a name. */
  readonly windowName?: string | undefined;
  /** Undefined if no window has the name. */
  readonly window: Window | undefined;
}

export const isWord = (token: Token | undefined, ...words: readonly string[]): boolean =>
  token !== undefined && words.includes(token.text.toLowerCase());

/** The tokens of a query from which comments have been removed. */
export function readTokens(code: string): Token[] {
  const cursor = new Cursor(code);
  const tokens: Token[] = [];
  for (let text = cursor.next(); text !== undefined; text = cursor.next()) tokens.push({ text, at: cursor.at });
  return tokens;
}

/** The index of the parenthesis that closes the one at `open`. */
function closingOf(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]?.text === '(') depth++;
    if (tokens[at]?.text === ')' && --depth === 0) return at;
  }
  return tokens.length;
}

/** The index of the parenthesis that opens the one at `close`. */
function openingOf(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    if (tokens[at]?.text === ')') depth++;
    if (tokens[at]?.text === '(' && --depth === 0) return at;
  }
  return -1;
}

/** The windows that WINDOW names. */
export function readNamedWindows(tokens: readonly Token[]): NamedWindow[] {
  const windows: NamedWindow[] = [];
  let at = tokens.findIndex(
    (token, i) => isWord(token, 'window') && isWord(tokens[i + 2], 'as') && tokens[i + 3]?.text === '(',
  );
  if (at < 0) return windows;
  do {
    const close = closingOf(tokens, at + 3);
    const window = readWindow(tokens.slice(at + 4, close), windows);
    windows.push({ name: nameOf(tokens[at + 1]), ...window });
    at = close + 1;
  } while (tokens[at]?.text === ',' && isWord(tokens[at + 2], 'as') && tokens[at + 3]?.text === '(');
  return windows;
}

const nameOf = (token: Token | undefined): string => (token?.text ?? '').replaceAll('"', '').toLowerCase();

/** The calls of window functions, in the order of their text. */
export function readWindowCalls(tokens: readonly Token[], named: readonly NamedWindow[]): WindowCall[] {
  return tokens.flatMap((token, at) => {
    if (!isWord(token, 'over')) return [];
    const hasNulls = isWord(tokens[at - 1], 'nulls') && isWord(tokens[at - 2], 'ignore', 'respect');
    const close = hasNulls ? at - 3 : at - 1;
    const open = tokens[close]?.text === ')' ? openingOf(tokens, close) : -1;
    const name = tokens[open - 1];
    if (!name) return [];
    const isInline = tokens[at + 1]?.text === '(';
    const windowName = isInline ? undefined : nameOf(tokens[at + 1]);
    return [
      {
        name: name.text,
        at: name.at,
        arguments: tokens.slice(open + 1, close),
        ignoresNulls: hasNulls && isWord(tokens[at - 2], 'ignore'),
        windowName,
        window: isInline
          ? readWindow(tokens.slice(at + 2, closingOf(tokens, at + 1)), named)
          : named.find(window => window.name === windowName),
      },
    ];
  });
}

/** The words that start a part of a window. */
const PARTS = ['partition', 'order', 'rows', 'range', 'groups', 'cumulative', 'anchor'];

/** Reads the definition of a window, which may start with the name of another one that it extends. */
function readWindow(tokens: readonly Token[], named: readonly NamedWindow[]): Window {
  const inherited = isWord(tokens[0], ...PARTS) ? undefined : named.find(({ name }) => name === nameOf(tokens[0]));
  const parts = new Map<string, readonly Token[]>();
  let start = tokens.findIndex(token => isWord(token, ...PARTS));
  while (start >= 0) {
    const next = start + 1 + tokens.slice(start + 1).findIndex(isAtDepthZero(tokens.slice(start + 1)));
    const end = next > start ? next : tokens.length;
    parts.set(tokens[start]?.text.toLowerCase() ?? '', tokens.slice(start, end));
    start = next > start ? next : -1;
  }
  const frame = ['rows', 'range', 'groups', 'cumulative'].find(name => parts.has(name));
  const words = (frame === undefined ? [] : (parts.get(frame) ?? [])).slice(1).map(({ text }) => text.toLowerCase());
  const exclusion = words.indexOf('exclude');
  const bounds = (exclusion < 0 ? words : words.slice(0, exclusion)).join(' ');
  const [, from, to] = /^between (.*) and (.*)$/.exec(bounds) ?? [undefined, bounds, 'current row'];
  return {
    partitionBy: inherited?.partitionBy ?? splitList(parts.get('partition')?.slice(2)),
    orderBy: parts.has('order') ? splitList(parts.get('order')?.slice(2)) : (inherited?.orderBy ?? []),
    frame,
    from: from || 'unbounded preceding',
    to: to ?? '',
    excludesCurrentRow: words[exclusion + 1] === 'current' && exclusion >= 0,
    anchor: readAnchor(parts.get('anchor')),
  };
}

/** Whether a token, outside of parentheses, starts a part of a window. */
function isAtDepthZero(tokens: readonly Token[]): (token: Token, at: number) => boolean {
  const depths: number[] = [];
  let depth = 0;
  for (const { text } of tokens) {
    if (text === ')') depth--;
    depths.push(depth);
    if (text === '(') depth++;
  }
  return (token, at) => depths[at] === 0 && isWord(token, ...PARTS);
}

function readAnchor(part: readonly Token[] | undefined): Anchor | undefined {
  const [anchor, kind, ...expression] = part ?? [];
  if (!anchor) return undefined;
  return { at: anchor.at, expression: isWord(kind, 'expression') ? expression : undefined };
}

/** Splits a list at its commas, outside of parentheses. */
export function splitList(tokens: readonly Token[] = []): Token[][] {
  const items: Token[][] = [];
  let depth = 0;
  for (const token of tokens) {
    if (/^[([]$/.test(token.text)) depth++;
    if (/^[)\]]$/.test(token.text)) depth--;
    if (token.text === ',' && depth === 0) items.push([]);
    else if (items.length === 0) items.push([token]);
    else items.at(-1)?.push(token);
  }
  return items;
}
