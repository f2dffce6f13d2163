/*! What an answer means: the server's yes, its no, or something that is not this protocol. */
import { excerpt, secretsOf, starOut } from '@sqlpipe/sql';
import type { InstanceErrorCode } from './error.js';
import { PROXY_CREDENTIALS } from './failure.js';
import type { Response } from './http.js';
import { JsonError, JsonScanner } from './json.js';
import { checkCount, checkError, MAX_DEPTH, ServerError, twice } from './scanner.js';

/** The server's no to one statement. */
export interface Refusal {
  ok: false;
  /** The server's words, unescaped, without the secrets of the statement. */
  message: string;
  /** Index into the statement (UTF-16 code units), where the server gave one. */
  position?: number;
  status: number;
  /** Whether it is a matter of permission. */
  denied: boolean;
}

/** What became of a statement. */
export type Reply =
  | {
      ok: true;
      /** What the server answered, secrets included: the one time that it shows a token. */
      rows?: unknown[][];
    }
  | Refusal;

/** An answer that is neither yes nor no. The message follows the instance's name and a colon. */
export class UnexpectedReply extends Error {
  override name = 'UnexpectedReply';
  readonly code: InstanceErrorCode;

  constructor(code: InstanceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

type JsonObject = Record<string, unknown>;

/** Far more than the catalogue of a hundred thousand tables, or an error with a large statement echoed in it. */
const MAX_WHOLE = 64 * 1024 * 1024;

/**
 * The outcome of a statement. Throws `UnexpectedReply`, and `TransportError` where the answer is cut.
 * @param acceptRows whether rows are an answer too
 */
export async function readOutcome(response: Response, acceptRows = false): Promise<Reply> {
  if (response.status !== 200) return readRefusal(response);
  const body = await readWhole(response);
  if (body.equals(OK)) return { ok: true };
  const reply = meaningOf(body, response, reply => reply);
  if (acceptRows && 'dataset' in reply) return { ok: true, rows: meaningOf(body, response, rowsOf) };
  try {
    checkError(reply);
  } catch (error) {
    if (error instanceof ServerError) return refusal(error, response);
    throw error;
  }
  if (reply.ddl === 'OK' || reply.dml === 'OK') return { ok: true };
  const what = 'dataset' in reply ? 'with rows' : `with ${quoted(JSON.stringify(reply), 80, response)}`;
  throw new UnexpectedReply('PROTOCOL', `answered ${what} where {"ddl":"OK"} was expected: ${WHO}`);
}

/** What nearly all statements are answered, byte by byte (observed on 9.3.4). */
const OK = Buffer.from('{"ddl":"OK"}');

/** The rows of a small answer, whole. Throws as `readOutcome` does, and `ServerError` where it says `error`. */
export async function readTable(response: Response): Promise<unknown[][]> {
  return meaningOf(await readWhole(response), response, rowsOf);
}

function rowsOf(reply: JsonObject): unknown[][] {
  checkError(reply);
  const { dataset, count } = reply;
  if (dataset === undefined) throw new JsonError('holds no dataset');
  if (!Array.isArray(dataset) || !dataset.every(Array.isArray))
    throw new JsonError('holds a dataset that is not rows of cells');
  checkCount(count, dataset.length);
  return dataset;
}

/** An answer with another status than 200: the server's no, or else it throws `UnexpectedReply`. */
export async function readRefusal(response: Response): Promise<Refusal> {
  const { status } = response;
  const body = await readWhole(response);
  if (status === 400 || status === 403) {
    const error = serverError(body);
    if (error) return refusal(error, response);
  }
  throw unexpectedStatus(response, body);
}

/** Words for a reply that is no JSON of this protocol; `start` is how its body begins. */
export function badReply(error: JsonError, response: Response, start: Buffer = Buffer.alloc(0)): UnexpectedReply {
  const coding = response.headers['content-encoding'];
  const shown = start.toString('latin1').trimStart();
  return new UnexpectedReply('PROTOCOL', words());

  function words(): string {
    if (coding !== undefined && coding !== 'identity')
      return `the reply is compressed (${quoted(coding, 20, response)}), which nobody asked for: does a proxy do that?`;
    if (shown.startsWith('{'))
      return `the reply ${quoted(error.message, 300, response)}: ${UNFIT.test(error.message) ? ANEW : AGAIN}`;
    if (shown === '') return `the reply is empty (status ${response.status}): ${WHO}`;
    return `${answered(response, start)}, which is not QuestDB's JSON: ${WHO}`;
  }
}

/** What the server said, as the answer to a statement. */
export function refusal({ message, position }: ServerError, response: Response): Refusal {
  const { status } = response;
  // Observed on 9.3.4: a read-only server says "Write permission denied", with 400 to a CREATE TABLE.
  const denied = status === 403 || /\b(?:permission|access) denied\b/i.test(message);
  return {
    ok: false,
    message: concealed(message, response),
    ...(position === undefined ? {} : { position }),
    status,
    denied,
  };
}

/** What the one object of a reply means. Throws `UnexpectedReply` in place of `JsonError`. */
function meaningOf<T>(body: Buffer, response: Response, meaning: (reply: JsonObject) => T): T {
  try {
    return meaning(parseObject(body));
  } catch (error) {
    throw error instanceof JsonError ? badReply(error, response, body) : error;
  }
}

/** By events, as most answers are one small chunk, and an iterator costs more than all the rest of it. */
function readWhole({ body }: Response): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_WHOLE)
        body.destroy(new UnexpectedReply('PROTOCOL', `the reply is longer than ${MAX_WHOLE} bytes: ${WHO}`));
    });
    body.on('end', () => resolve(Buffer.concat(chunks)));
    body.on('error', reject);
  });
}

function parseObject(body: Buffer): JsonObject {
  checkObject(body);
  return JSON.parse(body.toString()) as JsonObject;
}

/** The scanner says in our words what is wrong; and JSON.parse would take the last of two values for one key. */
function checkObject(body: Buffer): void {
  const keys = new Set<string>();
  const scanner = new JsonScanner(
    {
      open(kind, depth) {
        if (depth === 0 && kind !== 'object') throw new JsonError('is not a JSON object');
      },
      close() {},
      key(name, depth) {
        if (depth === 1 && keys.has(name)) throw twice(name);
        if (depth === 1) keys.add(name);
      },
      scalar(_value, depth) {
        if (depth === 0) throw new JsonError('is not a JSON object');
      },
    },
    { token: MAX_WHOLE, depth: MAX_DEPTH },
  );
  scanner.write(body);
  scanner.end();
}

function serverError(body: Buffer): ServerError | undefined {
  try {
    checkError(parseObject(body));
  } catch (error) {
    if (error instanceof ServerError) return error;
  }
  return undefined;
}

const AGAIN = "try again; if it stays so the server's log may say why";
/** What a server may hold and no statement stream can. */
const UNFIT = /^holds (?:a NUL|half of)/;
const ANEW = 'no stream can carry that; make the object anew without it';
const WHO = "is this a QuestDB server's address, or did a proxy's login page answer?";

function unexpectedStatus(response: Response, body: Buffer): UnexpectedReply {
  const { status } = response;
  if (status !== 304 && status >= 300 && status < 400) return new UnexpectedReply('PROTOCOL', redirected(response));
  const said = serverError(body)?.message;
  const what = said === undefined ? answered(response, body) : `answered ${status}: ${quoted(said, 300, response)}`;
  switch (status) {
    case 401:
      return new UnexpectedReply('DENIED', `${what}: who are you?`);
    case 403:
      return new UnexpectedReply(
        'DENIED',
        `${what}: the credentials are known, and may not do this: have it granted, or use another account`,
      );
    case 404:
    case 405:
      return new UnexpectedReply('PROTOCOL', `${what}: is this the address of a QuestDB server, with its path prefix?`);
    case 407:
      return new UnexpectedReply('DENIED', PROXY_CREDENTIALS);
    case 408:
      return new UnexpectedReply('UNREACHABLE', `${what}: it gave up waiting; try again`);
    case 413:
    case 414:
    case 431:
      return new UnexpectedReply(
        'UNREACHABLE',
        `${what}: the request is too large for a proxy on the way: raise its limit, or go around it`,
      );
    case 429:
      return new UnexpectedReply('UNREACHABLE', `${what}: too busy; try again ${later(response)}`);
    case 503:
      return new UnexpectedReply('UNREACHABLE', `${what}: the server is not ready; try again ${later(response)}`);
  }
  if (status >= 500 && status < 600)
    return new UnexpectedReply('UNREACHABLE', `${what}: the server failed; its log may say why`);
  return new UnexpectedReply('PROTOCOL', `${what}: ${WHO}`);
}

/** When a server that is busy wants to be asked again, in words. */
function later(response: Response): string {
  const seconds = retryAfter(response);
  return seconds === undefined ? 'later' : `in ${Math.ceil(seconds)} s`;
}

/** The seconds that a server asks to wait (Retry-After: a number of them, or a date); undefined where it does not. */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** Where a redirect points, without its path and query: they may hold secrets, ours or theirs. */
function redirected(response: Response): string {
  const { status, headers, url } = response;
  const what = `answered with a redirect (${status})`;
  if (headers.location === undefined || !URL.canParse(headers.location, url)) return `${what} to nowhere: ${WHO}`;
  const { origin } = new URL(headers.location, url);
  return origin === new URL(url).origin
    ? `${what} to another path there, which is not followed: does the address lack a path prefix, or is that a login page?`
    : `${what} to ${quoted(origin, 300, response)}, which is not followed: give the address it leads to, unless that is a login page`;
}

function answered(response: Response, body: Buffer): string {
  const { status, headers } = response;
  const type = headers['content-type'] === undefined ? '' : `, ${quoted(headers['content-type'], 40, response)}`;
  const start = body.toString('utf8', 0, QUOTABLE).trim();
  if (start === '') return `answered ${status}${type}`;
  return `answered ${status}${type}, ${start.includes('\0') ? 'no text' : `"${quoted(start, 80, response)}"`}`;
}

const quoted = (text: string, length: number, response: Response): string => excerpt(concealed(text, response), length);

/** What an answer says without our secrets: a server or a proxy may quote from the request. */
function concealed(text: string, { url, secrets }: Response): string {
  const all = [...secrets, ...secretsOf(new URL(url).searchParams.get('query') ?? '')];
  return starOut(
    text.slice(0, QUOTABLE),
    all.filter(secret => !DECISIVE.includes(secret)),
  );
}

/** What others decide by. Stars in place of a password that is one of these words would mislead them, and give it away. */
const DECISIVE = "already exists, does not exist, name expected, got, expected 'TABLE', DATABASE, empty query";

/** Nobody reads more, in UTF-16 code units; room for the longest secret before what is shown. */
const QUOTABLE = 64 * 1024;
