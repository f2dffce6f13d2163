/*!
 * The rows of a reply while it arrives: `dataset[i][0]` passed on at once, everything else checked and dropped. Memory
 * does not grow with the reply. Only this file defines what a complete and valid reply is.
 */
import { JsonError, type JsonEvents, JsonScanner } from './json.js';

/** A reply that holds an `error` or `notice`: the server's own words, and where in the query it points. */
export class ServerError extends Error {
  override name = 'ServerError';
  /** Index into the query (UTF-16 code units), where the server gave one. */
  readonly position: number | undefined;

  constructor(message: string, position: unknown) {
    super(message);
    this.position = toPosition(position);
  }
}

/** Stands for a cell that is an array or object: nothing of it is kept. */
const NESTED = Symbol('nested');
/** Enough for the largest statement that a stream carries (16 MiB), half of it escaped. */
const MAX_ROW = 32 * 1024 * 1024;
/** Far above any reply's: QuestDB's arrays have 32 dimensions at most. */
export const MAX_DEPTH = 128;

/**
 * Reads a reply with rows from bytes cut anywhere.
 *
 * Throws `JsonError` for a reply that is not whole and sane, `ServerError` for one that says `error`. Rows handed
 * out before that were really in the reply; only `end` says that they were all.
 */
export class RowScanner {
  readonly #json: JsonScanner;
  readonly #reply: RowReply;

  /** @param maxRow the longest single value in bytes, as JSON writes it */
  constructor(maxRow = MAX_ROW) {
    this.#reply = new RowReply(maxRow);
    this.#json = new JsonScanner(this.#reply, { token: maxRow, depth: MAX_DEPTH });
  }

  /** The first columns of the rows that this chunk completes. */
  write(chunk: Buffer): string[] {
    try {
      this.#json.write(chunk);
    } catch (error) {
      throw error instanceof JsonError ? this.#reply.addRowNumber(error) : error;
    }
    return this.#reply.take();
  }

  /** Throws unless the reply was whole. */
  end(): void {
    this.#reply.checkError();
    this.#json.end();
    this.#reply.checkComplete();
  }
}

/** Depths within a reply: `{` 0 `"dataset": [` 1 `[` 2 `first column` 3. */
class RowReply implements JsonEvents {
  #key = '';
  readonly #top: Record<string, unknown> = {};
  #dataset: 'none' | 'open' | 'closed' = 'none';
  #rows = 0;
  #column = 0;
  #inColumnName = false;
  /** What the reply calls its first column, where it says so. */
  #columnName: unknown;
  #first = '';
  /** The server ends so when it fails in a row. The reason follows after the rows, so reading goes on. */
  #endsInEmptyRow = false;
  #ready: string[] = [];
  /** The chunk that was looked at for rows by the many: once is enough. */
  #searched: Buffer | undefined;

  constructor(readonly maxRow: number) {}

  take(): string[] {
    const rows = this.#ready;
    this.#ready = [];
    return rows;
  }

  /** An error with the number of the row that it is in. */
  addRowNumber(error: JsonError): JsonError {
    const isPlaced = this.#dataset !== 'open' || error.message.endsWith(')');
    return isPlaced ? error : new JsonError(`${error.message} (row ${this.#rows + 1})`);
  }

  key(name: string, depth: number): void {
    if (depth === 3 && this.#key === 'columns') this.#inColumnName = name === 'name';
    if (depth !== 1) return;
    if (Object.hasOwn(this.#top, name)) throw duplicateKeyError(name);
    this.#key = name;
    if (isSignificantKey(name)) this.#top[name] = undefined;
  }

  open(kind: 'array' | 'object', depth: number): void {
    if (depth === 0 && kind !== 'object') throw new JsonError('is not a JSON object');
    if (depth === 1 && this.#key === 'dataset') this.#openDataset(kind);
    else if (this.#dataset === 'open' && depth === 2) this.#openRow(kind);
    else if (this.#dataset === 'open' && depth === 3) this.#addCell(NESTED);
  }

  close(depth: number): void {
    if (this.#dataset !== 'open') return;
    if (depth === 2) this.#closeRow();
    else if (depth === 1) this.#dataset = 'closed';
  }

  scalar(value: unknown, depth: number): void {
    if (depth === 0) throw new JsonError('is not a JSON object');
    if (depth === 1) this.#setTopValue(value);
    else if (depth === 3 && this.#key === 'columns') this.#checkColumnName(value);
    else if (this.#dataset !== 'open') return;
    else if (depth === 2) throw new JsonError(`contains a row that is not an array (row ${this.#rows + 1})`);
    else if (depth === 3) this.#addCell(value);
  }

  /** All rows but the first and the last of a chunk at once, where they are as the service writes them. */
  elements(chunk: Buffer, at: number, depth: number): number {
    if (this.#dataset !== 'open' || depth !== 2 || chunk === this.#searched) return at;
    this.#searched = chunk;
    const end = chunk.lastIndexOf(BETWEEN_ROWS) + ROW_END;
    if (end <= at || end - at > this.maxRow || this.#endsInEmptyRow) return at;
    const rows = parseRows(chunk.toString('utf8', at, end));
    this.#rows += rows.length;
    for (const row of rows) this.#ready.push(row);
    return rows.length ? end : at;
  }

  /** Throws when the server reported an error. */
  checkError(): void {
    checkError(this.#top);
  }

  checkComplete(): void {
    if (this.#dataset === 'none') throw new JsonError('contains no dataset');
    this.#checkRow();
    checkCount(this.#top.count, this.#rows);
  }

  #checkRow(): void {
    if (this.#endsInEmptyRow) throw new JsonError(`contains an empty row (row ${this.#rows})`);
  }

  #setTopValue(value: unknown): void {
    if (this.#key === 'dataset') throw new JsonError('contains a dataset that is not an array');
    if (isSignificantKey(this.#key)) this.#top[this.#key] = value;
  }

  /** A proxy may have cached the response to another query. */
  #checkColumnName(value: unknown): void {
    if (!this.#inColumnName) return;
    this.#columnName ??= value;
    if (this.#columnName !== DDL)
      throw new JsonError(`contains ${JSON.stringify(this.#columnName)} where ${DDL} was requested`);
  }

  #openDataset(kind: 'array' | 'object'): void {
    if (kind !== 'array') throw new JsonError('contains a dataset that is not an array');
    if (this.#dataset !== 'none') throw duplicateKeyError('dataset');
    this.#dataset = 'open';
  }

  #openRow(kind: 'array' | 'object'): void {
    if (kind !== 'array') throw new JsonError(`contains a row that is not an array (row ${this.#rows + 1})`);
    this.checkError();
    this.#checkRow();
    this.#column = 0;
  }

  #addCell(value: unknown): void {
    if (this.#column++ > 0) return;
    this.#first = text(value, this.#rows + 1);
  }

  #closeRow(): void {
    this.#rows++;
    if (this.#column === 0) this.#endsInEmptyRow = true;
    else this.#ready.push(this.#first);
  }
}

/** Where a row of one string ends, and another begins. */
const BETWEEN_ROWS = Buffer.from('"],["');
const ROW_END = '"]'.length;

/** What may stand for a NUL or half of a surrogate pair, and what bytes that are not UTF-8 become. */
const AMBIGUOUS = /\\u|\uFFFD/;

/**
 * The strings of rows that hold one each, with commas between them: JSON.parse reads them many times faster all together.
 * None where anything may be wrong with one of them; reading one by one will find and tell.
 */
function parseRows(json: string): string[] {
  if (AMBIGUOUS.test(json)) return [];
  try {
    const rows: unknown[] = JSON.parse(`[${json}]`);
    return rows.every(isSingleString) ? rows.map(([checkText]) => checkText) : [];
  } catch {
    return [];
  }
}

const isSingleString = (row: unknown): row is [string] =>
  Array.isArray(row) && row.length === 1 && typeof row[0] === 'string';

/** What the service calls the one column of an answer to SHOW CREATE (observed on 9.3.4 and 9.4.4). */
const DDL = 'ddl';

/** The keys beside `dataset` that decide whether a reply is good. `notice` is the name of `error` in version 2. */
const SIGNIFICANT_KEYS = ['error', 'notice', 'position', 'errorPos', 'count'];

function isSignificantKey(key: string): boolean {
  return SIGNIFICANT_KEYS.includes(key);
}

/**
 * Throws `ServerError` when a reply says `error`: with any status, before or after the rows, whatever its value.
 * Observed on 9.3.4: after rows the position is called `errorPos`, and an empty query's position is a string.
 */
export function checkError(reply: Record<string, unknown>): void {
  const key = 'error' in reply ? 'error' : 'notice';
  if (!(key in reply)) return;
  const message = typeof reply[key] === 'string' ? reply[key].trim() : '';
  throw new ServerError(message || 'an error without a message', reply.position ?? reply.errorPos);
}

/** Throws when the reply's `count` (where it has one) is not the number of rows that came. */
export function checkCount(count: unknown, rows: number): void {
  if (count !== undefined && count !== rows)
    throw new JsonError(`contains ${rows} rows, but its count is ${JSON.stringify(count)}`);
}

/** A key that comes twice at the top of a reply: which of the two to believe? */
export const duplicateKeyError = (key: string): JsonError => new JsonError(`contains ${JSON.stringify(key)} twice`);

/** The first column as text that a statement stream can carry. */
function text(value: unknown, row: number): string {
  if (typeof value !== 'string')
    throw new JsonError(`contains a row whose first column is ${describeValue(value)} (row ${row})`);
  if (value.includes('\0')) throw new JsonError(`contains a NUL character (row ${row})`);
  if (!value.isWellFormed()) throw new JsonError(`contains half of a surrogate pair (row ${row})`);
  return value;
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === NESTED) return 'an array or object';
  return `a ${typeof value}`;
}

function toPosition(position: unknown): number | undefined {
  const number = typeof position === 'string' ? Number.parseInt(position, 10) : position;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}
