import { CodedError, formatExcerpt } from '@sqlpipe/text';
import { PLAN_START, parseFailureMarker } from './failure-marker.js';
import {
  canHaveComments,
  endOfCode,
  type LexerRules,
  readSegment,
  type Segment,
  significantTokens,
  type Token,
  tokens,
  WHITESPACE,
} from './tokens.js';

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

const UNCLOSED_MESSAGES: Partial<Record<Segment['type'], string>> = {
  string: 'unterminated string',
  name: 'unterminated quoted name',
  comment: 'unterminated comment',
};

/**
 * Cuts text into statements at each `;` outside quotes, comments and parentheses. Text with only comments is not a statement.
 * Statements are normalized:
 * - A statement has no white space at its ends. It ends in one `;`. After a `--` comment, the `;` is on a line of its own.
 * - Comments before a statement stay there. Comments that follow a `;` on its line move before the `;`, unless a statement follows there.
 */
export class Splitter {
  /** The text after the last `;` that has ended a statement or stood alone. */
  remainder = '';
  /** The length of the start of `remainder` that is known to contain no end of a statement. */
  #scannedLength = 0;
  /** Where `remainder` starts. */
  #line = 1;
  #column = 1;
  /** The line where the last yielded statement, or a comment before it, starts. Counts from 1. */
  startLine = 1;
  /** The last statement that has ended. It is yielded later, because comments may follow its `;`. */
  #held: HeldStatement | undefined;

  /** @param maxLength the maximum length of a statement with its white space and comments, in UTF-16 code units */
  constructor(private readonly maxLength = Number.POSITIVE_INFINITY) {}

  /** The statement that has ended and has not been yielded yet. Comments that are still in `remainder` are missing. */
  get held(): string | undefined {
    return this.#held && `${this.#held.body};`;
  }

  /** Reads a chunk, and yields ended statements except the last. @throws SplitError for a failure marker or an overlong statement */
  *write(text: string): Generator<string> {
    this.remainder += text;
    // Each scan starts at the start of a statement. A scan for each chunk would take quadratic time.
    const { length } = this.remainder;
    if (length >= 2 * this.#scannedLength || length > this.maxLength) yield* this.#cut();
  }

  /**
   * Yields what is left: the held statement, and a statement after the last `;`.
   * @throws SplitError for an unclosed quote, comment or parenthesis, for a missing `;` if it is required, and as `write` does
   * @throws SplitError for an incomplete plan, of which only the comments at the head are left
   */
  *end({ requiresSemicolon = false } = {}): Generator<string> {
    const scan = yield* this.#cut();
    const text = this.remainder;
    try {
      if (scan.unclosed) {
        const { type, start } = scan.unclosed;
        // After a doubled quote, the last quote counts.
        const isQuote = type === 'string' || type === 'name';
        const at = this.#locate(text, isQuote ? text.lastIndexOf(text.charAt(start)) : start);
        throw new SplitError(UNCLOSED_MESSAGES[type] ?? 'unclosed parenthesis', ...at);
      }
      if (requiresSemicolon && scan.hasContent) {
        this.#rejectFailureMarker(text); // its reason is more helpful
        const last = [...significantTokens(text)].at(-1);
        throw new SplitError(
          "the last statement has no ';': the file may be truncated; if it is complete, add the ';'",
          ...this.#locate(text, last && last.start + last.text.length),
        );
      }
      if (!scan.hasContent && PLAN_START.test(text))
        throw new SplitError('the plan is incomplete: only the comments at its head are left', ...this.#locate(''));
      yield* this.#finish(text, scan);
    } finally {
      yield* this.#release();
    }
  }

  /** Cuts off the ended statements. Returns the scan of the rest. The held statement is yielded before an error is thrown. */
  *#cut(): Generator<string, StatementScan> {
    try {
      let scan = scanStatement(this.remainder, this.#scannedLength);
      for (; scan.end >= 0; scan = scanStatement(this.remainder)) {
        const text = this.remainder.slice(0, scan.end);
        this.remainder = this.remainder.slice(scan.end + 1);
        this.#rejectTooLong(text.length);
        yield* this.#finish(text, scan);
        this.#column++; // the semicolon itself
      }
      this.#scannedLength = this.remainder.length;
      this.#rejectTooLong(this.remainder.length);
      return scan;
    } catch (error) {
      yield* this.#release();
      throw error;
    }
  }

  #rejectTooLong(length: number): void {
    if (length > this.maxLength)
      throw new SplitError(
        `a statement of more than ${this.maxLength} characters; is a semicolon missing? --max-record raises the limit`,
        ...this.#locate(''),
      );
  }

  /** Ends a statement, and holds it instead of the former one. Text without a statement is skipped. @throws SplitError */
  *#finish(text: string, { rules, hasContent, endsInLineComment }: StatementScan): Generator<string> {
    let rest = text;
    if (!hasContent || canHaveComments(text)) {
      this.#rejectFailureMarker(text);
      rest = this.#moveComments(text, rules);
    }
    const [startLine] = this.#locate(rest, Math.max(rest.search(NON_WHITESPACE), 0));
    [this.#line, this.#column] = this.#locate(rest);
    if (!hasContent) return;
    yield* this.#release();
    this.#held = { body: trim(rest) + (endsInLineComment ? '\n' : ''), startLine, acceptsComments: true };
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
      this.#rejectTooLong(held.body.replace(/\n$/, '').length + end);
      held.body += comments + (endsInLineComment ? '\n' : '');
    }
    [this.#line, this.#column] = this.#locate(comments);
    return text.slice(end);
  }

  *#release(): Generator<string> {
    if (!this.#held) return;
    this.startLine = this.#held.startLine;
    yield `${this.#held.body};`;
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
  if (last > 0 && findSimpleEnd(trimmed) === last && !WHITESPACE.includes(trimmed.charAt(last - 1))) return trimmed;
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

interface StatementScan {
  readonly rules: LexerRules;
  /** The index of the `;` that ends the statement, or -1. */
  readonly end: number;
  /** What is unclosed at the end of the text. */
  readonly unclosed?: Segment | undefined;
  /** Whether the statement has anything but white space and comments. */
  readonly hasContent: boolean;
  readonly endsInLineComment: boolean;
}

/** Scans one statement by one set of rules. `isAmbiguous`: whether it may end elsewhere by the other rules. */
function scanBy(rules: LexerRules, text: string): StatementScan & { isAmbiguous: boolean } {
  let [hasContent, endsInLineComment, isAmbiguous] = [false, false, false];
  let depth = 0;
  let outermost: Segment | undefined; // only one parenthesis is stored, because memory may not suffice for all
  let unclosed: Segment | undefined;
  for (let start = 0; start < text.length; ) {
    const segment = readSegment(text, start, rules);
    const { type, end } = segment;
    if (type === 'comment') {
      endsInLineComment = text.startsWith('--', start);
      isAmbiguous ||= !endsInLineComment && /['"`]|--/.test(text.slice(start, end));
    } else if (type !== 'code' || ((!hasContent || endsInLineComment) && NON_WHITESPACE.test(text.slice(start, end)))) {
      const character = text.charAt(start);
      if (character === ';' && depth === 0) return { rules, end: start, hasContent, endsInLineComment, isAmbiguous };
      if (character === '(' && depth++ === 0) outermost = segment;
      if (character === ')' && depth > 0) depth--;
      [hasContent, endsInLineComment] = [true, false];
    }
    if (segment.isUnclosed) unclosed = segment;
    start = end;
  }
  unclosed ??= depth > 0 ? outermost : undefined;
  return { rules, end: -1, unclosed, hasContent, endsInLineComment, isAmbiguous };
}

/**
 * Scans the statement at the start of a text by the rules of SQL and, if a block comment contains a quote or `--`, also by those of the
 * server. The first `;` that either finds ends the statement: by the wrong rules, it may seem to be in a string or a comment, but a `;`
 * inside one rarely seems to be the end.
 * @param scanned the length of the start of the text that is known to have no end
 */
function scanStatement(text: string, scanned = 0): StatementScan {
  const end = findSimpleEnd(text);
  if (end >= 0)
    return { rules: 'sql', end, hasContent: NON_WHITESPACE.test(text.slice(0, end)), endsInLineComment: false };
  // If each scan read all of the text, a text of many statements would take quadratic time.
  for (let length = Math.max(256, 2 * scanned); ; length *= 8) {
    const piece = text.slice(0, length);
    const bySql = scanBy('sql', piece);
    const byServer = bySql.isAmbiguous && scanBy('server', bySql.end < 0 ? piece : piece.slice(0, bySql.end));
    const scan = byServer && (byServer.end >= 0 || (bySql.unclosed && !byServer.unclosed)) ? byServer : bySql;
    if (scan.end >= 0 || length >= text.length) return scan;
  }
}

/** Finds the `;` that ends the statement; -1 if it is not in this text, or if comments or open parentheses need a scan. */
function findSimpleEnd(text: string): number {
  let depth = 0;
  for (let index = endOfCode(text, 0); index < text.length; index = endOfCode(text, index + 1)) {
    const character = text.charAt(index);
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (`'"\``.includes(character)) index = text.indexOf(character, index + 1);
    else return character === ';' && depth === 0 ? index : -1;
    if (depth < 0 || index < 0) return -1;
  }
  return -1;
}

interface HeldStatement {
  /** The statement without its `;`, and without white space at its ends. If it ends in a line comment, a line feed follows. */
  body: string;
  readonly startLine: number;
  /** Whether further comments may belong to the statement. They must start on the line of its `;`. */
  acceptsComments: boolean;
}

const NON_WHITESPACE = /[^ \t\n\r]/;
const LINE_END = /[\n\r]/;

function secondStatementError(first: string): SplitError {
  const lines = first.split('\n');
  return new SplitError('a second statement after the first', lines.length, (lines.at(-1) as string).length + 1);
}

/** Trims what is white space in QuestDB. A RegExp would take quadratic time. */
function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && WHITESPACE.includes(text.charAt(start))) start++;
  while (end > start && WHITESPACE.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
