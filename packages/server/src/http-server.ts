/*!
 * The HTTP server, on bare sockets, because Node's HTTP server would correct what QuestDB does differently (observed on 9.3.4): QuestDB
 * drops what it reads together with a request, keeps connections open, responds in chunks, and closes one after an unreadable request.
 * Unlike QuestDB, sqlserve ends a request that takes too long, closes idle connections for new ones, and does not read on after a body.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type HttpRequest, readRequest } from './request.js';
import type { HttpResponse } from './routes.js';

interface HttpServerOptions {
  /** Answers a request. It must not throw. */
  answer(request: HttpRequest): Promise<HttpResponse>;
  readonly requestLimit: number;
  /** Called after each request, with a line that contains no secret. */
  readonly logRequest?: ((line: string) => void) | undefined;
}

export interface HttpServer {
  readonly server: Server;
  close(): Promise<void>;
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const connections: Connections = { open: new Set(), idle: new Set() };
  const server = createServer({ noDelay: true }, socket => serveConnection(socket, options, connections));
  return {
    server,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of connections.open) socket.destroy();
      await closed;
    },
  };
}

interface Connections {
  readonly open: Set<Socket>;
  /** Connections without a request in progress; the one that has waited longest is the first. */
  readonly idle: Set<Socket>;
}

function serveConnection(
  socket: Socket,
  { answer, requestLimit, logRequest }: HttpServerOptions,
  { open, idle }: Connections,
): void {
  let received = '';
  let isBusy = false;
  let deadline: NodeJS.Timeout | undefined;
  // How long a request may take to arrive, and how long a client may take to hang up after `Connection: close`
  const closeLater = () => setTimeout(() => socket.destroy(), 30_000).unref();
  socket.setEncoding('latin1');
  socket.setTimeout(300_000, () => socket.destroy()); // `http.net.connection.timeout`
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    clearTimeout(deadline);
    open.delete(socket);
    idle.delete(socket);
  });
  const serveNext = async () => {
    // All that has arrived since the last request: as with QuestDB, the first request in it is answered, and the rest is dropped.
    const bytes: string | null = isBusy ? null : socket.read();
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
    isBusy = true;
    idle.delete(socket);
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
    socket.write(encodeResponse(response), () => {
      isBusy = false;
      idle.add(socket);
      void serveNext();
    });
  };
  socket.on('readable', serveNext);
  open.add(socket);
  idle.add(socket);
  if (open.size > 256) [...idle].at(0)?.destroy(); // `http.net.connection.limit`
}

/** Omits the query, which may contain a password, and a login before the host. */
const formatTarget = ({ method, path }: HttpRequest): string =>
  `${method.slice(0, 20)} ${path.replace(/\/\/[^/]*@/, '//').slice(0, 100)}`;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'OK',
  301: 'Moved Permanently',
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  500: 'Internal server error',
};

/** `http.send.buffer.size`: no chunk is larger. */
const MAX_CHUNK = 2 * 1024 * 1024;

function encodeResponse(
  { status, type, body, headers = {}, isUnchunked = false }: HttpResponse,
  isLast = false,
): Buffer {
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
