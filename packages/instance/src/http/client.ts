/*! Every failure of an instance is an `InstanceError`, whose message starts with the instance's name. */
import { DEFAULT_REQUEST_BUFFER, requiredBuffer, returnsRows } from '@sqlpipe/sql';
import { formatExcerpt } from '@sqlpipe/text';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { InstanceError } from '../instance-error.js';
import { Connection, type OpenResponse, TransportError } from './connection.js';
import { MalformedReplyError } from './json-scanner.js';
import { type Reply, readReply, readRows, readServerError, toRejection, unreadableReplyError } from './reply.js';
import { type ApiPath, ENDPOINTS, encodeQuery, toRequestText } from './request.js';
import { createRetryPause, mayHaveRun, type Purpose, sendWhileBusy } from './retry.js';
import { RowScanner, ServerError } from './row-scanner.js';
import { toTransportFailure } from './transport-messages.js';

/** A client of one instance: for queries, dumps and statements, one request at a time. A dry run has one of its own. */
export type Client = Pick<HttpClient, keyof HttpClient>;

/** Creates a client of an instance. Nothing is sent before the first request. */
export const connect = (config: ConnectionConfig): Client => new HttpClient(config);

/** The statuses of an endpoint that exists. Any other status may come from a proxy, or from a server that has not looked at the path. */
const ENDPOINT_STATUSES = new Set([200, 400, 403]);

const DENIED_QUERY_HELP = '; grant the permission to this user, or use another account';

class HttpClient {
  readonly label: string;
  readonly #connection: Connection;
  readonly #closed = new AbortController();
  /** Aborts when the client is closed or the user interrupts the program. Then pauses end at once, and the last failure is final. */
  readonly #ended: AbortSignal;
  /** The endpoints to try. After one of them has replied with one of `ENDPOINT_STATUSES`, it is the only one. */
  #endpoints: readonly [ApiPath, ...ApiPath[]] = ENDPOINTS;

  constructor(private readonly config: ConnectionConfig) {
    this.label = config.label;
    const { signal } = config;
    this.#ended = signal ? AbortSignal.any([this.#closed.signal, signal]) : this.#closed.signal;
    this.#connection = new Connection(config);
  }

  /**
   * The statements in the reply to SHOW CREATE, in batches as the reply arrives, and in constant memory. They are complete only if the
   * generator ends without an error. If a reply breaks off and retries are on, the query is sent again.
   * @throws InstanceError; `REJECTED` with the server's message and position if the server rejected the query
   * @param maxValueBytes the maximum length of a single value in bytes, as JSON writes it; by default 32 MiB
   */
  async *streamFirstColumn(query: string, maxValueBytes?: number): AsyncGenerator<string[], void, undefined> {
    if (!this.config.retries) return yield* this.#streamOnce(query, maxValueBytes);
    const { createRowResumer } = await import('./resumed-rows.js'); // few runs need it
    const yieldNewRows = createRowResumer(this.label);
    const pauseAfter = createRetryPause(this.config, this.#ended);
    for (;;)
      try {
        return yield* yieldNewRows(this.#streamOnce(query, maxValueBytes));
      } catch (error) {
        await pauseAfter(error);
      }
  }

  async *#streamOnce(query: string, maxValueBytes: number | undefined): AsyncGenerator<string[], void, undefined> {
    let response: OpenResponse | undefined;
    try {
      response = await this.#send(query, 'query');
      yield* scanRows(response, maxValueBytes);
    } catch (error) {
      throw this.#toInstanceError(error, query, 'query', response);
    }
  }

  /**
   * All rows of a query whose reply has at most 32 MiB. A cell that holds an array or an object becomes undefined.
   * @throws InstanceError as `streamFirstColumn` does
   */
  queryRows(query: string): Promise<unknown[][]> {
    return this.#request(query, 'query', readRows);
  }

  /**
   * Sends one statement, without its final `;` (`toRequestText`). The statement is sent again only if the server has certainly not executed
   * it. If the server rejects the statement, the rejection is returned. It is thrown only if the reply has rows before the error.
   * @throws InstanceError; its `mayHaveRun` says whether the statement may have been executed
   */
  execute(statement: string): Promise<Reply> {
    const acceptRows = returnsRows(statement);
    return this.#request(statement, 'execute', response => readReply(response, acceptRows));
  }

  /** How large the request buffer of a server must be to accept this statement, in bytes; see `DEFAULT_REQUEST_BUFFER`. */
  requiredBuffer(statement: string, purpose: Purpose = 'execute'): number {
    const path = this.#path(statement, purpose);
    const query = path.slice(path.indexOf('?') + 1);
    return requiredBuffer(`GET ${path} HTTP/1.1`, query, this.#connection.headerLines);
  }

  close(): Promise<void> {
    this.#closed.abort();
    return this.#connection.close();
  }

  /** The path that statements are sent to: the documented one, until a reply shows which one exists. */
  get endpoint(): string {
    return this.#prefix + this.#endpoints[0];
  }

  get #prefix(): string {
    return this.config.url.pathname.replace(/\/$/, '');
  }

  #path(statement: string, purpose: Purpose, endpoint: ApiPath = this.#endpoints[0]): string {
    // The server counts all rows. If a limit cuts off rows, fewer rows than this number arrive, and the reply is rejected.
    const parameters = purpose === 'query' ? '&count=true' : '';
    return `${this.#prefix}${endpoint}?query=${encodeQuery(toRequestText(statement))}${parameters}`;
  }

  /** Sends to an endpoint. If its status is 404, it has executed nothing, so the next one is tried. */
  async #send(statement: string, purpose: Purpose, endpoint: ApiPath = this.#endpoints[0]): Promise<OpenResponse> {
    const path = this.#path(statement, purpose, endpoint);
    const send = () => this.#connection.get(path, purpose === 'query');
    const response = await sendWhileBusy(send, this.config, this.#ended);
    if (ENDPOINT_STATUSES.has(response.status)) this.#endpoints = [endpoint];
    const next = this.#endpoints[this.#endpoints.indexOf(endpoint) + 1];
    if (response.status !== 404 || !next) return response;
    response.body.resume();
    return this.#send(statement, purpose, next);
  }

  async #request<T>(statement: string, purpose: Purpose, read: (response: OpenResponse) => Promise<T>): Promise<T> {
    const pauseAfter = createRetryPause(this.config, this.#ended);
    for (;;) {
      let response: OpenResponse | undefined;
      try {
        response = await this.#send(statement, purpose);
        return await read(response);
      } catch (error) {
        await pauseAfter(this.#toInstanceError(error, statement, purpose, response));
      }
    }
  }

  /** An error that no request has caused is a bug, and is returned unchanged. */
  #toInstanceError(error: unknown, statement: string, purpose: Purpose, response: OpenResponse | undefined): unknown {
    const status = response?.status;
    if (error instanceof ServerError && response) {
      const { message, isDenied, ...details } = toRejection(error, response);
      const reason = `the server rejected the request: ${formatExcerpt(message, 500)}${isDenied ? DENIED_QUERY_HELP : ''}`;
      const code = isDenied ? 'DENIED' : 'REJECTED';
      return new InstanceError(code, `${this.label}: ${reason}`, { ...details, serverMessage: message });
    }
    const isTransport = error instanceof TransportError;
    if (!isTransport && !(error instanceof InstanceError)) return error;
    const context = { ...this.config, requiredBuffer: this.requiredBuffer(statement, purpose) };
    const { code, message } = isTransport ? toTransportFailure(error, context) : error;
    const isSent = !isTransport || error.phase !== 'connecting';
    const hint = isSent || !context.unknownName ? '' : `; ${context.unknownName}`;
    const help = isTransport ? hint : this.#responseHelp(status);
    const details = { status, mayHaveRun: isSent && mayHaveRun(purpose, status), cause: error.cause };
    return new InstanceError(code, `${this.label}: ${message}${help}`, details);
  }

  #responseHelp(status: number | undefined): string {
    const { account = 'the credentials', authorization, credentialsHelp, url } = this.config;
    if (status === 404)
      return ` Tried: ${this.#endpoints.map(endpoint => url.origin + this.#prefix + endpoint).join(', ')}`;
    if (status !== 401) return '';
    if (authorization === undefined) return `: authentication required; ${credentialsHelp}`;
    const help = `: authentication failed: the server rejected ${account}; are the credentials for this instance?`;
    if (!authorization.startsWith('Bearer ')) return help;
    // It answers a token like a wrong password (observed on 9.3.4).
    return `${help}; the open source edition accepts no tokens, only a user and a password`;
  }
}

async function* scanRows(response: OpenResponse, maxValueBytes: number | undefined): AsyncGenerator<string[]> {
  if (response.status !== 200) throw await readServerError(response);
  const { body, timer } = response;
  const scanner = new RowScanner(maxValueBytes);
  let start: Buffer | undefined;
  timer.restart();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      start ??= chunk;
      const rows = scanner.write(chunk);
      if (!rows.length) continue;
      timer.stop(); // the time of the consumer does not count
      yield rows;
      timer.restart();
    }
    scanner.end();
  } catch (error) {
    throw error instanceof MalformedReplyError ? unreadableReplyError(error, response, start) : error;
  } finally {
    timer.stop();
  }
}

/** Whether a query fits into a request buffer of the default size. */
export const fitsRequest = (client: Client, query: string): boolean =>
  client.requiredBuffer(query, 'query') <= DEFAULT_REQUEST_BUFFER;

/** Connects to an instance, uses the client, and closes it. */
export async function withClient<T>(config: ConnectionConfig, use: (client: Client) => Promise<T>): Promise<T> {
  const client = connect(config);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
