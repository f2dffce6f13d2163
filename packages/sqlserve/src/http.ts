/*!
 * The endpoint, on bare sockets: Node's HTTP server would put right what this service does its own way. It takes one
 * request at a time and drops what is sent ahead, keeps every connection open whatever the client says, answers in
 * chunks, and hangs up without a word where it cannot read (observed on 9.3.4).
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { Reply } from './reply.js';
import { type Request, readRequest } from './request.js';

export interface Endpoint {
  /** Answers a request. It must not throw. */
  answer(request: Request): Promise<Reply>;
  /** `http.request.header.buffer.size`, in bytes. */
  readonly requestLimit: number;
}

/** A server that is not listening yet. */
export function endpoint(options: Endpoint): Server {
  return createServer({ noDelay: true }, socket => serve(socket, options));
}

const idle = 300_000;

function serve(socket: Socket, { answer, requestLimit }: Endpoint): void {
  let received = '';
  let busy = false;
  socket.setEncoding('latin1');
  socket.setTimeout(idle, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('data', async (bytes: string) => {
    if (busy) return;
    received += bytes;
    const reading = readRequest(received, requestLimit);
    if (reading === 'incomplete') return;
    received = '';
    if (reading === 'hang up') {
      socket.destroy();
      return;
    }
    busy = true;
    const reply = await answer(reading.request);
    busy = false;
    if (!socket.destroyed) socket.write(message(reply));
  });
}

const reasons: Readonly<Record<number, string>> = {
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

const types = { json: 'application/json; charset=utf-8', text: 'text/plain; charset=utf-8' };

/** `http.send.buffer.size`: no chunk is larger. */
const maxChunk = 2 * 1024 * 1024;

function message({ status, type, body, headers = {}, whole = false }: Reply): Buffer {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status} ${reasons[status]}`, 'Server: questDB/1.0', `Date: ${new Date().toUTCString()}`];
  if (!whole) lines.push('Transfer-Encoding: chunked');
  else if (status !== 204) lines.push(`Content-Length: ${bytes.length}`);
  lines.push(`Content-Type: ${types[type]}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return Buffer.concat([head, ...(whole ? [bytes] : chunks(bytes))]);
}

function chunks(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += maxChunk) {
    const part = bytes.subarray(start, start + maxChunk);
    parts.push(Buffer.from(`${hex(part.length)}\r\n`), part, Buffer.from('\r\n'));
  }
  return [...parts, Buffer.from('00\r\n\r\n')];
}

/** Two digits for each byte of the number, as the service writes them. */
function hex(length: number): string {
  const digits = length.toString(16);
  return digits.padStart(digits.length + (digits.length % 2), '0');
}
