/*!
 * Reads the tokens of one statement in the ways that the server does. It keeps the server's two positions: most
 * rejections point at the last token, some at the end of what had been read.
 */
import { type ServerToken, scanToken } from '@sqlpipe/sql';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';

const blank = new Set([' ', '\t', '\n', '\r']);

/** True if the token is that word, in any case. The word is given in lower case. */
export const isWord = (token: string | undefined, word: string): boolean => token?.toLowerCase() === word;

export class Cursor {
  #last: ServerToken = { at: 0, end: 0, reach: 0 };
  #word: string | undefined;
  #isUnread = false;

  constructor(readonly text: string) {}

  /** Where the last token starts. */
  get at(): number {
    return this.#last.at;
  }

  /** After the last token. */
  get end(): number {
    return this.#last.end;
  }

  /** How far the server has read: past the blank or symbol that ended the last token. */
  get readOffset(): number {
    return this.#last.reach;
  }

  /** The next token that is neither blank nor comment; undefined at the end. */
  next(): string | undefined {
    if (this.#isUnread) {
      this.#isUnread = false;
      return this.#word;
    }
    this.#word = this.#significant();
    return this.#word;
  }

  /** Gives the last token back, to be read again. At the end there is nothing to give back. */
  unread(): void {
    this.#isUnread = this.#word !== undefined;
  }

  /** Goes on reading at `position`. */
  seek(position: number): void {
    this.#last = { at: position, end: position, reach: position };
    this.#isUnread = false;
  }

  /** The next token, which must be there. */
  require(expected: string): string {
    const { readOffset } = this;
    const token = this.next();
    if (token === undefined) throw new RejectionError(readOffset, `${expected} expected`);
    return token;
  }

  /** The next token, which must be there, and no semicolon: how the server asks outside of CREATE. */
  requireNoSemicolon(expected: string): string {
    const token = this.next();
    if (token === undefined) throw new RejectionError(this.readOffset, `${expected} expected`);
    if (token === ';') throw new RejectionError(this.at, `${expected} expected`);
    return token;
  }

  /** The next token, which must be that word or symbol. */
  expect(word: string): void {
    const token = this.next();
    if (token === undefined) throw new RejectionError(this.readOffset, `'${word}' expected`);
    this.expectToken(token, word);
  }

  /** A token already read, which must be that word or symbol. */
  expectToken(token: string | undefined, word: string): void {
    if (!isWord(token, word)) throw new RejectionError(this.at, `'${word}' expected`);
  }

  /** The end of the statement. */
  expectEnd(): void {
    const token = this.next();
    if (token !== undefined && token !== ';') throw unexpectedTokenError(this.at, token);
  }

  #raw(): string | undefined {
    const token = scanToken(this.text, this.#last.end);
    if (!token) return;
    this.#last = token;
    return this.text.slice(token.at, token.end);
  }

  #significant(): string | undefined {
    let depth = 0;
    for (let token = this.#raw(); token !== undefined; token = this.#raw()) {
      if (token === '--') this.#lineComment();
      else if (token === '/*' || token === '/*+') depth++;
      else if (token === '*/' && depth > 0) depth--;
      else if (depth === 0 && !blank.has(token)) {
        if (token === '"') throw new RejectionError(this.at, 'unclosed quotation mark');
        return token;
      }
    }
    return;
  }

  /** To the end of the line, even if that is inside what the lexer considers a quoted token. */
  #lineComment(): void {
    for (let token = this.#raw(); token !== undefined; token = this.#raw()) {
      const lineEnd = token.search(/[\r\n]/);
      if (lineEnd < 0) continue;
      const skip = token.startsWith('\r\n', lineEnd) ? 2 : 1;
      if (token.length > 1) this.seek(this.at + lineEnd + skip);
      return;
    }
  }
}
