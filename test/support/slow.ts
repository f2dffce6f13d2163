/*! Instances whose replies a test delays, to see what a program shows meanwhile. */
import { createServer, type ServerResponse } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/** Starts an instance that answers with a function of the test, and returns its URL. It ends with the scope. */
export function startSlow(
  scope: Scope,
  answer: (query: string, response: ServerResponse) => Promise<unknown>,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '', response);
  });
  return listenHttp(scope, server);
}
