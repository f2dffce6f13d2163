/*! Instances that take their time, so that what is shown meanwhile can be seen. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.js';

/** URL of an instance that answers as it is told to; it ends with the scope. */
export async function startSlow(scope: Scope, answer: (query: string, response: ServerResponse) => Promise<unknown>) {
  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '', response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  scope.teardown(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
