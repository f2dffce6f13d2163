import { keywordOf, type LocatedName, parseName, type Token } from '@sqlpipe/sql';

/** Reads the tokens of a statement one by one, with lookahead. They are never all in memory. */
export class TokenReader {
  readonly #source: Iterator<Token>;
  readonly #next: Token[] = [];

  constructor(tokens: Iterable<Token>) {
    this.#source = tokens[Symbol.iterator]();
  }

  /** The next token, or the token at a distance from it. */
  peek(distance = 0): Token | undefined {
    while (this.#next.length <= distance) {
      const { done, value } = this.#source.next();
      if (done) return undefined;
      this.#next.push(value);
    }
    return this.#next[distance];
  }

  /** Reads the next token. */
  next(): Token | undefined {
    const token = this.peek();
    this.#next.shift();
    return token;
  }

  /** Reads the name that starts with the next token; it may consist of several tokens. */
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
