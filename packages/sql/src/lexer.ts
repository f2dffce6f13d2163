/*!
 * Cuts text into segments: code, quoted text, comments, parentheses and semicolons. Rules (observed on QuestDB 9.3.4):
 * - Strings are in '…', names in "…" and `…`. There are no backslash escapes and no dollar quotes.
 * - A `--` comment ends before LF or CR. Block comments nest.
 */

/** For `sql`, the quote in a block comment `don't` is text. For `server` (QuestDB), it starts a string, and `--` starts a line comment. */
export type LexerRules = 'sql' | 'server';

export type SegmentType = 'code' | 'string' | 'name' | 'line-comment' | 'block-comment' | '(' | ')' | ';';

/** A piece of text, `[start, end)` in UTF-16 code units. A chunk's border may cut a segment into two of the same type. */
export interface Segment {
  type: SegmentType;
  start: number;
  end: number;
}

/** All characters that are white space in QuestDB. */
export const WHITESPACE = ' \t\n\r';

const NEXT_LINE_END = /[\n\r]/g;
const BLOCK_EDGE: Record<LexerRules, RegExp> = { sql: /\/\*|\*\//g, server: /\/\*|\*\/|['"`]|--/g };

/** The first character of what ends a segment of code. */
const CODE_END = /['"`();]|-(?=-)|\/(?=\*)/g;

/** Reads a text in chunks. A chunk must not end between the characters of `--` or of a block comment's delimiter. */
export class Lexer {
  type: SegmentType = 'code';
  /** The quote that ends the current quoted text; '' outside of quoted text. */
  #quote = '';
  #isInLineComment = false;
  #blockDepth = 0;

  constructor(readonly rules: LexerRules = 'sql') {}

  /** The type of the unclosed segment at the end of the text read so far, if there is one. */
  get openType(): SegmentType | undefined {
    if (this.#quote && !this.#blockDepth) return this.#quote === "'" ? 'string' : 'name';
    if (this.#blockDepth) return 'block-comment';
    return this.#isInLineComment ? 'line-comment' : undefined;
  }

  /** Reads the segment from `start`, and sets `type`. @returns its end; `start` itself if a segment of the previous chunk ends there */
  next(chunk: string, start: number): number {
    const { openType } = this;
    if (openType) {
      this.type = openType;
      return this.#readUntilClosed(chunk, start);
    }
    const end = endOfCode(chunk, start);
    if (end === start) return this.#readSpecial(chunk, start);
    this.type = 'code';
    return end;
  }

  *segments(chunk: string): Generator<Segment> {
    for (let start = 0, end = 0; start < chunk.length; start = end) {
      end = this.next(chunk, start);
      if (end > start) yield { type: this.type, start, end };
    }
  }

  #readSpecial(chunk: string, start: number): number {
    const character = chunk.charAt(start);
    if (character === '(' || character === ')' || character === ';') {
      this.type = character;
      return start + 1;
    }
    const delimiter = character === '-' || character === '/' ? chunk.slice(start, start + 2) : character;
    this.#open(delimiter);
    this.type = this.openType as SegmentType;
    return this.#readUntilClosed(chunk, start + delimiter.length);
  }

  #open(delimiter: string): void {
    if (delimiter === '--') this.#isInLineComment = true;
    else if (delimiter === '/*') this.#blockDepth++;
    else this.#quote = delimiter;
  }

  /** The end of the open segment in this chunk. A line comment's LF or CR is not part of it. */
  #readUntilClosed(chunk: string, from: number): number {
    let end = from;
    while (end < chunk.length) {
      if (this.#quote) {
        const quoteStart = chunk.indexOf(this.#quote, end);
        if (quoteStart < 0) return chunk.length;
        end = quoteStart + 1;
        this.#quote = '';
      } else if (this.#isInLineComment) {
        end = find(NEXT_LINE_END, chunk, end)?.index ?? chunk.length;
        if (end < chunk.length) this.#isInLineComment = false;
      } else {
        const edge = find(BLOCK_EDGE[this.rules], chunk, end);
        if (!edge) return chunk.length;
        end = edge.index + edge[0].length;
        if (edge[0] === '*/') this.#blockDepth--;
        else this.#open(edge[0]);
      }
      if (!this.openType) return end;
    }
    return end;
  }
}

/** The start of the next quote, comment, parenthesis or semicolon, or the end of the chunk. */
function endOfCode(chunk: string, from: number): number {
  CODE_END.lastIndex = from;
  return CODE_END.test(chunk) ? CODE_END.lastIndex - 1 : chunk.length; // unlike exec(), test() allocates nothing
}

function find(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}

/** Finds the `;` that ends the statement at `from`. -1 if it is not in this text, or if comments or open parentheses need a scanner. */
export function findSimpleEnd(text: string, from: number): number {
  let depth = 0;
  for (let index = endOfCode(text, from); index < text.length; index = endOfCode(text, index + 1)) {
    const character = text.charAt(index);
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (`'"\``.includes(character)) index = text.indexOf(character, index + 1);
    else return character === ';' && depth === 0 ? index : -1;
    if (depth < 0 || index < 0) return -1;
  }
  return -1;
}

/** A quoted text, comment or parenthesis that is not closed. `start` counts from the start of the statement. */
export type UnclosedSegment = Pick<Segment, 'type' | 'start'>;

export const NON_WHITESPACE = /[^ \t\n\r]/;

/** Scans one statement by one set of comment rules while its text arrives. Finds its end, or what is unclosed. */
export class StatementScanner {
  /** Whether the statement has anything but white space and comments. */
  hasContent = false;
  /** Whether the statement may end elsewhere by the other rules. */
  isAmbiguous = false;
  lastType: SegmentType = 'code';

  readonly #lexer: Lexer;
  /** The number of open parentheses. Only the first one is stored, because memory may not suffice for all. */
  #depth = 0;
  #outermost: UnclosedSegment | undefined;
  #openSegment: UnclosedSegment | undefined;
  #length = 0;

  constructor(readonly rules: LexerRules) {
    this.#lexer = new Lexer(rules);
  }

  /** What is unclosed at the end of the text read so far; a line comment does not count. */
  get unclosed(): UnclosedSegment | undefined {
    const { openType } = this.#lexer;
    if (openType && openType !== 'line-comment') return this.#openSegment;
    return this.#depth ? this.#outermost : undefined;
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
    const segmentStart = this.#length + start;
    this.#openSegment = this.#lexer.openType ? (this.#openSegment ?? { type, start: segmentStart }) : undefined;
    // White space is no content. After a line comment, `lastType` stays, because the `;` then needs a line of its own.
    const ignoresWhitespace = !this.hasContent || this.lastType === 'line-comment';
    if (type === 'code' && ignoresWhitespace && !NON_WHITESPACE.test(chunk.slice(start, end))) return;
    if (type === '(' && this.#depth++ === 0) this.#outermost = { type, start: segmentStart };
    if (type === ')' && this.#depth > 0) this.#depth--;
    if (type === 'block-comment') this.isAmbiguous ||= /['"`]|--/.test(chunk.slice(start, end));
    if (type !== 'line-comment' && type !== 'block-comment') this.hasContent = true;
    this.lastType = type;
  }
}
