/*!
 * Every way a target can fail: a server in front of a good one passes requests on, until the statement that the fault
 * is for. `reached` tells whether that statement was executed nevertheless.
 */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Answer, chunk, HTML, head, reply, rowsBody, send, sendPartAndClose, TEXT } from './faulty-server.js';

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
const FAILS_ONCE = { reached: false, lasting: false };
const FAILS_ONCE_AFTER_EXECUTION = { reached: true, lasting: false };
const FAILS_FROM_THEN_ON = { reached: false, lasting: true };
const FAILS_AFTER_EXECUTION_FROM_THEN_ON = { reached: true, lasting: true };

function fault(name: string, kind: Kind, status: number, message: RegExp, answer: TargetFault['answer']): TargetFault {
  return { name, ...kind, status, message, answer };
}

const OK = reply('{"ddl":"OK"}');
const replyBusy = (socket: Socket) => socket.end(reply('exceeded connection limit', 429, TEXT));
const closeConnection = (socket: Socket) => socket.end();
const resetConnection = (socket: Socket) => socket.resetAndDestroy();
const sendNothing = () => {};

export const targetFaults: TargetFault[] = [
  fault('400', FAILS_FROM_THEN_ON, 1, /boom/, send(reply('{"query":"","error":"boom","position":7}', 400))),
  fault('200 with error', FAILS_FROM_THEN_ON, 1, /boom/, send(reply('{"query":"","error":"boom","position":"0"}'))),
  fault(
    'read-only, 400',
    FAILS_FROM_THEN_ON,
    77,
    /Write permission denied; does the user have the permission, or is the server read-only\?/,
    send(reply('{"error":"Could not create table, Write permission denied","position":13}', 400)),
  ),
  fault(
    'read-only, 403',
    FAILS_FROM_THEN_ON,
    77,
    /Write permission denied/,
    send(reply('{"error":"Write permission denied","position":0}', 403)),
  ),
  fault('401', FAILS_FROM_THEN_ON, 77, /answered 401.*SQLAPPLY_USER/, send(reply('Unauthorized\r\n', 401, TEXT))),
  fault('403, text', FAILS_FROM_THEN_ON, 77, /answered 403/, send(reply('Forbidden\r\n', 403, TEXT))),
  fault('404', FAILS_FROM_THEN_ON, 76, /answered 404/, send(reply('Not Found\r\n', 404, TEXT))),
  fault('429 once', FAILS_ONCE, 0, NOTHING, replyBusy),
  { ...fault('429 from then on', FAILS_FROM_THEN_ON, 69, /too busy/, replyBusy), timeout: 1 },
  fault('500 once', FAILS_ONCE, 0, NOTHING, send(reply('{"error":"boom"}', 500))),
  fault('500 once, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, send(reply('{"error":"boom"}', 500))),
  fault('503 from then on', FAILS_FROM_THEN_ON, 69, /answered 503/, send(reply('', 503, TEXT))),
  fault(
    'redirect',
    FAILS_FROM_THEN_ON,
    76,
    /redirect \(302\) to http:\/\/127.0.0.2:1,/,
    send(reply('', 302, 'Location: http://127.0.0.2:1/')),
  ),
  fault(
    'login page with 200',
    FAILS_FROM_THEN_ON,
    76,
    /<title>Login.*login page/,
    send(reply('<title>Login</title>', 200, HTML)),
  ),
  fault('empty body once', FAILS_ONCE, 0, NOTHING, send(reply(''))),
  fault('empty body from then on', FAILS_FROM_THEN_ON, 76, /the reply is empty/, send(reply(''))),
  fault(
    'OK after another value of the same key',
    FAILS_FROM_THEN_ON,
    76,
    /contains "ddl" twice/,
    send(reply('{"ddl":"NO","ddl":"OK"}')),
  ),
  fault('OK with an error', FAILS_FROM_THEN_ON, 1, /boom/, send(reply('{"ddl":"OK","error":"boom"}'))),
  fault('OK followed by text', FAILS_FROM_THEN_ON, 76, /out of place/, send(reply('{"ddl":"OK"}garbage'))),
  fault('OK followed by a NUL', FAILS_FROM_THEN_ON, 76, /out of place/, send(reply('{"ddl":"OK"}\0'))),
  fault(
    'OK below the top level',
    FAILS_FROM_THEN_ON,
    76,
    /instead of \{"ddl":"OK"\}/,
    send(reply('{"x":{"ddl":"OK"}}')),
  ),
  fault('OK as text', FAILS_FROM_THEN_ON, 76, /not QuestDB's JSON/, send(reply('OK', 200, TEXT))),
  fault(
    'OK compressed',
    FAILS_FROM_THEN_ON,
    76,
    /compressed/,
    send(reply(gzipSync('{"ddl":"OK"}'), 200, 'Content-Encoding: gzip')),
  ),
  fault('OK with 201', FAILS_FROM_THEN_ON, 76, /answered 201/, send(reply('{"ddl":"OK"}', 201))),
  fault('OK with 400', FAILS_FROM_THEN_ON, 76, /answered 400/, send(reply('{"ddl":"OK"}', 400))),
  fault('OK with 201, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, send(reply('{"ddl":"OK"}', 201))),
  fault('rows', FAILS_FROM_THEN_ON, 76, /answered with rows/, send(reply(rowsBody('x')))),
  fault('no body with 204', FAILS_FROM_THEN_ON, 76, /answered 204/, send('HTTP/1.1 204 No Content\r\n\r\n')),
  fault('408', FAILS_FROM_THEN_ON, 69, /the server timed out/, send(reply('', 408))),
  fault('413 of a proxy', FAILS_FROM_THEN_ON, 69, /too large for a proxy/, send(reply('', 413))),
  fault('502 once, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, send(reply('', 502))),
  fault('503 for an hour', FAILS_FROM_THEN_ON, 69, /try again in 3600 s/, send(reply('', 503, 'Retry-After: 3600'))),
  fault('429 for a second', FAILS_ONCE, 0, NOTHING, socket => socket.end(reply('', 429, 'Retry-After: 1'))),
  fault('429 for an hour', FAILS_FROM_THEN_ON, 69, /try again in 3600 s/, send(reply('', 429, 'Retry-After: 3600'))),
  fault(
    'an error of 60 kB',
    FAILS_FROM_THEN_ON,
    1,
    /x{1000}…$/m,
    send(reply(JSON.stringify({ error: 'x'.repeat(6e4) }), 400)),
  ),
  fault(
    'an error of a megabyte',
    FAILS_FROM_THEN_ON,
    76,
    /the reply is longer than \d+ bytes/,
    send(reply(JSON.stringify({ error: 'x'.repeat(1e6) }), 400)),
  ),
  fault('an error without a message', FAILS_FROM_THEN_ON, 1, /without a message/, send(reply('{"error":" "}', 400))),
  fault(
    'a position beyond the statement',
    FAILS_FROM_THEN_ON,
    1,
    /boom/,
    send(reply('{"error":"boom","position":99999}', 400)),
  ),
  fault(
    'reply longer than its Content-Length',
    FAILS_ONCE,
    0,
    NOTHING,
    send('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"ddl":"OK"}'),
  ),
  fault(
    'OK without execution',
    FAILS_ONCE,
    1,
    /the server reported success, but the object does not exist/,
    send(reply('{"ddl":"OK"}')),
  ),
  fault('the reply twice, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, send(Buffer.concat([OK, OK]))),
  fault('OK and a closed connection', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, socket => socket.end(OK)),
  fault('OK byte by byte', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, async socket => {
    for (const byte of OK) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  }),
  fault(
    'OK after early hints',
    FAILS_ONCE_AFTER_EXECUTION,
    0,
    NOTHING,
    send(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'), OK])),
  ),
  fault('OK in HTTP/1.0', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, socket =>
    socket.end('HTTP/1.0 200 OK\r\n\r\n{"ddl":"OK"}'),
  ),
  fault('a number instead of OK', FAILS_FROM_THEN_ON, 76, /instead of \{"ddl":"OK"\}/, send(reply('{"ddl":1}'))),
  fault('an empty object', FAILS_FROM_THEN_ON, 76, /answered with \{\} instead of/, send(reply('{}'))),
  fault('null', FAILS_FROM_THEN_ON, 76, /not QuestDB's JSON/, send(reply('null'))),
  fault('an error in a list', FAILS_FROM_THEN_ON, 76, /not QuestDB's JSON/, send(reply('[{"error":"boom"}]'))),
  fault('503 once and a closed connection', FAILS_ONCE, 0, NOTHING, socket => socket.end(reply('', 503))),
  fault('an endless header', FAILS_FROM_THEN_ON, 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  fault(
    'an endless error',
    FAILS_FROM_THEN_ON,
    76,
    /answered 400, application\/json, "x+…", which is not QuestDB's JSON/,
    async socket => {
      socket.write(head(400));
      while (!socket.destroyed && socket.bytesWritten < 3e8)
        if (!socket.write(chunk('x'.repeat(1e6))))
          await new Promise(done => socket.once('drain', done).once('close', done));
    },
  ),
  fault('another value than OK', FAILS_FROM_THEN_ON, 76, /"NO"/, send(reply('{"ddl":"NO"}'))),
  fault('reply truncated', FAILS_ONCE, 0, NOTHING, sendPartAndClose('{"ddl":"O')),
  fault('reply truncated, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, sendPartAndClose('{"ddl":"O')),
  fault('closed without a reply', FAILS_ONCE, 0, NOTHING, closeConnection),
  fault('closed without a reply, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, closeConnection),
  fault(
    'closed without a reply from then on',
    FAILS_FROM_THEN_ON,
    69,
    /closed before a reply arrived/,
    closeConnection,
  ),
  fault(
    'closed without a reply, after execution and from then on',
    FAILS_AFTER_EXECUTION_FROM_THEN_ON,
    69,
    /closed before a reply arrived/,
    closeConnection,
  ),
  fault('reset', FAILS_ONCE, 0, NOTHING, resetConnection),
  fault('reset, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, resetConnection),
  { ...fault('no reply once', FAILS_ONCE, 0, NOTHING, sendNothing), timeout: 1 },
  { ...fault('no reply once, after execution', FAILS_ONCE_AFTER_EXECUTION, 0, NOTHING, sendNothing), timeout: 1 },
  { ...fault('no reply from then on', FAILS_FROM_THEN_ON, 69, /no answer within 1 s/, sendNothing), timeout: 1 },
  fault(
    'a server that does not speak HTTP',
    FAILS_FROM_THEN_ON,
    76,
    /does not speak HTTP/,
    send('SSH-2.0-OpenSSH_9.6\r\n'),
  ),
];
