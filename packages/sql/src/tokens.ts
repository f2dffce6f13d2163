/*!
 * Tokens: the lexer's segments, with the code between quotes and comments cut into words, white space and punctuation.
 */
import { type CommentRules, Lexer, type Segment, type SegmentType } from './lexer.js';

/** A `name` is quoted by `"` or backticks; a bare one is a `word`. */
export type TokenType = 'space' | 'comment' | 'string' | 'name' | 'word' | 'sign';

/** A token of SQL text; all tokens joined are the text. */
export interface Token {
  type: TokenType;
  text: string;
  /** Offset in UTF-16 code units, which is how the server counts positions too (observed on 9.3.4). */
  start: number;
}

/** A word is a keyword, a bare name, a number or a `@variable`; any other character is a token of its own. */
const SPACE = /[ \t\n\r]+/y;
const WORD = /[\w$@\u0080-\uffff]+/y;

const TYPE: Record<Exclude<SegmentType, 'code'>, TokenType> = {
  string: 'string',
  name: 'name',
  'line-comment': 'comment',
  'block-comment': 'comment',
  '(': 'sign',
  ')': 'sign',
  ';': 'sign',
};

/** All tokens of a text; joined they are the text, whatever it holds. */
export function* tokens(text: string, rules: CommentRules = 'sql'): Generator<Token> {
  let quoted: Segment | undefined;
  for (const segment of new Lexer(rules).segments(text)) {
    const { type, start, end } = segment;
    if (quoted && isContinued(text, quoted, start)) {
      quoted.end = end;
      continue;
    }
    if (quoted) yield toToken(text, quoted);
    quoted = type === 'string' || type === 'name' ? segment : undefined;
    if (type === 'code') yield* codeTokens(text.slice(start, end), start);
    else if (!quoted) yield toToken(text, segment);
  }
  if (quoted) yield toToken(text, quoted);
}

/** Whether quoted text goes on at a place, as its quote was a doubled one; to the server a doubled backtick is none. */
const isContinued = (text: string, { start, end }: Segment, at: number): boolean =>
  at === end && text.charAt(at) === text.charAt(start) && text.charAt(start) !== '`';

const toToken = (text: string, { type, start, end }: Segment): Token => ({
  type: TYPE[type as Exclude<SegmentType, 'code'>],
  text: text.slice(start, end),
  start,
});

/** The tokens that mean something: no white space, no comments. */
export function* significantTokens(text: string, rules?: CommentRules): Generator<Token> {
  for (const token of tokens(text, rules)) if (token.type !== 'space' && token.type !== 'comment') yield token;
}

function* codeTokens(code: string, offset: number): Generator<Token> {
  for (let at = 0, end = 0; at < code.length; at = end) {
    let type: TokenType = 'space';
    end = endOf(SPACE, code, at);
    if (end === at) [type, end] = ['word', endOf(WORD, code, at)];
    if (end === at) [type, end] = ['sign', at + 1];
    yield { type, text: code.slice(at, end), start: offset + at };
  }
}

/** Where what a pattern finds at `at` ends; `at` itself where it finds nothing. */
function endOf(pattern: RegExp, code: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(code) ? pattern.lastIndex : at; // test() makes no garbage, as exec() does
}

/** A bare word of plain letters in upper case, as keywords are written here; '' for any other token, and for none. */
export const keywordOf = (token: Token | undefined): string =>
  token?.type === 'word' && PLAIN.test(token.text) ? token.text.toUpperCase() : '';

/** What a keyword may be made of: `ß` must not make one of two letters. */
const PLAIN = /^[\w$@]+$/;

/** The name that a word, a string or a quoted name stands for: its text without the quotes, doubled ones made single. */
export function unquote(text: string): string {
  const quote = text[0];
  if (quote !== "'" && quote !== '"' && quote !== '`') return text;
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}
