/*! Every way a source can fail. Most are a server that answers the dump's question so, and side questions well. */
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
  breaksOff,
  chunk,
  HTML,
  head,
  LAST_CHUNK,
  reply,
  rowsBody,
  sends,
  startFaultyServer,
  TEXT,
} from './faulty-server.js';

/** Where a dump comes from. */
export interface Source {
  url: string;
  /** What else sqldump is told. */
  options?: string;
}

export interface SourceFault {
  name: string;
  start(scope: Scope): Promise<Source>;
  /** What sqldump's exit status has to be. */
  status: number;
  /** What its message has to say. */
  says: RegExp;
  /** How long the programs wait for an answer, in seconds, where waiting is what is tried. */
  timeout?: number;
}

/** The statements of a good source, and its reply. */
export const A = "CREATE TABLE 'a' (x INT);";
export const B = "CREATE TABLE 'b' (x INT);";
export const ROWS = rowsBody(A, B);
const OPEN = `{"dataset":[${JSON.stringify([A])},${JSON.stringify([B])}`;

/** The body as it is given, in a reply that is whole as far as HTTP goes. */
export const says = (body: string | Buffer) => sends(reply(body));

function fault(name: string, status: number, message: RegExp, answer: Answer): SourceFault {
  return { name, status, says: message, start: async scope => ({ url: await source(scope, answer) }) };
}

/** The URL of a source that answers the dump so, and its side questions with no rows. */
export async function source(scope: Scope, answer: Answer): Promise<string> {
  const { url } = await startFaultyServer(scope, (socket, request) =>
    request.statement.startsWith('SHOW CREATE DATABASE') ? answer(socket, request) : socket.write(reply(NO_ROWS)),
  );
  return url;
}

const NO_ROWS = '{"dataset":[],"count":0}';

const nowhere = (name: string, status: number, message: RegExp, url: string): SourceFault => ({
  name,
  status,
  says: message,
  start: async () => ({ url }),
});

/** A fault of the certificate of a server; `trusted` says whether sqldump is told of the authority. */
function badCertificate(name: string, message: RegExp, names: string, expired: boolean, trusted: boolean): SourceFault {
  return {
    name,
    status: 69,
    says: message,
    async start(scope) {
      const { root, issue } = certificateAuthority(await freshFolder(scope));
      const port = await listen(scope, createHttpsServer(issue(names, { expired })));
      return { url: `https://127.0.0.1:${port}`, options: trusted ? `--cacert ${root}` : '' };
    },
  };
}

/** The start of an HTTP answer without chunks. */
export const raw = (header: string, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${header}\r\n\r\n`), Buffer.from(body)]);

/** A fault of the body, in a reply that is whole, and in a connection that breaks off with it. */
function cut(where: string, body: string): SourceFault[] {
  return [
    fault(`JSON cut ${where}`, 76, /the reply is truncated/, says(body)),
    fault(`connection broken ${where}`, 76, /the reply is truncated/, breaksOff(body)),
  ];
}

export const sourceFaults: SourceFault[] = [
  nowhere('nothing listens', 69, /connection refused/, 'http://127.0.0.1:1'),
  nowhere('no such host', 69, /host/, 'http://nowhere.invalid:9000'),
  nowhere('an address that is none', 78, /postgres:/, 'postgres://127.0.0.1/qdb'),
  {
    name: 'no TLS where it should be',
    status: 69,
    says: /does not use TLS; try http/,
    start: async scope => ({ url: `https://127.0.0.1:${await listen(scope, createHttpServer())}` }),
  },
  {
    name: 'TLS where none is expected',
    status: 69,
    says: /closed before a reply arrived/,
    async start(scope) {
      const { issue } = certificateAuthority(await freshFolder(scope));
      return { url: `http://127.0.0.1:${await listen(scope, createHttpsServer(issue('DNS:localhost')))}` };
    },
  },
  badCertificate('a certificate of an unknown authority', /unknown authority.*--cacert/, 'IP:127.0.0.1', false, false),
  badCertificate('a certificate for another host', /other names \(DNS:elsewhere/, 'DNS:elsewhere.test', false, true),
  badCertificate('a certificate that has expired', /has expired/, 'IP:127.0.0.1', true, true),
  {
    name: 'a greeting instead of an answer',
    status: 76,
    says: /does not speak HTTP|not requested/,
    async start(scope) {
      const greeter = createServer(socket => socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6\r\n'));
      return { url: `http://127.0.0.1:${await listen(scope, greeter)}` };
    },
  },
  fault('401', 77, /answered 401.*SQLDUMP_USER/, sends(reply('Unauthorized\r\n', 401, TEXT))),
  fault('403, text', 77, /answered 403/, sends(reply('Forbidden\r\n', 403, TEXT))),
  fault('403, JSON', 77, /Access denied for bob/, sends(reply('{"error":"Access denied for bob [LIST USERS]"}', 403))),
  fault('404', 76, /answered 404/, sends(reply('Not Found\r\n', 404, TEXT))),
  fault('405', 76, /answered 405/, sends(reply('Method GET not supported\r\n', 405, TEXT))),
  fault('429, and no end of it', 69, /too busy/, socket => socket.end(reply('exceeded connection limit', 429, TEXT))),
  fault('500', 69, /answered 500.*boom/, sends(reply('{"query":"","error":"boom","position":0}', 500))),
  fault('502', 69, /answered 502/, sends(reply('<h1>Bad Gateway</h1>', 502, HTML))),
  fault('503', 69, /answered 503/, sends(reply('', 503, TEXT))),
  fault(
    '400, JSON',
    1,
    /the server rejected the request: boom/,
    sends(reply('{"query":"","error":"boom","position":0}', 400)),
  ),
  fault('400, text', 76, /answered 400/, sends(reply('GET request method cannot have content', 400, TEXT))),
  fault(
    'redirect',
    76,
    /redirect \(302\) to http:\/\/127.0.0.2:1,/,
    sends(reply('', 302, 'Location: http://127.0.0.2:1/?q')),
  ),
  fault('login page with 200', 76, /<title>Login.*login page/, sends(reply('<title>Login</title>', 200, HTML))),
  fault('empty body', 76, /the reply is empty/, says('')),
  fault('no body at all', 76, /answered 204/, sends('HTTP/1.1 204 No Content\r\n\r\n')),
  fault(
    'gzip that nobody asked for',
    76,
    /compressed \(gzip\)/,
    sends(reply(gzipSync(ROWS), 200, 'Content-Encoding: gzip')),
  ),
  fault('deflate', 76, /compressed/, sends(reply(deflateSync(ROWS), 200, 'Content-Encoding: deflate'))),
  fault('100 that nobody asked for', 76, /answered 100/, sends(Buffer.concat([raw('100 Continue'), reply(ROWS)]))),
  // At once: undici stumbles over it, and what it says of that once took Node a minute to word.
  {
    ...fault('101 that nobody asked for', 76, /does not speak HTTP/, sends(raw('101 Switching Protocols'))),
    timeout: 5,
  },
  fault('a status that is none', 76, /HTTP/, sends(raw('000 X\r\nContent-Length: 0'))),
  fault('201', 76, /answered 201/, sends(reply(ROWS, 201))),
  fault('206, all the same', 76, /answered 206/, sends(reply(ROWS, 206))),
  fault('304', 76, /answered 304; /, sends(raw('304 Not Modified'))),
  fault('407', 77, /proxy requires credentials/, sends(reply('', 407))),
  fault('511', 69, /answered 511/, sends(reply('<h1>Log in</h1>', 511, HTML))),
  fault(
    'redirect to nowhere',
    76,
    /redirect \(307\) without a valid Location/,
    sends(reply('', 307, 'Location: http://[')),
  ),
  fault(
    '429 for an hour',
    69,
    /too busy; try again in 3600 s/,
    sends(reply('exceeded connection limit', 429, 'Retry-After: 3600')),
  ),
  fault('503 for an hour', 69, /not ready; try again in 3600 s/, sends(reply('', 503, 'Retry-After: 3600'))),
  fault('a header without end', 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  fault('a header that ends with the connection', 69, /closed before a reply arrived/, socket =>
    socket.end('HTTP/1.1 200 OK\r\n'),
  ),
  {
    ...fault('a header that trickles for ever', 69, /no answer within 1 s/, async socket => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      const trickle = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(trickle));
    }),
    timeout: 1,
  },
  fault('200 with error', 1, /the server rejected the request: boom/, says('{"query":"","error":"boom","position":0}')),
  fault(
    '200 with notice',
    1,
    /the server rejected the request: empty query/,
    says('{"query":"","notice":"empty query"}'),
  ),
  fault(
    'an error after the rows',
    1,
    /the server rejected the request: boom/,
    says(`${OPEN}],"count":2,"error":"boom","errorPos":0}`),
  ),
  fault(
    'an error in place of a row',
    1,
    /buffer is too small/,
    says(`${OPEN},[]],"count":2,"error":"buffer is too small"}`),
  ),
  fault(
    'a second response inside the body',
    76,
    /the reply is malformed/,
    sends(Buffer.concat([head(), chunk(OPEN), reply('{}', 400)])),
  ),
  ...cut('in a statement', '{"dataset":[["CREATE TAB'),
  ...cut('in an escape', '{"dataset":[["CREATE\\u00'),
  ...cut('behind a backslash', '{"dataset":[["CREATE\\'),
  ...cut('behind a statement', `{"dataset":[${JSON.stringify([A]).slice(0, -1)}`),
  ...cut('between rows', `${OPEN},`),
  ...cut('after the rows', `${OPEN}]`),
  ...cut('before the last brace', ROWS.slice(0, -1)),
  fault('connection broken after whole JSON', 76, /the reply is truncated/, breaksOff(ROWS)),
  fault('shorter than its Content-Length', 76, /the reply is truncated/, socket =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${ROWS}`),
  ),
  fault(
    'longer than its Content-Length',
    76,
    /the reply is truncated/,
    sends(raw('200 OK\r\nContent-Length: 20', ROWS)),
  ),
  fault('a Content-Length that is none', 76, /HTTP/, sends(raw('200 OK\r\nContent-Length: -1', ROWS))),
  fault(
    'two Content-Lengths',
    76,
    /malformed/,
    sends(raw(`200 OK\r\nContent-Length: 3\r\nContent-Length: ${ROWS.length}`, ROWS)),
  ),
  fault(
    'a chunk longer than it says',
    76,
    /malformed/,
    sends(Buffer.concat([head(), Buffer.from('5\r\n'), Buffer.from(ROWS), LAST_CHUNK])),
  ),
  fault('the last chunk cut', 76, /the reply is truncated/, socket =>
    socket.end(Buffer.concat([head(), chunk(ROWS), Buffer.from('0\r\n')])),
  ),
  fault('HTTP/1.0, cut', 76, /is truncated/, socket => socket.end(`HTTP/1.0 200 OK\r\n\r\n${ROWS.slice(0, -1)}`)),
  fault('connection reset in the rows', 76, /the reply is truncated/, socket =>
    socket.write(Buffer.concat([head(), chunk(OPEN)]), () => setTimeout(() => socket.resetAndDestroy(), 50)),
  ),
  fault('connection closed without an answer', 69, /closed before a reply arrived/, socket => socket.end()),
  fault('an empty object', 76, /contains no dataset/, says('{}')),
  fault(
    'a dataset that is an object',
    76,
    /contains a dataset that is not an array/,
    says('{"dataset":{"0":["x"]},"count":1}'),
  ),
  fault('a dataset that is null', 76, /contains a dataset that is not an array/, says('{"dataset":null,"count":0}')),
  fault('rows in a dataset deeper down', 76, /contains no dataset/, says(`{"result":${ROWS}}`)),
  fault(
    'an error before the rows',
    1,
    /the server rejected the request: boom/,
    says(`{"error":"boom",${OPEN.slice(1)}],"count":2}`),
  ),
  fault(
    'an error spelt with an escape',
    1,
    /the server rejected the request: boom/,
    says(`${OPEN}],"count":2,"err\\u006fr":"boom"}`),
  ),
  fault('a count below zero', 76, /its count is -1/, says(`${OPEN}],"count":-1}`)),
  fault('a comma too many', 76, /out of place/, says(`${OPEN},],"count":2}`)),
  fault('single quotes', 76, /out of place|not/, says(`{'dataset':[],'count':0}`)),
  fault('an escape that is none', 76, /escape/, says(`${OPEN},["\\x41"]],"count":3}`)),
  fault(
    'UTF-8 that is longer than it has to be',
    76,
    /not UTF-8/,
    says(Buffer.from(`${OPEN},["\xc0\xaf"]],"count":3}`, 'latin1')),
  ),
  fault(
    'a body in chunks of another size than said',
    76,
    /malformed/,
    sends(Buffer.concat([head(), Buffer.from('zz\r\n'), Buffer.from(ROWS)])),
  ),
  fault('a reply to HEAD', 76, /the reply is (?:truncated|empty)/, socket =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ),
  fault('half of a status line', 69, /closed before a reply arrived/, socket => socket.end('HTTP/1.1 2')),
  fault('something behind the JSON', 76, /out of place/, says(`${ROWS}{}`)),
  fault('count too high', 76, /contains 2 rows, but its count is 3/, says(`${OPEN}],"count":3}`)),
  fault('count too low', 76, /contains 2 rows, but its count is 1/, says(`${OPEN}],"count":1}`)),
  fault('a first column that is null', 76, /null \(row 3\)/, says(`${OPEN},[null]],"count":3}`)),
  fault('a first column that is a number', 76, /a number \(row 3\)/, says(`${OPEN},[1]],"count":3}`)),
  fault('a first column that is missing', 76, /an empty row \(row 3\)/, says(`${OPEN},[]],"count":3}`)),
  fault('a row that is no array', 76, /not an array \(row 3\)/, says(`${OPEN},${JSON.stringify(A)}],"count":3}`)),
  fault('an empty statement', 76, /row \d is not one statement/, says(`${OPEN},[""]],"count":3}`)),
  fault(
    'two statements in a row',
    76,
    /row \d is not one statement/,
    says(`${OPEN},${JSON.stringify([A + B])}],"count":3}`),
  ),
  fault('no dataset', 76, /contains no dataset/, says('{"ddl":"OK"}')),
  fault('two datasets', 76, /contains "dataset" twice/, says(`${OPEN}],"dataset":[],"count":2}`)),
  fault('two counts', 76, /contains "count" twice/, says(`${OPEN}],"count":3,"count":2}`)),
  fault('a count that is no number', 76, /its count is "2"/, says(`${OPEN}],"count":"2"}`)),
  fault('a count before more rows', 76, /2 rows, but its count is 1/, says(`{"count":1,${OPEN.slice(1)}]}`)),
  fault('an error that is an object', 1, /the server rejected the request/, says('{"error":{"code":5}}')),
  fault('an error that is null', 1, /the server rejected the request/, says(`${OPEN}],"error":null,"count":2}`)),
  fault('two errors', 76, /twice/, says(`${OPEN}],"error":"boom","error":null,"count":2}`)),
  fault(
    "the answer to somebody else's question",
    76,
    /contains "table_name" where ddl was requested/,
    says('{"query":"SHOW TABLES","columns":[{"name":"table_name","type":"STRING"}],"dataset":[["a"]],"count":1}'),
  ),
  fault('a number that is none', 76, /out of place/, says(`${OPEN},[NaN]],"count":3}`)),
  fault('a byte order mark', 76, /not QuestDB's JSON/, says(`\ufeff${ROWS}`)),
  fault('UTF-16', 76, /the reply is not JSON/, says(Buffer.from(ROWS, 'utf16le'))),
  fault('nothing but NULs', 76, /no text/, says(Buffer.alloc(1000))),
  fault('JSON behind a guard', 76, /not QuestDB's JSON/, says(`)]}',\n${ROWS}`)),
  fault('JSON, line by line', 76, /out of place/, says(`{"ddl":${JSON.stringify(A)}}\n{"ddl":${JSON.stringify(B)}}\n`)),
  fault(
    'a statement that is cut',
    76,
    /unterminated|unclosed/,
    says('{"dataset":[["CREATE TABLE \'a\' (x IN"]],"count":1}'),
  ),
  fault(
    'a statement of 20 MB',
    65,
    /longer than 16777216 bytes/,
    says(rowsBody(`CREATE TABLE 'a' (${'x'.repeat(2e7)} INT);`)),
  ),
  fault(
    'a statement of 70 MB',
    76,
    /longer than \d+ bytes/,
    says(rowsBody(`CREATE TABLE 'a' (${'x'.repeat(7e7)} INT);`)),
  ),
  fault('JSON of another shape', 76, /not QuestDB's JSON/, says('[]')),
  fault('a NUL in a statement, raw', 76, /NUL/, says(`${OPEN},["a\0b"]],"count":3}`)),
  fault('a NUL in a statement, escaped', 76, /NUL/, says(`${OPEN},["a\\u0000b"]],"count":3}`)),
  fault('a control character in a statement, raw', 76, /U\+0007/, says(`${OPEN},["a\x07b"]],"count":3}`)),
  fault('a lone surrogate in a statement', 76, /surrogate/, says(`${OPEN},["a\\ud800b"]],"count":3}`)),
  fault('bytes that are not UTF-8', 76, /not UTF-8/, says(Buffer.from(`${OPEN},["a\xe9b"]],"count":3}`, 'latin1'))),
  fault('absurd nesting', 76, /nested deeper/, says(`{"a":${'['.repeat(5000)}`)),
  {
    ...fault(
      'a stall in the rows',
      69,
      /no further row and no end of the reply within 1 s/,
      sends(Buffer.concat([head(), chunk(OPEN)])),
    ),
    timeout: 1,
  },
  { ...fault('a hang', 69, /no answer within 1 s/, () => {}), timeout: 1 },
  fault('a server that speaks no HTTP', 76, /does not speak HTTP/, sends('SSH-2.0-OpenSSH_9.6\r\n')),
  fault(
    'terminal control sequences in an error',
    1,
    /boom\\x1b\[2J\\x07/,
    sends(reply('{"error":"boom\\u001b[2J\\u0007"}', 400)),
  ),
];
