/*! Simulates a distant server: a proxy on loopback that delays each request. */
import { connect, createServer } from 'node:net';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/**
 * Starts a proxy for an instance; it ends with the scope.
 * @param milliseconds returns the delay of the next request
 * @returns the URL to use instead of the instance's, and the number of requests in flight, now and at most
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
