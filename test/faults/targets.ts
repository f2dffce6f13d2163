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
  /** Whether all later requests fail in the same way. */
  lasting: boolean;
  answer: Answer;
  /** The expected exit status of sqlapply; 0 if it can find out the outcome and continue. */
  status: number;
  /** The expected message. */
  message: RegExp;
  /** The timeout of the programs in seconds, for faults that time out. */
  timeout?: number;
}

const NOTHING = /^$/;

type Kind = Pick<TargetFault, 'reached' | 'lasting'>;
const ONCE = { reached: false, lasting: false };
const EXECUTED_ONCE = { reached: true, lasting: false };
const LASTING = { reached: false, lasting: true };
const EXECUTED_LASTING = { reached: true, lasting: true };

function fault(name: string, kind: Kind, status: number, message: RegExp, answer: TargetFault['answer']): TargetFault {
  return { name, ...kind, status, message, answer };
}

const OK = reply('{"ddl":"OK"}');
const replyBusy = (socket: Socket) => socket.end(reply('exceeded connection limit', 429, TEXT));
const closeConnection = (socket: Socket) => socket.end();
const resetConnection = (socket: Socket) => socket.resetAndDestroy();
const sendNothing = () => {};

export const targetFaults: TargetFault[] = [
  fault('400', LASTING, 1, /boom/, replying('{"query":"","error":"boom","position":7}', 400)),
  fault('200 with error', LASTING, 1, /boom/, replying('{"query":"","error":"boom","position":"0"}')),
  fault(
    'read-only, 400',
    LASTING,
    77,
    /Write permission denied; does the user have the permission, or is the server read-only\?/,
    replying('{"error":"Could not create table, Write permission denied","position":13}', 400),
  ),
  fault(
    'read-only, 403',
    LASTING,
    77,
    /Write permission denied/,
    replying('{"error":"Write permission denied","position":0}', 403),
  ),
  fault('401', LASTING, 77, /answered 401.*SQLAPPLY_USER/, replying('Unauthorized\r\n', 401, TEXT)),
  fault('403, text', LASTING, 77, /answered 403/, replying('Forbidden\r\n', 403, TEXT)),
  fault('404', LASTING, 76, /answered 404/, replying('Not Found\r\n', 404, TEXT)),
  fault('429 once', ONCE, 0, NOTHING, replyBusy),
  { ...fault('429 from then on', LASTING, 69, /too busy/, replyBusy), timeout: 1 },
  fault('500 once', ONCE, 0, NOTHING, replying('{"error":"boom"}', 500)),
  fault('500 once, after execution', EXECUTED_ONCE, 0, NOTHING, replying('{"error":"boom"}', 500)),
  fault('503 from then on', LASTING, 69, /answered 503/, replying('', 503, TEXT)),
  fault(
    'redirect',
    LASTING,
    76,
    /redirect \(302\) to http:\/\/127.0.0.2:1,/,
    replying('', 302, 'Location: http://127.0.0.2:1/'),
  ),
  fault('login page with 200', LASTING, 76, /<title>Login.*login page/, replying('<title>Login</title>', 200, HTML)),
  fault('empty body once', ONCE, 0, NOTHING, replying('')),
  fault('empty body from then on', LASTING, 76, /the reply is empty/, replying('')),
  fault(
    'OK after another value of the same key',
    LASTING,
    76,
    /contains "ddl" twice/,
    replying('{"ddl":"NO","ddl":"OK"}'),
  ),
  fault('OK with an error', LASTING, 1, /boom/, replying('{"ddl":"OK","error":"boom"}')),
  fault('OK followed by text', LASTING, 76, /out of place/, replying('{"ddl":"OK"}garbage')),
  fault('OK followed by a NUL', LASTING, 76, /out of place/, replying('{"ddl":"OK"}\0')),
  fault('OK below the top level', LASTING, 76, /instead of \{"ddl":"OK"\}/, replying('{"x":{"ddl":"OK"}}')),
  fault('OK as text', LASTING, 76, /not QuestDB's JSON/, replying('OK', 200, TEXT)),
  fault('OK compressed', LASTING, 76, /compressed/, replying(gzipSync('{"ddl":"OK"}'), 200, 'Content-Encoding: gzip')),
  fault('OK with 201', LASTING, 76, /answered 201/, replying('{"ddl":"OK"}', 201)),
  fault('OK with 400', LASTING, 76, /answered 400/, replying('{"ddl":"OK"}', 400)),
  fault('OK with 201, after execution', EXECUTED_ONCE, 0, NOTHING, replying('{"ddl":"OK"}', 201)),
  fault('rows', LASTING, 76, /answered with rows/, replying(rowsBody('x'))),
  fault('no body with 204', LASTING, 76, /answered 204/, send('HTTP/1.1 204 No Content\r\n\r\n')),
  fault('408', LASTING, 69, /the server timed out/, replying('', 408)),
  fault('413 of a proxy', LASTING, 69, /too large for a proxy/, replying('', 413)),
  fault('502 once, after execution', EXECUTED_ONCE, 0, NOTHING, replying('', 502)),
  fault('503 for an hour', LASTING, 69, /try again in 3600 s/, replying('', 503, 'Retry-After: 3600')),
  fault('429 for a second', ONCE, 0, NOTHING, socket => socket.end(reply('', 429, 'Retry-After: 1'))),
  fault('429 for an hour', LASTING, 69, /try again in 3600 s/, replying('', 429, 'Retry-After: 3600')),
  fault('an error of 60 kB', LASTING, 1, /x{1000}…$/m, replying(JSON.stringify({ error: 'x'.repeat(6e4) }), 400)),
  fault(
    'an error of a megabyte',
    LASTING,
    76,
    /the reply is longer than \d+ bytes/,
    replying(JSON.stringify({ error: 'x'.repeat(1e6) }), 400),
  ),
  fault('an error without a message', LASTING, 1, /without a message/, replying('{"error":" "}', 400)),
  fault('a position beyond the statement', LASTING, 1, /boom/, replying('{"error":"boom","position":99999}', 400)),
  fault(
    'reply longer than its Content-Length',
    ONCE,
    0,
    NOTHING,
    send('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"ddl":"OK"}'),
  ),
  fault(
    'OK without execution',
    ONCE,
    1,
    /the server reported success, but the object does not exist/,
    replying('{"ddl":"OK"}'),
  ),
  fault('the reply twice, after execution', EXECUTED_ONCE, 0, NOTHING, send(Buffer.concat([OK, OK]))),
  fault('OK and a closed connection', EXECUTED_ONCE, 0, NOTHING, socket => socket.end(OK)),
  fault('OK byte by byte', EXECUTED_ONCE, 0, NOTHING, async socket => {
    for (const byte of OK) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  }),
  fault(
    'OK after early hints',
    EXECUTED_ONCE,
    0,
    NOTHING,
    send(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'), OK])),
  ),
  fault('OK in HTTP/1.0', EXECUTED_ONCE, 0, NOTHING, socket => socket.end('HTTP/1.0 200 OK\r\n\r\n{"ddl":"OK"}')),
  fault('a number instead of OK', LASTING, 76, /instead of \{"ddl":"OK"\}/, replying('{"ddl":1}')),
  fault('an empty object', LASTING, 76, /answered with \{\} instead of/, replying('{}')),
  fault('null', LASTING, 76, /not QuestDB's JSON/, replying('null')),
  fault('an error in a list', LASTING, 76, /not QuestDB's JSON/, replying('[{"error":"boom"}]')),
  fault('503 once and a closed connection', ONCE, 0, NOTHING, socket => socket.end(reply('', 503))),
  fault('an endless header', LASTING, 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  fault(
    'an endless error',
    LASTING,
    76,
    /answered 400, application\/json, "x+…", which is not QuestDB's JSON/,
    async socket => {
      socket.write(head(400));
      while (!socket.destroyed && socket.bytesWritten < 3e8)
        if (!socket.write(chunk('x'.repeat(1e6))))
          await new Promise(done => socket.once('drain', done).once('close', done));
    },
  ),
  fault('another value than OK', LASTING, 76, /"NO"/, replying('{"ddl":"NO"}')),
  fault('reply truncated', ONCE, 0, NOTHING, sendPartAndClose('{"ddl":"O')),
  fault('reply truncated, after execution', EXECUTED_ONCE, 0, NOTHING, sendPartAndClose('{"ddl":"O')),
  fault('closed without a reply', ONCE, 0, NOTHING, closeConnection),
  fault('closed without a reply, after execution', EXECUTED_ONCE, 0, NOTHING, closeConnection),
  fault('closed without a reply from then on', LASTING, 69, /closed before a reply arrived/, closeConnection),
  fault(
    'closed without a reply, after execution and from then on',
    EXECUTED_LASTING,
    69,
    /closed before a reply arrived/,
    closeConnection,
  ),
  fault('reset', ONCE, 0, NOTHING, resetConnection),
  fault('reset, after execution', EXECUTED_ONCE, 0, NOTHING, resetConnection),
  { ...fault('no reply once', ONCE, 0, NOTHING, sendNothing), timeout: 1 },
  { ...fault('no reply once, after execution', EXECUTED_ONCE, 0, NOTHING, sendNothing), timeout: 1 },
  { ...fault('no reply from then on', LASTING, 69, /no answer within 1 s/, sendNothing), timeout: 1 },
  fault('a server that does not speak HTTP', LASTING, 76, /does not speak HTTP/, send('SSH-2.0-OpenSSH_9.6\r\n')),
];
