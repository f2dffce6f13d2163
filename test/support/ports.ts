/*! Ports on 127.0.0.1 that nobody listens on. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * A port that was free a moment ago. Another program may take it before the caller does: expect that, and ask again.
 * For a server of our own ask the system instead (port 0).
 */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
