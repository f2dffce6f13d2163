import { Lexer, type LexerRules, type Segment, type SegmentType } from './lexer.js';

/** A `name` is quoted by `"` or backticks; a bare one is a `word`. */
export type TokenType = 'space' | 'comment' | 'string' | 'name' | 'word' | 'punctuation';

/** A token of SQL text. */
export interface Token {
  type: TokenType;
  text: string;
  /** Position in UTF-16 code units, the server's unit (observed on 9.3.4). */
  start: number;
}

/** A word is a keyword, a bare name, a number or a `@variable`; any other character is a token of its own. */
const SPACE = /[ \t\n\r]+/y;
const WORD = /[\w$@\u0080-\uffff]+/y;

const TOKEN_TYPES: Record<Exclude<SegmentType, 'code'>, TokenType> = {
  string: 'string',
  name: 'name',
  'line-comment': 'comment',
  'block-comment': 'comment',
  '(': 'punctuation',
  ')': 'punctuation',
  ';': 'punctuation',
};

/** Whether a text has what starts a comment, though perhaps within quotes. The rules may read the text after it differently. */
export const canHaveComments = (text: string): boolean => /--|\/\*/.test(text);

/** All tokens of a text. Joined, they are the text. */
export function* tokens(text: string, rules: LexerRules = 'sql'): Generator<Token> {
  let quoted: Segment | undefined; // the pending quoted text, which a doubled quote may continue
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

/** Whether quoted text continues at an index, because its quote is doubled. A doubled backtick does not continue it. */
const isContinued = (text: string, { start, end }: Segment, nextStart: number): boolean =>
  nextStart === end && text.charAt(nextStart) === text.charAt(start) && text.charAt(start) !== '`';

const toToken = (text: string, { type, start, end }: Segment): Token => ({
  type: TOKEN_TYPES[type as Exclude<SegmentType, 'code'>],
  text: text.slice(start, end),
  start,
});

/** The tokens of a text without white space and comments. */
export function* significantTokens(text: string): Generator<Token> {
  for (const token of tokens(text)) if (token.type !== 'space' && token.type !== 'comment') yield token;
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

/** The end of the pattern's match from `start` on; `start` itself if the pattern does not match there. */
function matchEnd(pattern: RegExp, code: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(code) ? pattern.lastIndex : start; // unlike exec(), test() allocates nothing
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
