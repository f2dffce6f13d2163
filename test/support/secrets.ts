/*! A secret, credentials that hold it, and a server that keeps what it is told. */
import { createServer } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/** What must be seen nowhere but by its instance. */
export const SECRET = 's3cr3t-Fr0mHere';

/** A server that answers all alike, and keeps the headers of every request. */
export async function answering(scope: Scope, status: number, headers: Record<string, string>, body: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(status, headers).end(body);
  });
  return { url: await listenHttp(scope, server), seen };
}

/** Credentials with it for both ends of a pipe. */
export const ENV = {
  SQLDUMP_USER: 'admin',
  SQLDUMP_PASSWORD: SECRET,
  SQLAPPLY_TOKEN: SECRET,
};
