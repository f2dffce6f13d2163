/*!
 * Tokens and clauses have a `start` and an `end`. A `position` is what a rejection reports: mostly the start of the last token, sometimes
 * how far the server has read.
 */
import { emptyTokenAt, type ObjectKind, scanSignificant } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';

/** Whether a token is a word, in any case. @param word in lower case */
export const isWord = (token: string | undefined, word: string): boolean => token?.toLowerCase() === word;

export class Cursor {
  #last: ReturnType<typeof scanSignificant> = { ...emptyTokenAt(0), text: undefined };
  #isUnread = false;
  /** The ends of the last two tokens that are neither blank nor comment. */
  #ends: readonly [number, number] = [0, 0];

  constructor(readonly text: string) {}

  get start(): number {
    return this.#last.start;
  }

  get end(): number {
    return this.#last.end;
  }

  /** The end of the token before the one read last. At the end of the statement, it is the end of its last token. */
  get previousEnd(): number {
    return this.#ends[0];
  }

  get nextStart(): number {
    return this.#isUnread ? this.start : this.end;
  }

  /** How far the server has read: to the end of the blank or symbol that ended the last token. */
  get reach(): number {
    return this.#last.reach;
  }

  /** Reads the next token that is neither blank nor comment; undefined at the end. */
  next(): string | undefined {
    if (this.#isUnread) {
      this.#isUnread = false;
      return this.#last.text;
    }
    this.#last = scanSignificant(this.text, this.#last);
    const { text } = this.#last;
    if (text === '"') throw this.error('unclosed quotation mark');
    this.#ends = [this.#ends[1], text === undefined ? this.#ends[1] : this.end];
    return text;
  }

  /** Puts the last token back, to be read again; has no effect at the end. */
  unread(): void {
    this.#isUnread = this.#last.text !== undefined;
  }

  seek(position: number): void {
    this.#last = { ...emptyTokenAt(position), text: undefined };
    this.#ends = [position, position];
    this.#isUnread = false;
  }

  require(expected: string): string {
    const { reach } = this;
    const token = this.next();
    if (token === undefined) throw new RejectionError(reach, `${expected} expected`);
    return token;
  }

  /** Reads the next token; rejects the end of the statement and a semicolon, as the server does outside of CREATE. */
  requireNoSemicolon(expected: string): string {
    const token = this.next();
    if (token === undefined || token === ';') throw this.errorAt(token, `${expected} expected`);
    return token;
  }

  /** Reads one of some words in any case, and returns it as given; rejects any other token. */
  requireWord<Word extends string>(...words: readonly Word[]): Word {
    const expected = words.map(word => `'${word}'`).join(' or ');
    const token = this.requireNoSemicolon(expected);
    const found = words.find(word => isWord(token, word));
    if (found === undefined) throw this.error(`${expected} expected`);
    return found;
  }

  accept(word: string): boolean {
    const isNext = isWord(this.next(), word);
    if (!isNext) this.unread();
    return isNext;
  }

  /** Reads these words or symbols; rejects any other token. */
  expect(...words: readonly string[]): void {
    for (const word of words) {
      const token = this.next();
      if (!isWord(token, word)) throw this.errorAt(token, `'${word}' expected`);
    }
  }

  /** Rejects a token that is not this word or symbol. The token has been read. */
  expectToken(token: string | undefined, word: string): void {
    if (!isWord(token, word)) throw this.error(`'${word}' expected`);
  }

  skipRest(): void {
    while (this.next() !== undefined);
  }

  /** Reads up to the first token outside of parentheses that ends a part. Returns it; undefined at the end of the statement. */
  skipTo(isEnd: (token: string) => boolean, [opening, closing] = ['(', ')']): string | undefined {
    let depth = 0;
    for (let token = this.next(); token !== undefined; token = this.next()) {
      if (depth === 0 && isEnd(token)) return token;
      if (opening.includes(token)) depth++;
      if (closing.includes(token)) depth--;
    }
    return undefined;
  }

  error(problem: string): RejectionError {
    return new RejectionError(this.start, problem);
  }

  /** A rejection of the last token. @param token undefined at the end of the statement */
  errorAt(token: string | undefined, problem: string): RejectionError {
    return new RejectionError(token === undefined ? this.reach : this.start, problem);
  }

  expectEnd(): void {
    const token = this.next();
    if (token !== undefined && token !== ';') throw unexpectedTokenError(this.start, token);
  }
}

/** A rejection of a statement. `position` counts UTF-16 code units from the start of the statement. */
export class RejectionError extends CodedError {
  override name = 'RejectionError';

  constructor(
    readonly position: number,
    message: string,
  ) {
    super('REJECTED', message);
  }
}

export const unexpectedTokenError = (position: number, token: string) =>
  new RejectionError(position, `unexpected token [${token}]`);

export const tokenError = (position: number, token: string, problem: string) =>
  new RejectionError(position, `found [tok='${token}', len=${token.length}] ${problem}`);

export const missingError = (position: number, name: string, kind: ObjectKind = 'table') =>
  new RejectionError(position, `${kind} does not exist [${kind === 'table' ? 'table' : 'view'}=${name}]`);

/** What a function returns, or the rejection that it throws. */
export function catchRejection<T>(run: () => T): T | RejectionError {
  try {
    return run();
  } catch (error) {
    if (error instanceof RejectionError) return error;
    throw error;
  }
}

export function tryParse<T>(run: () => T): T | undefined {
  const result = catchRejection(run);
  return result instanceof RejectionError ? undefined : result;
}
