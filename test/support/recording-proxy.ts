/*! A proxy in front of a server: it records queries, forwards most of them, and answers some itself or not at all. */
import { createServer } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';
import { httpGet } from './server.js';

/** `closed` closes the connection without a reply. */
export type Instead = readonly [status: number, body: unknown] | 'closed';

export interface RecordingProxy {
  url: string;
  queries: string[];
}

/** Starts a proxy. @param instead returns the reply to a query; if it returns undefined, the query is forwarded */
export async function recordingProxy(
  scope: Scope,
  server: { url: string },
  instead: (query: string) => Instead | undefined | Promise<Instead | undefined> = () => undefined,
): Promise<RecordingProxy> {
  const queries: string[] = [];
  const proxy = createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
    const query = new URL(url, server.url).searchParams.get('query') ?? '';
    queries.push(query);
    const own = await instead(query);
    if (own === 'closed') return response.destroy();
    if (own) return response.writeHead(own[0]).end(JSON.stringify(own[1]));
    const { status, body } = await httpGet(`${server.url}${url}`, authorization);
    return response.writeHead(status).end(body);
  });
  return { url: await listenHttp(scope, proxy), queries };
}
