/*!
 * Interprets responses: success, a rejection by the server, or anything else, such as status 503 or a proxy's login page. If a message
 * quotes the response, the secrets of the request are masked in the quotation. `client.ts` puts the instance's name before the messages.
 */
import { findSecrets } from '@sqlpipe/sql';
import { type ErrorCode, formatExcerpt, maskSecrets } from '@sqlpipe/text';
import { InstanceError } from '../instance-error.js';
import type { OpenResponse } from './connection.js';
import { JsonScanner, MalformedReplyError } from './json-scanner.js';
import { duplicateKeyError, findServerError, requireCount, SIGNIFICANT_KEYS } from './row-scanner.js';
import { PROXY_CREDENTIALS_MESSAGE } from './transport-messages.js';

/** The server's rejection of one statement. */
export interface Rejection {
  ok: false;
  /** Decoded from JSON. Secrets of the request are masked, and a very long message is cut. */
  message: string;
  /** Tests the unmasked message. A pattern may fail on `message`: if the password is `table`, this word is masked there. */
  matches(pattern: RegExp): boolean;
  position?: number;
  status: number;
  isDenied: boolean;
}

/** The result of a statement. */
export type Reply =
  | {
      ok: true;
      /** The rows of the reply, if the caller accepts rows. Secrets in them are not masked: a server shows a new token only once. */
      rows?: unknown[][];
    }
  | Rejection;

type ReplyObject = Record<string, unknown> & { dataset?: unknown[][] };

/** Maximum length of a reply with rows, in bytes. Parsing it may take 1 GiB of memory. The catalogue of 100,000 tables is shorter. */
const MAX_ROWS_LENGTH = 32 * 1024 * 1024;

/** Maximum length of the reply to a statement, in bytes. The server may quote the statement twice, six bytes per character: `\uXXXX`. */
const maxReplyLength = ({ url }: OpenResponse): number => 64 * 1024 + 12 * url.length;

/**
 * Reads success or a rejection.
 * @throws InstanceError for any other response
 * @throws TransportError if the reply does not arrive completely
 * @throws ServerError if `acceptRows` is true, and the reply has both rows and an error
 */
export async function readReply(response: OpenResponse, acceptRows: boolean): Promise<Reply> {
  if (response.status !== 200) return toRejection(await readServerError(response), response);
  const body = await readBody(response, maxReplyLength(response));
  if (body.equals(OK)) return { ok: true };
  const reply = parseReply(body, response);
  if (acceptRows && reply.dataset) return { ok: true, rows: requireRows(reply, response) };
  const error = findServerError(reply);
  if (error) return toRejection(error, response);
  if (reply.ddl === 'OK' || reply.dml === 'OK') return { ok: true };
  const what = reply.dataset
    ? 'with rows'
    : `with ${excerptSafely(body.toString('utf8', 0, MAX_MASKED_LENGTH).trimStart(), 80, response)}`;
  throw new InstanceError('PROTOCOL', `answered ${what} instead of {"ddl":"OK"}; ${ADDRESS_HELP}`);
}

const OK = Buffer.from('{"ddl":"OK"}');

export async function readRows(response: OpenResponse): Promise<unknown[][]> {
  if (response.status !== 200) throw await readServerError(response);
  return requireRows(parseReply(await readBody(response, MAX_ROWS_LENGTH), response), response);
}

/** @throws ServerError if the reply has an error; InstanceError if rows are missing, or `count` is not their number */
function requireRows(reply: ReplyObject, response: OpenResponse): unknown[][] {
  const error = findServerError(reply);
  if (error) throw error;
  try {
    if (!reply.dataset) throw new MalformedReplyError('contains no dataset');
    requireCount(reply.count, reply.dataset.length);
  } catch (error) {
    throw error instanceof MalformedReplyError ? malformedReplyError(error, response) : error;
  }
  // Arrays and objects in cells become undefined. No caller uses them, and `String()` fails for an object without a prototype.
  return reply.dataset.map(row => row.map(cell => (typeof cell === 'object' && cell !== null ? undefined : cell)));
}

export async function readServerError(response: OpenResponse) {
  const { status } = response;
  const body = await readBody(response, maxReplyLength(response));
  const error = parseServerError(body);
  if (error && (status === 400 || status === 403)) return error;
  if (status !== 304 && status >= 300 && status < 400) throw new InstanceError('PROTOCOL', formatRedirect(response));
  if (status === 407) throw new InstanceError('DENIED', PROXY_CREDENTIALS_MESSAGE);
  const what = error
    ? `answered ${status}: ${excerptSafely(error.message, 300, response)}`
    : formatUnexpectedResponse(response, body);
  const [code, explanation] = interpretStatus(response);
  throw new InstanceError(code, what + explanation);
}

function malformedReplyError(error: MalformedReplyError, response: OpenResponse): InstanceError {
  const message = `the reply ${excerptSafely(error.message, 300, response)}; ${error.help}`;
  return new InstanceError('PROTOCOL', message, { cause: error });
}

/** The error for a reply that is too long or cannot be parsed, such as an empty or compressed one. @param start the body's first bytes */
export function unreadableReplyError(
  error: MalformedReplyError,
  response: OpenResponse,
  start: Buffer = Buffer.alloc(0),
) {
  const coding = response.headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') {
    const what = `the reply is compressed (${excerptSafely(coding, 20, response)}), which was not requested`;
    return new InstanceError('PROTOCOL', `${what}; does a proxy do that?`);
  }
  // The text is only tested, not shown. Latin-1 can decode any bytes.
  const text = start.toString('latin1', 0, MAX_MASKED_LENGTH).trimStart();
  if (text.startsWith('{')) return malformedReplyError(error, response);
  const what =
    text === ''
      ? `the reply is empty (status ${response.status})`
      : `${formatUnexpectedResponse(response, start)}, which is not QuestDB's JSON`;
  return new InstanceError('PROTOCOL', `${what}; ${ADDRESS_HELP}`);
}

export function toRejection(error: Error & { position: number | undefined }, response: OpenResponse): Rejection {
  const { message, position } = error;
  const { status } = response;
  // A read-only server answers CREATE TABLE with "Write permission denied", but status 400 (observed on 9.3.4).
  const isDenied = status === 403 || /\b(?:permission|access) denied\b/i.test(message);
  return {
    ok: false,
    message: maskReply(message, response),
    matches: pattern => pattern.test(message),
    ...(position === undefined ? {} : { position }),
    status,
    isDenied,
  };
}

/** Reads the body by its events. For one small chunk, an async iterator would take longer than all other work. */
function readBody(response: OpenResponse, limit: number): Promise<Buffer> {
  const { body } = response;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) return;
      const error = new MalformedReplyError(`is longer than ${limit} bytes`, ADDRESS_HELP);
      reject(unreadableReplyError(error, response, Buffer.concat(chunks)));
      body.destroy();
    });
    body.on('end', () => resolve(Buffer.concat(chunks)));
    body.on('error', reject);
  });
}

function parseReply(body: Buffer, response: OpenResponse): ReplyObject {
  try {
    return parseObject(body);
  } catch (error) {
    throw error instanceof MalformedReplyError ? unreadableReplyError(error, response, body) : error;
  }
}

/** Parses a JSON object. Rejects repeated significant top-level keys, and deep nesting outside of rows. @throws MalformedReplyError */
function parseObject(body: Buffer): ReplyObject {
  const found = new Set<string>();
  const key = (name: string, depth: number) => {
    if (depth !== 1) return;
    if (found.has(name)) throw duplicateKeyError(name); // `JSON.parse` would use the last value
    if (SIGNIFICANT_KEYS.has(name)) found.add(name);
  };
  const scanner = new JsonScanner({ key }, body.length);
  scanner.write(body);
  scanner.end();
  const value: unknown = JSON.parse(body.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedReplyError('is not a JSON object');
  const reply = value as ReplyObject;
  if ('dataset' in reply && !(Array.isArray(reply.dataset) && reply.dataset.every(Array.isArray)))
    throw new MalformedReplyError('contains a dataset that is not rows of cells');
  return reply;
}

/** The error in the body of a reply. Undefined if there is none, or if the body is not a valid reply. */
function parseServerError(body: Buffer) {
  try {
    return findServerError(parseObject(body));
  } catch {
    return undefined;
  }
}

const ADDRESS_HELP = "is this a QuestDB server's address, or did a proxy's login page answer?";

const NO_SERVER = ': no QuestDB server there; are the address and its path prefix right?';
const TOO_LARGE = ': the request is too large for a proxy on the way; raise the limit of the proxy, or bypass it';

const EXPLANATIONS: Readonly<Record<number, readonly [code: ErrorCode, explanation: string]>> = {
  401: ['DENIED', ''], // `client.ts` completes the message, because only that file knows which credentials were sent
  403: ['DENIED', ': permission denied; grant the permission to this user, or use another account'],
  404: ['PROTOCOL', NO_SERVER],
  405: ['PROTOCOL', NO_SERVER],
  408: ['UNREACHABLE', ': the server waited too long for the request; try again'],
  413: ['UNREACHABLE', TOO_LARGE],
  414: ['UNREACHABLE', TOO_LARGE],
  431: ['UNREACHABLE', TOO_LARGE],
};

function interpretStatus(response: OpenResponse): readonly [code: ErrorCode, explanation: string] {
  const { status } = response;
  const known = EXPLANATIONS[status];
  if (known) return known;
  const reason = { 429: 'too busy', 503: 'the server is not ready' }[status];
  const seconds = parseRetryAfter(response);
  const time = seconds === undefined ? 'later' : `in ${Math.ceil(seconds)} s`;
  if (reason) return ['UNREACHABLE', `: ${reason}; try again ${time}`];
  const isStatus5xx = status >= 500 && status < 600;
  return isStatus5xx ? ['UNREACHABLE', ': the server failed; see its log'] : ['PROTOCOL', `; ${ADDRESS_HELP}`];
}

/** The seconds to wait before the next request; undefined if the header Retry-After is missing or invalid. */
export function parseRetryAfter({ headers }: OpenResponse): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** The path and the query of a redirect may contain secrets, so they are not shown. */
function formatRedirect(response: OpenResponse): string {
  const { status, headers, url } = response;
  const what = `answered with a redirect (${status})`;
  if (headers.location === undefined || !URL.canParse(headers.location, url))
    return `${what} without a valid Location; ${ADDRESS_HELP}`;
  const { origin } = new URL(headers.location, url);
  return origin === new URL(url).origin
    ? `${what} to another path of the server; does the address lack a path prefix, or is that a login page?`
    : `${what} to ${excerptSafely(origin, 300, response)}, and redirects are not followed; give that address, unless it is a login page`;
}

function formatUnexpectedResponse(response: OpenResponse, body: Buffer): string {
  const { status, headers } = response;
  const type = headers['content-type'] === undefined ? '' : `, ${excerptSafely(headers['content-type'], 40, response)}`;
  const start = body.toString('utf8', 0, MAX_MASKED_LENGTH).trim();
  if (start === '') return `answered ${status}${type}`;
  return `answered ${status}${type}, ${start.includes('\0') ? 'binary data' : `"${excerptSafely(start, 80, response)}"`}`;
}

const excerptSafely = (text: string, length: number, response: OpenResponse): string =>
  formatExcerpt(maskReply(text, response), length);

/** Masks the secrets of the request, which a server or a proxy may quote, and cuts a long text. */
function maskReply(text: string, { url, secrets }: OpenResponse): string {
  const all = [...secrets, ...findSecrets(new URL(url).searchParams.get('query') ?? '')];
  // The first cut may split a secret, and then the beginning of the secret stays unmasked at the end of the text. The second cut keeps only
  // the first quarter, so it removes this beginning. (Masking never shortens a text.)
  return maskSecrets(text.slice(0, MAX_MASKED_LENGTH), all).slice(0, MAX_MASKED_LENGTH / 4);
}

/** Maximum length of a text that is masked, in bytes or UTF-16 code units. At most a quarter of it is shown. */
export const MAX_MASKED_LENGTH = 64 * 1024;
