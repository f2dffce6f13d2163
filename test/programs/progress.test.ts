/*! What is shown of a run: its progress, and with `-vv` a line for each request, without secrets. */
import { setTimeout as pause } from 'node:timers/promises';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import type { Server } from '../support/server.js';
import type { Outcome } from '../support/shell.js';
import { startSlow } from '../support/slow.js';
import { serveHere } from '../support/sqlserve.js';
import { type Terminal, terminal } from '../support/terminal.js';
import { fileScope, type Scope, test } from '../support/test.js';

const rows = (...names: string[]) => names.map(name => JSON.stringify([`CREATE TABLE '${name}' (x INT)`])).join(',');

/** Work that takes longer than this shows its progress. */
const DELAY = 300;

/** After the delay, dumps four statements at once, then three, one, and one more, each as soon as the screen shows those before. */
const startSource = (scope: Scope, on: Terminal) =>
  startSlow(scope, async (query, response) => {
    if (!query.startsWith('SHOW CREATE DATABASE')) return response.end('{"dataset":[]}');
    await pause(DELAY);
    for (const [first = '', ...more] of [['a', 'b', 'c', 'd'], ['e', 'f', 'g'], ['h'], ['i']]) {
      response.write(`${first === 'a' ? '{"dataset":[' : ','}${rows(first, ...more)}`);
      await on.shows(new RegExp(`table '${first}'`));
    }
    response.end(']}');
  });

/** Answers each CREATE as soon as the screen shows it, and rejects that of `b`. */
const startTarget = (scope: Scope, on: Terminal) =>
  startSlow(scope, async (query, response) => {
    const [, name] = /'(\w+)'/.exec(query) ?? [];
    await (name === 'a' ? pause(DELAY) : on.shows(new RegExp(`table '${name}'`)));
    if (name === 'b') response.writeHead(400).end('{"error":"no","position":0}');
    else response.end('{"ddl":"OK"}');
  });

const printTables = (...names: string[]) =>
  `printf "${names.map(name => `CREATE TABLE '${name}' (x INT)\\0`).join('')}"`;

/**
 * The progress drawn on the screen: counts, with the total if it is known, rates, and current statements. On a busy machine the
 * screen also shows count 0, and the counts without total while sqlapply reads its input; both are left out.
 */
const readCounts = (screen: string, program: string, total: string) =>
  Array.from(
    screen.matchAll(
      new RegExp(`${program}: (?:\\[[=-]*\\] )?(\\d+(?:/\\d+)?), ([\\d.]+)/s(?:, ETA [\\d:]+)?, \\w+ '(\\w+)'`, 'g'),
    ),
    ([, count = '', rate = '', name = '']) => ({ count, rate: Number(rate), name }),
  ).filter(({ count }) => Number.parseInt(count, 10) > 0 && count.includes('/') === (total !== ''));

const distinctSteps = (all: ReturnType<typeof readCounts>) => [
  ...new Set(all.map(({ count, name }) => `${count} ${name}`)),
];

test('sqldump counts the statements read, even if several arrive at once', async t => {
  const on = await terminal(t);
  const { code, screen } = await on(`sqldump -o x ${await startSource(t, on)}`);
  t.is(code, 0, screen);
  const all = readCounts(screen, 'sqldump', '');
  t.deepEqual(distinctSteps(all), ['4 e', '7 h', '8 i']);
  for (const { count, rate } of all) t.true(rate > 0 && rate < (1000 * Number(count)) / DELAY, `${count} at ${rate}/s`);
  t.regex(screen, /sqldump: 9 statements\r\n$/);
});

for (const [options, total] of Object.entries({ '': '/4', '--stream': '' }))
  test(`sqlapply ${options} counts finished statements, including rejected ones`, async t => {
    const on = await terminal(t);
    const replay = `sqlapply ${options} --keep-going --no-verify ${await startTarget(t, on)}`;
    const { code, screen } = await on(`${printTables('a', 'b', 'c', 'd')} | ${replay}`);
    t.is(code, 1, screen);
    const all = readCounts(screen, 'sqlapply', total);
    t.deepEqual(distinctSteps(all), [`1${total} b`, `2${total} c`, `3${total} d`]);
    for (const { count, rate } of all)
      t.true(rate > 0 && rate < (1000 * Number.parseInt(count, 10)) / DELAY, `${count} at ${rate}/s`);
    t.regex(screen, /: 3 of 4 applied, 1 rejected/);
  });

test('after a rejection that ends the run, statements that are not sent are not counted', async t => {
  const on = await terminal(t);
  const many = `for i in {1..200}; do ${printTables('t$i')}; done`;
  const { code, screen } = await on(
    `{ ${printTables('a', 'b')}; ${many}; } | sqlapply --no-verify ${await startTarget(t, on)}`,
  );
  t.is(code, 1, screen);
  t.deepEqual(distinctSteps(readCounts(screen, 'sqlapply', '/202')), ['1/202 b']);
  t.regex(screen, /: 1 of 202 applied, 1 rejected, 200 not reached/);
});

test('at 40 columns the count, the rate and the remaining time are shown', async t => {
  const on = await terminal(t);
  const target = await startSlow(t, async (query, response) => {
    await (query.includes('table_a') ? pause(DELAY) : on.shows(/1\/3/));
    response.end('{"ddl":"OK"}');
  });
  const { code, screen } = await on(
    `stty cols 40; ${printTables('table_a', 'table_b', 'table_c')} | sqlapply --no-verify ${target}`,
  );
  t.is(code, 0, screen);
  const [line = '', left = ''] = /sqlapply: 1\/3, [\d.]+\/s, ETA (\d:\d\d), [^\r\x1b]*/.exec(screen) ?? [];
  t.true(line.endsWith('…') && line.length <= 39, screen);
  t.regex(left, /^(?!0:00)\d:\d\d$/);
});

const scope = fileScope();
let server: Server;

test.before(async () => {
  server = await serveHere(scope, { edition: 'enterprise' });
});

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
  const found = [...new Set(requestsIn(await run('sqldump -vv http://127.0.0.1:1')))];
  t.deepEqual(found, ['GET http://127.0.0.1:1/api/v1/sql/execute no answer']);
});
