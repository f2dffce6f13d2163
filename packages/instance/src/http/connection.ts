/*!
 * Sends requests over one kept-alive connection, one at a time. If the server has closed the connection between two requests, undici opens
 * another one. A close that crosses a request on the wire is a failure. The server may have read the request, so it counts as sent.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import type { ConnectionConfig } from '../configuration/connection-config.js';

export class Connection {
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];
  #dispatcher: Promise<Dispatcher>;
  #hasReplied = false;
  /** Resolves when the last exchange has ended. The next one waits: a failure closes the connection, which would cancel others on it. */
  #ended: Promise<unknown> = Promise.resolve();
  /** Whether the next request needs a new connection: the server may be about to close this one. */
  #mustReconnect = false;
  #isClosed = false;

  constructor(private readonly config: ConnectionConfig) {
    this.#headers = config.authorization === undefined ? {} : { authorization: config.authorization };
    this.#secrets = requestSecrets(config);
    this.#dispatcher = createDispatcher(config);
  }

  get headerLines(): string[] {
    const own = Object.entries(this.#headers).map(([name, value]) => `${name}: ${value}`);
    return [`host: ${this.config.url.host}`, 'connection: keep-alive', ...own];
  }

  /**
   * Resolves with the head of the response, whose body must be read or destroyed.
   * @param changesNothing if a server that has replied before closes the connection, such a request is sent once more
   * @throws TransportError
   */
  get(path: string, changesNothing: boolean): Promise<OpenResponse> {
    const response = this.#ended.then(() => this.#send(path, changesNothing && this.#hasReplied));
    this.#ended = response.then(waitUntilClosed, () => {});
    return response;
  }

  async #send(path: string, mayRepeat: boolean): Promise<OpenResponse> {
    if (this.#mustReconnect && !this.#isClosed) {
      await this.#disconnect();
      this.#dispatcher = createDispatcher(this.config);
      this.#mustReconnect = false;
    }
    const dispatcher = await this.#dispatcher;
    const { origin } = this.config.url;
    // undici's timers restart with every byte, so `Exchange` has one of its own.
    const request = { origin, path, method: 'GET', headers: this.#headers, headersTimeout: 0, bodyTimeout: 0 } as const;
    const requestInfo = { url: origin + path, secrets: this.#secrets };
    const response = await new Promise<OpenResponse>((resolve, reject) => {
      dispatcher.dispatch(request, new Exchange(requestInfo, this.config, resolve, reject));
    }).catch((error: TransportError) => {
      this.#mustReconnect = true; // undici may still be trying to connect
      if (mayRepeat && error.wasClosed) return this.#send(path, false);
      throw error;
    });
    // A server with too many connections answers 429 and closes the connection (observed on 9.3.4). The next request would cross this
    // close. Servers and proxies that answer 404 or 5xx often do the same.
    this.#mustReconnect = response.status === 429 || response.status === 404 || response.status >= 500;
    this.#hasReplied = true;
    return response;
  }

  /** A request in flight fails, and so does every later one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    // Node reads the stack. To create one, V8 would parse the bundle again, which takes a tenth of the time of a short run.
    const details = { code: 'UND_ERR_DESTROYED', stack: 'Error: canceled' };
    return (await this.#dispatcher).destroy(Object.assign(new Error('canceled'), details));
  }
}

/** It may be closed already. `finished` of Node would wait too, but with more listeners. */
const waitUntilClosed = ({ body }: OpenResponse) => body.closed || new Promise(resolve => body.once('close', resolve));

/** A token or a login, and the login of a proxy, which undici takes from the address. */
export function requestSecrets({ authorization = '', proxy }: ConnectionConfig): string[] {
  const [scheme, sent = ''] = authorization.split(' ');
  const own = scheme === 'Basic' ? loginSecrets(Buffer.from(sent, 'base64').toString()) : [sent];
  const { username, password } = proxy ?? {};
  return username && password ? [...own, ...loginSecrets([username, password].map(decodeURIComponent).join(':'))] : own;
}

const loginSecrets = (login: string): string[] => [login, login.slice(login.indexOf(':') + 1)];

async function createDispatcher({ url, proxy, ca, insecure }: ConnectionConfig): Promise<Dispatcher> {
  const tls = { timeout: 0, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
  if (proxy === undefined) {
    // Imported here, because --help does not need it.
    const { UndiciClient } = await import('./undici.js');
    return new UndiciClient(url.origin, { connect: tls });
  }
  const [{ UndiciClient }, { ProxyAgent }] = await Promise.all([import('./undici.js'), import('./undici-proxy.js')]);
  return new ProxyAgent({
    uri: proxy.href,
    clientFactory: (address, options) => new UndiciClient(address, { connect: withoutNumericName(options) }),
    // As in other programs, only https goes through a tunnel. A request for http has the complete address in its first line.
    proxyTunnel: false,
    connections: 1,
    requestTls: tls,
    proxyTls: tls,
  });
}

/** Removes an IP address as the server name of TLS. undici sets it for a proxy, and Node 26 rejects it. */
function withoutNumericName({ connect }: { connect?: buildConnector.connector }): buildConnector.connector {
  return (options, done) => {
    const { servername = '', ...rest } = options;
    connect?.({ ...rest, ...(isIP(servername) === 0 && { servername }) }, done);
  };
}

/** A response whose status and headers have arrived. The body, which is the reply, may still be arriving. */
export interface OpenResponse {
  url: string;
  secrets: readonly string[];
  status: number;
  headers: IncomingHttpHeaders;
  /** Fails the body when it expires. It starts when the request is sent. A consumer of rows stops it while it works on them. */
  timer: ReturnType<typeof startTimer>;
  /** Fails with `TransportError` if the body does not arrive completely. */
  body: Readable;
}

/** How far a request has got. `connecting`: nothing was sent. `waiting`: no reply has begun. `reading`: the reply has begun. */
type Phase = 'connecting' | 'waiting' | 'reading';

export class TransportError extends Error {
  override name = 'TransportError';

  constructor(
    readonly phase: Phase,
    override readonly cause: NodeJS.ErrnoException,
  ) {
    super(cause.message);
  }

  get wasClosed(): boolean {
    return this.phase === 'waiting' && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(this.cause.code ?? '');
  }
}

/** The methods of undici's `DispatchController` that an exchange uses. The library's types must not import undici, which is bundled. */
interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** One request and its response, as a handler of undici. */
class Exchange {
  #phase: Phase = 'connecting';
  #body: Readable | undefined;
  #isOver = false;
  #status: number | undefined;
  readonly #startTime = performance.now();
  /** Limits the time for the connection first, then that for the reply. */
  #timer: OpenResponse['timer'];

  constructor(
    private readonly request: Pick<OpenResponse, 'url' | 'secrets'>,
    private readonly config: ConnectionConfig,
    private readonly resolve: (response: OpenResponse) => void,
    private readonly reject: (error: TransportError) => void,
  ) {
    this.#timer = startTimer(config.connectTimeout, () => this.#fail(timeoutError()));
  }

  onRequestStart(controller: Controller): void {
    if (this.#isOver) return controller.abort(timeoutError()); // connected after the time limit
    this.#phase = 'waiting';
    this.#timer.stop();
    this.#timer = startTimer(this.config.timeout, () => controller.abort(timeoutError()));
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#phase = 'reading';
    this.#status = status;
    this.#body = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#timer.stop();
        if (!this.#isOver) controller.abort(error ?? new Error('no longer wanted'));
        done(error);
      },
    });
    // Without a listener, an error would end the process.
    this.#body.on('error', () => {});
    const { url, secrets } = this.request; // spreading would be slower
    this.resolve({ url, secrets, status, headers, timer: this.#timer, body: this.#body });
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (!this.#body?.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#end();
    this.#body?.push(null);
  }

  onResponseError(_controller: Controller, cause: NodeJS.ErrnoException): void {
    this.#fail(cause);
  }

  #end(): void {
    this.#timer.stop();
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.config.logRequest) return;
    const milliseconds = (performance.now() - this.#startTime).toFixed(1);
    const [url] = this.request.url.split('?', 1); // a statement may contain a password
    this.config.logRequest(`GET ${url} ${this.#status ?? 'no answer'} ${milliseconds} ms`);
  }

  #fail(cause: NodeJS.ErrnoException): void {
    this.#end();
    const error = new TransportError(this.#phase, cause);
    if (this.#body) this.#body.destroy(error);
    else this.reject(error);
  }
}

const timeoutError = (): NodeJS.ErrnoException => Object.assign(new Error('time-out'), { code: 'TIMEOUT' });

/** Starts a timer. @param limit in milliseconds; 0 for no limit */
function startTimer(limit: number, expire: () => void) {
  const start = () => (limit > 0 ? setTimeout(expire, limit) : undefined);
  let timer = start();
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    timer = start();
  };
  return { stop, restart };
}
