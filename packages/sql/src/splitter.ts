/*! Where statements end in a text that arrives in chunks, and the one form a statement has between programs. */
import { Course, type Opening } from './course.js';
import { mayHoldFailureMarker, parseFailureMarker } from './failure-marker.js';
import { endOfCode, type SegmentType, WHITE } from './lexer.js';
import { excerpt } from './printable.js';
import { type Token, tokens } from './tokens.js';

/** Text that can't be cut into statements. `line` and `column` count from 1, columns in UTF-16 code units. */
export class SplitError extends Error {
  readonly code = 'DAMAGED';
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(message);
  }
}

/** What `--`, `/*` and their end are made of: a chunk is not cut among these. */
const MARKS = '-/*';

const NOT_WHITE = /[^ \t\n\r]/;

/** How much of a chunk is looked at first for the end of a statement; see `#follow`. */
const FIRST_LOOK = 256;

const OPENED: Partial<Record<SegmentType, string>> = {
  string: 'a string that is never closed',
  name: 'a quoted name that is never closed',
  'block-comment': 'a comment that is never closed',
};

/**
 * Cuts text into statements at each `;` outside quotes, comments and parentheses.
 *
 * Statements come out in their one form: no white space at the ends, one `;`, on a line of its own behind a `--` comment.
 * Comments before a statement stay with it; text of nothing but comments is no statement.
 * Text is read as SQL has it. Where a block comment holds quotes the server may read on differently (it pairs them);
 * then both readings are followed and the one that first ends the statement holds, as a wrong one swallows what follows.
 */
export class Splitter {
  #readings = [new Course('sql')];
  #pieces: string[] = [];
  #length = 0;
  #carry = '';
  #line = 1;
  #start = 1;
  #column = 1;

  /** @param maxLength the longest statement in UTF-16 code units; a longer one is a SplitError */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The line on which the statement that came out last starts, its comments included; from 1. */
  get startLine(): number {
    return this.#start;
  }

  /** The text behind the last statement that has ended. */
  get rest(): string {
    return this.#pieces.join('') + this.#carry;
  }

  /** The statements that end in this chunk. */
  write(text: string): string[] {
    return [...this.each(text)];
  }

  /** As `write`, one after the other: whoever wants no more of them need not read on. */
  *each(text: string): Generator<string> {
    const end = lastIndexNotOf(MARKS, text) + 1;
    // What is carried is not looked at again before it ends, or marks without end would be with each chunk.
    const chunk = end ? this.#carry + text.slice(0, end) : '';
    this.#carry = end ? text.slice(end) : this.#carry + text;
    yield* this.#cut(chunk);
  }

  /**
   * The statements that are left at the end of the text, with or without a `;`.
   * @throws SplitError where a quote, a comment or a parenthesis is open, saying where that began
   */
  end(): string[] {
    const chunk = this.#carry;
    this.#carry = '';
    const statements = [...this.#cut(chunk)];
    const whole = this.#readings.find(reading => !reading.opened);
    if (!whole) throw this.#unclosed();
    const statement = this.#finish(whole);
    return statement ? [...statements, statement] : statements;
  }

  *#cut(chunk: string): Generator<string> {
    let start = 0;
    for (let end = this.#endIn(chunk, start); end; end = this.#endIn(chunk, start)) {
      const statement = end.reading
        ? this.#careful(chunk.slice(start, end.at), end.reading)
        : this.#plain(chunk.slice(start, end.at + 1));
      start = end.at + 1;
      if (statement) yield statement;
    }
    this.#keep(chunk.slice(start));
  }

  /** Where the current statement ends in this chunk, if it does, and which reading says so: none where all do. */
  #endIn(chunk: string, from: number): { at: number; reading?: Course } | undefined {
    const at = this.#length ? -1 : endOfPlain(chunk, from);
    return at < 0 ? this.#follow(chunk, from) : { at };
  }

  /** The one form of a statement whose last piece this is, up to its `;`. */
  #careful(piece: string, reading: Course): string {
    this.#keep(piece);
    const statement = this.#finish(reading);
    this.#column++; // the semicolon itself
    return statement;
  }

  /** The one form of a statement that came in one piece, its `;` at its end, and has nothing that must be read with care. */
  #plain(text: string): string {
    this.#checkLength(text.length - 1);
    this.#start = this.#firstLine(text);
    [this.#line, this.#column] = this.#place(text);
    const trimmed = trim(text);
    const body = trim(trimmed.slice(0, -1));
    return body && (body.length === trimmed.length - 1 ? trimmed : `${body};`);
  }

  /**
   * Follows all readings of the current statement; the first semicolon that ends it, if this chunk has one.
   * They look ahead by steps that double: where one reading ends a statement that the other does not, the other would
   * read the rest of the chunk in vain, with each statement.
   */
  #follow(chunk: string, from: number): { at: number; reading: Course } | undefined {
    for (let start = from, size = FIRST_LOOK; start < chunk.length; size *= 2) {
      const end = behindMarks(chunk, start + size);
      const found = this.#followPiece(chunk, from, start, end);
      if (found) return found;
      start = end;
    }
    return undefined;
  }

  /** The same in a piece of a chunk that has been read from `from` to `start`. */
  #followPiece(chunk: string, from: number, start: number, end: number): { at: number; reading: Course } | undefined {
    const [sql, server] = this.#readings as [Course, Course?];
    const inSql = sql.read(chunk.slice(start, end));
    const other = server ?? (sql.doubtful ? this.#second(chunk.slice(from, start)) : undefined);
    const inServer = other ? other.read(chunk.slice(start, inSql < 0 ? end : start + inSql)) : -1;
    if (other && inServer >= 0) return { at: start + inServer, reading: other };
    return inSql < 0 ? undefined : { at: start + inSql, reading: sql };
  }

  /** Starts the server's reading of the current statement, from its beginning; its last piece is not kept yet. */
  #second(last: string): Course {
    const course = new Course('server');
    for (const piece of [...this.#pieces, last]) course.read(piece);
    this.#readings.push(course);
    return course;
  }

  #keep(piece: string): void {
    if (piece) this.#pieces.push(piece);
    this.#length += piece.length;
    this.#checkLength(this.#length);
  }

  #checkLength(length: number): void {
    if (length + this.#carry.length > this.maxLength)
      throw new SplitError(
        `a statement of more than ${this.maxLength} characters; is a semicolon missing? --max-record takes more`,
        this.#line,
        this.#column,
      );
  }

  /** The statement collected so far in its one form, or '' where it is nothing but comments; then starts anew. */
  #finish(reading: Course): string {
    const text = this.#pieces.join('');
    this.#refuseIncomplete(text);
    this.#start = this.#firstLine(text);
    [this.#line, this.#column] = this.#place(text);
    this.#pieces = [];
    this.#length = 0;
    this.#readings = [new Course('sql')];
    if (!reading.substance) return '';
    return `${trim(text)}${reading.last === 'line-comment' ? '\n;' : ';'}`;
  }

  /** Such a note counts on a line of its own before the statement or behind it. */
  #refuseIncomplete(text: string): void {
    if (!mayHoldFailureMarker(text)) return;
    let before = true;
    let startsLine = this.#column === 1;
    let note: Token | undefined;
    for (const token of tokens(text)) {
      const isComment = token.type === 'comment';
      if (isComment && startsLine && parseFailureMarker(token.text)) note = token;
      else if (!isComment && token.type !== 'space') {
        if (before && note) break;
        [before, note] = [false, undefined];
      }
      startsLine = token.type === 'space' && (startsLine || token.text.includes('\n'));
    }
    const marker = note && parseFailureMarker(note.text);
    if (note && marker)
      throw new SplitError(
        `${marker.name} left it incomplete: ${excerpt(marker.reason, 500)}`,
        ...this.#place(text, note.start),
      );
  }

  #unclosed(): SplitError {
    const { type, at } = (this.#readings[0] as Course).opened as Opening;
    return new SplitError(OPENED[type] ?? 'a parenthesis that is never closed', ...this.#place(this.rest, at));
  }

  /** The line of the first character of the current statement that is not white space. */
  #firstLine(text: string): number {
    let line = this.#line;
    for (let at = 0; WHITE.includes(text.charAt(at)) && at < text.length; at++) if (text.charAt(at) === '\n') line++;
    return line;
  }

  /** Line and column of an offset into the current statement. */
  #place(text: string, offset = text.length): [line: number, column: number] {
    const before = text.slice(0, offset);
    let line = this.#line;
    let start = -1;
    for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) {
      line++;
      start = at;
    }
    return [line, start < 0 ? this.#column + before.length : before.length - start];
  }
}

/**
 * The statement of one record in its one form, or '' where there is none.
 * A `;` before closing comments moves behind them, so that the statement still ends on it.
 * @throws SplitError where something is left open or a second statement follows
 */
export function statementOf(text: string): string {
  const trimmed = trim(text);
  if (isPlain(trimmed)) return trimmed;
  const splitter = new Splitter();
  const [first, second] = splitter.each(text); // reads no further than that
  if (first && second) throw secondStatement(first);
  const comments = splitter.rest;
  const [last] = splitter.end();
  if (first && last) throw secondStatement(first);
  if (first && NOT_WHITE.test(comments)) return statementOf(first.slice(0, -1) + comments);
  return first ?? last ?? '';
}

const secondStatement = (first: string): SplitError =>
  new SplitError('a second statement behind the first', 1, first.length + 1);

/** Whether a text without white space at its ends is one plain statement in its one form: nearly all are. */
function isPlain(text: string): boolean {
  const last = text.length - 1;
  return last > 0 && endOfPlain(text, 0) === last && !WHITE.includes(text.charAt(last - 1));
}

/**
 * The offset of the `;` that ends the statement at `from`, found fast; -1 where it has a comment or a name in quotes, which
 * are read with care, or is not balanced, or does not end in this text.
 */
function endOfPlain(text: string, from: number): number {
  let open = 0;
  for (let at = endOfCode(text, from); at < text.length; at = endOfCode(text, at + 1)) {
    const sign = text.charAt(at);
    if (sign === '(') open++;
    else if (sign === ')') open--;
    else if (sign === "'") at = text.indexOf(sign, at + 1);
    else return sign === ';' && open === 0 ? at : -1;
    if (open < 0 || at < 0) return -1;
  }
  return -1;
}

function trim(text: string): string {
  let start = 0;
  while (start < text.length && WHITE.includes(text.charAt(start))) start++;
  return text.slice(start, lastIndexNotOf(WHITE, text) + 1);
}

/** The first offset from `at` on that does not cut a mark of two characters. */
function behindMarks(text: string, at: number): number {
  let end = Math.min(at, text.length);
  while (end < text.length && MARKS.includes(text.charAt(end - 1))) end++;
  return end;
}

/** Where the last character stands that is none of these; -1 where all are. A regular expression would be quadratic. */
function lastIndexNotOf(characters: string, text: string): number {
  let at = text.length - 1;
  while (at >= 0 && characters.includes(text.charAt(at))) at--;
  return at;
}
