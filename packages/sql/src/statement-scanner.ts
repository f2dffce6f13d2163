/*! Scans one statement by one set of comment rules while its text arrives. Finds its end, or what is unclosed. */
import { type CommentRules, Lexer, type SegmentType } from './lexer.js';

/** A segment or parenthesis that is not closed, and the offset in the statement at which it starts. */
export interface UnclosedSegment {
  type: SegmentType;
  at: number;
}

/** Text in a block comment that the two sets of comment rules may read differently. */
const AMBIGUOUS = /['"`]|--/;
const NON_WHITESPACE = /[^ \t\n\r]/;

export class StatementScanner {
  /** Whether the statement has anything but white space and comments. */
  hasContent = false;
  /** Whether the statement may end elsewhere by the other rules. */
  isAmbiguous = false;
  lastType: SegmentType = 'code';

  readonly #lexer: Lexer;
  /** The number of open parentheses. Only the first is stored, because memory may not suffice for all of them. */
  #depth = 0;
  #outermost: UnclosedSegment | undefined;
  #openSegment: UnclosedSegment | undefined;
  #length = 0;

  constructor(readonly rules: CommentRules) {
    this.#lexer = new Lexer(rules);
  }

  /** What is unclosed at the end of the text read so far; a line comment does not count. */
  get unclosed(): UnclosedSegment | undefined {
    const { open } = this.#lexer;
    if (open && open !== 'line-comment') return this.#openSegment;
    return this.#depth ? this.#outermost : undefined;
  }

  /** Whether a segment of only white space must be ignored: before the first content and after a line comment. */
  get #ignoresWhitespace(): boolean {
    return !this.hasContent || this.lastType === 'line-comment';
  }

  /** Reads a chunk; returns the offset in the chunk of the `;` that ends the statement, or -1. */
  read(chunk: string): number {
    for (let start = 0, end = 0; start < chunk.length; start = end) {
      end = this.#lexer.next(chunk, start);
      const { type } = this.#lexer;
      if (type === ';' && !this.#depth) return start;
      if (end > start) this.#consume(type, chunk, start, end);
    }
    this.#length += chunk.length;
    return -1;
  }

  #consume(type: SegmentType, chunk: string, start: number, end: number): void {
    const at = this.#length + start;
    this.#openSegment = this.#lexer.open ? (this.#openSegment ?? { type, at }) : undefined;
    if (type === 'code' && this.#ignoresWhitespace && !NON_WHITESPACE.test(chunk.slice(start, end))) return;
    if (type === '(' && this.#depth++ === 0) this.#outermost = { type, at };
    if (type === ')' && this.#depth > 0) this.#depth--;
    if (type === 'block-comment') this.isAmbiguous ||= AMBIGUOUS.test(chunk.slice(start, end));
    if (type !== 'line-comment' && type !== 'block-comment') this.hasContent = true;
    this.lastType = type;
  }
}
