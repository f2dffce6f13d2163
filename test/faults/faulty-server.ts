/*! A server that replies to each request with the bytes that a test gives, or not at all. */
import { createServer, type Socket } from 'node:net';
import { listenHttp } from '../support/listen.js';
import type { Scope } from '../support/scope.js';

export interface Request {
  nth: number;
  line: string;
  headers: Record<string, string>;
  statement: string;
}

/** Writes the answer to the socket, and may close it. */
export type Answer = (socket: Socket, request: Request) => unknown;

/** Starts a server on a free port of 127.0.0.1 until the scope ends; `requests` are the requests that it received. */
export async function startFaultyServer(scope: Scope, answer: Answer): Promise<{ url: string; requests: Request[] }> {
  const requests: Request[] = [];
  const server = createServer(socket => {
    let received = '';
    socket.setEncoding('latin1').on('data', text => {
      received += text;
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const request = parse(received.slice(0, end), requests.length);
      received = received.slice(end + 4);
      requests.push(request);
      answer(socket, request);
    });
  });
  return { url: await listenHttp(scope, server), requests };
}

function parse(head: string, nth: number): Request {
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(fields.map(field => field.split(/: */, 2)));
  const target = line.split(' ')[1] ?? '';
  return { nth, line, headers, statement: new URL(target, 'http://x').searchParams.get('query') ?? '' };
}

/** Sends these bytes, and leaves the connection open. */
export const send =
  (bytes: string | Buffer): Answer =>
  socket =>
    socket.write(bytes);

/** Sends a complete reply, as `reply` makes it, and leaves the connection open. */
export const replying = (...what: Parameters<typeof reply>): Answer => send(reply(...what));

/** Sends these bytes, and closes the connection. */
export const sendAndClose =
  (bytes: string | Buffer): Answer =>
  socket =>
    socket.end(bytes);

/** Sends the first part of a reply, and closes the connection. */
export const sendPartAndClose = (body: string): Answer => sendAndClose(Buffer.concat([head(), chunk(body)]));

/** Writes a piece of text again and again, as fast as the reader accepts it, until the connection is closed. */
export function flood(socket: Socket, piece: () => string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece()));
  };
  socket.on('drain', more);
  more();
}

export const TEXT = 'Content-Type: text/plain';
export const HTML = 'Content-Type: text/html';

/** A complete reply with its body as one chunk, as the server sends it. */
export function reply(body: string | Buffer, status = 200, header = 'Content-Type: application/json'): Buffer {
  return Buffer.concat([head(status, header), chunk(body), LAST_CHUNK]);
}

/** The head of a reply in chunks, which `chunk` and `LAST_CHUNK` continue. */
export function head(status = 200, header = 'Content-Type: application/json'): Buffer {
  return Buffer.from(`HTTP/1.1 ${status} X\r\n${header}\r\nTransfer-Encoding: chunked\r\n\r\n`);
}

export function chunk(body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  if (bytes.length === 0) return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const LAST_CHUNK = Buffer.from('00\r\n\r\n');

export function rowsBody(...rows: string[]): string {
  return JSON.stringify({
    query: 'x',
    columns: [],
    timestamp: -1,
    dataset: rows.map(row => [row]),
    count: rows.length,
  });
}
