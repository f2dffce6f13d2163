/*! A server in front of another one: it passes requests on, remembers what was asked, and answers some of it itself. */
import { createServer } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/** A status and a body of JSON in place of the server's own. */
export type Instead = readonly [status: number, body: unknown];

/** What stands in front of a server. */
export interface RecordingProxy {
  url: string;
  /** The queries that came, in order. */
  queries: string[];
}

/** @param instead what to answer a query itself; undefined passes it on */
export async function recordingProxy(
  scope: Scope,
  server: { url: string },
  instead: (query: string) => Instead | undefined = () => undefined,
): Promise<RecordingProxy> {
  const queries: string[] = [];
  const proxy = createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
    const query = new URL(url, server.url).searchParams.get('query') ?? '';
    queries.push(query);
    const own = instead(query);
    if (own) return response.writeHead(own[0]).end(JSON.stringify(own[1]));
    const reply = await fetch(`${server.url}${url}`, { headers: { authorization } });
    return response.writeHead(reply.status).end(Buffer.from(await reply.arrayBuffer()));
  });
  return { url: await listenHttp(scope, proxy), queries };
}
