/*! An instance with the replies of a hostile one. */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listenHttp } from '../../test/support/listen.js';
import type { Scope } from '../../test/support/scope.js';

/** The body of a reply, in pieces, and the status if it is not 200. */
export interface Answer {
  status?: number;
  body: string | Iterable<string>;
}

/** Returns the reply to a query. */
export type Answers = (query: string) => Answer;

/** Starts the instance; returns its URL. */
export const startStub = (scope: Scope, answers: Answers): Promise<string> =>
  listenHttp(
    scope,
    createServer({ maxHeaderSize: 128 * 1024 * 1024 }, async (request, response) => {
      const query = new URL(request.url ?? '', 'http://x').searchParams.get('query') ?? '';
      const { status = 200, body } = answers(query);
      response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
      const pieces = Readable.from(typeof body === 'string' ? [body] : body);
      await pipeline(pieces, response).catch(() => {}); // the client may close the connection early
    }),
  );
