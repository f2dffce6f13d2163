/*!
 * The HTTP server, on bare sockets, because Node's HTTP server would correct what QuestDB does differently (observed on 9.3.4): QuestDB
 * drops what it reads together with a request, keeps connections open, responds in chunks, and closes one after an unreadable request.
 * Unlike QuestDB, sqlserve ends a request that takes too long, closes idle connections for new ones, and does not read on after a body.
 */
import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type HttpRequest, readRequest } from './request.js';
import type { HttpResponse } from './routes.js';

interface HttpServerOptions {
  readonly address: string;
  readonly port: number;
  /** Answers a request. It must not throw. */
  answer(request: HttpRequest): Promise<HttpResponse>;
  readonly requestLimit: number;
  /** Called after each request, with a line that contains no secret. */
  readonly logRequest?: ((line: string) => void) | undefined;
}

export async function startHttpServer(options: HttpServerOptions) {
  const connections: Connections = new Map();
  const server = createServer({ noDelay: true }, socket => serveConnection(socket, options, connections));
  await once(server.listen(options.port, options.address), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      for (const socket of connections.keys()) socket.destroy();
      await closed;
    },
  };
}

/** `idle`: without a request in progress. Of these, the one that has waited longest is the first. */
type Connections = Map<Socket, 'idle' | 'busy'>;

function serveConnection(
  socket: Socket,
  { answer, requestLimit, logRequest }: HttpServerOptions,
  connections: Connections,
): void {
  let received = '';
  let deadline: NodeJS.Timeout | undefined;
  // How long a request may take to arrive, and how long a client may take to hang up after `Connection: close`
  const closeLater = () => setTimeout(() => socket.destroy(), 30_000).unref();
  socket.setEncoding('latin1');
  socket.setTimeout(300_000, () => socket.destroy()); // `http.net.connection.timeout`
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    clearTimeout(deadline);
    connections.delete(socket);
  });
  const serveNext = async () => {
    // All that has arrived since the last request: as with QuestDB, the first request in it is answered, and the rest is dropped.
    const bytes: string | null = connections.get(socket) === 'busy' ? null : socket.read();
    if (bytes === null) return;
    received += bytes;
    const request = readRequest(received, requestLimit);
    if (request === 'incomplete') {
      deadline ??= closeLater();
      return;
    }
    clearTimeout(deadline);
    deadline = undefined;
    received = '';
    if (request === 'hang up') {
      logRequest?.('closed a connection without an answer: not a request, or longer than --request-limit');
      socket.destroy();
      return;
    }
    connections.set(socket, 'busy');
    const start = performance.now();
    const response = await answer(request);
    logRequest?.(`${formatTarget(request)} ${response.status} ${(performance.now() - start).toFixed(1)} ms`);
    if (socket.destroyed) return;
    if (request.hasBody) {
      socket.off('readable', serveNext).resume().end(encodeResponse(response, true));
      deadline = closeLater();
      return;
    }
    // The next request waits until this response is sent: responses that the client does not read must not pile up.
    socket.write(encodeResponse(response), error => {
      if (error) return;
      connections.delete(socket);
      connections.set(socket, 'idle');
      void serveNext();
    });
  };
  socket.on('readable', serveNext);
  connections.set(socket, 'idle');
  if (connections.size <= 256) return; // `http.net.connection.limit`
  const [longest] = [...connections].find(([, state]) => state === 'idle') ?? [];
  longest?.destroy();
}

/** Omits the query, which may contain a password, and a login before the host. */
const formatTarget = ({ method, path }: HttpRequest): string =>
  `${method.slice(0, 20)} ${path.replace(/\/\/[^/]*@/, '//').slice(0, 100)}`;

const REASONS: typeof STATUS_CODES = { ...STATUS_CODES, 204: 'OK', 400: 'Bad request', 500: 'Internal server error' };

/** `http.send.buffer.size`: no chunk is larger. */
const MAX_CHUNK = 2 * 1024 * 1024;

function encodeResponse({ status, type, body, headers = {}, isUnchunked }: HttpResponse, isLast = false): Buffer {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status} ${REASONS[status]}`, 'Server: questDB/1.0', `Date: ${new Date().toUTCString()}`];
  if (!isUnchunked) lines.push('Transfer-Encoding: chunked');
  else if (status !== 204) lines.push(`Content-Length: ${bytes.length}`);
  lines.push(`Content-Type: ${type === 'json' ? 'application/json' : 'text/plain'}; charset=utf-8`);
  if (isLast) lines.push('Connection: close');
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return Buffer.concat([head, ...(isUnchunked ? [bytes] : splitChunks(bytes))]);
}

function splitChunks(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += MAX_CHUNK) {
    const part = bytes.subarray(start, start + MAX_CHUNK);
    const size = part.length.toString(16); // with two digits for each byte of the number, as QuestDB writes it
    parts.push(Buffer.from(`${size.length % 2 ? '0' : ''}${size}\r\n`), part, Buffer.from('\r\n'));
  }
  return [...parts, Buffer.from('00\r\n\r\n')];
}
