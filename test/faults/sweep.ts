/*!
 * Each request of a dump and of a replay failing in turn, the side questions too: a server in front of a good one spoils
 * the nth answer. However it is spoilt, the outcome is right, or told to be wrong, and the same command again is right.
 */
import type { Socket } from 'node:net';
import type { Scope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { shell } from '../support/shell.js';
import { chunk, head, reply, startFaultyServer } from './faulty-server.js';
import { type Finding, finding, type Servers } from './table.js';

/** Spoils a good answer; `body` is what it would have been. */
type Corruption = (socket: Socket, body: string) => unknown;

const CORRUPTIONS: Record<string, Corruption> = {
  'closed without an answer': socket => socket.end(),
  'connection reset': socket => socket.resetAndDestroy(),
  'a hang': () => {},
  'cut half-way': (socket, body) => socket.end(Buffer.concat([head(), chunk(body.slice(0, body.length / 2))])),
  'cut, and whole as far as HTTP goes': (socket, body) => socket.write(reply(body.slice(0, body.length / 2))),
  'a stall half-way': (socket, body) => socket.write(Buffer.concat([head(), chunk(body.slice(0, body.length / 2))])),
  'an empty body': socket => socket.write(reply('')),
  'an empty object': socket => socket.write(reply('{}')),
  'a login page': socket => socket.write(reply('<title>Login</title>', 200, 'Content-Type: text/html')),
  'no rows, but a count': socket => socket.write(reply('{"columns":[],"dataset":[],"count":1}')),
  OK: socket => socket.write(reply('{"ddl":"OK"}')),
  'the answer twice': (socket, body) => socket.write(Buffer.concat([reply(body), reply(body)])),
  '200 with error': socket => socket.write(reply('{"query":"","error":"boom","position":0}')),
  '400': socket => socket.write(reply('{"query":"","error":"boom","position":0}', 400)),
  '401': socket => socket.write(reply('Unauthorized\r\n', 401, 'Content-Type: text/plain')),
  '403': socket => socket.write(reply('{"error":"Access denied for bob [SELECT on a]"}', 403)),
  '404': socket => socket.write(reply('Not Found\r\n', 404, 'Content-Type: text/plain')),
  '500': socket => socket.write(reply('{"error":"boom"}', 500)),
  '503': socket => socket.end(reply('', 503)),
  redirect: socket => socket.write(reply('', 302, 'Location: http://127.0.0.2:1/')),
};

/** A server that passes requests on to a good one, and spoils the nth answer; `met` says whether there was an nth. */
async function spoiling(scope: Scope, good: Server, nth: number, spoil: Corruption) {
  const { url, requests } = await startFaultyServer(scope, async (socket, { nth: n, line }) => {
    const response = await fetch(good.url + line.split(' ')[1]);
    const body = await response.text();
    if (n === nth) spoil(socket, body);
    else socket.write(reply(body, response.status));
  });
  return { url, met: () => requests.length > nth };
}

/** Sweeps over the requests of `sqldump` with the options: each, by name, spoilt in each way. */
export async function* sweepDump(scope: Scope, good: Server, options: string): AsyncGenerator<[string, Finding]> {
  const run = await shell(scope);
  const { stdout: right } = await run(`sqldump ${options} ${good.url}`);
  for (const [how, spoil] of Object.entries(CORRUPTIONS))
    for (let nth = 0; ; nth++) {
      const { url, met } = await spoiling(scope, good, nth, spoil);
      const { code, stdout, stderr } = await run(`sqldump --timeout 1 ${options} ${url}`);
      if (!met()) break;
      const claims =
        code === 0
          ? { 'it is the right dump': stdout.equals(right) }
          : { ...failsWell(code, stderr, url), 'the stream is cut': stdout.at(-1) !== 0 };
      yield [`dump ${options}, answer ${nth + 1}: ${how}`, finding([code], stderr, claims)];
    }
}

/** Sweeps over the requests of a replay in the same way. */
export async function* sweepReplay(scope: Scope, { small, target }: Servers): AsyncGenerator<[string, Finding]> {
  const run = await shell(scope);
  await run(`sqldump ${small.url} > stream`);
  const same = `sqldump ${target.url} | cmp stream`;
  for (const [how, spoil] of Object.entries(CORRUPTIONS))
    for (let nth = 0; ; nth++) {
      await target.dropAll();
      const { url, met } = await spoiling(scope, target, nth, spoil);
      const { code, stderr } = await run(`sqlapply --timeout 1 ${url} < stream`);
      if (!met()) break;
      const first = await run(same);
      const again = await run(`sqlapply ${target.url} < stream && ${same}`);
      const claims = {
        ...(code === 0 ? { 'the target has it all': first.code === 0 } : failsWell(code, stderr, url)),
        'the same command again finishes the job': again.code === 0 && again.stderr === '',
      };
      yield [`replay, answer ${nth + 1}: ${how}`, finding([code], stderr, claims)];
    }
}

const failsWell = (code: number, stderr: string, url: string) => ({
  'the status is one of those': [1, 69, 76, 77].includes(code),
  'the message names the instance': stderr.includes(url),
});
