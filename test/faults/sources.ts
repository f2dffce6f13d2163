/*! Every way a source can fail. Most are a server that answers the dump's question so, and side questions well. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Scope } from '../support/scope.js';
import { type Answer, chunk, head, LAST_CHUNK, misbehaving, reply, rowsBody } from './server.js';

export interface SourceFault {
  name: string;
  /** Starts it; resolves to its URL. */
  start(scope: Scope): Promise<string>;
  /** What sqldump's exit status has to be. */
  status: number;
  /** What its message has to say. */
  says: RegExp;
  /** How long the programs wait for an answer, in seconds, where waiting is what is tried. */
  timeout?: number;
}

const TEXT = 'Content-Type: text/plain';
const HTML = 'Content-Type: text/html';

const A = "CREATE TABLE 'a' (x INT);";
const B = "CREATE TABLE 'b' (x INT);";
const ROWS = rowsBody(A, B);
const OPEN = `{"dataset":[${JSON.stringify([A])},${JSON.stringify([B])}`;

const sends = (bytes: string | Buffer) => (socket: Socket) => socket.write(bytes);
/** The body as it is given, in a reply that is whole as far as HTTP goes. */
const says = (body: string | Buffer) => sends(reply(body));
/** The first part of a reply, and then the end of the connection. */
const breaksOff = (body: string) => (socket: Socket) => socket.end(Buffer.concat([head(), chunk(body)]));

function fault(name: string, status: number, message: RegExp, answer: Answer): SourceFault {
  return { name, status, says: message, start: scope => source(scope, answer) };
}

/** The URL of a source that answers the dump so, and its side questions with no rows. */
export async function source(scope: Scope, answer: Answer): Promise<string> {
  const { url } = await misbehaving(scope, (socket, request) =>
    request.statement.startsWith('SHOW CREATE DATABASE') ? answer(socket, request) : socket.write(reply(NO_ROWS)),
  );
  return url;
}

const NO_ROWS = '{"dataset":[],"count":0}';

const nowhere = (name: string, status: number, message: RegExp, url: string): SourceFault => ({
  name,
  status,
  says: message,
  start: async () => url,
});

/** A fault of the body, in a reply that is whole, and in a connection that breaks off with it. */
function cut(where: string, body: string): SourceFault[] {
  return [
    fault(`JSON cut ${where}`, 76, /the reply is cut short/, says(body)),
    fault(`connection broken ${where}`, 76, /the reply is cut/, breaksOff(body)),
  ];
}

export const sourceFaults: SourceFault[] = [
  nowhere('nothing listens', 69, /connection refused/, 'http://127.0.0.1:1'),
  nowhere('no such host', 69, /host/, 'http://nowhere.invalid:9000'),
  nowhere('an address that is none', 78, /postgres:/, 'postgres://127.0.0.1/qdb'),
  {
    name: 'no TLS where it should be',
    status: 69,
    says: /no TLS there/,
    async start(scope) {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      scope.teardown(async () => void server.close());
      return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
  fault('400, JSON', 1, /the server says no: boom/, sends(reply('{"query":"","error":"boom","position":0}', 400))),
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
    /not QuestDB's JSON/,
    sends(reply(gzipSync(ROWS), 200, 'Content-Encoding: gzip')),
  ),
  fault('200 with error', 1, /the server says no: boom/, says('{"query":"","error":"boom","position":0}')),
  fault('200 with notice', 1, /the server says no: empty query/, says('{"query":"","notice":"empty query"}')),
  fault(
    'an error after the rows',
    1,
    /the server says no: boom/,
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
    /the reply is broken/,
    sends(Buffer.concat([head(), chunk(OPEN), reply('{}', 400)])),
  ),
  ...cut('in a statement', '{"dataset":[["CREATE TAB'),
  ...cut('in an escape', '{"dataset":[["CREATE\\u00'),
  ...cut('behind a backslash', '{"dataset":[["CREATE\\'),
  ...cut('behind a statement', `{"dataset":[${JSON.stringify([A]).slice(0, -1)}`),
  ...cut('between rows', `${OPEN},`),
  ...cut('after the rows', `${OPEN}]`),
  ...cut('before the last brace', ROWS.slice(0, -1)),
  fault('connection broken after whole JSON', 76, /the reply is cut/, breaksOff(ROWS)),
  fault('shorter than its Content-Length', 76, /the reply is cut/, socket =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${ROWS}`),
  ),
  fault('connection reset in the rows', 76, /the reply is cut/, socket =>
    socket.write(Buffer.concat([head(), chunk(OPEN)]), () => setTimeout(() => socket.resetAndDestroy(), 50)),
  ),
  fault('connection closed without an answer', 69, /the reply is lost/, socket => socket.end()),
  fault('something behind the JSON', 76, /out of place/, says(`${ROWS}{}`)),
  fault('count too high', 76, /holds 2 rows but says that there are 3/, says(`${OPEN}],"count":3}`)),
  fault('count too low', 76, /holds 2 rows but says that there are 1/, says(`${OPEN}],"count":1}`)),
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
  fault('no dataset', 76, /holds no dataset/, says('{"ddl":"OK"}')),
  fault('two datasets', 76, /holds "dataset" twice/, says(`${OPEN}],"dataset":[],"count":2}`)),
  fault('JSON of another shape', 76, /not QuestDB's JSON/, says('[]')),
  fault('a NUL in a statement, raw', 76, /NUL/, says(`${OPEN},["a\0b"]],"count":3}`)),
  fault('a NUL in a statement, escaped', 76, /NUL/, says(`${OPEN},["a\\u0000b"]],"count":3}`)),
  fault('a control character in a statement, raw', 76, /U\+0007/, says(`${OPEN},["a\x07b"]],"count":3}`)),
  fault('a lone surrogate in a statement', 76, /surrogate/, says(`${OPEN},["a\\ud800b"]],"count":3}`)),
  fault('bytes that are not UTF-8', 76, /not UTF-8/, says(Buffer.from(`${OPEN},["a\xe9b"]],"count":3}`, 'latin1'))),
  fault('absurd nesting', 76, /nests deeper/, says(`{"a":${'['.repeat(5000)}`)),
  { ...fault('a stall in the rows', 69, /stopped for 2 s/, sends(Buffer.concat([head(), chunk(OPEN)]))), timeout: 2 },
  { ...fault('a hang', 69, /no answer within 2 s/, () => {}), timeout: 2 },
  fault('a server that speaks no HTTP', 76, /does not speak HTTP/, sends('SSH-2.0-OpenSSH_9.6\r\n')),
  fault(
    'terminal control sequences in an error',
    1,
    /boom\\x1b\[2J\\x07/,
    sends(reply('{"error":"boom\\u001b[2J\\u0007"}', 400)),
  ),
];

/** Answers that are unusual, and good all the same. */
export const sourceOddities: { name: string; answer: Answer }[] = [
  {
    name: 'a body that trickles a byte at a time',
    async answer(socket) {
      for (const byte of Buffer.concat([head(), chunk(ROWS), LAST_CHUNK])) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'other keys, columns, order and white space',
    answer: says(
      ` { "count" : 2 , "x" : { "error" : [ { } ] } , "dataset" : [ [ ${JSON.stringify(A)} , 1 , null , [ "x" ] ] ,\n[ ${JSON.stringify(B)} ] ] } \n`,
    ),
  },
  { name: 'a body that ends with the connection', answer: socket => socket.end(`HTTP/1.0 200 OK\r\n\r\n${ROWS}`) },
];
