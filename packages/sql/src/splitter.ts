import { CodedError, formatExcerpt } from '@sqlpipe/text';
import { PLAN_START, parseFailureMarker } from './failure-marker.js';
import {
  findSimpleEnd,
  type LexerRules,
  NON_WHITESPACE,
  type SegmentType,
  StatementScanner,
  type UnclosedSegment,
  WHITESPACE,
} from './lexer.js';
import { significantTokens, type Token, tokens } from './tokens.js';

/** The default of `--max-record`: the maximum bytes of a record, including LF and NUL. `Splitter` counts UTF-16 code units instead. */
export const MAX_RECORD = 16 * 1024 * 1024;

/**
 * The text cannot be split, for one of these reasons: a failure marker (`failure-marker.ts`), an incomplete plan, an unclosed or overlong
 * statement, a missing last `;`, a second statement in a record. Lines and columns (UTF-16 code units) count from 1.
 */
export class SplitError extends CodedError {
  override name = 'SplitError';

  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
    /** The reason in the failure marker. The program that failed has printed this reason already. Undefined for any other error. */
    readonly printedReason?: string,
  ) {
    super('DAMAGED', message);
  }
}

/** The characters of comment delimiters. Text is never cut after one of these, because a scanner would miss half of a delimiter. */
const COMMENT_DELIMITER_CHARACTERS = '-/*';

const UNCLOSED_MESSAGES: Partial<Record<SegmentType, string>> = {
  string: 'unterminated string',
  name: 'unterminated quoted name',
  'block-comment': 'unterminated comment',
};

/**
 * Cuts text into statements at each `;` outside quotes, comments and parentheses. Text with only comments is not a statement.
 * Statements are normalized:
 * - A statement has no white space at its ends. It ends in one `;`. After a `--` comment, the `;` is on a line of its own.
 * - Comments before a statement stay there. Comments that follow a `;` on its line move before the `;`, unless a statement follows there.
 */
export class Splitter {
  /**
   * The first scanner reads by the rules of SQL. If a block comment contains a quote or `--`, a second scanner follows the server's rules.
   * The first `;` that either scanner finds ends the statement. A scanner with the wrong rules may take this `;` for a part of a string or
   * a comment. It rarely takes a `;` inside a string or a comment for the end.
   */
  #scanners = [new StatementScanner('sql')];
  #pieces: string[] = [];
  #length = 0;
  /** Characters at the end of the last chunk that may be half of a comment delimiter. */
  #carry = '';
  #line = 1;
  #column = 1;
  #startLine = 1;
  /** The last statement that has ended. It is yielded later, because comments may follow its `;`. */
  #held: HeldStatement | undefined;

  /** @param maxLength the maximum length of a statement with its white space and comments, in UTF-16 code units */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The line where the last yielded statement, or a comment before it, starts. Counts from 1. */
  get startLine(): number {
    return this.#startLine;
  }

  /** The statement that has ended and has not been yielded yet. Comments that are still in `remainder` are missing. */
  get held(): string | undefined {
    return this.#held && printHeldStatement(this.#held);
  }

  /** The text after the last `;` that has ended a statement or stood alone. */
  get remainder(): string {
    return this.#pieces.join('') + this.#carry;
  }

  /** Reads a chunk, and yields the ended statements except the last. @throws SplitError for a failure marker or an overlong statement */
  *write(text: string): Generator<string> {
    const end = lastIndexNotOf(COMMENT_DELIMITER_CHARACTERS, text) + 1;
    // Delimiter characters at the end of the text are kept until another character arrives.
    const chunk = end ? this.#carry + text.slice(0, end) : '';
    this.#carry = end ? text.slice(end) : this.#carry + text;
    yield* this.#cut(chunk);
  }

  /**
   * Yields what is left: the held statement, and a statement after the last `;`.
   * @throws SplitError for an unclosed quote, comment or parenthesis, for a missing `;` if it is required, and as `write` does
   * @throws SplitError for an incomplete plan, of which only the comments at the head are left
   */
  *end({ requiresSemicolon = false } = {}): Generator<string> {
    const chunk = this.#carry;
    this.#carry = '';
    yield* this.#cut(chunk);
    const closedScanner = this.#scanners.find(scanner => !scanner.unclosed);
    try {
      if (!closedScanner) {
        const { type, start } = (this.#scanners[0] as StatementScanner).unclosed as UnclosedSegment;
        const at = this.#locate(this.remainder, start);
        throw new SplitError(UNCLOSED_MESSAGES[type] ?? 'unclosed parenthesis', ...at);
      }
      if (requiresSemicolon && closedScanner.hasContent) {
        this.#rejectFailureMarker(this.remainder); // its reason is more helpful
        const last = [...significantTokens(this.remainder)].at(-1);
        throw new SplitError(
          "the last statement has no ';': the file may be truncated; if it is complete, add the ';'",
          ...this.#locate(this.remainder, last && last.start + last.text.length),
        );
      }
      if (!closedScanner.hasContent && PLAN_START.test(this.remainder))
        throw new SplitError('the plan is incomplete: only the comments at its head are left', ...this.#locate(''));
      yield* this.#finish(closedScanner);
    } finally {
      yield* this.#release();
    }
  }

  /** Cuts off the statements that end in a chunk. The held statement is complete, so it is yielded before an error is thrown. */
  *#cut(chunk: string): Generator<string> {
    try {
      for (let start = 0, end = 0; ; start = end + 1) {
        const simpleEnd = this.#length ? -1 : findSimpleEnd(chunk, start);
        const found = simpleEnd < 0 ? this.#scan(chunk, start) : undefined;
        if (simpleEnd < 0 && !found) return this.#append(chunk.slice(start));
        end = found?.end ?? simpleEnd;
        const piece = chunk.slice(start, end);
        if (found) {
          this.#append(piece);
          yield* this.#finish(found.scanner);
        } else {
          // It has no comments and lies in one chunk, so it needed no scanner.
          this.#rejectTooLong(piece.length);
          yield* this.#hold(piece, false);
        }
        this.#column++; // the semicolon itself
      }
    } catch (error) {
      yield* this.#release();
      throw error;
    }
  }

  /**
   * Finds the `;` that ends the current statement. Scans pieces of doubling length: scanning up to the end of the chunk for each of its
   * statements would take quadratic time.
   */
  #scan(chunk: string, from: number) {
    const sql = this.#scanners[0] as StatementScanner;
    for (let start = from, size = 256, end = 0; start < chunk.length; start = end, size *= 2) {
      end = Math.min(start + size, chunk.length);
      while (end < chunk.length && COMMENT_DELIMITER_CHARACTERS.includes(chunk.charAt(end - 1))) end++;
      const sqlEnd = sql.read(chunk.slice(start, end));
      if (sql.isAmbiguous && this.#scanners.length === 1) {
        const added = new StatementScanner('server');
        for (const piece of [...this.#pieces, chunk.slice(from, start)]) added.read(piece);
        this.#scanners.push(added);
      }
      const server = this.#scanners[1];
      const serverEnd = server?.read(chunk.slice(start, sqlEnd < 0 ? end : start + sqlEnd)) ?? -1;
      if (server && serverEnd >= 0) return { end: start + serverEnd, scanner: server };
      if (sqlEnd >= 0) return { end: start + sqlEnd, scanner: sql };
    }
    return undefined;
  }

  #append(piece: string): void {
    if (piece) this.#pieces.push(piece);
    this.#length += piece.length;
    this.#rejectTooLong(this.#length);
  }

  #rejectTooLong(length: number): void {
    if (length + this.#carry.length > this.maxLength)
      throw new SplitError(
        `a statement of more than ${this.maxLength} characters; is a semicolon missing? --max-record raises the limit`,
        ...this.#locate(''),
      );
  }

  /** Ends the current statement and starts the next one. @throws SplitError for a failure marker or an overlong statement */
  *#finish({ rules, lastType, hasContent }: StatementScanner): Generator<string> {
    const text = this.#pieces.join('');
    this.#rejectFailureMarker(text);
    this.#pieces = [];
    this.#length = 0;
    this.#scanners = [new StatementScanner('sql')];
    const rest = this.#moveComments(text, rules);
    if (hasContent) yield* this.#hold(rest, lastType === 'line-comment');
    else [this.#line, this.#column] = this.#locate(rest);
  }

  /** If a text starts with comments that belong to the held statement, moves them there. @returns the rest of the text */
  #moveComments(text: string, rules: LexerRules): string {
    const held = this.#held;
    if (!held?.acceptsComments) return text;
    let end = 0;
    let endsInLineComment = false;
    for (const token of tokens(text, rules)) {
      const isComment = token.type === 'comment';
      if (isComment) end = token.start + token.text.length;
      else if (token.type !== 'space') end = 0; // a statement on this line has the comments before it
      endsInLineComment = isComment && token.text.startsWith('--');
      held.acceptsComments = isComment ? !endsInLineComment : token.type === 'space' && !LINE_END.test(token.text);
      if (!held.acceptsComments) break;
    }
    const comments = text.slice(0, end);
    if (end > 0) {
      this.#rejectTooLong(held.body.length + end);
      held.body = `${held.body}${held.endsInLineComment ? '\n' : ''}${comments}`;
      held.endsInLineComment = endsInLineComment;
    }
    [this.#line, this.#column] = this.#locate(comments);
    return text.slice(end);
  }

  /**
   * Yields the held statement, and holds the new one. A `;` alone is no statement, so the held one stays. If this `;` is on a later line,
   * the held statement accepts no more comments.
   */
  *#hold(text: string, endsInLineComment: boolean): Generator<string> {
    const body = trim(text);
    const [startLine] = this.#locate(text, Math.max(text.search(NON_WHITESPACE), 0));
    [this.#line, this.#column] = this.#locate(text);
    if (!body) {
      if (this.#held && LINE_END.test(text)) this.#held.acceptsComments = false;
      return;
    }
    yield* this.#release();
    this.#held = { body, endsInLineComment, startLine, acceptsComments: true };
  }

  *#release(): Generator<string> {
    if (!this.#held) return;
    this.#startLine = this.#held.startLine;
    yield printHeldStatement(this.#held);
    this.#held = undefined;
  }

  /**
   * Rejects a failure marker before or after the statement. A failure marker is a comment that comes first on its line. A `;` without a
   * statement may come before it on this line, because such a `;` is removed.
   */
  #rejectFailureMarker(text: string): void {
    if (!text.includes(': incomplete: ')) return; // hardly any text contains a marker
    let isBeforeStatement = true;
    let startsLine = this.#column === 1 || !this.#held?.acceptsComments;
    let found: Token | undefined;
    for (const token of tokens(text)) {
      const isComment = token.type === 'comment';
      if (isComment && startsLine && parseFailureMarker(token.text)) found = token;
      else if (!isComment && token.type !== 'space') {
        if (isBeforeStatement && found) break;
        [isBeforeStatement, found] = [false, undefined];
      }
      startsLine = token.type === 'space' && (startsLine || token.text.includes('\n'));
    }
    const marker = found && parseFailureMarker(found.text);
    if (!marker) return;
    const reason = formatExcerpt(marker.reason, 500);
    const message = `${marker.name} left its output incomplete: ${reason}`;
    throw new SplitError(message, ...this.#locate(text, found?.start), reason);
  }

  /** The line and column of an index in a text that starts at `#line` and `#column`. */
  #locate(text: string, index = text.length): [line: number, column: number] {
    const before = text.slice(0, index);
    let line = this.#line;
    let lastLineEnd = -1;
    for (let lineEnd = before.indexOf('\n'); lineEnd >= 0; lineEnd = before.indexOf('\n', lineEnd + 1)) {
      line++;
      lastLineEnd = lineEnd;
    }
    return [line, lastLineEnd < 0 ? this.#column + before.length : before.length - lastLineEnd];
  }
}

/** Normalizes the statement of a record; '' if the record has none. @throws SplitError for a second statement, and as `Splitter` does */
export function normalizeStatement(text: string): string {
  const trimmed = trim(text);
  const last = trimmed.length - 1;
  // Nearly all are one normalized statement without comments.
  if (last > 0 && findSimpleEnd(trimmed, 0) === last && !WHITESPACE.includes(trimmed.charAt(last - 1))) return trimmed;
  const splitter = new Splitter();
  const [first] = [...splitter.write(text)]; // yields nothing unless a second statement has ended
  if (first) throw secondStatementError(first);
  const { held, remainder } = splitter;
  const [statement = '', second] = [...splitter.end()];
  if (second) throw secondStatementError(statement);
  // If only comments follow the `;`, they become a part of the statement, before its `;`.
  if (held && NON_WHITESPACE.test(remainder)) return normalizeStatement(held.slice(0, -1) + remainder);
  return statement;
}

interface HeldStatement {
  /** The statement without its `;`, and without white space at its ends. */
  body: string;
  endsInLineComment: boolean;
  readonly startLine: number;
  /** Whether further comments may belong to the statement. They must start on the line of its `;`. */
  acceptsComments: boolean;
}

const printHeldStatement = ({ body, endsInLineComment }: HeldStatement): string =>
  `${body}${endsInLineComment ? '\n;' : ';'}`;

const LINE_END = /[\n\r]/;

function secondStatementError(first: string): SplitError {
  const lines = first.split('\n');
  return new SplitError('a second statement after the first', lines.length, (lines.at(-1) as string).length + 1);
}

/** Trims what is white space in QuestDB. A RegExp would take quadratic time. */
function trim(text: string): string {
  let start = 0;
  while (start < text.length && WHITESPACE.includes(text.charAt(start))) start++;
  return text.slice(start, lastIndexNotOf(WHITESPACE, text) + 1);
}

function lastIndexNotOf(characters: string, text: string): number {
  let index = text.length - 1;
  while (index >= 0 && characters.includes(text.charAt(index))) index--;
  return index;
}
