/*!
 * Reads the tokens of one statement as the server does. Like the server, it has two positions: most rejections point at
 * the last token, some at the end of the text that has been read.
 */
import { type ServerToken, scanToken } from '@sqlpipe/sql';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';

const blank = new Set([' ', '\t', '\n', '\r']);

/** Whether a token is a word, in any case. @param word in lower case */
export const isWord = (token: string | undefined, word: string): boolean => token?.toLowerCase() === word;

export class Cursor {
  #last: ServerToken = { at: 0, end: 0, reach: 0 };
  #word: string | undefined;
  #isUnread = false;
  /** The ends of the last two tokens that are neither blank nor comment. */
  #ends: readonly [number, number] = [0, 0];

  constructor(readonly text: string) {}

  /** The start of the last token. */
  get at(): number {
    return this.#last.at;
  }

  /** The end of the last token. */
  get end(): number {
    return this.#last.end;
  }

  /** The end of the token before the last one: of the last one, if there is no more. */
  get previousEnd(): number {
    return this.#ends[0];
  }

  /** Where the next token is looked for. */
  get nextOffset(): number {
    return this.#isUnread ? this.at : this.end;
  }

  /** How far the server has read: to the end of the blank or symbol that ended the last token. */
  get readOffset(): number {
    return this.#last.reach;
  }

  /** Reads the next token that is neither blank nor comment; undefined at the end. */
  next(): string | undefined {
    if (this.#isUnread) {
      this.#isUnread = false;
      return this.#word;
    }
    this.#word = this.#readSignificant();
    this.#ends = [this.#ends[1], this.#word === undefined ? this.#ends[1] : this.end];
    return this.#word;
  }

  /** Puts the last token back, to be read again. At the end there is none. */
  unread(): void {
    this.#isUnread = this.#word !== undefined;
  }

  /** Continues reading at `position`. */
  seek(position: number): void {
    this.#moveTo(position);
    this.#ends = [position, position];
    this.#isUnread = false;
  }

  #moveTo(position: number): void {
    this.#last = { at: position, end: position, reach: position };
  }

  /** Reads the next token; rejects the end of the statement. */
  require(expected: string): string {
    const { readOffset } = this;
    const token = this.next();
    if (token === undefined) throw new RejectionError(readOffset, `${expected} expected`);
    return token;
  }

  /** Reads the next token; rejects the end of the statement and a semicolon, as the server does outside of CREATE. */
  requireNoSemicolon(expected: string): string {
    const token = this.next();
    if (token === undefined) throw new RejectionError(this.readOffset, `${expected} expected`);
    if (token === ';') throw new RejectionError(this.at, `${expected} expected`);
    return token;
  }

  /** Reads the next tokens; rejects any other than these words or symbols. */
  expect(...words: readonly string[]): void {
    for (const word of words) {
      const token = this.next();
      if (token === undefined) throw new RejectionError(this.readOffset, `'${word}' expected`);
      this.expectToken(token, word);
    }
  }

  /** Rejects a token that is not this word or symbol. The token has been read. */
  expectToken(token: string | undefined, word: string): void {
    if (!isWord(token, word)) throw new RejectionError(this.at, `'${word}' expected`);
  }

  /** Rejects anything but the end of the statement. */
  expectEnd(): void {
    const token = this.next();
    if (token !== undefined && token !== ';') throw unexpectedTokenError(this.at, token);
  }

  #readRaw(): string | undefined {
    const token = scanToken(this.text, this.#last.end);
    if (!token) return;
    this.#last = token;
    return this.text.slice(token.at, token.end);
  }

  #readSignificant(): string | undefined {
    let depth = 0;
    for (let token = this.#readRaw(); token !== undefined; token = this.#readRaw()) {
      if (token === '--') this.#skipLineComment();
      else if (token === '/*' || token === '/*+') depth++;
      else if (token === '*/' && depth > 0) depth--;
      else if (depth === 0 && !blank.has(token)) {
        if (token === '"') throw new RejectionError(this.at, 'unclosed quotation mark');
        return token;
      }
    }
    return;
  }

  /** Skips to the end of the line, even if that is inside of what the lexer considers a quoted token. */
  #skipLineComment(): void {
    for (let token = this.#readRaw(); token !== undefined; token = this.#readRaw()) {
      const lineEnd = token.search(/[\r\n]/);
      if (lineEnd < 0) continue;
      const skip = token.startsWith('\r\n', lineEnd) ? 2 : 1;
      if (token.length > 1) this.#moveTo(this.at + lineEnd + skip);
      return;
    }
  }
}

/** Reads the next token; rejects any other than this word, as the server does outside of CREATE. */
export function expectWord(cursor: Cursor, word: string, problem = `'${word}' expected`): void {
  if (!isWord(cursor.requireNoSemicolon(`'${word}'`), word)) throw new RejectionError(cursor.at, problem);
}
