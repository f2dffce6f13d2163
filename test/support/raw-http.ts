/*! Requests byte by byte, as no HTTP client would send them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Scope } from './scope.js';

/** A connection to a server, destroyed when the scope ends. */
export async function openSocket(scope: Scope, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
  socket.on('error', () => {});
  scope.teardown(async () => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket.setEncoding('latin1');
}

/** The next reply on a connection, with its head; what came until then where the connection is closed before its end. */
export function nextReply(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    let received = '';
    const done = () => {
      socket.off('data', onData).off('close', done);
      resolve(received);
    };
    const onData = (bytes: string) => {
      received += bytes;
      if (received.endsWith('\r\n00\r\n\r\n')) done();
    };
    socket.on('data', onData).on('close', done);
  });
}

/** The head of a GET of a statement, with further header lines. */
export const getRequest = (sql: string, ...headers: string[]): string =>
  [`GET /exec?${new URLSearchParams({ query: sql })} HTTP/1.1`, ...headers, '', ''].join('\r\n');
