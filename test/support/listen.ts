/*! Starts servers that a test implements itself, on 127.0.0.1. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Scope } from './scope.js';

/** Starts a server on a port that the system picks, and returns the port. The server and its connections end with the scope. */
export async function listen(scope: Scope, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const listenHttp = async (scope: Scope, server: Server): Promise<string> =>
  `http://127.0.0.1:${await listen(scope, server)}`;
