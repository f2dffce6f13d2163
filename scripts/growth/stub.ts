/*! An instance with the replies of a hostile one. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The body of a reply, in pieces, and the status if it is not 200. */
export interface Answer {
  status?: number;
  body: string | Iterable<string>;
}

/** Returns the reply to a query. */
export type Answers = (query: string) => Answer;

/** Starts the instance on a free port of 127.0.0.1. */
export async function startStub(answers: Answers): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ maxHeaderSize: 128 * 1024 * 1024 }, async (request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '';
    const { status = 200, body } = answers(query);
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
    const pieces = Readable.from(typeof body === 'string' ? [body] : body);
    await pipeline(pieces, response).catch(() => {}); // the client may close the connection early
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
