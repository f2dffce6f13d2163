/*! Protected instances in instances.toml: sqlapply needs --yes-to with the name, and otherwise sends nothing. */

import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { ExecutionContext } from 'ava';
import { startFaultyServer } from '../faults/faulty-server.js';
import { forwardRequest } from '../faults/run.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const good = sharedSqlserve();

/** Starts one server with two protected names and two others; `requests` are the requests that reached it. */
async function startProtected(t: ExecutionContext) {
  const { url, requests } = await startFaultyServer(t, async (socket, request) =>
    socket.write(await forwardRequest(good, request)),
  );
  const run = await shell(t, { URL: url });
  await run(`mkdir -p .config/sqlpipe; {
    printf '[prod]\\nurl = "%s"\\nprotected = true\\n[spare]\\nurl = "%s"\\nprotected = true\\n' $URL $URL
    printf '[lab]\\nurl = "%s"\\n[open]\\nurl = "%s"\\nprotected = false\\n' $URL $URL
  } > .config/sqlpipe/instances.toml; printf 'CREATE TABLE a (x INT);\\n\\0' > stream`);
  const tables = async () => (await good.execute('SELECT table_name FROM tables()')).dataset?.flat();
  return { run, requests, tables };
}

for (const options of [
  '',
  '--yes-to spare',
  '--yes-to lab',
  '--yes-to PROD',
  '--yes-to pro',
  '--yes-to ""',
  '--yes-to $URL',
  '--stream',
  '--keep-going --if-exists skip',
  '--allow all',
])
  test(`a protected instance gets no request from sqlapply ${options}`, async t => {
    const { run, requests, tables } = await startProtected(t);
    const { code, stderr } = await run(`sqlapply ${options} prod < stream`);
    t.is(code, 64, stderr);
    t.regex(stderr, /--yes-to/);
    t.deepEqual(requests, []);
    t.deepEqual(await tables(), []);
  });

for (const operand of [
  '$URL',
  '$URL/',
  '${URL#http://}',
  'LOCALHOST:${URL##*:}',
  'localhost.:${URL##*:}',
  '"[::1]:${URL##*:}"',
  '"[::ffff:127.0.0.1]:${URL##*:}"',
  '127.0.0.2:${URL##*:}',
  '0.0.0.0:${URL##*:}',
  'http://localhost.:${URL##*:}',
  '"http::addr=127.0.0.1:${URL##*:};"',
  'lab',
])
  test(`a protected instance is protected under the address ${operand}`, async t => {
    const { run, requests } = await startProtected(t);
    const { code, stderr } = await run(`sqlapply ${operand} < stream`);
    t.is(code, 64, stderr);
    t.regex(stderr, /prod is protected; to change it, give --yes-to=prod/);
    t.deepEqual(requests, []);
  });

test('a protected instance is protected under the IP address of its name, and under its name', async t => {
  const [{ address = '' } = {}] = await lookup(hostname(), { all: true });
  const run = await shell(t, { NAME: hostname().toLowerCase(), IP: address.includes(':') ? `[${address}]` : address });
  await run(`mkdir -p .config/sqlpipe; printf 'CREATE TABLE a (x INT);\\n\\0' > stream`);
  for (const [known, operand] of [
    ['NAME:1', 'IP:1'],
    ['IP:1', 'NAME:1'],
  ]) {
    const entry = `printf '[prod]\\nurl = "http://%s"\\nprotected = true\\n' $${known} > .config/sqlpipe/instances.toml`;
    for (const command of ['sqlapply', 'sqlpipe copy $IP:1']) {
      const { code, stderr } = await run(`${entry}; ${command} $${operand} < stream`);
      t.is(code, 64, stderr);
      t.regex(stderr, /prod is protected; to change it, give --yes-to=prod/);
    }
  }
});

for (const command of [
  'sqlapply --yes-to prod prod',
  'sqlapply --yes-to=spare spare',
  'sqlapply --yes-to=prod $URL',
  'sqlapply --yes-to=spare $URL',
  'sqlapply open',
])
  test(`${command} applies the stream`, async t => {
    const { run, tables } = await startProtected(t);
    const { code, stderr } = await run(`${command} < stream`);
    t.is(code, 0, stderr);
    t.deepEqual(await tables(), ['a']);
  });

test('commands that change nothing need no confirmation', async t => {
  const { run, requests, tables } = await startProtected(t);
  const { code, stdout, stderr } = await run(
    'sqlapply --dry-run prod < stream && sqldump -o dump prod && sqldiff --names prod stream',
  );
  t.is(code, 1, stderr); // the two differ
  t.is(stdout.toString(), "would create table 'a'\nonly in stream: table 'a'\n");
  t.deepEqual(
    requests.filter(({ statement }) => statement.startsWith('CREATE')),
    [],
  );
  t.deepEqual(await tables(), []);
});
