/*! One command for all programs, and its own functions: the list of programs, and `check`, which tests if an instance can be copied. */
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { setUp } from '../support/principals.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const PROGRAMS = readdirSync('packages').filter(name => /^sql.+/.test(name) && name !== 'sqlpipe');

test('each program runs under its short name, with its own options and exit status', async t => {
  const run = await inProcess(t);
  for (const name of PROGRAMS) {
    const help = (await run(`${name} --help`)).stdout;
    for (const line of [`${name.slice(3)} --help`, `help ${name.slice(3)}`, `${name} --help`])
      t.is((await run(`sqlpipe ${line}`)).stdout, help, line);
  }
  t.is(
    (await run(`printf 'CREATE TABLE a (x INT)' | sqlpipe split | sqlpipe join`)).stdout,
    'CREATE TABLE a (x INT);\n\n',
  );
  t.is((await run('sqlpipe split /nowhere')).code, 66);
  t.is((await run('sqlpipe join < /dev/null')).code, 65);
  t.is((await run('sqlpipe dump http://127.0.0.1:1')).code, 69);
  t.is((await run(`yes 'SELECT 1;' | sqlpipe split | head -c 1 > /dev/null; exit \${PIPESTATUS[1]}`)).code, 141);
});

test('--help lists the programs with the summaries of their man pages', async t => {
  const run = await inProcess(t);
  for (const option of ['--help', 'help']) {
    const help = (await run(`sqlpipe ${option}`)).stdout;
    for (const name of PROGRAMS) {
      const [, summary] = /^\.Nd (.*)$/m.exec(readFileSync(`packages/${name}/${name}.1`, 'utf8')) ?? [];
      t.regex(help, new RegExp(`^ *${name.slice(3)} +${summary}$`, 'm'));
    }
  }
});

test('an unknown program is a usage error with a suggestion', async t => {
  const run = await inProcess(t);
  t.regex(
    (await run.exits(64, 'sqlpipe dmup --text prod')).stderr,
    /^sqlpipe: unknown program: dmup; there are dump, .*; did you mean dump\?\nTry 'sqlpipe --help'\.\n$/,
  );
  for (const word of ['nonsense', 'constructor', 'help nonsense', '-- dump'])
    t.like(await run(`sqlpipe ${word}`), { code: 64 }, word);
  t.regex((await run('sqlpipe')).stderr, /^sqlpipe: missing operand: <program>$/m);
});

test('sqlpipe loads only the requested program', async t => {
  const folder = await freshFolder(t);
  for (const name of ['sqlpipe', 'sqljoin'])
    for (const part of ['bin', 'dist/main.js', 'package.json'])
      cpSync(`packages/${name}/${part}`, join(folder, name, part), { recursive: true });
  const run = await inProcess(t);
  t.like(await run(`${folder}/sqlpipe/bin/sqlpipe.js join --version`), { code: 0, stderr: '' });
});

test('check: prints the properties of an instance that can be copied', async t => {
  const { url, execute } = await startSqlserve(t);
  await execute('CREATE TABLE a (x INT)');
  const run = await inProcess(t);
  const stdout = await run.bash.silent(`sqlpipe check ${url}`);
  t.is(
    stdout,
    `instance: ${url}
endpoint: /api/v1/sql/execute
version: QuestDB 10.0.0, sqlserve
user: none given
access control: off
request limit: unknown
statements: 1
`,
  );
});

test('check: prints the user without a secret, and reports missing permissions', async t => {
  const server = await serveHere(t, { edition: 'enterprise' });
  const { url } = server;
  const run = await inProcess(t, { SQLPIPE_USER: 'admin', SQLPIPE_PASSWORD: 'quest' });
  const { stdout } = await run.ok(`sqlpipe check ${url}`);
  t.regex(stdout, /^user: admin\naccess control: on\n/m);
  t.notRegex(stdout, /quest$|YWRtaW46/m);
  await setUp(server, "CREATE USER ann WITH PASSWORD 'p'", 'GRANT HTTP TO ann', 'GRANT SELECT ON ALL TABLES TO ann');
  const ann = await run.exits(77, `SQLPIPE_USER=ann SQLPIPE_PASSWORD=p sqlpipe check ${url}`);
  t.regex(ann.stdout, /^user: ann\naccess control: on\npermissions: .*SELECT/m);
});

test('check: warns if another sqldiff comes first on the PATH', async t => {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t);
  await run('mkdir other empty; echo "#!/bin/sh" > other/sqldiff; chmod +x other/sqldiff');
  const check = (path: string) => run.bash(`PATH=${path}; sqlpipe check ${url}`);
  const { code, stderr } = await check('$PWD/other:$PATH');
  t.is(code, 0);
  t.regex(stderr, /^sqlpipe check: \/\S*\/other\/sqldiff comes first on the PATH: for ours, type sqlpipe diff\n$/);
  t.like(await check('$PWD/empty:$PATH:$PWD/other'), { code: 0, stderr: '' });
  t.like(await run.bash(`sqlpipe=$(command -v sqlpipe); PATH=$(dirname $(command -v node)); $sqlpipe check ${url}`), {
    stderr: '',
  });
});

/** Starts a server with these replies to queries; it rejects all others. Resolves to its URL. */
async function startAnswering(t: ExecutionContext, answers: Record<string, unknown[][]>): Promise<string> {
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    const dataset = answers[statement];
    const rejection = reply('{"error":"no","position":0}', 400);
    socket.write(dataset ? reply(JSON.stringify({ dataset, count: dataset.length })) : rejection);
  });
  return url;
}

const HEALTHY = {
  'SELECT build()': [['Build Information: QuestDB 10.0, JDK 25']],
  'SELECT current_user()': [['admin']],
  'SELECT property_path, value FROM (SHOW PARAMETERS)': [['http.request.header.buffer.size', '64448']],
  'SHOW CREATE DATABASE': [['CREATE TABLE a (x INT);']],
  'SELECT table_name, table_type, id FROM tables()': [['a', 'T', 1]],
};
const PROBLEMS = {
  "SELECT view_name, invalidation_reason FROM views() WHERE view_status = 'invalid'": [['v', 'no\x1b[31m table a']],
  'SELECT name, errorMessage FROM wal_tables() WHERE suspended': [['a', 'no space left']],
};

test('check: prints invalid views, suspended tables and the request limit', async t => {
  const run = await inProcess(t);
  await run.ok(`sqlpipe check ${await startAnswering(t, HEALTHY)}`);
  const withView = { 'SHOW CREATE DATABASE': [['CREATE TABLE a (x INT);'], ['CREATE VIEW v AS (SELECT x FROM b);']] };
  const url = await startAnswering(t, { ...HEALTHY, ...withView, ...PROBLEMS });
  const { stdout, stderr } = await run.exits(1, `sqlpipe check ${url}`);
  t.notRegex(stderr, /invalid/, 'the view is printed once');
  t.is(
    stdout.replace(/.*\n/, ''),
    `endpoint: /api/v1/sql/execute
version: QuestDB 10.0, JDK 25
user: admin
access control: off
request limit: 64448
invalid: 'v': no\\x1b[31m table a
suspended: 'a': no space left
statements: 2
`,
  );
});

test('check: prints the warnings of the dump', async t => {
  const { 'SHOW CREATE DATABASE': dump, 'SELECT build()': build } = HEALTHY;
  const url = await startAnswering(t, { 'SHOW CREATE DATABASE': dump, 'SELECT build()': build });
  t.regex(
    (await (await inProcess(t)).ok(`sqlpipe check ${url}`)).stderr,
    /: the dump may lack objects that this account/,
  );
});

test('check: reports a read-only server and a missing permission to create', async t => {
  const run = await inProcess(t);
  const readOnly = { 'SELECT property_path, value FROM (SHOW PARAMETERS)': [['http.security.readonly', 'true']] };
  const limited = { 'SHOW USERS': [['admin']], 'SHOW PERMISSIONS': [['HTTP'], ['SELECT'], ['SELECT']] };
  const first = await startAnswering(t, { ...HEALTHY, ...readOnly });
  t.like(await run.bash(`sqlpipe check ${first}`), {
    code: 77,
    stderr: `sqlpipe check: ${first}: the server is read-only, so no schema can be applied to it\n`,
  });
  const second = await startAnswering(t, { ...HEALTHY, ...limited });
  const { stdout, stderr } = await run.bash.exits(77, `sqlpipe check ${second}`);
  t.regex(stdout, /^permissions: HTTP, SELECT$/m);
  t.is(
    stderr,
    `sqlpipe check: ${second}: this user has no permission CREATE TABLE, so no schema can be applied to it\n`,
  );
});

test('check: exits with 69 if the instance is unreachable, and with 1 if the dump is rejected', async t => {
  const run = await inProcess(t);
  const { 'SHOW CREATE DATABASE': _, ...rest } = HEALTHY;
  await run.exits(1, `sqlpipe check ${await startAnswering(t, rest)}`);
  t.like(await run('sqlpipe check http://127.0.0.1:1'), { code: 69 });
  t.like(await run('sqlpipe check'), {
    code: 64,
    stderr: "sqlpipe check: missing operand: <instance>\nTry 'sqlpipe check --help'.\n",
  });
});
