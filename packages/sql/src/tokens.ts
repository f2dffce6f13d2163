/*!
 * Cuts text into segments and tokens. Rules (observed on QuestDB 9.3.4):
 * - Strings are in '…', names in "…" and `…`. There are no backslash escapes and no dollar quotes.
 * - A `--` comment ends before LF or CR. Block comments nest.
 */
import type { NameSpan } from './name.js';

/** For `sql`, the quote in a block comment `don't` is text. For `server` (QuestDB), it starts a string, and `--` starts a line comment. */
export type LexerRules = 'sql' | 'server';

/** A `name` is quoted by `"` or backticks; a bare one is a `word`. */
export type TokenType = 'space' | 'comment' | 'string' | 'name' | 'word' | 'punctuation';

/** A token of SQL text. */
export interface Token {
  type: TokenType;
  text: string;
  /** Position in UTF-16 code units, the server's unit (observed on 9.3.4). */
  start: number;
}

/** Quoted text, a comment, a parenthesis, a semicolon, or the code up to the next one of these. */
export interface Segment {
  readonly type: 'code' | Exclude<TokenType, 'space' | 'word'>;
  readonly start: number;
  readonly end: number;
  /** Whether quoted text or a block comment lacks its end. */
  readonly isUnclosed: boolean;
}

/** All characters that are white space in QuestDB. */
export const WHITESPACE = ' \t\n\r';

const SPACE = /[ \t\n\r]+/y;
/** A word is a keyword, a bare name, a number or a `@variable`; any other character is a token of its own. */
const WORD = /[\w$@\u0080-\uffff]+/y;
const LINE = /[^\n\r]*/y;

/** The first character of what ends a segment of code. */
const CODE_END = /['"`();]|-(?=-)|\/(?=\*)/g;

const COMMENT_EDGE: Record<LexerRules, RegExp> = {
  sql: /\/\*|\*\//g,
  server: /\/\*|\*\/|'[^']*'?|"[^"]*"?|`[^`]*`?|--[^\n\r]*/g,
};

/** Whether a text has what starts a comment, though perhaps within quotes. The rules may read the text after it differently. */
export const canHaveComments = (text: string): boolean => /--|\/\*/.test(text);

/** Reads the segment that starts at an index. It depends only on the text before its end and on the next character. */
export function readSegment(text: string, start: number, rules: LexerRules): Segment {
  const codeEnd = endOfCode(text, start);
  if (codeEnd > start) return { type: 'code', start, end: codeEnd, isUnclosed: false };
  const first = text.charAt(start);
  if ('();'.includes(first)) return { type: 'punctuation', start, end: start + 1, isUnclosed: false };
  if (first === '-') return { type: 'comment', start, end: matchEnd(LINE, text, start), isUnclosed: false };
  const end = first === '/' ? endOfComment(text, start, rules) : findClosingQuote(text, start + 1, first) + 1;
  const type = first === '/' ? 'comment' : first === "'" ? 'string' : 'name';
  return { type, start, end: end || text.length, isUnclosed: !end };
}

/** The start of the next quote, comment, parenthesis or semicolon, or the end of the text. */
export function endOfCode(text: string, from: number): number {
  CODE_END.lastIndex = from;
  return CODE_END.test(text) ? CODE_END.lastIndex - 1 : text.length; // unlike exec(), test() allocates nothing
}

/** The end of the block comment that starts at an index; 0 if it is unclosed. */
function endOfComment(text: string, start: number, rules: LexerRules): number {
  const edge = COMMENT_EDGE[rules];
  edge.lastIndex = start;
  let depth = 0;
  do {
    const [found] = edge.exec(text) ?? [];
    if (found === undefined) return 0;
    if (found === '/*') depth++;
    else if (found === '*/') depth--;
  } while (depth > 0);
  return edge.lastIndex;
}

/** The index of the closing quote, or -1. A doubled quote does not close, except for a backtick. */
export function findClosingQuote(text: string, from: number, quote: string): number {
  for (let index = text.indexOf(quote, from); index >= 0; index = text.indexOf(quote, index + 2))
    if (quote === '`' || text.charAt(index + 1) !== quote) return index;
  return -1;
}

/** The end of the pattern's match from `start` on; `start` itself if the pattern does not match there. */
function matchEnd(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/** All tokens of a text. Joined, they are the text. */
export function* tokens(text: string, rules: LexerRules = 'sql'): Generator<Token> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    const segment = readSegment(text, start, rules);
    const { type } = segment;
    end = segment.end;
    if (type === 'code') yield* codeTokens(text.slice(start, end), start);
    else yield { type, text: text.slice(start, end), start };
  }
}

function* codeTokens(code: string, codeStart: number): Generator<Token> {
  for (let start = 0, end = 0; start < code.length; start = end) {
    let type: TokenType = 'space';
    end = matchEnd(SPACE, code, start);
    if (end === start) [type, end] = ['word', matchEnd(WORD, code, start)];
    if (end === start) [type, end] = ['punctuation', start + 1];
    yield { type, text: code.slice(start, end), start: codeStart + start };
  }
}

/** The tokens of a text without white space and comments. */
export function* significantTokens(text: string): Generator<Token> {
  for (const token of tokens(text)) if (token.type !== 'space' && token.type !== 'comment') yield token;
}

/** The text of a bare ASCII word in upper case, as keywords are written here. '' for any other token. */
export const keywordOf = (token: Token | undefined): string =>
  token?.type === 'word' && ASCII_WORD.test(token.text) ? token.text.toUpperCase() : '';

/** The words that may be keywords. Only ASCII, because `ß` in upper case is `SS`. */
const ASCII_WORD = /^[\w$@]+$/;

/** A text without its quotes. SQL makes doubled quotes in it single; QuestDB keeps them (GenericLexer), and accepts no name with quotes. */
export function unquote(text: string, rules: LexerRules = 'sql'): string {
  const quote = text.charAt(0);
  if (text.length < 2 || !`'"\``.includes(quote) || !text.endsWith(quote)) return text;
  const inner = text.slice(1, -1);
  return rules === 'server' ? inner : inner.replaceAll(quote + quote, quote);
}

/** Joins the tokens of a text, with a blank for each gap of white space or comments. */
export function joinTokens(tokens: Iterable<Token>): string {
  let text = '';
  let end = 0;
  for (const token of tokens) {
    text += token.start > end ? ` ${token.text}` : token.text;
    end = token.start + token.text.length;
  }
  return text.trimStart();
}

/** A statement without comments and without its `;`, with one space for any white space. */
export const printOnOneLine = (statement: string): string => joinTokens(significantTokens(statement.replace(/;$/, '')));

/** The characters that end a bare name. The server accepts all others, and the names of some principals have dashes. */
const NAME_TERMINATORS = '();,[]~:*/%+&^|<>=';

export const isQuoted = ({ type }: Token): boolean => type === 'string' || type === 'name';

/** Reads the tokens of a statement one by one, with lookahead. They are never all in memory, because bodies are long. */
export class TokenReader {
  readonly #source: Iterator<Token>;
  readonly #ahead: Token[] = [];

  constructor(tokens: Iterable<Token>) {
    this.#source = tokens[Symbol.iterator]();
  }

  peek(distance = 0): Token | undefined {
    while (this.#ahead.length <= distance) {
      const { done, value } = this.#source.next();
      if (done) return undefined;
      this.#ahead.push(value);
    }
    return this.#ahead[distance];
  }

  next(): Token | undefined {
    const token = this.peek();
    this.#ahead.shift();
    return token;
  }

  get word(): string {
    return keywordOf(this.peek());
  }

  /** Skips the words if they come next, in upper or lower case; returns whether they did. */
  accept(phrase: string): boolean {
    const words = phrase.split(' ');
    if (!words.every((word, i) => keywordOf(this.peek(i)) === word)) return false;
    this.#ahead.splice(0, words.length);
    return true;
  }

  acceptPunctuation(character: string): boolean {
    const isNext = this.peek()?.text === character;
    if (isNext) this.next();
    return isNext;
  }

  skipTo(word: string): void {
    while (this.peek() && this.word !== word) this.next();
  }

  /** Reads the name that starts with the next token. */
  readName(): NameSpan {
    const { tokenCount, ...name } = this.peekName();
    this.#ahead.splice(0, tokenCount);
    return name;
  }

  /**
   * The name that starts with the next token, in any quotes, without the schema `public`; '' if there is none. It may consist of several
   * tokens. Quoted text that adjoins a name is no part of it: it may be a secret.
   */
  peekName(): NameSpan & { tokenCount: number } {
    const first = this.peek();
    const hasSchema =
      this.peek(1)?.text === '.' &&
      first?.type !== 'punctuation' &&
      unquote(first?.text ?? '').toLowerCase() === 'public';
    let tokenCount = hasSchema ? 2 : 0;
    let name = '';
    const start = this.peek(tokenCount)?.start ?? 0;
    let end = start;
    for (let token = this.peek(tokenCount); token && token.start === end; token = this.peek(tokenCount)) {
      if (token.type === 'punctuation' && NAME_TERMINATORS.includes(token.text.charAt(0))) break;
      if (isQuoted(token) && name !== '') break;
      name += unquote(token.text);
      end += token.text.length;
      tokenCount++;
      if (isQuoted(token)) break;
    }
    return { name, start, end, tokenCount };
  }
}
