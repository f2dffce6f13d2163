import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ConnectionConfig } from '../configuration/connection-config.js';

/** A response whose status and headers have arrived. The body, which is the reply, may still be arriving. */
export interface Response {
  url: string;
  secrets: readonly string[];
  status: number;
  headers: IncomingHttpHeaders;
  /** Fails the body at zero. It runs from the sending of the request on. A consumer that reads rows stops it while it works on them. */
  timer: PausableTimer;
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
export class Exchange {
  #phase: Phase = 'connecting';
  #body: Readable | undefined;
  #hasEnded = false;
  #hasFailed = false;
  #status: number | undefined;
  readonly #startTime = performance.now();
  /** Limits the time for the connection first, then that for the reply. */
  #timer: PausableTimer;

  constructor(
    private readonly request: Pick<Response, 'url' | 'secrets'>,
    private readonly config: ConnectionConfig,
    private readonly resolve: (response: Response) => void,
    private readonly reject: (error: TransportError) => void,
  ) {
    this.#timer = new PausableTimer(config.connectTimeout, () => this.#fail(timeoutError()));
  }

  onRequestStart(controller: Controller): void {
    if (this.#hasFailed) return controller.abort(timeoutError()); // connected after the time limit
    this.#phase = 'waiting';
    this.#timer.stop();
    this.#timer = new PausableTimer(this.config.timeout, () => controller.abort(timeoutError()));
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#phase = 'reading';
    this.#status = status;
    this.#body = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#timer.stop();
        if (!this.#hasEnded) controller.abort(error ?? new Error('no longer wanted'));
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
    this.#hasEnded = true;
    this.#timer.stop();
    this.#logRequest();
    this.#body?.push(null);
  }

  onResponseError(_controller: Controller, cause: NodeJS.ErrnoException): void {
    this.#fail(cause);
  }

  #logRequest(): void {
    if (!this.config.logRequest) return;
    const milliseconds = (performance.now() - this.#startTime).toFixed(1);
    const [url] = this.request.url.split('?', 1); // a statement may contain a password
    this.config.logRequest(`GET ${url} ${this.#status ?? 'no answer'} ${milliseconds} ms`);
  }

  #fail(cause: NodeJS.ErrnoException): void {
    if (!this.#hasFailed) this.#logRequest();
    this.#hasFailed = true;
    this.#timer.stop();
    const error = new TransportError(this.#phase, cause);
    if (this.#body) this.#body.destroy(error);
    else this.reject(error);
  }
}

const timeoutError = (): NodeJS.ErrnoException => Object.assign(new Error('time-out'), { code: 'TIMEOUT' });

class PausableTimer {
  #remaining: number;
  #startTime = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limit: number,
    private readonly expire: () => void,
  ) {
    this.#remaining = limit;
    this.start();
  }

  start(): void {
    if (this.limit === 0 || this.#timer) return;
    this.#startTime = performance.now();
    this.#timer = setTimeout(this.expire, this.#remaining);
  }

  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remaining = Math.max(0, this.#remaining - (performance.now() - this.#startTime));
  }

  restart(): void {
    this.stop();
    this.#remaining = this.limit;
    this.start();
  }
}
