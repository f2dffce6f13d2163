/*! One reading of one statement as its text arrives: where it ends, and what was open when it didn't. */
import { type CommentRules, Lexer, type SegmentType } from './lexer.js';

/** Something that was opened, at an offset into the statement. */
export interface UnclosedSegment {
  type: SegmentType;
  at: number;
}

/** Where the two readings may part: a block comment that holds a quote or dashes. */
const DOUBTFUL = /['"`]|--/;
const NON_WHITESPACE = /[^ \t\n\r]/;

export class StatementScanner {
  /** Whether there was anything but comments. */
  hasContent = false;
  /** Whether the other reading may end the statement elsewhere. */
  isAmbiguous = false;
  /** What the last segment was that is not white space. */
  lastType: SegmentType = 'code';

  readonly #lexer: Lexer;
  /** How many parentheses are open, and the first of them: as many objects as a text can open would not fit into memory. */
  #depth = 0;
  #outermost: UnclosedSegment | undefined;
  #openSegment: UnclosedSegment | undefined;
  #length = 0;

  constructor(rules: CommentRules) {
    this.#lexer = new Lexer(rules);
  }

  /** What is open where the text read so far ends; a line comment may be. */
  get unclosed(): UnclosedSegment | undefined {
    const { open } = this.#lexer;
    if (open && open !== 'line-comment') return this.#openSegment;
    return this.#depth ? this.#outermost : undefined;
  }

  /** White space matters only at the start and after a line comment. */
  get #mayBeWhitespace(): boolean {
    return !this.hasContent || this.lastType === 'line-comment';
  }

  /** Reads a chunk; the offset in it of the `;` that ends the statement, or -1. */
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
    if (type === 'code' && this.#mayBeWhitespace && !NON_WHITESPACE.test(chunk.slice(start, end))) return;
    if (type === '(' && this.#depth++ === 0) this.#outermost = { type, at };
    if (type === ')' && this.#depth > 0) this.#depth--;
    if (type === 'block-comment') this.isAmbiguous ||= DOUBTFUL.test(chunk.slice(start, end));
    if (type !== 'line-comment' && type !== 'block-comment') this.hasContent = true;
    this.lastType = type;
  }
}
