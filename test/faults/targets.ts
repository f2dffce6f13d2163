/*!
 * Every way a target can fail: a server in front of a good one passes requests on, until the statement that the fault
 * is for. `reached` says whether that statement was carried out all the same.
 */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Answer, breaksOff, chunk, HTML, head, reply, rowsBody, sends, TEXT } from './faulty-server.js';

export interface TargetFault {
  name: string;
  /** Whether the good server gets the statement before the answer is spoilt. */
  reached: boolean;
  /** Whether everything after it fails in the same way. */
  lasting: boolean;
  answer: Answer;
  /** What sqlapply's exit status has to be; 0 where it can find out what happened, and go on. */
  status: number;
  /** What its message has to say. */
  says: RegExp;
  /** How long the programs wait for an answer, in seconds, where waiting is what is tried. */
  timeout?: number;
}

const NOTHING = /^$/;

type Kind = Pick<TargetFault, 'reached' | 'lasting'>;
const ONCE = { reached: false, lasting: false };
const AFTERWARDS = { reached: true, lasting: false };
const FOR_GOOD = { reached: false, lasting: true };
const AFTERWARDS_FOR_GOOD = { reached: true, lasting: true };

function fault(name: string, kind: Kind, status: number, says: RegExp, answer: TargetFault['answer']): TargetFault {
  return { name, ...kind, status, says, answer };
}

const OK = reply('{"ddl":"OK"}');
const busy = (socket: Socket) => socket.end(reply('exceeded connection limit', 429, TEXT));
const closes = (socket: Socket) => socket.end();
const resets = (socket: Socket) => socket.resetAndDestroy();
const hangs = () => {};

export const targetFaults: TargetFault[] = [
  fault('400', FOR_GOOD, 1, /boom/, sends(reply('{"query":"","error":"boom","position":7}', 400))),
  fault('200 with error', FOR_GOOD, 1, /boom/, sends(reply('{"query":"","error":"boom","position":"0"}'))),
  fault(
    'read-only, 400',
    FOR_GOOD,
    77,
    /Write permission denied; does the user have the permission, or is the server read-only\?/,
    sends(reply('{"error":"Could not create table, Write permission denied","position":13}', 400)),
  ),
  fault(
    'read-only, 403',
    FOR_GOOD,
    77,
    /Write permission denied/,
    sends(reply('{"error":"Write permission denied","position":0}', 403)),
  ),
  fault('401', FOR_GOOD, 77, /answered 401.*SQLAPPLY_USER/, sends(reply('Unauthorized\r\n', 401, TEXT))),
  fault('403, text', FOR_GOOD, 77, /answered 403/, sends(reply('Forbidden\r\n', 403, TEXT))),
  fault('404', FOR_GOOD, 76, /answered 404/, sends(reply('Not Found\r\n', 404, TEXT))),
  fault('429 once', ONCE, 0, NOTHING, busy),
  fault('429, and no end of it', FOR_GOOD, 69, /too busy/, busy),
  fault('500 once', ONCE, 0, NOTHING, sends(reply('{"error":"boom"}', 500))),
  fault('500 once, after it did it', AFTERWARDS, 0, NOTHING, sends(reply('{"error":"boom"}', 500))),
  fault('503 from then on', FOR_GOOD, 69, /answered 503/, sends(reply('', 503, TEXT))),
  fault(
    'redirect',
    FOR_GOOD,
    76,
    /redirect \(302\) to http:\/\/127.0.0.2:1,/,
    sends(reply('', 302, 'Location: http://127.0.0.2:1/')),
  ),
  fault(
    'login page with 200',
    FOR_GOOD,
    76,
    /<title>Login.*login page/,
    sends(reply('<title>Login</title>', 200, HTML)),
  ),
  fault('empty body once', ONCE, 0, NOTHING, sends(reply(''))),
  fault('empty body, from then on', FOR_GOOD, 76, /the reply is empty/, sends(reply(''))),
  fault('OK, and not', FOR_GOOD, 76, /contains "ddl" twice/, sends(reply('{"ddl":"NO","ddl":"OK"}'))),
  fault('OK, and an error', FOR_GOOD, 1, /boom/, sends(reply('{"ddl":"OK","error":"boom"}'))),
  fault('OK, and something behind it', FOR_GOOD, 76, /out of place/, sends(reply('{"ddl":"OK"}garbage'))),
  fault('OK, and a NUL behind it', FOR_GOOD, 76, /out of place/, sends(reply('{"ddl":"OK"}\0'))),
  fault('OK, deeper', FOR_GOOD, 76, /instead of \{"ddl":"OK"\}/, sends(reply('{"x":{"ddl":"OK"}}'))),
  fault('OK, as text', FOR_GOOD, 76, /not QuestDB's JSON/, sends(reply('OK', 200, TEXT))),
  fault(
    'OK, compressed',
    FOR_GOOD,
    76,
    /compressed/,
    sends(reply(gzipSync('{"ddl":"OK"}'), 200, 'Content-Encoding: gzip')),
  ),
  fault('OK, with 201', FOR_GOOD, 76, /answered 201/, sends(reply('{"ddl":"OK"}', 201))),
  fault('OK, with 400', FOR_GOOD, 76, /answered 400/, sends(reply('{"ddl":"OK"}', 400))),
  fault('OK, with 201, after it did it', AFTERWARDS, 0, NOTHING, sends(reply('{"ddl":"OK"}', 201))),
  fault('rows', FOR_GOOD, 76, /answered with rows/, sends(reply(rowsBody('x')))),
  fault('nothing, with 204', FOR_GOOD, 76, /answered 204/, sends('HTTP/1.1 204 No Content\r\n\r\n')),
  fault('408', FOR_GOOD, 69, /the server timed out/, sends(reply('', 408))),
  fault('413, of a proxy', FOR_GOOD, 69, /too large for a proxy/, sends(reply('', 413))),
  fault('502 once, after it did it', AFTERWARDS, 0, NOTHING, sends(reply('', 502))),
  fault('503 for an hour', FOR_GOOD, 69, /try again in 3600 s/, sends(reply('', 503, 'Retry-After: 3600'))),
  fault('429 for a second', ONCE, 0, NOTHING, socket => socket.end(reply('', 429, 'Retry-After: 1'))),
  fault('429 for an hour', FOR_GOOD, 69, /try again in 3600 s/, sends(reply('', 429, 'Retry-After: 3600'))),
  fault('an error of 60 kB', FOR_GOOD, 1, /x{1000}…$/m, sends(reply(JSON.stringify({ error: 'x'.repeat(6e4) }), 400))),
  fault(
    'an error of a megabyte',
    FOR_GOOD,
    76,
    /the reply is longer than \d+ bytes/,
    sends(reply(JSON.stringify({ error: 'x'.repeat(1e6) }), 400)),
  ),
  fault('an error without words', FOR_GOOD, 1, /without a message/, sends(reply('{"error":" "}', 400))),
  fault('a position beyond the statement', FOR_GOOD, 1, /boom/, sends(reply('{"error":"boom","position":99999}', 400))),
  fault(
    'reply longer than its Content-Length',
    ONCE,
    0,
    NOTHING,
    sends('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"ddl":"OK"}'),
  ),
  fault(
    'OK, and nothing done',
    ONCE,
    1,
    /the server reported success, but the object does not exist/,
    sends(reply('{"ddl":"OK"}')),
  ),
  fault('the answer twice, after it did it', AFTERWARDS, 0, NOTHING, sends(Buffer.concat([OK, OK]))),
  fault('OK, and the end of the connection', AFTERWARDS, 0, NOTHING, socket => socket.end(OK)),
  fault('OK, byte by byte', AFTERWARDS, 0, NOTHING, async socket => {
    for (const byte of OK) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  }),
  fault(
    'OK, behind early hints',
    AFTERWARDS,
    0,
    NOTHING,
    sends(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'), OK])),
  ),
  fault('OK, in HTTP/1.0', AFTERWARDS, 0, NOTHING, socket => socket.end('HTTP/1.0 200 OK\r\n\r\n{"ddl":"OK"}')),
  fault('a number in place of OK', FOR_GOOD, 76, /instead of \{"ddl":"OK"\}/, sends(reply('{"ddl":1}'))),
  fault('an empty object', FOR_GOOD, 76, /answered with \{\} instead of/, sends(reply('{}'))),
  fault('null', FOR_GOOD, 76, /not QuestDB's JSON/, sends(reply('null'))),
  fault('an error in a list', FOR_GOOD, 76, /not QuestDB's JSON/, sends(reply('[{"error":"boom"}]'))),
  fault('503 once, and the end of the connection', ONCE, 0, NOTHING, socket => socket.end(reply('', 503))),
  fault('a header without end', FOR_GOOD, 76, /header of the reply is too large/, socket =>
    socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}`),
  ),
  fault(
    'an error without end',
    FOR_GOOD,
    76,
    /answered 400, application\/json, "x+…", which is not QuestDB's JSON/,
    async socket => {
      socket.write(head(400));
      while (!socket.destroyed && socket.bytesWritten < 3e8)
        if (!socket.write(chunk('x'.repeat(1e6))))
          await new Promise(done => socket.once('drain', done).once('close', done));
    },
  ),
  fault('another answer than OK', FOR_GOOD, 76, /"NO"/, sends(reply('{"ddl":"NO"}'))),
  fault('reply cut', ONCE, 0, NOTHING, breaksOff('{"ddl":"O')),
  fault('reply cut, after it did it', AFTERWARDS, 0, NOTHING, breaksOff('{"ddl":"O')),
  fault('closed without an answer', ONCE, 0, NOTHING, closes),
  fault('closed without an answer, after it did it', AFTERWARDS, 0, NOTHING, closes),
  fault('closed without an answer, from then on', FOR_GOOD, 69, /closed before a reply arrived/, closes),
  fault(
    'closed without an answer, after it did it and from then on',
    AFTERWARDS_FOR_GOOD,
    69,
    /closed before a reply arrived/,
    closes,
  ),
  fault('reset', ONCE, 0, NOTHING, resets),
  fault('reset, after it did it', AFTERWARDS, 0, NOTHING, resets),
  { ...fault('a hang', ONCE, 0, NOTHING, hangs), timeout: 1 },
  { ...fault('a hang, after it did it', AFTERWARDS, 0, NOTHING, hangs), timeout: 1 },
  { ...fault('a hang from then on', FOR_GOOD, 69, /no answer within 1 s/, hangs), timeout: 1 },
  fault('a server that speaks no HTTP', FOR_GOOD, 76, /does not speak HTTP/, sends('SSH-2.0-OpenSSH_9.6\r\n')),
];
