/*! `-vv`: a line on standard error for each request to an instance, without secrets. */

import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import type { Outcome } from '../support/shell.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const scope = fileScope();
let server: Server;

test.before(async () => {
  server = await serveHere(scope, { edition: 'enterprise' });
});

/** The lines about requests, without the times. */
const requestsIn = ({ stderr }: Outcome): string[] => stderr.match(/(?<=^[\w ]+: )GET .*(?= \d+\.\d ms$)/gm) ?? [];

test('one line per request: method, address, status and time, but neither query nor login', async t => {
  const run = await inProcess(t, loginAs());
  const SQL = `CREATE USER eve WITH PASSWORD 's3cret'; CREATE TABLE t (x nope)`;
  const applied = await run.exits(1, `sqlsplit <<< "${SQL}" | sqlapply -vv --no-verify ${server.url}`);
  const at = `GET ${server.url}/api/v1/sql/execute`;
  t.deepEqual([...new Set(requestsIn(applied))], [`${at} 200`, `${at} 400`]);
  t.notRegex(applied.stderr, /s3cret|quest|YWRtaW4/);

  const dumped = await run(`sqldump -v -v ${server.url} > dump`);
  t.true(requestsIn(dumped).includes(`${at} 200`), dumped.stderr);
  for (const command of [`sqldump -v ${server.url} > dump`, `sqldump -qvv ${server.url} > dump`])
    t.deepEqual(requestsIn(await run(command)), [], command);
});

test('sqldiff and sqlpipe check log their requests, including those without a reply', async t => {
  const run = await inProcess(t, {
    SQLDIFF_USER: 'admin',
    SQLDIFF_PASSWORD: 'quest',
    SQLPIPE_USER: 'admin',
    SQLPIPE_PASSWORD: 'quest',
  });
  for (const command of ['sqldiff -vv x.stream', 'sqlpipe check -vv'])
    t.regex(
      requestsIn(await run(`printf '\\0' > x.stream; ${command} ${server.url}`)).join('\n'),
      /execute 200$/m,
      command,
    );
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    if (statement.includes('DATABASE')) socket.destroy();
    else socket.write(reply('{"dataset":[]}'));
  });
  t.true(requestsIn(await run(`sqldump -vv ${url}`)).includes(`GET ${url}/api/v1/sql/execute no answer`));
  t.deepEqual(
    [...new Set(requestsIn(await run('sqldump -vv http://127.0.0.1:1')))],
    ['GET http://127.0.0.1:1/api/v1/sql/execute no answer'],
  );
});
