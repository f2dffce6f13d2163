/*! Behavior common to all programs, without a server: help, version, completion, usage errors, full disks, closed readers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { shell } from '../support/shell.js';
import { macro, test } from '../support/test.js';

const PROGRAMS = [...readdirSync('packages').filter(name => /^sql.+/.test(name)), 'sqlpipe copy'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

for (const program of PROGRAMS) {
  test(`${program} --help fits on a screen and shows a pipeline`, async t => {
    const run = await inProcess(t);
    const { code, stdout, stderr } = await run(`${program} --help`);
    const help = stdout.toString();
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
    t.is((await run(`${program} -h`)).stdout.toString(), help);
  });

  test(`${program} --version prints its name and version`, async t => {
    const run = await inProcess(t);
    const product = program.startsWith('sqlpipe') ? 'sqlpipe' : `${program} (sqlpipe)`;
    for (const option of ['--version', '-V']) {
      const { code, stdout } = await run(`${program} ${option}`);
      t.deepEqual([code, stdout.toString()], [0, `${product} ${version}\n`]);
    }
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

  test(`${program} --help loads neither undici nor the parser of DDL`, async t => {
    await loadsLittle(t, `${program} --help`);
  });
}

/** Asserts that a command loads only bundles of the command line. */
async function loadsLittle(t: ExecutionContext, command: string): Promise<void> {
  const run = await shell(t);
  const { stdout } = await run(
    `echo "process.on('exit', () => require('fs').writeFileSync('loaded', Object.keys(require.cache).join('\\n')))" > trace.cjs
NODE_OPTIONS='--require ./trace.cjs' ${command}; cat loaded`,
  );
  const loaded = stdout.toString().match(/^\/.*\/dist\/.*\.js$/gm) ?? [];
  t.true(loaded.length > 0);
  for (const file of loaded) t.false(/UND_ERR_|unknown index type/.test(readFileSync(file, 'utf8')), file);
}

for (const option of ['--version', '--completion bash', '--no-such-option'])
  test(`sqlapply ${option} loads neither undici nor the parser of DDL`, async t => {
    await loadsLittle(t, `sqlapply ${option}`);
  });

const STREAM = String.raw`printf 'CREATE TABLE a (x INT);\n\0CREATE VIEW b AS (SELECT 1);\n\0'`;
const TEXT = String.raw`printf 'CREATE TABLE a (x INT); CREATE VIEW b AS (SELECT 1)'`;

/** Scripts about what only processes have. */
const NEEDS_SHELL = /\/dev\/full|yes |export |<\(|\$\(\(/;

const exitsWith = macro<[string, number, (string | RegExp)?]>({
  title: (_, script) => script.replace(STREAM, 'STREAM').replace(TEXT, 'TEXT'),
  async exec(t, script, code, stderr = '') {
    const run = NEEDS_SHELL.test(script) ? await shell(t) : await inProcess(t);
    const outcome = await run(script);
    t.is(outcome.code, code, outcome.stderr);
    if (typeof stderr === 'string') t.is(outcome.stderr, stderr);
    else t.regex(outcome.stderr, stderr);
  },
});

test(exitsWith, 'sqlsplit /nowhere', 66, /^sqlsplit: \/nowhere: no such file or directory\n$/m);
test(
  exitsWith,
  'sqlsplit /nowhere | sqljoin',
  65,
  /^sqlsplit: .*\nsqljoin: incomplete after 0 complete records: sqlsplit failed: \/nowhere: no such file or directory\n$/,
);
test(exitsWith, `export TMPDIR=/nowhere; ${STREAM} | sqljoin | sqlsplit | cmp - <(${STREAM})`, 0); // no file for a short stream
test(exitsWith, `${STREAM} | sqlapply --report . http://127.0.0.1:1`, 74, 'sqlapply: .: is a directory\n');
test(exitsWith, 'sqlapply --help > /dev/full', 74, 'sqlapply: write failed: no space left on device\n');
test(exitsWith, `yes 'SELECT 1;' | sqlsplit | head -c 1 > /dev/null; exit \${PIPESTATUS[1]}`, 141);
test(exitsWith, `${TEXT} | sqlsplit --max-record 10`, 65, /more than 10 characters|longer than 10 bytes/);
for (const number of ['x', '0', '1.5', '-1', '1 --max-record=0'])
  test(exitsWith, `sqlsplit --max-record ${number}`, 64, /--max-record must be a whole number of at least 1$/m);
test(exitsWith, `${TEXT} | sqlsplit --max-record 1 --max-record 1000`, 0);
test(exitsWith, `${STREAM} | sqlgrep help`, 1); // an operand, not --help
test(exitsWith, 'sqlsplit --max-record', 64, /missing value for option: max-record$/m);
test(exitsWith, 'sqlapply dst --allow-loss', 64, /missing value for option: allow-loss$/m);
test(exitsWith, 'sqlsort --graph', 64, /missing value for option: graph$/m);
test(exitsWith, `${STREAM} | sqljoin extra`, 64, /too many operands: 1 given, 0 accepted/);
test(exitsWith, `${STREAM} | sqljoin -o /nowhere/x`, 74, 'sqljoin: /nowhere/x: no such file or directory\n');
test(exitsWith, `${STREAM} | sqljoin -o x && ${STREAM} | tr '\\0' '\\n' | cmp - x && ls`, 0);
test(
  exitsWith,
  `echo before > x; ${STREAM} | head -c 30 | sqljoin -o x; echo $?; cat x; ls`,
  0,
  /truncated after 1 complete record/,
);
for (const filter of ['sqlsort', 'sqlsort --graph dot', 'sqlgrep a', 'sqlgrep --with-deps a'])
  test(
    exitsWith,
    `${STREAM} | ${filter} > /dev/full`,
    74,
    `${filter.split(' ')[0]}: write failed: no space left on device\n`,
  );
test(exitsWith, 'sqldump', 64, /missing operand: <instance>/);
test(exitsWith, 'sqldump --include TABLES --exclude VIEWS http://127.0.0.1:1', 64, /cannot be combined/);
test(
  exitsWith,
  'sqldump --include NONSENSE http://127.0.0.1:1',
  64,
  /unknown kind: 'NONSENSE'; there are table, .*, and TABLES, /,
);
test(
  exitsWith,
  'sqldump http://127.0.0.1:1 | sqljoin; exit $((PIPESTATUS[0] * 1000 + PIPESTATUS[1] - 69000))',
  65,
  /refused/,
);
test(
  exitsWith,
  'sqlapply --if-exists perhaps http://127.0.0.1:1',
  64,
  /invalid value for --if-exists: 'perhaps'; it must be one of compare, fail, skip/,
);
test(exitsWith, 'sqlapply --dry-rum x', 64, /^sqlapply: unknown option: --dry-rum; did you mean --dry-run\?$/m);
test(exitsWith, 'sqlgrep --knid=view', 64, /^sqlgrep: unknown option: --knid; did you mean --kind\?$/m);
test(exitsWith, 'sqldump -pSECRET', 64, /^sqldump: unknown option: -p$/m);
test(exitsWith, 'sqldump --via databsae x', 64, /one of auto, database, catalogue; did you mean database\?$/m);
test(
  exitsWith,
  'sqlsort --graph svg',
  64,
  /^sqlsort: invalid value for --graph: 'svg'; it must be one of dot, mermaid$/m,
);
test(exitsWith, 'sqlapply http://127.0.0.1:1 < /dev/null', 65, /empty input: /);

test(exitsWith, 'sqldump --list-instances extra', 64, /too many operands: 1 given, 0 accepted/);

test('a terminal as standard input is a usage error', async t => {
  const run = await shell(t);
  for (const program of ['sqljoin', 'sqlsplit', 'sqlsort', 'sqlgrep x', 'sqlapply http://127.0.0.1:1']) {
    const { stdout } = await run(`script -qec '${program}; echo status $?' /dev/null < /dev/null`);
    t.regex(stdout.toString(), /standard input is a terminal; it must be a pipe or a file[^]*status 64/, program);
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
