/*! Free ports on 127.0.0.1. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Returns a port that was free a moment ago. Another program may use it before the caller does: then call this again. For
 * a server of our own, use port 0 instead.
 */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
