/*! Distance: a proxy on loopback that lets each request travel for a while. */
import { connect, createServer } from 'node:net';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/**
 * Starts a proxy for an instance; it ends with the scope.
 * @param milliseconds how long what a client has just sent travels
 * @returns the URL to use in place of the instance's, and how many requests were on their way at once at most
 */
export async function startLatencyProxy(scope: Scope, url: string, milliseconds: () => number) {
  const { hostname, port } = new URL(url);
  const inFlight = { now: 0, max: 0 };
  const proxy = createServer(near => {
    const far = connect(Number(port), hostname);
    far.on('error', () => {}).on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.on('data', bytes => {
      inFlight.max = Math.max(inFlight.max, ++inFlight.now);
      setTimeout(() => {
        inFlight.now--;
        far.write(bytes);
      }, milliseconds());
    });
    near.on('end', () => far.end());
    far.pipe(near);
  });
  return { url: await listenHttp(scope, proxy), way: inFlight };
}
