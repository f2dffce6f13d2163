/*! Sends raw HTTP requests, which a client library would not send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Scope } from './scope.js';

/** Connects to a server. The connection ends with the scope. */
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

/** The last chunk of a reply, as QuestDB writes it, with the line end before it. */
const END = '\r\n00\r\n\r\n';

/** Reads the next reply with its head, or what has arrived of it when the connection is closed. */
export function nextReply(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    const received: string[] = [];
    let tail = '';
    const done = () => {
      socket.off('data', onData).off('close', done);
      resolve(received.join(''));
    };
    const onData = (bytes: string) => {
      received.push(bytes);
      tail = (tail + bytes).slice(-END.length);
      if (tail === END) done();
    };
    socket.on('data', onData).on('close', done);
  });
}

/** The head of a GET request for a statement, with additional header lines. */
export const getRequest = (sql: string, ...headers: string[]): string =>
  [`GET /exec?${new URLSearchParams({ query: sql })} HTTP/1.1`, ...headers, '', ''].join('\r\n');
