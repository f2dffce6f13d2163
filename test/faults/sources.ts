/*! Every way a source can fail. In most cases a server gives the reply to the query of the dump, and replies to auxiliary queries well. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { certificateAuthority } from '../support/certificates.js';
import { freshFolder } from '../support/folder.js';
import { listen } from '../support/listen.js';
import type { Scope } from '../support/scope.js';
import {
  type Answer,
  chunk,
  HTML,
  head,
  LAST_CHUNK,
  reply,
  replying,
  rowsBody,
  send,
  sendPartAndClose,
  startFaultyServer,
  TEXT,
} from './faulty-server.js';

export interface Source {
  url: string;
  options?: string;
}

export interface SourceFault {
  name: string;
  start(scope: Scope): Promise<Source>;
  status: number;
  message: RegExp;
  /** The timeout of the programs in seconds, for faults that time out. */
  timeout?: number;
}

export const A = "CREATE TABLE 'a' (x INT);";
export const B = "CREATE TABLE 'b' (x INT);";
export const ROWS = rowsBody(A, B);
const OPEN = `{"dataset":[${JSON.stringify([A])},${JSON.stringify([B])}`;

function fault(name: string, status: number, message: RegExp, answer: Answer): SourceFault {
  return { name, status, message, start: async scope => ({ url: await startSource(scope, answer) }) };
}

/** Of a source that sends a complete reply, as `reply` makes it. */
const replied = (name: string, status: number, message: RegExp, ...what: Parameters<typeof reply>): SourceFault =>
  fault(name, status, message, replying(...what));

/** Starts a source with the given reply to the query of the dump, and no rows for auxiliary queries; returns its URL. */
export async function startSource(scope: Scope, answer: Answer): Promise<string> {
  const { url } = await startFaultyServer(scope, (socket, request) =>
    request.statement.startsWith('SHOW CREATE DATABASE') ? answer(socket, request) : socket.write(reply(NO_ROWS)),
  );
  return url;
}

const NO_ROWS = '{"dataset":[],"count":0}';

const unreachable = (name: string, status: number, message: RegExp, url: string): SourceFault => ({
  name,
  status,
  message,
  start: async () => ({ url }),
});

export const raw = (header: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${header}\r\n\r\n`), Buffer.from(body)]);

/** Two faults of a truncated body: in a reply that is complete for HTTP, and in a connection that closes after it. */
function truncations(where: string, body: string): SourceFault[] {
  return [
    fault(`JSON truncated ${where}`, 76, /the reply is truncated/, replying(body)),
    fault(`connection closed ${where}`, 76, /the reply is truncated/, sendPartAndClose(body)),
  ];
}

/** What is in the rows of a reply is the matter of the scanner's own tests: here are a few of its errors. */
export const sourceFaults: SourceFault[] = [
  unreachable('connection refused', 69, /connection refused/, 'http://127.0.0.1:1'),
  unreachable('no such host', 69, /host/, 'http://nowhere.invalid:9000'),
  unreachable('an unsupported address', 78, /postgres:/, 'postgres://127.0.0.1/qdb'),
  {
    name: 'https to a server without TLS',
    status: 69,
    message: /does not use TLS; try http/,
    start: async scope => ({ url: `https://127.0.0.1:${await listen(scope, createHttpServer())}` }),
  },
  {
    name: 'http to a server with TLS',
    status: 69,
    message: /closed before a reply arrived/,
    async start(scope) {
      const { issue } = certificateAuthority(await freshFolder(scope));
      return { url: `http://127.0.0.1:${await listen(scope, createHttpsServer(issue('DNS:localhost')))}` };
    },
  },
  {
    name: 'a certificate of an unknown authority',
    status: 69,
    message: /unknown authority.*--cacert/,
    async start(scope) {
      const { issue } = certificateAuthority(await freshFolder(scope));
      return { url: `https://127.0.0.1:${await listen(scope, createHttpsServer(issue('IP:127.0.0.1')))}` };
    },
  },
  {
    name: 'a greeting instead of a reply',
    status: 76,
    message: /does not speak HTTP|not requested/,
    async start(scope) {
      const greeter = createServer(socket => socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6\r\n'));
      return { url: `http://127.0.0.1:${await listen(scope, greeter)}` };
    },
  },
  replied('401', 77, /answered 401.*SQLDUMP_USER/, 'Unauthorized\r\n', 401, TEXT),
  replied('403, text', 77, /answered 403/, 'Forbidden\r\n', 403, TEXT),
  replied('403, JSON', 77, /Access denied for bob/, '{"error":"Access denied for bob [LIST USERS]"}', 403),
  replied('404', 76, /answered 404/, 'Not Found\r\n', 404, TEXT),
  replied('405', 76, /answered 405/, 'Method GET not supported\r\n', 405, TEXT),
  {
    ...fault('429 forever', 69, /too busy/, socket => socket.end(reply('exceeded connection limit', 429, TEXT))),
    timeout: 1,
  },
  replied('500', 69, /answered 500.*boom/, '{"query":"","error":"boom","position":0}', 500),
  replied('502', 69, /answered 502/, '<h1>Bad Gateway</h1>', 502, HTML),
  replied('503', 69, /answered 503/, '', 503, TEXT),
  replied('400, JSON', 1, /the server rejected the request: boom/, '{"query":"","error":"boom","position":0}', 400),
  replied('400, text', 76, /answered 400/, 'GET request method cannot have content', 400, TEXT),
  replied('redirect', 76, /redirect \(302\) to http:\/\/127.0.0.2:1,/, '', 302, 'Location: http://127.0.0.2:1/?q'),
  replied('login page with 200', 76, /<title>Login.*login page/, '<title>Login</title>', 200, HTML),
  replied('empty body', 76, /the reply is empty/, ''),
  fault('no body at all', 76, /answered 204/, send('HTTP/1.1 204 No Content\r\n\r\n')),
  replied('gzip that was not requested', 76, /compressed \(gzip\)/, gzipSync(ROWS), 200, 'Content-Encoding: gzip'),
  replied('deflate', 76, /compressed/, deflateSync(ROWS), 200, 'Content-Encoding: deflate'),
  fault('100 that was not requested', 76, /answered 100/, send(Buffer.concat([raw('100 Continue'), reply(ROWS)]))),
  // The short timeout checks that the error comes at once: Node once needed a minute to format the message of undici's assertion.
  {
    ...fault('101 that was not requested', 76, /does not speak HTTP/, send(raw('101 Switching Protocols'))),
    timeout: 5,
  },
  fault('an invalid status', 76, /HTTP/, send(raw('000 X\r\nContent-Length: 0'))),
  replied('201', 76, /answered 201/, ROWS, 201),
  replied('206 with the complete body', 76, /answered 206/, ROWS, 206),
  fault('304', 76, /answered 304; /, send(raw('304 Not Modified'))),
  replied('407', 77, /proxy requires credentials/, '', 407),
  replied('511', 69, /answered 511/, '<h1>Log in</h1>', 511, HTML),
  replied('redirect without a valid Location', 76, /\(307\) without a valid Location/, '', 307, 'Location: http://['),
  replied('429 for an hour', 69, /too busy; try again in 3600 s/, 'busy', 429, 'Retry-After: 3600'),
  replied('503 for an hour', 69, /not ready; try again in 3600 s/, '', 503, 'Retry-After: 3600'),
  fault('an endless header', 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  fault('a header that ends with the connection', 69, /closed before a reply arrived/, socket =>
    socket.end('HTTP/1.1 200 OK\r\n'),
  ),
  {
    ...fault('a header that drips without end', 69, /no answer within 1 s/, async socket => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      const trickle = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(trickle));
    }),
    timeout: 1,
  },
  replied('200 with error', 1, /the server rejected the request: boom/, '{"query":"","error":"boom","position":0}'),
  replied('200 with notice', 1, /the server rejected the request: empty query/, '{"query":"","notice":"empty query"}'),
  replied(
    'an error after the rows',
    1,
    /the server rejected the request: boom/,
    `${OPEN}],"count":2,"error":"boom","errorPos":0}`,
  ),
  fault(
    'a second response inside the body',
    76,
    /the reply is malformed/,
    send(Buffer.concat([head(), chunk(OPEN), reply('{}', 400)])),
  ),
  ...truncations('in a statement', '{"dataset":[["CREATE TAB'),
  ...truncations('after the rows', `${OPEN}]`),
  fault('connection closed after complete JSON', 76, /the reply is truncated/, sendPartAndClose(ROWS)),
  fault('shorter than its Content-Length', 76, /the reply is truncated/, socket =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${ROWS}`),
  ),
  fault(
    'longer than its Content-Length',
    76,
    /the reply is truncated/,
    send(raw('200 OK\r\nContent-Length: 20', ROWS)),
  ),
  fault('an invalid Content-Length', 76, /HTTP/, send(raw('200 OK\r\nContent-Length: -1', ROWS))),
  fault(
    'two Content-Lengths',
    76,
    /malformed/,
    send(raw(`200 OK\r\nContent-Length: 3\r\nContent-Length: ${ROWS.length}`, ROWS)),
  ),
  fault(
    'a chunk longer than it says',
    76,
    /malformed/,
    send(Buffer.concat([head(), Buffer.from('5\r\n'), Buffer.from(ROWS), LAST_CHUNK])),
  ),
  fault('the last chunk truncated', 76, /the reply is truncated/, socket =>
    socket.end(Buffer.concat([head(), chunk(ROWS), Buffer.from('0\r\n')])),
  ),
  fault('HTTP/1.0, truncated', 76, /is truncated/, socket => socket.end(`HTTP/1.0 200 OK\r\n\r\n${ROWS.slice(0, -1)}`)),
  fault('connection reset in the rows', 76, /the reply is truncated/, socket =>
    socket.write(Buffer.concat([head(), chunk(OPEN)]), () => setTimeout(() => socket.resetAndDestroy(), 50)),
  ),
  fault('connection closed without a reply', 69, /closed before a reply arrived/, socket => socket.end()),
  fault(
    'an invalid chunk size',
    76,
    /malformed/,
    send(Buffer.concat([head(), Buffer.from('zz\r\n'), Buffer.from(ROWS)])),
  ),
  fault('a reply to HEAD', 76, /the reply is (?:truncated|empty)/, socket =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ),
  fault('half of a status line', 69, /closed before a reply arrived/, socket => socket.end('HTTP/1.1 2')),
  replied('text after the JSON', 76, /out of place/, `${ROWS}{}`),
  replied('an empty statement', 76, /row \d is not one statement/, `${OPEN},[""]],"count":3}`),
  replied(
    'two statements in a row',
    76,
    /row \d is not one statement/,
    `${OPEN},${JSON.stringify([A + B])}],"count":3}`,
  ),
  replied(
    'the reply to another query',
    76,
    /contains "table_name" where ddl was requested/,
    '{"query":"SHOW TABLES","columns":[{"name":"table_name","type":"STRING"}],"dataset":[["a"]],"count":1}',
  ),
  replied('a truncated statement', 76, /unterminated|unclosed/, '{"dataset":[["CREATE TABLE \'a\' (x IN"]],"count":1}'),
  replied(
    'a statement of 20 MB',
    65,
    /longer than 16777216 bytes/,
    rowsBody(`CREATE TABLE 'a' (${'x'.repeat(2e7)} INT);`),
  ),
  replied('a statement of 70 MB', 76, /longer than \d+ bytes/, rowsBody(`CREATE TABLE 'a' (${'x'.repeat(7e7)} INT);`)),
  replied('bytes that are not UTF-8', 76, /not UTF-8/, Buffer.from(`${OPEN},["a\xe9b"]],"count":3}`, 'latin1')),
  {
    ...fault(
      'a stall in the rows',
      69,
      /no further row and no end of the reply within 1 s/,
      send(Buffer.concat([head(), chunk(OPEN)])),
    ),
    timeout: 1,
  },
  { ...fault('no reply', 69, /no answer within 1 s/, () => {}), timeout: 1 },
  fault('a server that does not speak HTTP', 76, /does not speak HTTP/, send('SSH-2.0-OpenSSH_9.6\r\n')),
  replied('terminal control sequences in an error', 1, /boom\\x1b\[2J\\x07/, '{"error":"boom\\u001b[2J\\u0007"}', 400),
];
