/*!
 * The lexer. It finds where quotes, comments, parentheses and semicolons are, chunk by chunk, and loses no byte:
 * the segments of a text, joined, are the text. It splits and names; it does not understand SQL.
 *
 * Rules (observed on QuestDB 9.3.4): strings in '…', names in "…" and `…`, a doubled quote stays inside, no backslash
 * escapes, no dollar quotes; `--` to LF or a lone CR; block comments nest.
 */

/** `sql`: quotes in comments are just text. `server`: QuestDB's own, which pairs quotes and sees `--` inside block comments. */
export type Reading = 'sql' | 'server';

/** What a piece of text is: quoted, commented, a sign that may end or nest a statement, or other code. */
export type SegmentType = 'code' | 'string' | 'name' | 'line-comment' | 'block-comment' | '(' | ')' | ';';

/** A piece of text, `[start, end)` in UTF-16 code units. A chunk's border may cut a segment in two of one type. */
export interface Segment {
  type: SegmentType;
  start: number;
  end: number;
}

/** What SQL counts as white space; QuestDB knows no other. */
export const WHITE = ' \t\n\r';

const SPECIAL = /['"`();]|--|\/\*/g;
const LINE_END = /[\n\r]/g;
const BLOCK_EDGE: Record<Reading, RegExp> = { sql: /\/\*|\*\//g, server: /\/\*|\*\/|['"`]|--/g };

/** Reads a text in chunks; what is open at a chunk's end goes on in the next one. A chunk must not end inside one of the two-character marks. */
export class Lexer {
  /** The character that ends the quoted text we are in. */
  #quote = '';
  #line = false;
  #block = 0;

  constructor(readonly reading: Reading = 'sql') {}

  /** What is open where the text read so far ends, or undefined. */
  get open(): SegmentType | undefined {
    if (this.#block) return 'block-comment';
    if (this.#line) return 'line-comment';
    return this.#quote ? quoted(this.#quote) : undefined;
  }

  /** The segments of the next chunk, from `at` on. */
  *segments(chunk: string, at = 0): Generator<Segment> {
    while (at < chunk.length) {
      const start = at;
      const open = this.open;
      if (open) {
        at = this.#close(chunk, at);
        if (at > start) yield { type: open, start, end: at };
        continue;
      }
      const special = find(SPECIAL, chunk, at);
      const found = special?.index ?? chunk.length;
      if (found > start) yield { type: 'code', start, end: found };
      if (!special) return;
      at = found + special[0].length;
      const type = this.#enter(special[0]);
      if (this.open) at = this.#close(chunk, at);
      yield { type, start: found, end: at };
    }
  }

  #enter(mark: string): SegmentType {
    if (mark === '(' || mark === ')' || mark === ';') return mark;
    if (mark === '--') this.#line = true;
    else if (mark === '/*') this.#block = 1;
    else this.#quote = mark;
    return this.open as SegmentType;
  }

  /** The end of what is open, as far as this chunk goes. A line comment's LF or CR is not part of it. */
  #close(chunk: string, at: number): number {
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
        const edge = find(BLOCK_EDGE[this.reading], chunk, at);
        if (!edge) return chunk.length;
        at = edge.index + edge[0].length;
        if (edge[0] === '/*') this.#block++;
        else if (edge[0] === '*/') this.#block--;
        else this.#enter(edge[0]);
      }
      if (!this.open) return at;
    }
    return at;
  }
}

const quoted = (mark: string): SegmentType => (mark === "'" ? 'string' : 'name');

function find(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
