/*! Behavior common to all programs, without a server: help, version, completion, usage errors, full disks, closed readers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const PROGRAMS = [...readdirSync('packages').filter(name => /^sql.+/.test(name)), 'sqlpipe copy'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

for (const program of PROGRAMS) {
  test(`${program} --help fits on a screen and shows a pipeline`, async t => {
    const run = await inProcess(t);
    const { code, stdout, stderr } = await run(`${program} --help`);
    const help = stdout;
    t.is(code, 0);
    t.is(stderr, '');
    t.regex(help, new RegExp(`^Usage: ${program} \\[options\\]`));
    t.regex(help, /\nExamples:\n {2}/);
    t.true(help.split('\n').length <= 54, `${help.split('\n').length} lines`);
    const wrong = help.split('\n').filter(line => line.length > 80);
    t.deepEqual(wrong, []);
    t.notRegex(help, /\[(array|boolean|string|number|default|choices)/);
    const [, own = '', connection = ''] =
      /\nOptions:\n([^]*?)(?:\nConnection options:\n([^]*))?\nExamples:/.exec(help) ?? [];
    t.regex(own, /--help /);
    t.notRegex(own, /--(user|timeout) /);
    if (connection) t.regex(connection, /--timeout SECS +\S/);
    t.is((await run(`${program} -h`)).stdout, help);
  });

  test(`${program} --version prints its name and version`, async t => {
    const run = await inProcess(t);
    const product = program.startsWith('sqlpipe') ? 'sqlpipe' : `${program} (sqlpipe)`;
    for (const option of ['--version', '-V'])
      t.like(await run(`${program} ${option}`), { code: 0, stdout: `${product} ${version}\n` });
  });

  test(`${program} rejects an unknown option`, async t => {
    const run = await inProcess(t);
    const { stdout, stderr } = await run.exits(64, `${program} --non-sense`);
    t.is(stdout.length, 0);
    t.is(stderr, `${program}: unknown option: --non-sense\nTry '${program} --help'.\n`);
    // A property that every JavaScript object has.
    t.like(await run(`${program} --to-string`), {
      code: 64,
      stderr: `${program}: unknown option: --to-string\nTry '${program} --help'.\n`,
    });
  });

  test(`${program} --help loads neither undici nor the parser of DDL`, t => loadsLittle(t, `${program} --help`));
}

/** Asserts that a command loads only bundles of the command line. */
async function loadsLittle(t: ExecutionContext, command: string): Promise<void> {
  const run = await shell(t);
  const { stdout } = await run(
    `echo "process.on('exit', () => require('fs').writeFileSync('loaded', Object.keys(require.cache).join('\\n')))" > trace.cjs
NODE_OPTIONS='--require ./trace.cjs' ${command}; cat loaded`,
  );
  const loaded = stdout.match(/^\/.*\/dist\/.*\.js$/gm) ?? [];
  t.true(loaded.length > 0);
  for (const file of loaded) t.false(/UND_ERR_|unknown index type/.test(readFileSync(file, 'utf8')), file);
}

for (const option of ['--version', '--completion bash', '--no-such-option'])
  test(`sqlapply ${option} loads neither undici nor the parser of DDL`, t => loadsLittle(t, `sqlapply ${option}`));

const STREAM = String.raw`printf 'CREATE TABLE a (x INT);\n\0CREATE VIEW b AS (SELECT 1);\n\0'`;
const TEXT = String.raw`printf 'CREATE TABLE a (x INT); CREATE VIEW b AS (SELECT 1)'`;

/** Scripts about what only processes have. */
const NEEDS_SHELL = /\/dev\/full|yes |export |<\(|\$\(\(/;

for (const { title, input } of cases('command-lines'))
  test(title, async t => {
    const [, status, message = '^$'] = /^(\d+)(?:: (.*))?$/.exec(input.trimEnd()) ?? [];
    const run = NEEDS_SHELL.test(title) ? await shell(t) : await inProcess(t);
    const { code, stderr } = await run(title.replaceAll('STREAM', () => STREAM).replaceAll('TEXT', () => TEXT));
    t.is(code, Number(status), stderr);
    t.regex(stderr, new RegExp(message));
  });

test('a terminal as standard input is a usage error', async t => {
  const run = await shell(t);
  for (const program of ['sqljoin', 'sqlsplit', 'sqlsort', 'sqlgrep x', 'sqlapply http://127.0.0.1:1']) {
    const { stdout } = await run(`script -qec '${program}; echo status $?' /dev/null < /dev/null`);
    t.regex(stdout, /standard input is a terminal; it must be a pipe or a file[^]*status 64/, program);
  }
});

test('a closed standard error does not block a program', async t => {
  const child = spawn('node_modules/.bin/sqljoin', { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.destroy();
  t.deepEqual(await once(child, 'close'), [65, null]);
});

test('control characters in the name of a file are escaped', async t => {
  const run = await shell(t);
  const { stderr } = await run(String.raw`sqlsplit $'no\e[31mfile\u009b'`);
  t.is(stderr, `${String.raw`sqlsplit: no\x1b[31mfile\x9b: no such file or directory`}\n`);
});
