/*!
 * Reads the rows of a reply while the reply arrives. It passes on the first cell of each row, and checks and drops everything else. So
 * memory does not grow with the reply.
 */
import { type JsonEvents, JsonScanner, MalformedReplyError, RECREATE_HELP } from './json-scanner.js';

/** The error that a reply contains, as `error` or `notice`: the server's message, and its position in the query. */
export class ServerError extends Error {
  override name = 'ServerError';
  readonly position: number | undefined;

  constructor(message: string, position: unknown) {
    super(message);
    const number = typeof position === 'string' ? Number.parseInt(position, 10) : position;
    this.position = Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
  }
}

const EMPTY_ROW = 'contains an empty row';
const NOT_AN_ARRAY = 'contains a row that is not an array';

const NESTED = Symbol('nested');

/**
 * `write` returns the rows that a chunk completes. All rows have arrived only if `end` does not throw.
 *
 * The depth of a JSON event is 0 for the `{` of the reply, 1 for the `[` of the dataset, 2 for the `[` of a row, and 3 for a cell.
 * @throws MalformedReplyError for an incomplete or invalid reply; ServerError for a reply that contains an error
 */
export class RowScanner implements JsonEvents {
  readonly #json: JsonScanner;
  #key = '';
  readonly #topValues: Record<string, unknown> = {};
  #dataset: 'none' | 'open' | 'closed' = 'none';
  #rowCount = 0;
  #isInColumnName = false;
  #columnName: unknown;
  /** Of the current row; undefined until it arrives. */
  #firstCell: string | undefined;
  /** If a server fails while it writes a row, it ends the dataset with an empty row, and the error follows. So reading continues. */
  #endsInEmptyRow = false;
  #ready: string[] = [];

  /** @param maxValueBytes by default, twice the largest statement of a stream, which may be so long with escapes */
  constructor(maxValueBytes = 32 * 1024 * 1024) {
    this.#json = new JsonScanner(this, maxValueBytes);
  }

  write(chunk: Buffer): string[] {
    try {
      this.#json.write(chunk);
    } catch (error) {
      if (!(error instanceof MalformedReplyError) || this.#dataset !== 'open') throw error;
      throw new MalformedReplyError(`${error.message} (row ${this.#rowCount + 1})`, error.help);
    }
    const rows = this.#ready;
    this.#ready = [];
    return rows;
  }

  end(): void {
    rejectErrorReply(this.#topValues);
    this.#json.end();
    if (this.#dataset === 'none') throw new MalformedReplyError('contains no dataset');
    if (this.#endsInEmptyRow) throw new MalformedReplyError(`${EMPTY_ROW} (row ${this.#rowCount + 1})`);
    requireCount(this.#topValues.count, this.#rowCount);
  }

  key(name: string, depth: number): void {
    if (depth === 3 && this.#key === 'columns') this.#isInColumnName = name === 'name';
    if (depth !== 1) return;
    if (Object.hasOwn(this.#topValues, name)) throw duplicateKeyError(name);
    this.#key = name;
    if (SIGNIFICANT_KEYS.has(name)) this.#topValues[name] = undefined;
  }

  open(bracket: '[' | '{', depth: number): void {
    if (depth === 0 && bracket !== '{') throw new MalformedReplyError('is not a JSON object');
    if (depth === 1 && this.#key === 'dataset') {
      if (bracket !== '[') throw new MalformedReplyError('contains a dataset that is not an array');
      this.#dataset = 'open';
    }
    if (this.#dataset !== 'open') return;
    if (depth === 3) this.#firstCell ??= requireText(NESTED);
    if (depth !== 2) return;
    if (bracket !== '[') throw new MalformedReplyError(NOT_AN_ARRAY);
    rejectErrorReply(this.#topValues);
    if (this.#endsInEmptyRow) throw new MalformedReplyError(EMPTY_ROW);
    this.#firstCell = undefined;
  }

  close(depth: number): void {
    if (this.#dataset !== 'open') return;
    if (depth === 1) this.#dataset = 'closed';
    if (depth !== 2) return;
    this.#endsInEmptyRow = this.#firstCell === undefined;
    if (this.#firstCell === undefined) return;
    this.#rowCount++;
    this.#ready.push(this.#firstCell);
  }

  scalar(value: unknown, depth: number): void {
    if (depth === 0) throw new MalformedReplyError('is not a JSON object');
    if (depth === 1) {
      if (this.#key === 'dataset') throw new MalformedReplyError('contains a dataset that is not an array');
      if (SIGNIFICANT_KEYS.has(this.#key)) this.#topValues[this.#key] = value;
    } else if (depth === 3 && this.#key === 'columns' && this.#isInColumnName) {
      // A proxy may have cached the reply to another query.
      this.#columnName ??= value;
      if (this.#columnName !== DDL)
        throw new MalformedReplyError(`contains ${JSON.stringify(this.#columnName)} where ${DDL} was requested`);
    } else if (this.#dataset !== 'open') return;
    else if (depth === 2) throw new MalformedReplyError(NOT_AN_ARRAY);
    else if (depth === 3) this.#firstCell ??= requireText(value);
  }

  /** Accepts a batch of rows if each row is one string. If it returns false, the batch arrives again as single events. */
  rows(rows: unknown[]): boolean {
    if (this.#endsInEmptyRow || !rows.every(isSingleString)) return false;
    this.#rowCount += rows.length;
    for (const [text] of rows) this.#ready.push(text);
    return true;
  }
}

const isSingleString = (row: unknown): row is [string] =>
  Array.isArray(row) && row.length === 1 && typeof row[0] === 'string';

/** The name of the only column in the server's reply to SHOW CREATE (observed on 9.3.4 and 9.4.4). */
const DDL = 'ddl';

/** The keys that determine what a reply means. With the parameter `version=2`, the server calls the error `notice`. */
export const SIGNIFICANT_KEYS = new Set(['ddl', 'dml', 'dataset', 'error', 'notice', 'position', 'errorPos', 'count']);

/** @throws ServerError if the reply has an error, see `findServerError` */
export function rejectErrorReply(reply: Record<string, unknown>): void {
  const error = findServerError(reply);
  if (error) throw error;
}

/**
 * A reply may contain an error with any status, before or after its rows. The message may have any type. Observed on 9.3.4: after rows,
 * the position is called `errorPos`; for an empty query, the position is a string.
 */
export function findServerError(reply: Record<string, unknown>): ServerError | undefined {
  const key = 'error' in reply ? 'error' : 'notice';
  if (!(key in reply)) return undefined;
  const message = typeof reply[key] === 'string' ? reply[key].trim() : '';
  return new ServerError(message || 'an error without a message', reply.position ?? reply.errorPos);
}

/** @throws MalformedReplyError if the reply has a `count` that is not the number of its rows */
export function requireCount(count: unknown, rows: number): void {
  if (count !== undefined && count !== rows)
    throw new MalformedReplyError(`contains ${rows} rows, but its count is ${JSON.stringify(count)}`);
}

export const duplicateKeyError = (key: string): MalformedReplyError =>
  new MalformedReplyError(`contains ${JSON.stringify(key)} twice`);

/** @throws MalformedReplyError if a statement stream cannot contain the value */
function requireText(value: unknown): string {
  if (typeof value !== 'string') {
    const found = value === null ? 'null' : value === NESTED ? 'an array or object' : `a ${typeof value}`;
    throw new MalformedReplyError(`contains a row whose first column is ${found}`);
  }
  if (value.includes('\0')) throw new MalformedReplyError('contains a NUL character', RECREATE_HELP);
  if (!value.isWellFormed()) throw new MalformedReplyError('contains half of a surrogate pair', RECREATE_HELP);
  return value;
}
