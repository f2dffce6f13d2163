/*! Instances that take their time, so that what is shown meanwhile can be seen. */
import { createServer, type ServerResponse } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/** URL of an instance that answers as it is told to; it ends with the scope. */
export function startSlow(
  scope: Scope,
  answer: (query: string, response: ServerResponse) => Promise<unknown>,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '', response);
  });
  return listenHttp(scope, server);
}
