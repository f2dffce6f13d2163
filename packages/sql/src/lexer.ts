/*!
 * The lexer. It finds where quotes, comments, parentheses and semicolons are, chunk by chunk, and loses no byte:
 * the segments of a text, joined, are the text. It splits and names; it does not understand SQL.
 *
 * Rules (observed on QuestDB 9.3.4): strings in '…', names in "…" and `…`, a doubled quote stays inside, no backslash
 * escapes, no dollar quotes; `--` to LF or a lone CR; block comments nest.
 */

/** `sql`: quotes in comments are just text. `server`: QuestDB's own, which pairs quotes and sees `--` inside block comments. */
export type CommentRules = 'sql' | 'server';

/** What a piece of text is: quoted, commented, punctuation that may end or nest a statement, or other code. */
export type SegmentType = 'code' | 'string' | 'name' | 'line-comment' | 'block-comment' | '(' | ')' | ';';

/** A piece of text, `[start, end)` in UTF-16 code units. A chunk's border may cut a segment in two of one type. */
export interface Segment {
  type: SegmentType;
  start: number;
  end: number;
}

/** What SQL counts as white space; QuestDB knows no other. */
export const WHITESPACE = ' \t\n\r';

const LINE_END = /[\n\r]/g;
const BLOCK_EDGE: Record<CommentRules, RegExp> = { sql: /\/\*|\*\//g, server: /\/\*|\*\/|['"`]|--/g };

/** What code ends at, or the first character of it. */
const CODE_END = /['"`();]|-(?=-)|\/(?=\*)/g;

/** Reads a text in chunks; what is open at a chunk's end goes on in the next one. A chunk must not end inside one of the two-character marks. */
export class Lexer {
  /** What the segment is that was read last. */
  type: SegmentType = 'code';
  /** The character that ends the quoted text we are in. */
  #quote = '';
  #line = false;
  #block = 0;

  constructor(readonly rules: CommentRules = 'sql') {}

  /** What is open where the text read so far ends, or undefined. */
  get open(): SegmentType | undefined {
    if (this.#quote && !this.#block) return quotedType(this.#quote);
    if (this.#block) return 'block-comment';
    return this.#line ? 'line-comment' : undefined;
  }

  /**
   * Reads the segment of a chunk that starts at `at`, sets `type`, and gives where it ends; that may be `at` itself
   * where something that was open ends there.
   */
  next(chunk: string, at: number): number {
    const { open } = this;
    if (open) {
      this.type = open;
      return this.#readUntilClosed(chunk, at);
    }
    const end = endOfCode(chunk, at);
    if (end === at) return this.#readSpecial(chunk, at);
    this.type = 'code';
    return end;
  }

  /** The segments of a chunk. */
  *segments(chunk: string): Generator<Segment> {
    for (let start = 0, end = 0; start < chunk.length; start = end) {
      end = this.next(chunk, start);
      if (end > start) yield { type: this.type, start, end };
    }
  }

  /** Reads what a special character starts. */
  #readSpecial(chunk: string, at: number): number {
    const character = chunk.charAt(at);
    if (character === '(' || character === ')' || character === ';') {
      this.type = character;
      return at + 1;
    }
    const mark = character === '-' || character === '/' ? chunk.slice(at, at + 2) : character;
    this.#open(mark);
    this.type = this.open as SegmentType;
    return this.#readUntilClosed(chunk, at + mark.length);
  }

  #open(mark: string): void {
    if (mark === '--') this.#line = true;
    else if (mark === '/*') this.#block++;
    else this.#quote = mark;
  }

  /** The end of what is open, as far as this chunk goes. A line comment's LF or CR is not part of it. */
  #readUntilClosed(chunk: string, from: number): number {
    let at = from;
    while (at < chunk.length) {
      if (this.#quote) {
        const end = chunk.indexOf(this.#quote, at);
        if (end < 0) return chunk.length;
        at = end + 1;
        this.#quote = '';
      } else if (this.#line) {
        at = find(LINE_END, chunk, at)?.index ?? chunk.length;
        if (at < chunk.length) this.#line = false;
      } else {
        const edge = find(BLOCK_EDGE[this.rules], chunk, at);
        if (!edge) return chunk.length;
        at = edge.index + edge[0].length;
        if (edge[0] === '*/') this.#block--;
        else this.#open(edge[0]);
      }
      if (!this.open) return at;
    }
    return at;
  }
}

/** Where the next quote, comment, parenthesis or semicolon starts, or the chunk ends. */
export function endOfCode(chunk: string, from: number): number {
  CODE_END.lastIndex = from;
  return CODE_END.test(chunk) ? CODE_END.lastIndex - 1 : chunk.length; // test() makes no garbage, as exec() does
}

const quotedType = (mark: string): SegmentType => (mark === "'" ? 'string' : 'name');

function find(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
