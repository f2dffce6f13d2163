/*! A secret, credentials that contain it, and a server that records the headers of requests. */
import { createServer } from 'node:http';
import { listenHttp } from './listen.js';
import type { Scope } from './scope.js';

/** A secret that only its instance may see. */
export const SECRET = 's3cr3t-Fr0mHere';

/** Starts a server that gives the same answer to every request, and records the headers of each. */
export async function answering(scope: Scope, status: number, headers: Record<string, string>, body: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(status, headers).end(body);
  });
  return { url: await listenHttp(scope, server), seen };
}

/** Credentials with the secret, for both ends of a pipe. */
export const ENV = {
  SQLDUMP_USER: 'admin',
  SQLDUMP_PASSWORD: SECRET,
  SQLAPPLY_TOKEN: SECRET,
};
