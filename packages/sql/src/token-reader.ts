import { type NameSpan, parseName } from './name.js';
import { keywordOf, type Token } from './tokens.js';

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

  /** Reads the name that starts with the next token; it may consist of several tokens. */
  readName(): NameSpan {
    const { tokens, ...name } = parseName(distance => this.peek(distance));
    this.#ahead.splice(0, tokens);
    return name;
  }
}
