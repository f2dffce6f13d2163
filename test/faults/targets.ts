/*!
 * Every way a target can fail: a server in front of a good one passes requests on, until the statement that the fault
 * is for. `reached` tells whether that statement was executed nevertheless.
 */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  type Answer,
  chunk,
  HTML,
  head,
  reply,
  replying,
  rowsBody,
  send,
  sendPartAndClose,
  TEXT,
} from './faulty-server.js';

export interface TargetFault {
  name: string;
  /** Whether the good server executes the statement before the reply is spoiled. */
  reached: boolean;
  lasting: boolean;
  answer: Answer;
  /** The expected exit status of sqlapply; 0 if it can find out the outcome and continue. */
  status: number;
  message: RegExp;
  /** The timeout of the programs in seconds, for faults that time out. */
  timeout?: number;
}

type Kind = Pick<TargetFault, 'reached' | 'lasting'>;
const ONCE = { reached: false, lasting: false };
const EXECUTED_ONCE = { reached: true, lasting: false };
const EXECUTED_LASTING = { reached: true, lasting: true };

function fault(name: string, kind: Kind, status: number, message: RegExp, answer: TargetFault['answer']): TargetFault {
  return { name, ...kind, status, message, answer };
}

/** One that all later requests have too. */
const lasting = (name: string, status: number, message: RegExp, answer: Answer): TargetFault =>
  fault(name, { reached: false, lasting: true }, status, message, answer);

/** One after which sqlapply can find out the outcome and continue. */
const recovered = (name: string, kind: Kind, answer: Answer): TargetFault => fault(name, kind, 0, /^$/, answer);

const OK = reply('{"ddl":"OK"}');
const replyBusy = (socket: Socket) => socket.end(reply('exceeded connection limit', 429, TEXT));
const closeConnection = (socket: Socket) => socket.end();
const resetConnection = (socket: Socket) => socket.resetAndDestroy();
const sendNothing = () => {};

export const targetFaults: TargetFault[] = [
  lasting('400', 1, /boom/, replying('{"query":"","error":"boom","position":7}', 400)),
  lasting('200 with error', 1, /boom/, replying('{"query":"","error":"boom","position":"0"}')),
  lasting(
    'read-only, 400',
    77,
    /Write permission denied; does the user have the permission, or is the server read-only\?/,
    replying('{"error":"Could not create table, Write permission denied","position":13}', 400),
  ),
  lasting(
    'read-only, 403',
    77,
    /Write permission denied/,
    replying('{"error":"Write permission denied","position":0}', 403),
  ),
  lasting('401', 77, /answered 401.*SQLAPPLY_USER/, replying('Unauthorized\r\n', 401, TEXT)),
  lasting('403, text', 77, /answered 403/, replying('Forbidden\r\n', 403, TEXT)),
  lasting('404', 76, /answered 404/, replying('Not Found\r\n', 404, TEXT)),
  recovered('429 once', ONCE, replyBusy),
  { ...lasting('429 from then on', 69, /too busy/, replyBusy), timeout: 1 },
  recovered('500 once', ONCE, replying('{"error":"boom"}', 500)),
  recovered('500 once, after execution', EXECUTED_ONCE, replying('{"error":"boom"}', 500)),
  lasting('503 from then on', 69, /answered 503/, replying('', 503, TEXT)),
  lasting(
    'redirect',
    76,
    /redirect \(302\) to http:\/\/127.0.0.2:1,/,
    replying('', 302, 'Location: http://127.0.0.2:1/'),
  ),
  lasting('login page with 200', 76, /<title>Login.*login page/, replying('<title>Login</title>', 200, HTML)),
  recovered('empty body once', ONCE, replying('')),
  lasting('empty body from then on', 76, /the reply is empty/, replying('')),
  lasting('OK after another value of the same key', 76, /contains "ddl" twice/, replying('{"ddl":"NO","ddl":"OK"}')),
  lasting('OK with an error', 1, /boom/, replying('{"ddl":"OK","error":"boom"}')),
  lasting('OK followed by text', 76, /out of place/, replying('{"ddl":"OK"}garbage')),
  lasting('OK followed by a NUL', 76, /out of place/, replying('{"ddl":"OK"}\0')),
  lasting('OK below the top level', 76, /instead of \{"ddl":"OK"\}/, replying('{"x":{"ddl":"OK"}}')),
  lasting('OK as text', 76, /not QuestDB's JSON/, replying('OK', 200, TEXT)),
  lasting('OK compressed', 76, /compressed/, replying(gzipSync('{"ddl":"OK"}'), 200, 'Content-Encoding: gzip')),
  lasting('OK with 201', 76, /answered 201/, replying('{"ddl":"OK"}', 201)),
  lasting('OK with 400', 76, /answered 400/, replying('{"ddl":"OK"}', 400)),
  recovered('OK with 201, after execution', EXECUTED_ONCE, replying('{"ddl":"OK"}', 201)),
  lasting('rows', 76, /answered with rows/, replying(rowsBody('x'))),
  lasting('no body with 204', 76, /answered 204/, send('HTTP/1.1 204 No Content\r\n\r\n')),
  lasting('408', 69, /the server waited too long for the request/, replying('', 408)),
  lasting('413 of a proxy', 69, /too large for a proxy/, replying('', 413)),
  recovered('502 once, after execution', EXECUTED_ONCE, replying('', 502)),
  lasting('503 for an hour', 69, /try again in 3600 s/, replying('', 503, 'Retry-After: 3600')),
  recovered('429 for a second', ONCE, socket => socket.end(reply('', 429, 'Retry-After: 1'))),
  lasting('429 for an hour', 69, /try again in 3600 s/, replying('', 429, 'Retry-After: 3600')),
  lasting('an error of 60 kB', 1, /x{1000}…$/m, replying(JSON.stringify({ error: 'x'.repeat(6e4) }), 400)),
  lasting(
    'an error of a megabyte',
    76,
    /the reply is longer than \d+ bytes/,
    replying(JSON.stringify({ error: 'x'.repeat(1e6) }), 400),
  ),
  lasting('an error without a message', 1, /without a message/, replying('{"error":" "}', 400)),
  lasting('a position beyond the statement', 1, /boom/, replying('{"error":"boom","position":99999}', 400)),
  recovered(
    'reply longer than its Content-Length',
    ONCE,
    send('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"ddl":"OK"}'),
  ),
  fault(
    'OK without execution',
    ONCE,
    1,
    /the server reported success, but the object does not exist/,
    replying('{"ddl":"OK"}'),
  ),
  recovered('the reply twice, after execution', EXECUTED_ONCE, send(Buffer.concat([OK, OK]))),
  recovered('OK and a closed connection', EXECUTED_ONCE, socket => socket.end(OK)),
  recovered('OK byte by byte', EXECUTED_ONCE, async socket => {
    for (const byte of OK) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  }),
  recovered(
    'OK after early hints',
    EXECUTED_ONCE,
    send(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'), OK])),
  ),
  recovered('OK in HTTP/1.0', EXECUTED_ONCE, socket => socket.end('HTTP/1.0 200 OK\r\n\r\n{"ddl":"OK"}')),
  lasting('a number instead of OK', 76, /instead of \{"ddl":"OK"\}/, replying('{"ddl":1}')),
  lasting('an empty object', 76, /answered with \{\} instead of/, replying('{}')),
  lasting('null', 76, /not QuestDB's JSON/, replying('null')),
  lasting('an error in a list', 76, /not QuestDB's JSON/, replying('[{"error":"boom"}]')),
  recovered('503 once and a closed connection', ONCE, socket => socket.end(reply('', 503))),
  lasting('an endless header', 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  lasting(
    'an endless error',
    76,
    /answered 400, application\/json, "x+…", which is not QuestDB's JSON/,
    async socket => {
      socket.write(head(400));
      while (!socket.destroyed && socket.bytesWritten < 3e8)
        if (!socket.write(chunk('x'.repeat(1e6))))
          await new Promise(done => socket.once('drain', done).once('close', done));
    },
  ),
  lasting('another value than OK', 76, /"NO"/, replying('{"ddl":"NO"}')),
  recovered('reply truncated', ONCE, sendPartAndClose('{"ddl":"O')),
  recovered('reply truncated, after execution', EXECUTED_ONCE, sendPartAndClose('{"ddl":"O')),
  recovered('closed without a reply', ONCE, closeConnection),
  recovered('closed without a reply, after execution', EXECUTED_ONCE, closeConnection),
  lasting('closed without a reply from then on', 69, /closed before a reply arrived/, closeConnection),
  fault(
    'closed without a reply, after execution and from then on',
    EXECUTED_LASTING,
    69,
    /closed before a reply arrived/,
    closeConnection,
  ),
  recovered('reset', ONCE, resetConnection),
  recovered('reset, after execution', EXECUTED_ONCE, resetConnection),
  { ...recovered('no reply once', ONCE, sendNothing), timeout: 1 },
  { ...recovered('no reply once, after execution', EXECUTED_ONCE, sendNothing), timeout: 1 },
  { ...lasting('no reply from then on', 69, /no answer within 1 s/, sendNothing), timeout: 1 },
  lasting('a server that does not speak HTTP', 76, /does not speak HTTP/, send('SSH-2.0-OpenSSH_9.6\r\n')),
];
