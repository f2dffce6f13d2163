/*!
 * Each request of a dump and of a replay fails in turn, including auxiliary queries: a server in front of a good one spoils
 * the nth reply. In every case the outcome is right or an error is reported, and a rerun of the command succeeds.
 */
import type { Socket } from 'node:net';
import { chunk, head, reply, startFaultyServer } from '../../test/faults/faulty-server.js';
import { type Finding, makeFinding, type Servers } from '../../test/faults/table.js';
import { inProcess } from '../../test/support/in-process.js';
import type { Scope } from '../../test/support/scope.js';
import type { Server } from '../../test/support/server.js';

/** Replaces a good reply; `body` is the body of the good reply. */
type Corruption = (socket: Socket, body: string) => unknown;

const CORRUPTIONS: Record<string, Corruption> = {
  'closed without a reply': socket => socket.end(),
  'connection reset': socket => socket.resetAndDestroy(),
  'no reply': () => {},
  'truncated in the middle': (socket, body) =>
    socket.end(Buffer.concat([head(), chunk(body.slice(0, body.length / 2))])),
  'truncated, but complete for HTTP': (socket, body) => socket.write(reply(body.slice(0, body.length / 2))),
  'a stall in the middle': (socket, body) =>
    socket.write(Buffer.concat([head(), chunk(body.slice(0, body.length / 2))])),
  'an empty body': socket => socket.write(reply('')),
  'an empty object': socket => socket.write(reply('{}')),
  'a login page': socket => socket.write(reply('<title>Login</title>', 200, 'Content-Type: text/html')),
  'no rows, but a count of 1': socket => socket.write(reply('{"columns":[],"dataset":[],"count":1}')),
  OK: socket => socket.write(reply('{"ddl":"OK"}')),
  'the reply twice': (socket, body) => socket.write(Buffer.concat([reply(body), reply(body)])),
  '200 with error': socket => socket.write(reply('{"query":"","error":"boom","position":0}')),
  '400': socket => socket.write(reply('{"query":"","error":"boom","position":0}', 400)),
  '401': socket => socket.write(reply('Unauthorized\r\n', 401, 'Content-Type: text/plain')),
  '403': socket => socket.write(reply('{"error":"Access denied for bob [SELECT on a]"}', 403)),
  '404': socket => socket.write(reply('Not Found\r\n', 404, 'Content-Type: text/plain')),
  '500': socket => socket.write(reply('{"error":"boom"}', 500)),
  '503': socket => socket.end(reply('', 503)),
  redirect: socket => socket.write(reply('', 302, 'Location: http://127.0.0.2:1/')),
};

/** Starts a server that passes requests on to a good one, and spoils the nth reply; `wasSpoiled` tells whether there was an nth. */
async function startSpoilingServer(scope: Scope, good: Server, nth: number, spoil: Corruption) {
  const { url, requests } = await startFaultyServer(scope, async (socket, { nth: n, line }) => {
    const response = await fetch(good.url + line.split(' ')[1]);
    const body = await response.text();
    if (n === nth) spoil(socket, body);
    else socket.write(reply(body, response.status));
  });
  return { url, wasSpoiled: () => requests.length > nth };
}

/** Spoils each reply to `sqldump` with the options in each way; yields names and findings. */
export async function* sweepDump(scope: Scope, good: Server, options: string): AsyncGenerator<[string, Finding]> {
  const run = await inProcess(scope);
  const { stdout: right } = await run(`sqldump ${options} ${good.url}`);
  for (const [how, spoil] of Object.entries(CORRUPTIONS))
    for (let nth = 0; ; nth++) {
      const { url, wasSpoiled } = await startSpoilingServer(scope, good, nth, spoil);
      const { code, stdout, stderr } = await run(`sqldump --timeout 1 ${options} ${url}`);
      if (!wasSpoiled()) break;
      const claims =
        code === 0
          ? { 'the dump is right': stdout === right }
          : { ...checkFailure(code, stderr, url), 'the stream is incomplete': stdout.at(-1) !== '\0' };
      yield [`dump ${options}, reply ${nth + 1}: ${how}`, makeFinding([code], stderr, claims)];
    }
}

/** Spoils each reply to a replay in each way. */
export async function* sweepReplay(scope: Scope, { small, target }: Servers): AsyncGenerator<[string, Finding]> {
  const run = await inProcess(scope);
  await run(`sqldump ${small.url} > stream`);
  const same = `sqldump ${target.url} | cmp stream`;
  for (const [how, spoil] of Object.entries(CORRUPTIONS))
    for (let nth = 0; ; nth++) {
      await target.dropAll();
      const { url, wasSpoiled } = await startSpoilingServer(scope, target, nth, spoil);
      const { code, stderr } = await run(`sqlapply --timeout 1 ${url} < stream`);
      if (!wasSpoiled()) break;
      const first = await run(same);
      const again = await run(`sqlapply ${target.url} < stream && ${same}`);
      const claims = {
        ...(code === 0 ? { 'the target has the complete schema': first.code === 0 } : checkFailure(code, stderr, url)),
        'a rerun completes the job': again.code === 0 && again.stderr === '',
      };
      yield [`replay, reply ${nth + 1}: ${how}`, makeFinding([code], stderr, claims)];
    }
}

const checkFailure = (code: number, stderr: string, url: string) => ({
  'the status is 1, 69, 76 or 77': [1, 69, 76, 77].includes(code),
  'the message names the instance': stderr.includes(url),
});
