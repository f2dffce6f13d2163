/*!
 * One kept-alive connection, one request in flight, no statement repeated. Only this file speaks to undici.
 *
 * It says for each failure how far the request had got, because that decides whether a statement may have been run. A
 * connection that the server closed between two requests is no failure: before undici writes on a connection that was
 * idle it lets the event loop look for a pending close, and reconnects if there is one; and it closes an idle one
 * itself before the server's announced time is up. What remains is a close that crosses the request on the wire: nobody
 * knows whether the server read the request first, so it counts as sent. A query may be repeated.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import { PausableTimer } from './pausable-timer.js';

export interface ConnectionOptions {
  /** Scheme, host and port. */
  origin: string;
  /** Value of the Authorization header. */
  authorization?: string | undefined;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string | undefined;
  /** Whether to accept any certificate. */
  insecure?: boolean | undefined;
  /** The proxy to go through. */
  proxy?: URL | undefined;
  /** The longest time for a whole answer, or between two rows of it, in milliseconds; 0 for no limit. */
  timeout: number;
  /** The longest time for connecting, in milliseconds; 0 for no limit. */
  connectTimeout: number;
  /** Called for each request that has ended. */
  logRequest?: ((message: string) => void) | undefined;
}

export interface Response {
  /** The requested URL. */
  url: string;
  /** The secrets of the request, in each form that a response may quote. */
  secrets: readonly string[];
  status: number;
  headers: IncomingHttpHeaders;
  /**
   * Runs until the body has arrived, and fails it at the time limit. Code that reads row by row stops and resets it.
   */
  timer: PausableTimer;
  /** Fails with `TransportError` when the body does not arrive whole. */
  body: Readable;
}

/** How far a request had got: nothing of it was sent; it was sent; its answer had begun. */
export type Phase = 'connecting' | 'waiting' | 'reading';

export class TransportError extends Error {
  override name = 'TransportError';
  readonly phase: Phase;
  override readonly cause: NodeJS.ErrnoException;

  constructor(phase: Phase, cause: NodeJS.ErrnoException) {
    super(cause.message);
    this.phase = phase;
    this.cause = cause;
  }

  /** Whether the connection closed, with no answer begun. */
  get isClose(): boolean {
    return this.phase === 'waiting' && CLOSED_CODES.has(this.cause.code ?? '');
  }
}

const CLOSED_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];
  #dispatcher: Promise<Dispatcher>;
  /** Whether it has answered, ever. */
  #hasAnswered = false;
  /** Whether the server is about to close the connection unannounced. */
  #mustReconnect = false;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#headers = options.authorization === undefined ? {} : { authorization: options.authorization };
    this.#secrets = requestSecrets(options);
    this.#dispatcher = createDispatcher(options);
  }

  /** The lines of the header that go out with a request, for its size. */
  get headerLines(): string[] {
    const lines = [`host: ${new URL(this.#options.origin).host}`, 'connection: keep-alive'];
    for (const [name, value] of Object.entries(this.#headers)) lines.push(`${name}: ${value}`);
    return lines;
  }

  /** Sends a GET request once. Resolves with the head of the answer; rejects with `TransportError`. */
  async get(path: string): Promise<Response> {
    if (this.#mustReconnect) await this.#reconnect();
    const dispatcher = await this.#dispatcher;
    const { origin } = this.#options;
    // One timer is enough, and undici's restarts with every byte.
    const request = { origin, path, method: 'GET', headers: this.#headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    const asked = { url: origin + path, secrets: this.#secrets };
    const response = await new Promise<Response>((resolve, reject) => {
      dispatcher.dispatch(request, new Exchange(asked, this.#options, resolve, reject));
    }).catch(error => {
      this.#mustReconnect = true; // it may still be trying to connect
      throw error;
    });
    // Observed on 9.3.4: too many connections are answered 429 and closed, and the next request would cross the close.
    // So does what has failed, often, and what does not know the path.
    this.#mustReconnect = response.status === 429 || response.status === 404 || response.status >= 500;
    this.#hasAnswered = true;
    return response;
  }

  /** As `get`, of what changes nothing: once more where the server closes on it, having answered before. */
  async getIdempotent(path: string): Promise<Response> {
    const hadAnswered = this.#hasAnswered;
    try {
      return await this.get(path);
    } catch (error) {
      if (hadAnswered && error instanceof TransportError && error.isClose) return this.get(path);
      throw error;
    }
  }

  /** Closes the connection; a request in flight is abandoned, and so is any after it. */
  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#dispatcher).destroy();
  }

  async #reconnect(): Promise<void> {
    if (this.#closed) return;
    await (await this.#dispatcher).destroy();
    this.#dispatcher = createDispatcher(this.#options);
    this.#mustReconnect = false;
  }
}

/** The secrets of every request, in each form that a response may quote. */
export const requestSecrets = ({
  authorization,
  proxy,
}: Pick<ConnectionOptions, 'authorization' | 'proxy'>): string[] => [
  ...headerSecrets(authorization),
  ...proxySecrets(proxy),
];

/** What an Authorization header lets others in with: a token, or a login as it is sent, decoded, and its password. */
function headerSecrets(authorization = ''): string[] {
  const [scheme, sent = ''] = authorization.split(' ');
  return scheme === 'Basic' ? loginForms(Buffer.from(sent, 'base64').toString()) : [sent];
}

/** As undici tells a proxy who we are. */
const proxySecrets = ({ username, password }: Partial<URL> = {}): string[] =>
  username && password ? loginForms(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`) : [];

/** The forms of `user:password` and of the password alone; a server that reads Latin-1 sees other characters. */
function loginForms(login: string): string[] {
  const password = login.slice(login.indexOf(':') + 1);
  const bytes = [login, password].map(text => Buffer.from(text));
  return bytes.flatMap(each => [
    each.toString(),
    each.toString('latin1'),
    each.toString('base64').replace(/=+$/, ''),
    each.toString('base64url'),
  ]);
}

async function createDispatcher({ origin, proxy, ca, insecure = false }: ConnectionOptions): Promise<Dispatcher> {
  const tls = { timeout: 0, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
  if (proxy === undefined) {
    // Loaded when it is needed: not for --help.
    const { Client } = await import('./undici.js');
    return new Client(origin, { connect: tls });
  }
  const [{ Client }, { ProxyAgent }] = await Promise.all([import('./undici.js'), import('./undici-proxy.js')]);
  return new ProxyAgent({
    uri: proxy.href,
    clientFactory: (address, options) => new Client(address, { connect: withoutNumericName(options) }),
    // As other programs do it: a tunnel for https, the whole address in the request line for http.
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

/** One request and its answer, the body with back-pressure. */
class Exchange implements Dispatcher.DispatchHandler {
  #phase: Phase = 'connecting';
  #body: Readable | undefined;
  #ended = false;
  #failed = false;
  #status: number | undefined;
  readonly #started = performance.now();
  readonly #request: Pick<Response, 'url' | 'secrets'>;
  readonly #timeout: number;
  readonly #logRequest: ConnectionOptions['logRequest'];
  /** The time for the connection at first, then that for the answer. */
  #timer: PausableTimer;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: TransportError) => void;

  constructor(
    asked: Pick<Response, 'url' | 'secrets'>,
    { timeout, connectTimeout, logRequest }: Pick<ConnectionOptions, 'timeout' | 'connectTimeout' | 'logRequest'>,
    resolve: (response: Response) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#request = asked;
    this.#timeout = timeout;
    this.#logRequest = logRequest;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = new PausableTimer(connectTimeout, () => this.#fail(timeoutError()));
    this.#timer.start();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#failed) return controller.abort(timeoutError()); // connected too late: the request has already failed
    this.#phase = 'waiting';
    this.#timer.stop();
    this.#timer = new PausableTimer(this.#timeout, () => controller.abort(timeoutError()));
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
    // Whoever reads the body meets its error; one that comes before is no reason to crash.
    this.#body.on('error', () => {});
    this.#resolve({ ...this.#request, status, headers, timer: this.#timer, body: this.#body });
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
    this.#logRequest?.(`GET ${withoutQuery(this.#request.url)} ${this.#status ?? 'no answer'} ${milliseconds} ms`);
  }

  #fail(cause: NodeJS.ErrnoException): void {
    if (!this.#failed) this.#log();
    this.#failed = true;
    this.#timer.stop();
    const error = new TransportError(this.#phase, cause);
    if (this.#body) this.#body.destroy(error);
    else this.#reject(error);
  }
}

/** The requested URL without the query: a statement may hold a password. */
const withoutQuery = (url: string): string => url.split('?', 1)[0] ?? '';

/** What a clock fails a request with. */
const timeoutError = (): NodeJS.ErrnoException => Object.assign(new Error('time-out'), { code: 'TIMEOUT' });
