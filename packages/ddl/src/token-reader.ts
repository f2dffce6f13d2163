import { keywordOf, type LocatedName, parseName, type Token } from '@sqlpipe/sql';

/** The tokens of a statement one after the other, with a look at those to come; they are never all in memory. */
export class TokenReader {
  readonly #source: Iterator<Token>;
  readonly #next: Token[] = [];

  constructor(tokens: Iterable<Token>) {
    this.#source = tokens[Symbol.iterator]();
  }

  /** The token that comes next, or one after it. */
  peek(distance = 0): Token | undefined {
    while (this.#next.length <= distance) {
      const { done, value } = this.#source.next();
      if (done) return undefined;
      this.#next.push(value);
    }
    return this.#next[distance];
  }

  /** Steps over the next token. */
  next(): Token | undefined {
    const token = this.peek();
    this.#next.shift();
    return token;
  }

  /** Steps over the name that begins with the next token, which may be of several. */
  readName(): LocatedName {
    const located = parseName(distance => this.peek(distance));
    this.#next.splice(0, located.tokens);
    return located;
  }

  /** The next word in upper case. */
  get word(): string {
    return keywordOf(this.peek());
  }
}
