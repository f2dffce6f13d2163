/*!
 * One kept-alive connection, one request in flight, no statement repeated. Only this file speaks to undici.
 *
 * Each failure says how far the request had got, because that decides whether a statement may have been executed.
 *
 * It is not a failure if the server closes the connection between two requests. Before undici writes on an idle connection,
 * it lets the event loop process a pending close, and reconnects if there is one. It also closes an idle connection itself
 * before the server's announced time-out. What remains is a close that crosses the request on the wire. Then nobody knows
 * whether the server read the request, so it counts as sent. A query may be repeated.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import type { ConnectionConfig } from './connection-config.js';

export interface Response {
  /** The requested URL. */
  url: string;
  /** The secrets of the request. */
  secrets: readonly string[];
  status: number;
  headers: IncomingHttpHeaders;
  /**
   * Runs until the body has arrived; at the time limit the body fails. Code that reads row by row stops and resets the
   * timer.
   */
  timer: PausableTimer;
  /** Fails with `TransportError` if the body does not arrive completely. */
  body: Readable;
}

/** How far a request had got: nothing was sent; it was sent and had no reply yet; its reply had begun. */
type Phase = 'connecting' | 'waiting' | 'reading';

export class TransportError extends Error {
  override name = 'TransportError';
  readonly phase: Phase;
  override readonly cause: NodeJS.ErrnoException;

  constructor(phase: Phase, cause: NodeJS.ErrnoException) {
    super(cause.message);
    this.phase = phase;
    this.cause = cause;
  }

  /** Whether the connection was closed before a reply began. */
  get isClose(): boolean {
    return this.phase === 'waiting' && CLOSED_CODES.has(this.cause.code ?? '');
  }
}

const CLOSED_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

export class Connection {
  readonly #target: ConnectionConfig;
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];
  #dispatcher: Promise<Dispatcher>;
  /** Whether the server has answered any request. */
  #hasAnswered = false;
  /** Whether the server is about to close the connection unannounced. */
  #mustReconnect = false;
  #closed = false;

  constructor(target: ConnectionConfig) {
    this.#target = target;
    this.#headers = target.authorization === undefined ? {} : { authorization: target.authorization };
    this.#secrets = requestSecrets(target);
    this.#dispatcher = createDispatcher(target);
  }

  /** The header lines of every request, from which its size is computed. */
  get headerLines(): string[] {
    const lines = [`host: ${this.#target.url.host}`, 'connection: keep-alive'];
    for (const [name, value] of Object.entries(this.#headers)) lines.push(`${name}: ${value}`);
    return lines;
  }

  /** Sends a GET request once. Resolves when the head of the reply has arrived; rejects with `TransportError`. */
  async get(path: string): Promise<Response> {
    if (this.#mustReconnect) await this.#reconnect();
    const dispatcher = await this.#dispatcher;
    const { origin } = this.#target.url;
    // The Exchange has a timer of its own; undici's timers restart with every byte.
    const request = { origin, path, method: 'GET', headers: this.#headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    const requestInfo = { url: origin + path, secrets: this.#secrets };
    const response = await new Promise<Response>((resolve, reject) => {
      dispatcher.dispatch(request, new Exchange(requestInfo, this.#target, resolve, reject));
    }).catch(error => {
      this.#mustReconnect = true; // undici may still be trying to connect
      throw error;
    });
    // Observed on 9.3.4: if there are too many connections, the server answers 429 and closes, and the next request
    // would cross the close. Servers and proxies that answer 404 or 5xx often do the same.
    this.#mustReconnect = response.status === 429 || response.status === 404 || response.status >= 500;
    this.#hasAnswered = true;
    return response;
  }

  /** As `get`, for a query that changes nothing: sent once more if a server that has answered before closes on it. */
  async getIdempotent(path: string): Promise<Response> {
    const hadAnswered = this.#hasAnswered;
    try {
      return await this.get(path);
    } catch (error) {
      if (hadAnswered && error instanceof TransportError && error.isClose) return this.get(path);
      throw error;
    }
  }

  /** Closes the connection. A request in flight fails, and so does every later one. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect();
  }

  async #reconnect(): Promise<void> {
    if (this.#closed) return;
    await this.#disconnect();
    this.#dispatcher = createDispatcher(this.#target);
    this.#mustReconnect = false;
  }

  async #disconnect(): Promise<void> {
    const dispatcher = await this.#dispatcher;
    return dispatcher.destroy(canceledError());
  }
}

/** The secrets of every request. */
export const requestSecrets = ({ authorization, proxy }: ConnectionConfig): string[] => [
  ...headerSecrets(authorization),
  ...proxySecrets(proxy),
];

/** The secrets in an Authorization header: a token, or a login. */
function headerSecrets(authorization = ''): string[] {
  const [scheme, sent = ''] = authorization.split(' ');
  return scheme === 'Basic' ? loginSecrets(Buffer.from(sent, 'base64').toString()) : [sent];
}

/** The secrets in the address of a proxy, which undici sends as a login. */
const proxySecrets = ({ username, password }: Partial<URL> = {}): string[] =>
  username && password ? loginSecrets(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`) : [];

/** `user:password`, and the password alone. */
const loginSecrets = (login: string): string[] => [login, login.slice(login.indexOf(':') + 1)];

async function createDispatcher({ url, proxy, ca, insecure }: ConnectionConfig): Promise<Dispatcher> {
  const tls = { timeout: 0, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
  if (proxy === undefined) {
    // Loaded here, because --help does not need it.
    const { Client } = await import('./undici.js');
    return new Client(url.origin, { connect: tls });
  }
  const [{ Client }, { ProxyAgent }] = await Promise.all([import('./undici.js'), import('./undici-proxy.js')]);
  return new ProxyAgent({
    uri: proxy.href,
    clientFactory: (address, options) => new Client(address, { connect: withoutNumericName(options) }),
    // As in other programs: a tunnel for https, the complete address in the request line for http.
    proxyTunnel: false,
    connections: 1,
    requestTls: tls,
    proxyTls: tls,
  });
}

/** undici gives the proxy's address as its name for TLS, even if it is a number, which Node 26 rejects. */
function withoutNumericName({ connect }: { connect?: buildConnector.connector }): buildConnector.connector {
  return (options, done) => {
    const { servername = '', ...rest } = options;
    connect?.({ ...rest, ...(isIP(servername) === 0 && { servername }) }, done);
  };
}

/** One request and its reply. The body is read with back-pressure. */
class Exchange implements Dispatcher.DispatchHandler {
  #phase: Phase = 'connecting';
  #body: Readable | undefined;
  #ended = false;
  #failed = false;
  #status: number | undefined;
  readonly #started = performance.now();
  /** Limits the time for the connection first, then that for the reply. */
  #timer: PausableTimer;

  constructor(
    private readonly request: Pick<Response, 'url' | 'secrets'>,
    private readonly target: ConnectionConfig,
    private readonly resolve: (response: Response) => void,
    private readonly reject: (error: TransportError) => void,
  ) {
    this.#timer = new PausableTimer(target.connectTimeout, () => this.#fail(timeoutError()));
    this.#timer.start();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failed) return controller.abort(timeoutError()); // connected too late: the request has already failed
    this.#phase = 'waiting';
    this.#timer.stop();
    this.#timer = new PausableTimer(this.target.timeout, () => controller.abort(timeoutError()));
    this.#timer.start();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#phase = 'reading';
    this.#status = status;
    this.#body = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#timer.stop();
        if (!this.#ended) controller.abort(error ?? new Error('no longer wanted'));
        done(error);
      },
    });
    // The reader of the body gets its error; without this listener an earlier error would end the process.
    this.#body.on('error', () => {});
    const { url, secrets } = this.request; // spreading it would slow down each request
    this.resolve({ url, secrets, status, headers, timer: this.#timer, body: this.#body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body?.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#timer.stop();
    this.#log();
    this.#body?.push(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: NodeJS.ErrnoException): void {
    this.#fail(cause);
  }

  #log(): void {
    const milliseconds = (performance.now() - this.#started).toFixed(1);
    this.target.logRequest?.(`GET ${withoutQuery(this.request.url)} ${this.#status ?? 'no answer'} ${milliseconds} ms`);
  }

  #fail(cause: NodeJS.ErrnoException): void {
    if (!this.#failed) this.#log();
    this.#failed = true;
    this.#timer.stop();
    const error = new TransportError(this.#phase, cause);
    if (this.#body) this.#body.destroy(error);
    else this.reject(error);
  }
}

/**
 * The cause of a request that was in flight when its connection was closed. It has a stack, because Node reads it, and to make
 * one V8 would parse the bundle again: a tenth of a short run.
 */
const canceledError = (): Error =>
  Object.assign(new Error('canceled'), { code: 'UND_ERR_DESTROYED', stack: 'Error: canceled' });

/** The requested URL without the query, because a statement may contain a password. */
const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

/** The cause of a request that exceeded a time limit. */
const timeoutError = (): NodeJS.ErrnoException => Object.assign(new Error('time-out'), { code: 'TIMEOUT' });

/** Counts down while it is started, pauses while it is stopped, and calls `expire` at zero. */
class PausableTimer {
  readonly #limit: number;
  readonly #expire: () => void;
  #remaining: number;
  #started = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param limit milliseconds; 0 for no limit */
  constructor(limit: number, expire: () => void) {
    this.#limit = limit;
    this.#remaining = limit;
    this.#expire = expire;
  }

  /** Continues with the remaining time. */
  start(): void {
    if (this.#limit === 0 || this.#timer) return;
    this.#started = performance.now();
    this.#timer = setTimeout(this.#expire, this.#remaining);
  }

  /** Pauses until the next `start`. */
  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remaining = Math.max(0, this.#remaining - (performance.now() - this.#started));
  }

  /** Restores the complete time of a stopped timer. */
  reset(): void {
    this.#remaining = this.#limit;
  }
}
