/*! Where statements end in a text that arrives in chunks, and the normalized form of a statement. */

import { truncate } from '@sqlpipe/text';
import { mayContainFailureMarker, parseFailureMarker } from './failure-marker.js';
import { type CommentRules, endOfCode, type SegmentType, WHITESPACE } from './lexer.js';
import { StatementScanner, type UnclosedSegment } from './statement-scanner.js';
import { significantTokens, type Token, tokens } from './tokens.js';

/** The maximum length of a record in bytes, with its LF and NUL. It also limits the length of a statement. */
export const MAX_RECORD = 16 * 1024 * 1024;

/** Text that can't be cut into statements. `line` and `column` count from 1, columns in UTF-16 code units. */
export class SplitError extends Error {
  override name = 'SplitError';
  readonly code = 'DAMAGED';
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
    /** The end of the message, if the program that wrote the text has printed it too. */
    readonly repeated?: string,
  ) {
    super(message);
  }
}

/**
 * The characters of `--`, `/*` and its end. A chunk is never cut next to one, so that both characters stay together.
 */
const COMMENT_DELIMITER_CHARACTERS = '-/*';

const QUOTES = '\'"`';

const NON_WHITESPACE = /[^ \t\n\r]/;

/** The size of the first piece of a chunk that is scanned for the end of a statement; see `#scan`. */
const FIRST_PIECE = 256;

const UNCLOSED_MESSAGES: Partial<Record<SegmentType, string>> = {
  string: 'unterminated string',
  name: 'unterminated quoted name',
  'block-comment': 'unterminated comment',
};

/**
 * Cuts text into statements at each `;` outside quotes, comments and parentheses.
 *
 * Statements come out normalized: no white space at the ends, one `;`, on a line of its own after a `--` comment.
 * Comments before a statement stay with it, and so do those that end the line of its `;`: they move before the `;`. Text that
 * contains only comments is not a statement. Text is read by the rules of SQL. If a block comment contains a quote, the server may take it as the start of a string. Then the text is
 * scanned by both rules. The scanner that ends the statement first wins, because the wrong one would run into the next
 * statement.
 */
export class Splitter {
  #scanners = [new StatementScanner('sql')];
  #pieces: string[] = [];
  #length = 0;
  #carry = '';
  #line = 1;
  #startLine = 1;
  #column = 1;
  /** The last statement that has ended. It may have comments after its `;`, so it is returned when the next one has ended too. */
  #held: Held | undefined;

  /** @param maxLength the longest statement in UTF-16 code units; a longer one is a SplitError */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The line on which the last returned statement starts, with its comments; counted from 1. */
  get startLine(): number {
    return this.#startLine;
  }

  /** The last statement that has ended, without comments after its `;`, if it has not been returned yet. */
  get held(): string | undefined {
    return this.#held && formatStatement(this.#held);
  }

  /** The text after the last statement that has ended. */
  get remainder(): string {
    return this.#pieces.join('') + this.#carry;
  }

  /** Yields the statements that have certainly ended in this chunk or before it. */
  *write(text: string): Generator<string> {
    const end = lastIndexNotOf(COMMENT_DELIMITER_CHARACTERS, text) + 1;
    // Carried characters are scanned once, when another character follows. Scanning them with each chunk is quadratic.
    const chunk = end ? this.#carry + text.slice(0, end) : '';
    this.#carry = end ? text.slice(end) : this.#carry + text;
    yield* this.#cut(chunk);
  }

  /**
   * Ends the text and yields the remaining statements; the last one may lack its `;`, unless `requiresSemicolon` is set.
   * @throws SplitError if a quote, a comment or a parenthesis is unclosed, with the position where it starts; if a `;` is
   * missing, with the position where it belongs
   */
  *end({ requiresSemicolon = false } = {}): Generator<string> {
    const chunk = this.#carry;
    this.#carry = '';
    yield* this.#cut(chunk);
    const closedScanner = this.#scanners.find(scanner => !scanner.unclosed);
    try {
      if (!closedScanner) throw this.#unclosedError();
      if (requiresSemicolon && closedScanner.hasContent) throw this.#missingSemicolonError();
      yield* this.#finish(closedScanner);
    } finally {
      yield* this.#release();
    }
  }

  /** An error does not take back the statement before it. */
  *#cut(chunk: string): Generator<string> {
    try {
      let start = 0;
      for (let end = this.#findEnd(chunk, start); end; end = this.#findEnd(chunk, start)) {
        if (end.scanner) yield* this.#finishScanned(chunk.slice(start, end.at), end.scanner);
        else yield* this.#finishUnscanned(chunk.slice(start, end.at + 1));
        start = end.at + 1;
      }
      this.#append(chunk.slice(start));
    } catch (error) {
      yield* this.#release();
      throw error;
    }
  }

  /**
   * Finds the `;` that ends the current statement in this chunk. `scanner` is the scanner that found it; it is missing
   * if `findEndFast` did.
   */
  #findEnd(chunk: string, from: number): { at: number; scanner?: StatementScanner } | undefined {
    const at = this.#length ? -1 : findEndFast(chunk, from);
    return at < 0 ? this.#scan(chunk, from) : { at };
  }

  /** Ends the current statement, which ends with this piece; its `;` comes after the piece. */
  *#finishScanned(piece: string, scanner: StatementScanner): Generator<string> {
    this.#append(piece);
    yield* this.#finish(scanner);
    this.#column++; // the semicolon itself
  }

  /** Ends a statement whose end `findEndFast` found: it has its `;`, and no comments. */
  *#finishUnscanned(text: string): Generator<string> {
    this.#checkLength(text.length - 1);
    yield* this.#hold(text.slice(0, -1), false);
    this.#column++;
  }

  /**
   * Finds the first semicolon that ends the current statement by either rule. All scanners read pieces of doubling size.
   * Otherwise the scanner that finds no end would read the rest of the chunk for every statement.
   */
  #scan(chunk: string, from: number): { at: number; scanner: StatementScanner } | undefined {
    for (let start = from, size = FIRST_PIECE; start < chunk.length; size *= 2) {
      const end = offsetAfterDelimiter(chunk, start + size);
      const found = this.#scanPiece(chunk, from, start, end);
      if (found) return found;
      start = end;
    }
    return undefined;
  }

  /** Scans the piece from `start` to `end`. The statement starts at `from`; it was already scanned up to `start`. */
  #scanPiece(
    chunk: string,
    from: number,
    start: number,
    end: number,
  ): { at: number; scanner: StatementScanner } | undefined {
    const [sql, server] = this.#scanners as [StatementScanner, StatementScanner?];
    const sqlEnd = sql.read(chunk.slice(start, end));
    const serverScanner = server ?? (sql.isAmbiguous ? this.#startServerScanner(chunk.slice(from, start)) : undefined);
    const serverEnd = serverScanner ? serverScanner.read(chunk.slice(start, sqlEnd < 0 ? end : start + sqlEnd)) : -1;
    if (serverScanner && serverEnd >= 0) return { at: start + serverEnd, scanner: serverScanner };
    return sqlEnd < 0 ? undefined : { at: start + sqlEnd, scanner: sql };
  }

  /**
   * Scans the current statement by the server's rules from its start; `last` is its text that is not in `#pieces` yet.
   */
  #startServerScanner(last: string): StatementScanner {
    const serverScanner = new StatementScanner('server');
    for (const piece of [...this.#pieces, last]) serverScanner.read(piece);
    this.#scanners.push(serverScanner);
    return serverScanner;
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

  /** Ends the current statement, and starts the next one. */
  *#finish({ rules, lastType, hasContent }: StatementScanner): Generator<string> {
    const text = this.#pieces.join('');
    this.#rejectFailureMarker(text);
    this.#pieces = [];
    this.#length = 0;
    this.#scanners = [new StatementScanner('sql')];
    const own = this.#passComments(text, rules);
    if (hasContent) yield* this.#hold(own, lastType === 'line-comment');
    else [this.#line, this.#column] = this.#position(own);
  }

  /** Passes the comments at the start of a text that end the line of the held statement to it. @returns the rest of the text */
  #passComments(text: string, rules: CommentRules): string {
    if (!this.#held?.isOnLine) return text;
    const { end, isOnLine } = findLineComments(text, rules);
    const comments = text.slice(0, end);
    const { body, endsInLineComment } = this.#held;
    if (end > 0) {
      this.#checkLength(body.length + end);
      this.#held.body = `${body}${endsInLineComment ? '\n' : ''}${comments}`;
      this.#held.endsInLineComment = !comments.endsWith('*/');
    }
    this.#held.isOnLine = isOnLine;
    [this.#line, this.#column] = this.#position(comments);
    return text.slice(end);
  }

  /** Holds a statement, and yields the one before it. */
  *#hold(text: string, endsInLineComment: boolean): Generator<string> {
    const body = trim(text);
    const [startLine] = this.#position(text, Math.max(text.search(NON_WHITESPACE), 0));
    [this.#line, this.#column] = this.#position(text);
    if (!body) {
      if (this.#held && LINE_END.test(text)) this.#held.isOnLine = false;
      return;
    }
    yield* this.#release();
    this.#held = { body, endsInLineComment, startLine, isOnLine: true };
  }

  *#release(): Generator<string> {
    if (!this.#held) return;
    this.#startLine = this.#held.startLine;
    yield formatStatement(this.#held);
    this.#held = undefined;
  }

  /** Rejects a failure marker that is on a line of its own before or after the statement. */
  #rejectFailureMarker(text: string): void {
    if (!mayContainFailureMarker(text)) return;
    let isBeforeStatement = true;
    let startsLine = this.#column === 1;
    let markerToken: Token | undefined;
    for (const token of tokens(text)) {
      const isComment = token.type === 'comment';
      if (isComment && startsLine && parseFailureMarker(token.text)) markerToken = token;
      else if (!isComment && token.type !== 'space') {
        if (isBeforeStatement && markerToken) break;
        [isBeforeStatement, markerToken] = [false, undefined];
      }
      startsLine = token.type === 'space' && (startsLine || token.text.includes('\n'));
    }
    const marker = markerToken && parseFailureMarker(markerToken.text);
    if (markerToken && marker) {
      const reason = truncate(marker.reason, 500);
      const message = `${marker.name} left it incomplete: ${reason}`;
      throw new SplitError(message, ...this.#position(text, markerToken.start), reason);
    }
  }

  #unclosedError(): SplitError {
    const { type, at } = (this.#scanners[0] as StatementScanner).unclosed as UnclosedSegment;
    return new SplitError(UNCLOSED_MESSAGES[type] ?? 'unclosed parenthesis', ...this.#position(this.remainder, at));
  }

  #missingSemicolonError(): SplitError {
    const text = this.remainder;
    this.#rejectFailureMarker(text);
    const last = [...significantTokens(text)].at(-1);
    return new SplitError(
      "the last statement has no ';': the file may be truncated; if it is complete, add the ';'",
      ...this.#position(text, last && last.start + last.text.length),
    );
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
 * Normalizes the statement of one record; '' if the record has no statement. A `;` before comments moves
 * after them: the statement still ends with it.
 * @throws SplitError if a quote, a comment or a parenthesis is unclosed, or if a second statement follows
 */
export function normalizeStatement(text: string): string {
  const trimmed = trim(text);
  if (isNormalized(trimmed)) return trimmed;
  const splitter = new Splitter();
  const [ended] = splitter.write(text); // stops reading after a second statement
  if (ended) throw secondStatementError(ended);
  const { held, remainder } = splitter;
  const [statement = '', second] = splitter.end();
  if (second) throw secondStatementError(statement);
  if (held && NON_WHITESPACE.test(remainder)) return normalizeStatement(held.slice(0, -1) + remainder);
  return statement;
}

/** A statement that has ended. */
interface Held {
  /** The statement without its `;`, and without white space at its ends. */
  body: string;
  endsInLineComment: boolean;
  readonly startLine: number;
  /** Whether all that was read after the statement is on the line of its `;`. */
  isOnLine: boolean;
}

const formatStatement = ({ body, endsInLineComment }: Held): string => `${body}${endsInLineComment ? '\n;' : ';'}`;

const LINE_END = /[\n\r]/;

/**
 * Finds the end of the comments at the start of a text that start on its first line and end a line. A comment with the next
 * statement on its line belongs to that statement.
 */
function findLineComments(text: string, rules: CommentRules): { end: number; isOnLine: boolean } {
  let end = 0;
  for (const token of tokens(text, rules)) {
    if (token.type === 'comment') {
      end = token.start + token.text.length;
      if (token.text.startsWith('--')) return { end, isOnLine: false };
    } else if (token.type !== 'space') return { end: 0, isOnLine: false };
    else if (LINE_END.test(token.text)) return { end, isOnLine: false };
  }
  return { end, isOnLine: true };
}

const secondStatementError = (first: string): SplitError =>
  new SplitError('a second statement after the first', 1, first.length + 1);

/** Whether a trimmed text is one normalized statement, as nearly all are; false if `findEndFast` cannot say. */
function isNormalized(text: string): boolean {
  const last = text.length - 1;
  return last > 0 && findEndFast(text, 0) === last && !WHITESPACE.includes(text.charAt(last - 1));
}

/**
 * Finds the offset of the `;` that ends the statement at `from`, without a scanner. Returns -1 if the statement needs a
 * scanner: if it has a comment, if its parentheses are not balanced, or if it does not end in this text.
 */
function findEndFast(text: string, from: number): number {
  let open = 0;
  for (let at = endOfCode(text, from); at < text.length; at = endOfCode(text, at + 1)) {
    const character = text.charAt(at);
    if (character === '(') open++;
    else if (character === ')') open--;
    else if (QUOTES.includes(character)) at = text.indexOf(character, at + 1);
    else return character === ';' && open === 0 ? at : -1;
    if (open < 0 || at < 0) return -1;
  }
  return -1;
}

function trim(text: string): string {
  let start = 0;
  while (start < text.length && WHITESPACE.includes(text.charAt(start))) start++;
  return text.slice(start, lastIndexNotOf(WHITESPACE, text) + 1);
}

/** The first offset at or after `at` that is not within a `--`, a `/*` or its end. */
function offsetAfterDelimiter(text: string, at: number): number {
  let end = Math.min(at, text.length);
  while (end < text.length && COMMENT_DELIMITER_CHARACTERS.includes(text.charAt(end - 1))) end++;
  return end;
}

/**
 * The offset of the last character that is not in `characters`; -1 if there is none. A RegExp would take quadratic
 * time.
 */
function lastIndexNotOf(characters: string, text: string): number {
  let at = text.length - 1;
  while (at >= 0 && characters.includes(text.charAt(at))) at--;
  return at;
}
