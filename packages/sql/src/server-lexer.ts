/*!
 * The tokens of SQL text as QuestDB reads it. Unlike in standard SQL, quotes pair inside comments, `a"b"` is one token, and an unclosed
 * quote is a token by itself. Do not correct anything here: what a statement does, and where it is rejected, depends on these tokens.
 * Sources: GenericLexer and SqlUtil.fetchNext of 9.0.3 to 9.3.4, compared with this lexer on two million random texts.
 */
import { findClosingQuote, type Token, type TokenType, WHITESPACE } from './tokens.js';

/** The versions with which QuestDB's rules for comments changed. Before 9.3.2, quotes pair inside line comments too. */
export const SERVER_COMMENT_RULES = ['9.0', '9.3.2'] as const;

/** One of `SERVER_COMMENT_RULES`. */
export type ServerCommentRules = (typeof SERVER_COMMENT_RULES)[number];

/** The rules of the newest servers, which count where no version is known. */
export const NEWEST_COMMENT_RULES: ServerCommentRules = '9.3.2';

/** Matches a symbol. The longer ones come first, because the server tries them first. */
const SYMBOL = String.raw`<<=|>>=|/\*\+|/\*|\*/|--|:=|::|<<|>>|\|\||<=|>=|!=|<>|!~|[();,[\]~.:*/%+\-&^|<>= \t\n\r]`;
const IS_SYMBOL = new RegExp(`^(?:${SYMBOL})$`);
const QUOTE_OR_SYMBOL = new RegExp(`['"\`]|${SYMBOL}`, 'g');

/** A token by the server's rules: `text.slice(start, end)`. Blanks and the delimiters of comments are tokens too. */
export interface ServerToken {
  readonly start: number;
  readonly end: number;
  /** How far the server has read when it returns the token: to the end of the symbol or blank that ended the token. */
  readonly reach: number;
}

/** Scans the token that starts at `from`; undefined at the end of the text. */
function scanToken(text: string, start: number): ServerToken | undefined {
  if (start >= text.length) return;
  QUOTE_OR_SYMBOL.lastIndex = start;
  const found = QUOTE_OR_SYMBOL.exec(text);
  if (!found) return { start, end: text.length, reach: text.length };
  const { 0: symbol, index } = found;
  const symbolEnd = index + symbol.length;
  if (`'"\``.includes(symbol)) {
    const end = findClosingQuote(text, symbolEnd, symbol) + 1 || Math.max(index, start + 1);
    return { start, end, reach: end };
  }
  return { start, end: index === start ? symbolEnd : index, reach: symbolEnd };
}

/**
 * Scans the next token that is neither white space nor comment, by the rules of a server. @param last the token before it
 * @returns the token and its text, which is undefined at the end: then the span is that of the last white space or comment
 */
export function scanSignificant(text: string, last: ServerToken, rules = NEWEST_COMMENT_RULES) {
  let depth = 0;
  let isInLineComment = false;
  let read = last;
  for (let token = scanToken(text, read.end); token; token = scanToken(text, read.end)) {
    read = token;
    const word = text.slice(token.start, token.end);
    if (isInLineComment) {
      // The comment ends after the first line end that is a token; since 9.3.2 also after a line end in quotes.
      const lineEnd = word.length > 1 && rules === '9.0' ? -1 : word.search(/[\r\n]/);
      isInLineComment = lineEnd < 0;
      if (word.length > 1 && !isInLineComment)
        read = emptyTokenAt(token.start + lineEnd + (word.startsWith('\r\n', lineEnd) ? 2 : 1));
    } else if (word === '--') isInLineComment = true;
    else if (word === '/*' || word === '/*+') depth++;
    else if (word === '*/' && depth > 0) depth--;
    else if (depth === 0 && !WHITESPACE.includes(word)) return { ...token, text: word };
  }
  return { ...read, text: undefined };
}

/** The tokens from an index on, without white space and comments, by the rules of a server. */
export function* serverTokens(text: string, from = 0, rules = NEWEST_COMMENT_RULES): Generator<Token> {
  let token = scanSignificant(text, emptyTokenAt(from), rules);
  for (; token.text !== undefined; token = scanSignificant(text, token, rules))
    yield { type: typeOf(token.text), text: token.text, start: token.start };
}

/** A token that ends at an index: the next scan starts there. */
export const emptyTokenAt = (start: number): ServerToken => ({ start, end: start, reach: start });

/** The type of a token. `a"b"` counts as a word: it is not a keyword, and the server accepts it as no name. */
function typeOf(token: string): TokenType {
  const first = token.charAt(0);
  const isQuote = first === "'" || first === '"' || first === '`';
  if (isQuote && token.length > 1) return first === "'" ? 'string' : 'name';
  return isQuote || IS_SYMBOL.test(token) ? 'punctuation' : 'word';
}
