/*! Distance: a proxy on loopback that lets each request travel for a while. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Scope } from './scope.js';

/**
 * Starts a proxy for an instance; it ends with the scope.
 * @param milliseconds how long what a client has just sent travels
 * @returns the URL to use in place of the instance's, and how many requests were on their way at once at most
 */
export async function startLatencyProxy(scope: Scope, url: string, milliseconds: () => number) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const inFlight = { now: 0, max: 0 };
  const proxy = createServer(near => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}).on('close', () => near.destroy()));
    near.on('data', bytes => {
      inFlight.max = Math.max(inFlight.max, ++inFlight.now);
      setTimeout(() => {
        inFlight.now--;
        far.write(bytes);
      }, milliseconds());
    });
    near.on('end', () => far.end());
    far.pipe(near);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  scope.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, way: inFlight };
}
