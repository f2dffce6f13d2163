/*!
 * Scans JSON in chunks that may be cut anywhere, and checks every token. Native code does most of the work: it searches for the quote that
 * ends a string, and decodes the string with JSON.parse.
 */
import { isUtf8 } from 'node:buffer';

export const RECREATE_HELP = 'a stream cannot contain that: recreate the object without it';

/** An invalid reply. The message continues "the reply …"; `help` says what to do. */
export class MalformedReplyError extends Error {
  override name = 'MalformedReplyError';

  constructor(
    message: string,
    readonly help = "try again; if it fails again, see the server's log",
  ) {
    super(message);
  }
}

/** Called in order. `depth` is the number of enclosing containers. */
export interface JsonEvents {
  open?(bracket: '[' | '{', depth: number): void;
  close?(depth: number): void;
  key(name: string, depth: number): void;
  scalar?(value: unknown, depth: number): void;
  /** Called with many rows of `dataset` at once. If it returns false, the other methods are called for these rows. */
  rows?(rows: unknown[]): boolean;
}

/** Maximum nesting of a reply. Each level needs memory, and an invalid reply may nest without end. QuestDB's arrays have 32 dimensions. */
const MAX_DEPTH = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a value can begin with. */
const VALUE = '"[{-0123456789tfn';

/** `write` and `end` throw `MalformedReplyError`. */
export class JsonScanner {
  /** The characters that the next token may begin with. */
  #allowed = VALUE;
  /** The same for the token after a value, for each open container: `,]` in an array, `,}` in an object. */
  readonly #afterValue: string[] = [];
  /** A bare token is a number, true, false or null. It ends at white space, a comma or a bracket. */
  #token: 'none' | 'string' | 'bare' = 'none';
  /** The pieces of a token that was cut, and their length. */
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** The latest key at the top level. */
  #topKey = '';
  /** The last chunk that was searched for rows, because each chunk is searched only once. */
  #searched: Buffer | undefined;
  /** Whether a string was cut between a backslash and the character that it escapes. */
  #isEscaped = false;

  /** @param maxToken the maximum length of a string or a number, in bytes */
  constructor(
    private readonly events: JsonEvents,
    private readonly maxToken: number,
  ) {}

  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#token === 'none') at = this.#readPunctuation(chunk, at);
      else if (this.#token === 'string') at = this.#readString(chunk, at);
      else at = this.#readBare(chunk, at);
    }
  }

  end(): void {
    if (this.#allowed || this.#token !== 'none') throw new MalformedReplyError('is truncated');
  }

  #readPunctuation(chunk: Buffer, at: number): number {
    const character = String.fromCharCode(chunk[at] as number);
    if (' \n\r\t'.includes(character)) return at + 1;
    if (character !== '"' && !this.#allowed.includes(character)) throw misplacedError(character);
    switch (character) {
      case '"':
        this.#token = 'string';
        return this.#readString(chunk, at, at + 1);
      case ',':
        if (this.#afterValue.at(-1) === ',]') return this.#readRows(chunk, at + 1);
        this.#allowed = '"';
        break;
      case ':':
        this.#allowed = VALUE;
        break;
      case '[':
      case '{':
        if (this.#depth === MAX_DEPTH) throw new MalformedReplyError(`is nested deeper than ${MAX_DEPTH} levels`);
        this.events.open?.(character, this.#depth);
        this.#afterValue.push(character === '[' ? ',]' : ',}');
        this.#allowed = character === '[' ? `${VALUE}]` : '"}';
        break;
      case ']':
      case '}':
        this.#afterValue.pop();
        this.events.close?.(this.#depth);
        this.#endValue();
        break;
      default:
        this.#token = 'bare';
        return at;
    }
    return at + 1;
  }

  get #depth(): number {
    return this.#afterValue.length;
  }

  /** After a comma in an array: `JSON.parse` reads the rows up to the last `],[` of the chunk. That is ten times as fast as the scanner. */
  #readRows(chunk: Buffer, at: number): number {
    this.#allowed = VALUE;
    if (this.#topKey !== 'dataset' || this.#depth !== 2 || this.#searched === chunk) return at;
    this.#searched = chunk;
    const end = chunk.lastIndexOf('],[') + 1;
    if (end <= at || end - at > this.maxToken) return at;
    const rows = parseRows(chunk.toString('utf8', at, end));
    if (rows.length === 0 || this.events.rows?.(rows) === false) return at;
    this.#endValue();
    return end;
  }

  #endValue(): void {
    this.#allowed = this.#afterValue.at(-1) ?? '';
  }

  /** Reads the string that began at `start` or in an earlier chunk; its closing quote is searched from `from` on. */
  #readString(chunk: Buffer, start: number, from = this.#isEscaped ? start + 1 : start): number {
    const close = closingQuote(chunk, from);
    if (close < 0) {
      this.#keep(chunk.subarray(start));
      this.#isEscaped = backslashesBefore(chunk, chunk.length, from) % 2 === 1;
      return chunk.length;
    }
    this.#isEscaped = false;
    this.#endToken(chunk.subarray(start, close + 1));
    return close + 1;
  }

  #readBare(chunk: Buffer, start: number): number {
    let end = start;
    const endsToken = (byte: number) => byte <= 0x20 || ',]}'.includes(String.fromCharCode(byte));
    while (end < chunk.length && !endsToken(chunk[end] as number)) end++;
    if (end === chunk.length) this.#keep(chunk.subarray(start));
    else this.#endToken(chunk.subarray(start, end));
    return end;
  }

  #endToken(end: Buffer): void {
    this.#keep(end);
    const value = decodeToken(this.#pending.length === 1 ? end : Buffer.concat(this.#pending));
    [this.#token, this.#pending, this.#pendingLength] = ['none', [], 0];
    if (!this.#allowed.includes('"')) throw misplacedError('"');
    if (this.#allowed.startsWith(VALUE)) {
      this.events.scalar?.(value, this.#depth);
      this.#endValue();
    } else {
      this.events.key(value as string, this.#depth);
      if (this.#depth === 1) this.#topKey = value as string;
      this.#allowed = ':';
    }
  }

  #keep(bytes: Buffer): void {
    this.#pendingLength += bytes.length;
    if (this.#pendingLength > this.maxToken)
      throw new MalformedReplyError(`contains a value longer than ${this.maxToken} bytes`);
    this.#pending.push(bytes);
  }
}

/** Returns no rows if one may be invalid, so that the scanner finds the error, or if the last `],[` is inside a string or a cell. */
function parseRows(json: string): unknown[] {
  // An escape may stand for a NUL or half of a surrogate pair; U+FFFD may replace bytes that are not UTF-8.
  if (/\\u|\uFFFD/.test(json)) return [];
  try {
    return JSON.parse(`[${json}]`);
  } catch {
    return [];
  }
}

function closingQuote(chunk: Buffer, from: number): number {
  let at = chunk.indexOf(QUOTE, from);
  while (at >= 0 && backslashesBefore(chunk, at, from) % 2 === 1) at = chunk.indexOf(QUOTE, at + 1);
  return at;
}

function backslashesBefore(chunk: Buffer, at: number, from: number): number {
  let start = at;
  while (start > from && chunk[start - 1] === BACKSLASH) start--;
  return at - start;
}

function decodeToken(bytes: Buffer): unknown {
  const raw = bytes.toString();
  const isString = raw.startsWith('"');
  // Invalid bytes become U+FFFD. A U+FFFD that was really sent is rare, so it may be checked again.
  if (isString && raw.includes('\uFFFD') && !isUtf8(bytes))
    throw new MalformedReplyError('contains bytes that are not UTF-8');
  try {
    return JSON.parse(raw);
  } catch {
    throw isString ? invalidStringError(raw) : new MalformedReplyError('contains something that is not JSON');
  }
}

function invalidStringError(raw: string): MalformedReplyError {
  if (raw.includes('\0')) return new MalformedReplyError('contains a NUL character', RECREATE_HELP);
  const [control] = /[\0-\x1f]/.exec(raw) ?? [];
  if (control === undefined) return new MalformedReplyError('contains a string with an escape that JSON does not know');
  const code = `U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return new MalformedReplyError(`contains an unescaped control character (${code}) in a string`);
}

function misplacedError(character: string): MalformedReplyError {
  const name = /[!-~]/.test(character) ? `"${character}"` : `the byte 0x${character.charCodeAt(0).toString(16)}`;
  return new MalformedReplyError(`is not JSON: ${name} is out of place`);
}
