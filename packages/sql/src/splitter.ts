/*! Where statements end in a text that arrives in chunks, and the normalized form of a statement. */

import { mayContainFailureMarker, parseFailureMarker } from './failure-marker.js';
import { truncate } from './format-text.js';
import { endOfCode, type SegmentType, WHITESPACE } from './lexer.js';
import { StatementScanner, type UnclosedSegment } from './statement-scanner.js';
import { type Token, tokens } from './tokens.js';

/** Text that can't be cut into statements. `line` and `column` count from 1, columns in UTF-16 code units. */
export class SplitError extends Error {
  override name = 'SplitError';
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

const NON_WHITESPACE = /[^ \t\n\r]/;

/** How much of a chunk is looked at first for the end of a statement; see `#scan`. */
const FIRST_LOOK = 256;

const UNCLOSED_MESSAGES: Partial<Record<SegmentType, string>> = {
  string: 'unterminated string',
  name: 'unterminated quoted name',
  'block-comment': 'unterminated comment',
};

/**
 * Cuts text into statements at each `;` outside quotes, comments and parentheses.
 *
 * Statements come out normalized: no white space at the ends, one `;`, on a line of its own after a `--` comment.
 * Comments before a statement stay with it; text of nothing but comments is no statement. Text is read by the rules of
 * SQL. If a block comment contains quotes, the server may read on differently (it pairs them); then both rules are
 * followed and the one that ends the statement first wins, because the wrong one swallows what follows.
 */
export class Splitter {
  #scanners = [new StatementScanner('sql')];
  #pieces: string[] = [];
  #length = 0;
  #carry = '';
  #line = 1;
  #startLine = 1;
  #column = 1;

  /** @param maxLength the longest statement in UTF-16 code units; a longer one is a SplitError */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The line on which the statement that came out last starts, its comments included; from 1. */
  get startLine(): number {
    return this.#startLine;
  }

  /** The text after the last statement that has ended. */
  get remainder(): string {
    return this.#pieces.join('') + this.#carry;
  }

  /** The statements that end in this chunk. */
  write(text: string): string[] {
    return [...this.each(text)];
  }

  /** As `write`, one after the other: the caller may stop early. */
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
    const complete = this.#scanners.find(scanner => !scanner.unclosed);
    if (!complete) throw this.#unclosedError();
    const statement = this.#finish(complete);
    return statement ? [...statements, statement] : statements;
  }

  *#cut(chunk: string): Generator<string> {
    let start = 0;
    for (let end = this.#endIn(chunk, start); end; end = this.#endIn(chunk, start)) {
      const statement = end.scanner
        ? this.#finishScanned(chunk.slice(start, end.at), end.scanner)
        : this.#normalizePlain(chunk.slice(start, end.at + 1));
      start = end.at + 1;
      if (statement) yield statement;
    }
    this.#append(chunk.slice(start));
  }

  /** Where the current statement ends in this chunk, if it does, and which reading says so: none where all do. */
  #endIn(chunk: string, from: number): { at: number; scanner?: StatementScanner } | undefined {
    const at = this.#length ? -1 : endOfPlain(chunk, from);
    return at < 0 ? this.#scan(chunk, from) : { at };
  }

  /** The normalized statement that ends with this piece, up to its `;`. */
  #finishScanned(piece: string, scanner: StatementScanner): string {
    this.#append(piece);
    const statement = this.#finish(scanner);
    this.#column++; // the semicolon itself
    return statement;
  }

  /** Normalizes a statement that arrived in one piece with its `;`, and has no comments or quoted names. */
  #normalizePlain(text: string): string {
    this.#checkLength(text.length - 1);
    this.#startLine = this.#firstLine(text);
    [this.#line, this.#column] = this.#position(text);
    const trimmed = trim(text);
    const body = trim(trimmed.slice(0, -1));
    return body && (body.length === trimmed.length - 1 ? trimmed : `${body};`);
  }

  /**
   * Follows all readings of the current statement; the first semicolon that ends it, if this chunk has one.
   * They look ahead by steps that double: where one reading ends a statement that the other does not, the other would
   * read the rest of the chunk in vain, with each statement.
   */
  #scan(chunk: string, from: number): { at: number; scanner: StatementScanner } | undefined {
    for (let start = from, size = FIRST_LOOK; start < chunk.length; size *= 2) {
      const end = offsetAfterMarks(chunk, start + size);
      const found = this.#scanPiece(chunk, from, start, end);
      if (found) return found;
      start = end;
    }
    return undefined;
  }

  /** The same in a piece of a chunk that has been read from `from` to `start`. */
  #scanPiece(
    chunk: string,
    from: number,
    start: number,
    end: number,
  ): { at: number; scanner: StatementScanner } | undefined {
    const [sql, server] = this.#scanners as [StatementScanner, StatementScanner?];
    const inSql = sql.read(chunk.slice(start, end));
    const other = server ?? (sql.isAmbiguous ? this.#startServerScanner(chunk.slice(from, start)) : undefined);
    const inServer = other ? other.read(chunk.slice(start, inSql < 0 ? end : start + inSql)) : -1;
    if (other && inServer >= 0) return { at: start + inServer, scanner: other };
    return inSql < 0 ? undefined : { at: start + inSql, scanner: sql };
  }

  /** Starts the server's reading of the current statement, from its beginning; its last piece is not kept yet. */
  #startServerScanner(last: string): StatementScanner {
    const course = new StatementScanner('server');
    for (const piece of [...this.#pieces, last]) course.read(piece);
    this.#scanners.push(course);
    return course;
  }

  #append(piece: string): void {
    if (piece) this.#pieces.push(piece);
    this.#length += piece.length;
    this.#checkLength(this.#length);
  }

  #checkLength(length: number): void {
    if (length + this.#carry.length > this.maxLength)
      throw new SplitError(
        `a statement of more than ${this.maxLength} characters; is a semicolon missing? --max-record raises the limit`,
        this.#line,
        this.#column,
      );
  }

  /** The statement collected so far, normalized, or '' where it is only comments; then starts over. */
  #finish(scanner: StatementScanner): string {
    const text = this.#pieces.join('');
    this.#rejectFailureMarker(text);
    this.#startLine = this.#firstLine(text);
    [this.#line, this.#column] = this.#position(text);
    this.#pieces = [];
    this.#length = 0;
    this.#scanners = [new StatementScanner('sql')];
    if (!scanner.hasContent) return '';
    return `${trim(text)}${scanner.lastType === 'line-comment' ? '\n;' : ';'}`;
  }

  /** A failure marker counts on a line of its own before or after the statement. */
  #rejectFailureMarker(text: string): void {
    if (!mayContainFailureMarker(text)) return;
    let before = true;
    let startsLine = this.#column === 1;
    let markerToken: Token | undefined;
    for (const token of tokens(text)) {
      const isComment = token.type === 'comment';
      if (isComment && startsLine && parseFailureMarker(token.text)) markerToken = token;
      else if (!isComment && token.type !== 'space') {
        if (before && markerToken) break;
        [before, markerToken] = [false, undefined];
      }
      startsLine = token.type === 'space' && (startsLine || token.text.includes('\n'));
    }
    const marker = markerToken && parseFailureMarker(markerToken.text);
    if (markerToken && marker)
      throw new SplitError(
        `${marker.name} left it incomplete: ${truncate(marker.reason, 500)}`,
        ...this.#position(text, markerToken.start),
      );
  }

  #unclosedError(): SplitError {
    const { type, at } = (this.#scanners[0] as StatementScanner).unclosed as UnclosedSegment;
    return new SplitError(UNCLOSED_MESSAGES[type] ?? 'unclosed parenthesis', ...this.#position(this.remainder, at));
  }

  /** The line of the first character of the current statement that is not white space. */
  #firstLine(text: string): number {
    let line = this.#line;
    for (let at = 0; WHITESPACE.includes(text.charAt(at)) && at < text.length; at++)
      if (text.charAt(at) === '\n') line++;
    return line;
  }

  /** Line and column of an offset into the current statement. */
  #position(text: string, offset = text.length): [line: number, column: number] {
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
 * The statement of one record, normalized, or '' where there is none. A `;` before closing comments moves after them,
 * so that the statement still ends with it.
 * @throws SplitError where something is left open or a second statement follows
 */
export function normalizeStatement(text: string): string {
  const trimmed = trim(text);
  if (isPlain(trimmed)) return trimmed;
  const splitter = new Splitter();
  const [first, second] = splitter.each(text); // reads no further than that
  if (first && second) throw secondStatementError(first);
  const comments = splitter.remainder;
  const [last] = splitter.end();
  if (first && last) throw secondStatementError(first);
  if (first && NON_WHITESPACE.test(comments)) return normalizeStatement(first.slice(0, -1) + comments);
  return first ?? last ?? '';
}

const secondStatementError = (first: string): SplitError =>
  new SplitError('a second statement after the first', 1, first.length + 1);

/** Whether a text without white space at its ends is one plain normalized statement: nearly all are. */
function isPlain(text: string): boolean {
  const last = text.length - 1;
  return last > 0 && endOfPlain(text, 0) === last && !WHITESPACE.includes(text.charAt(last - 1));
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
  while (start < text.length && WHITESPACE.includes(text.charAt(start))) start++;
  return text.slice(start, lastIndexNotOf(WHITESPACE, text) + 1);
}

/** The first offset from `at` on that does not cut a mark of two characters. */
function offsetAfterMarks(text: string, at: number): number {
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
