/*!
 * Sends requests over one kept-alive connection, one at a time. If the server has closed the connection between two requests, undici opens
 * another one. A close that crosses a request on the wire is a failure. The server may have read the request, so it counts as sent.
 */
import { isIP } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { Exchange, type Response, TransportError } from './exchange.js';

export class Connection {
  readonly #headers: Record<string, string>;
  readonly #secrets: readonly string[];
  #dispatcher: Promise<Dispatcher>;
  #hasReplied = false;
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

  /** Resolves with the head of the response. @throws TransportError */
  async get(path: string): Promise<Response> {
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
    const response = await new Promise<Response>((resolve, reject) => {
      dispatcher.dispatch(request, new Exchange(requestInfo, this.config, resolve, reject));
    }).catch(error => {
      this.#mustReconnect = true; // undici may still be trying to connect
      throw error;
    });
    // A server with too many connections answers 429 and closes the connection (observed on 9.3.4). The next request would cross this
    // close. Servers and proxies that answer 404 or 5xx often do the same.
    this.#mustReconnect = response.status === 429 || response.status === 404 || response.status >= 500;
    this.#hasReplied = true;
    return response;
  }

  /** Sends a query that changes nothing. If a server that has replied before closes the connection, the query is sent once more. */
  async getIdempotent(path: string): Promise<Response> {
    const hadReplied = this.#hasReplied;
    try {
      return await this.get(path);
    } catch (error) {
      if (hadReplied && error instanceof TransportError && error.wasClosed) return this.get(path);
      throw error;
    }
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
