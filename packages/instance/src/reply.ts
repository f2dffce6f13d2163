/*! What a response means: success, a rejection by the server, or something that is not this protocol. */
import { isUtf8 } from 'node:buffer';
import { findSecrets } from '@sqlpipe/sql';
import { maskSecrets, truncate } from '@sqlpipe/text';
import type { Response } from './connection.js';
import type { InstanceErrorCode } from './instance-error.js';
import { JsonError, type JsonEvents, JsonScanner } from './json.js';
import { checkCount, checkError, duplicateKeyError, MAX_DEPTH, ServerError, SIGNIFICANT_KEYS } from './row-scanner.js';
import { PROXY_CREDENTIALS_MESSAGE } from './transport-messages.js';

/** The server's rejection of one statement. */
export interface Rejection {
  ok: false;
  /** The server's message, unescaped, without the secrets of the request. */
  message: string;
  /** Whether the message matches, as the server sent it: a secret may be one of its words. */
  says(pattern: RegExp): boolean;
  /** Index into the statement (UTF-16 code units), if the server sent one. */
  position?: number;
  status: number;
  /** Whether the reason is a missing permission. */
  denied: boolean;
}

/** The result of a statement. */
export type Reply =
  | {
      ok: true;
      /** The rows of the reply, with secrets: a server shows a new token only once. */
      rows?: unknown[][];
    }
  | Rejection;

/** A response that is neither success nor rejection. The message follows the instance's name and a colon. */
export class UnexpectedResponseError extends Error {
  override name = 'UnexpectedReply';
  readonly code: InstanceErrorCode;

  constructor(code: InstanceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A reply with its rows, if there are any, in `dataset`. */
type ReplyObject = Record<string, unknown> & { dataset?: unknown[][] };

/**
 * Maximum length of a reply with rows, in bytes: far more than the catalogue of a hundred thousand tables needs. Parsed,
 * it may need a gibibyte.
 */
const MAX_TABLE = 32 * 1024 * 1024;

/**
 * Maximum length of a reply, without the statement in it. A reply may quote the statement twice, and six bytes may stand for
 * one of the request.
 */
const BASE_REPLY_LENGTH = 64 * 1024;
const maxReplyLength = ({ url }: Response): number => BASE_REPLY_LENGTH + 12 * url.length;

/**
 * Reads the result of a statement. Throws `UnexpectedResponseError`, and `TransportError` if the reply is truncated.
 * @param acceptRows whether rows count as success
 */
export async function readReply(response: Response, acceptRows = false): Promise<Reply> {
  if (response.status !== 200) return toRejection(await readServerError(response), response);
  const body = await readBody(response, maxReplyLength(response));
  if (body.equals(OK)) return { ok: true };
  const reply = parseReply(body, response, maxReplyLength(response));
  if (acceptRows && reply.dataset) return { ok: true, rows: requireRows(reply, response) };
  try {
    checkError(reply);
  } catch (error) {
    if (error instanceof ServerError) return toRejection(error, response);
    throw error;
  }
  if (reply.ddl === 'OK' || reply.dml === 'OK') return { ok: true };
  const what = reply.dataset ? 'with rows' : `with ${quoteReply(startOfBody(body), 80, response)}`;
  throw new UnexpectedResponseError('PROTOCOL', `answered ${what} instead of {"ddl":"OK"}; ${ADDRESS_HELP}`);
}

/** The exact reply to nearly all statements (observed on 9.3.4). */
const OK = Buffer.from('{"ddl":"OK"}');

/** All rows of a small reply. Throws as `readReply` does, and `ServerError` if the query was rejected. */
export async function readTable(response: Response): Promise<unknown[][]> {
  if (response.status !== 200) throw await readServerError(response);
  return requireRows(parseReply(await readBody(response, MAX_TABLE), response, MAX_TABLE), response);
}

function requireRows(reply: ReplyObject, response: Response): unknown[][] {
  checkError(reply);
  try {
    if (!reply.dataset) throw new JsonError('contains no dataset');
    checkCount(reply.count, reply.dataset.length);
  } catch (error) {
    throw error instanceof JsonError ? invalidReplyError(error, response, Buffer.from('{')) : error;
  }
  return reply.dataset.map(row => row.map(simplifyCell));
}

/** Makes an array or object in a cell undefined: none is used, and converting one to text may throw. */
const simplifyCell = (cell: unknown): unknown => (typeof cell === 'object' && cell !== null ? undefined : cell);

/** The error in a reply whose status is not 200. Throws `UnexpectedResponseError` if the reply is not a rejection. */
export async function readServerError(response: Response): Promise<ServerError> {
  const { status } = response;
  const limit = maxReplyLength(response);
  const body = await readBody(response, limit);
  if (body.length > limit) throw invalidReplyError(tooLongError(limit), response, body);
  if (status === 400 || status === 403) {
    const error = parseServerError(body);
    if (error) return error;
  }
  throw unexpectedStatusError(response, body);
}

/** The error for a reply that is not JSON of this protocol. @param start the first bytes of its body */
export function invalidReplyError(
  error: JsonError,
  response: Response,
  start: Buffer = Buffer.alloc(0),
): UnexpectedResponseError {
  const coding = response.headers['content-encoding'];
  const text = start.toString('latin1', 0, MAX_QUOTED).trimStart();
  return new UnexpectedResponseError('PROTOCOL', message());

  function message(): string {
    if (coding !== undefined && coding !== 'identity')
      return `the reply is compressed (${quoteReply(coding, 20, response)}), which was not requested; does a proxy do that?`;
    if (text.startsWith('{'))
      return `the reply ${quoteReply(error.message, 300, response)}; ${UNSTREAMABLE.test(error.message) ? RECREATE_HELP : RETRY_HELP}`;
    if (text === '') return `the reply is empty (status ${response.status}); ${ADDRESS_HELP}`;
    return `${describeAnswer(response, start)}, which is not QuestDB's JSON; ${ADDRESS_HELP}`;
  }
}

/** The server's error as the rejection of a statement. */
export function toRejection({ message, position }: ServerError, response: Response): Rejection {
  const { status } = response;
  // Observed on 9.3.4: a read-only server says "Write permission denied", with 400 to a CREATE TABLE.
  const denied = status === 403 || /\b(?:permission|access) denied\b/i.test(message);
  return {
    ok: false,
    message: maskReply(message, response),
    says: pattern => pattern.test(message),
    ...(position === undefined ? {} : { position }),
    status,
    denied,
  };
}

/**
 * The body of a small reply. Reading stops after the chunk that exceeds the limit. Uses events, because most replies
 * are one small chunk, and an iterator would take longer than everything else.
 */
function readBody({ body }: Response, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const done = () => resolve(Buffer.concat(chunks));
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) return;
      done();
      body.destroy();
    });
    body.on('end', done);
    body.on('error', reject);
  });
}

/** Parses the object of a reply. Throws `UnexpectedResponseError` instead of `JsonError`. */
function parseReply(body: Buffer, response: Response, limit: number): ReplyObject {
  try {
    if (body.length > limit) throw tooLongError(limit);
    return parseObject(body);
  } catch (error) {
    throw error instanceof JsonError ? invalidReplyError(error, response, body) : error;
  }
}

const tooLongError = (limit: number): JsonError => new JsonError(`is longer than ${limit} bytes`);

/** @throws JsonError */
function parseObject(body: Buffer): ReplyObject {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new JsonError('is not a JSON object');
  const reply = value as ReplyObject;
  if ('dataset' in reply && !isRows(reply.dataset)) throw new JsonError('contains a dataset that is not rows of cells');
  return reply;
}

const isRows = (dataset: unknown): dataset is unknown[][] => Array.isArray(dataset) && dataset.every(Array.isArray);

function parseJson(body: Buffer): unknown {
  const builder = new ValueBuilder(isUtf8(body));
  const scanner = new JsonScanner(builder, { token: body.length, depth: MAX_DEPTH });
  scanner.write(body);
  scanner.end();
  return builder.value;
}

/** Builds the value of a text. If a significant key occurred twice, its value would be unclear: that is an error. */
class ValueBuilder implements JsonEvents {
  value: unknown;
  readonly #containers: (unknown[] | Record<string, unknown>)[] = [];
  #key = '';

  /** @param mayReadRows whether rows may be parsed together: it is known that the text is UTF-8 */
  constructor(private mayReadRows: boolean) {}

  open(kind: 'array' | 'object'): void {
    const container = kind === 'array' ? [] : Object.create(null); // a key may be __proto__
    this.scalar(container);
    this.#containers.push(container);
  }

  close(): void {
    this.#containers.pop();
  }

  key(name: string, depth: number): void {
    this.#key = name;
    const isRepeated = depth === 1 && Object.hasOwn(this.value as object, name);
    if (isRepeated && SIGNIFICANT_KEYS.has(name)) throw duplicateKeyError(name);
  }

  scalar(value: unknown): void {
    const container = this.#containers.at(-1);
    if (!container) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else container[this.#key] = value;
  }

  /** Parses all rows but the first and the last at once, which is four times as fast as the scanner. */
  readElements(chunk: Buffer, at: number, depth: number): number {
    const end = chunk.lastIndexOf('],[') + 1;
    if (!this.mayReadRows || depth !== 2 || end <= at) return at;
    this.mayReadRows = false;
    try {
      for (const row of JSON.parse(`[${chunk.toString('utf8', at, end)}]`)) this.scalar(row);
      return end;
    } catch {
      return at; // the scanner says what is wrong
    }
  }
}

function parseServerError(body: Buffer): ServerError | undefined {
  try {
    checkError(parseObject(body));
  } catch (error) {
    if (error instanceof ServerError) return error;
  }
  return undefined;
}

const startOfBody = (body: Buffer): string => body.toString('utf8', 0, MAX_QUOTED).trimStart();

const RETRY_HELP = "try again; if it fails again, see the server's log";
/** Content that a server accepts and a statement stream cannot contain. */
const UNSTREAMABLE = /^contains (?:a NUL|half of)/;
const RECREATE_HELP = 'a stream cannot contain that: recreate the object without it';
const ADDRESS_HELP = "is this a QuestDB server's address, or did a proxy's login page answer?";

function unexpectedStatusError(response: Response, body: Buffer): UnexpectedResponseError {
  const { status } = response;
  if (status !== 304 && status >= 300 && status < 400)
    return new UnexpectedResponseError('PROTOCOL', describeRedirect(response));
  const message = parseServerError(body)?.message;
  const what =
    message === undefined
      ? describeAnswer(response, body)
      : `answered ${status}: ${quoteReply(message, 300, response)}`;
  const [code, explanation] = explainStatus(response);
  return new UnexpectedResponseError(code, status === 407 ? explanation : what + explanation);
}

/** What a status means: the code of the error, and the rest of its message. */
function explainStatus(response: Response): [code: InstanceErrorCode, explanation: string] {
  const { status } = response;
  switch (status) {
    case 401:
      return ['DENIED', ''];
    case 403:
      return ['DENIED', ': permission denied; grant the permission to this user, or use another account'];
    case 404:
    case 405:
      return ['PROTOCOL', ': no QuestDB server there; is the address right, with its path prefix?'];
    case 407:
      return ['DENIED', PROXY_CREDENTIALS_MESSAGE];
    case 408:
      return ['UNREACHABLE', ': the server timed out; try again'];
    case 413:
    case 414:
    case 431:
      return [
        'UNREACHABLE',
        ': the request is too large for a proxy on the way; raise the limit of the proxy, or bypass it',
      ];
    case 429:
      return ['UNREACHABLE', `: too busy; try again ${formatRetryTime(response)}`];
    case 503:
      return ['UNREACHABLE', `: the server is not ready; try again ${formatRetryTime(response)}`];
  }
  const isFailure = status >= 500 && status < 600;
  return isFailure ? ['UNREACHABLE', ': the server failed; see its log'] : ['PROTOCOL', `; ${ADDRESS_HELP}`];
}

/** When a busy server accepts requests again, in words. */
function formatRetryTime(response: Response): string {
  const seconds = retryAfter(response);
  return seconds === undefined ? 'later' : `in ${Math.ceil(seconds)} s`;
}

/**
 * The number of seconds that a server asks clients to wait (Retry-After, a number of seconds or a date); undefined if
 * it does not ask.
 */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** Describes where a redirect leads. The path and the query are not shown, because they may contain secrets. */
function describeRedirect(response: Response): string {
  const { status, headers, url } = response;
  const what = `answered with a redirect (${status})`;
  if (headers.location === undefined || !URL.canParse(headers.location, url))
    return `${what} without a valid Location; ${ADDRESS_HELP}`;
  const { origin } = new URL(headers.location, url);
  return origin === new URL(url).origin
    ? `${what} to another path of the server; does the address lack a path prefix, or is that a login page?`
    : `${what} to ${quoteReply(origin, 300, response)}, which is not followed; give the address it leads to, unless that is a login page`;
}

function describeAnswer(response: Response, body: Buffer): string {
  const { status, headers } = response;
  const type = headers['content-type'] === undefined ? '' : `, ${quoteReply(headers['content-type'], 40, response)}`;
  const start = body.toString('utf8', 0, MAX_QUOTED).trim();
  if (start === '') return `answered ${status}${type}`;
  return `answered ${status}${type}, ${start.includes('\0') ? 'no text' : `"${quoteReply(start, 80, response)}"`}`;
}

const quoteReply = (text: string, length: number, response: Response): string =>
  truncate(maskReply(text, response), length);

/** Redacts the secrets of the request, which a server or a proxy may quote. */
function maskReply(text: string, { url, secrets }: Response): string {
  const all = [...secrets, ...findSecrets(new URL(url).searchParams.get('query') ?? '')];
  return maskSecrets(text.slice(0, MAX_QUOTED), all);
}

/** Maximum length of quoted text before redaction, in UTF-16 code units; longer than the longest secret. */
const MAX_QUOTED = 64 * 1024;
