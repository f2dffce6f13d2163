/*! The programs on a terminal: prompts, progress, output, and the summary at the end with its colors. */
import { setTimeout as pause } from 'node:timers/promises';
import { inProcess } from '../support/in-process.js';
import type { Server } from '../support/server.js';
import { shell } from '../support/shell.js';
import { startSlow } from '../support/slow.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { terminal } from '../support/terminal.js';
import { fileScope, type Scope, test } from '../support/test.js';

const SCHEMA = "printf 'CREATE TABLE a (x INT);\\n\\0CREATE TABLE b (x INT);\\n\\0'";

test('the password is prompted for without echo if only the user is given', async t => {
  const { url } = await serveHere(t, { user: 'ann', password: 'op3n' });
  const on = await terminal(t);
  const { code, screen } = await on(`sqldump --user ann ${url}`, [[/ann at .*: /, 'op3n\r']]);
  t.is(code, 0, screen);
  t.true(screen.startsWith(`sqldump: password of ann at ${url}: \r\n`), screen);
  t.notRegex(screen, /op3n/);
});

test('both ends of a pipe prompt, the first one first', async t => {
  const src = await serveHere(t, { user: 'ann', password: 'op3n' });
  const dst = await serveHere(t, { user: 'bob', password: 's3same' });
  const on = await terminal(t);
  const setUp = await on(`${SCHEMA} | sqlapply -q --user ann ${src.url}`, [[/ann at .*: /, 'op3n\r']]);
  t.is(setUp.code, 0, setUp.screen);
  const { code, screen } = await on(`sqldump --user ann ${src.url} | sqlapply --user bob ${dst.url}`, [
    [/ann at .*: /, 'op3n\r'],
    [/bob at .*: /, 's3same\r'],
  ]);
  t.is(code, 0, screen);
  t.regex(screen, /^sqldump: password of ann at \S+: \r\nsqlapply: password of bob at \S+: \r\n[^]*2 applied\r\n$/);
});

test('the target does not prompt if the source has failed', async t => {
  const src = await serveHere(t, { user: 'ann', password: 'op3n' });
  const on = await terminal(t);
  const { code, screen } = await on(`sqldump --user ann ${src.url} | sqlapply --user bob ${src.url}`, [
    [/ann at .*: /, 'wrong\r'],
  ]);
  t.is(code, 65, screen);
  t.notRegex(screen, /password of bob/);
});

test('^C at the prompt interrupts the whole pipeline and restores the terminal', async t => {
  const { url } = await startSqlserve(t);
  const on = await terminal(t);
  const { code, screen } = await on(`trap : INT; sqldump --user ann ${url} | cat; echo "\${PIPESTATUS[@]}"; stty -a`, [
    [/ann at .*: /, '\x03'],
  ]);
  t.is(code, 0, screen);
  t.regex(screen, /: \r\n130 130\r\n/);
  t.regex(screen, / echo /);
});

test('a program that starts while another one prompts leaves the terminal as it was before the prompt', async t => {
  const { url } = await serveHere(t, { user: 'ann', password: 'op3n' });
  const on = await terminal(t);
  const during = `until stty -a < /dev/tty | grep -q ' -echo '; do :; done; { ${SCHEMA}; cat; } | sqlgrep '*' >&2`;
  const { screen } = await on(`sqldump --user ann ${url} | { ${during}; }; stty -a`, [
    [/ann at .*: [^]*CREATE TABLE a/, 'op3n\r'],
  ]);
  t.regex(screen, / icanon .* echo /);
});

test('a failed dump is reported once', async t => {
  const on = await terminal(t);
  const { code, screen } = await on('stty cols 200; sqldump http://127.0.0.1:1');
  t.is(code, 69);
  t.is(screen.match(/connection refused/g)?.length, 1, screen);
});

test('^D at the prompt gives no password', async t => {
  const on = await terminal(t);
  const { code, screen } = await on('sqldump --user ann http://127.0.0.1:1', [[/ann at .*: /, '\x04']]);
  t.is(code, 78);
  t.regex(screen, /a user is given, but no password;/);
});

test('without a terminal there is no prompt', async t => {
  const run = await shell(t);
  const { stderr } = await run.exits(78, 'setsid --wait sqldump --user ann http://127.0.0.1:1');
  t.regex(stderr, /^sqldump: a user is given, but no password/);
});

test('--help fits the width of the terminal, up to 80 columns', async t => {
  const on = await terminal(t);
  for (const [columns, most] of [
    [60, 60],
    [200, 80],
  ] as const) {
    const { screen } = await on(`stty cols ${columns}; sqldump --help`);
    const options = screen.slice(screen.indexOf('Options:'), screen.indexOf('Examples:')).split('\r\n');
    t.true(Math.max(...options.map(line => line.length)) <= most);
  }
});

const LONG = `取引${'テーブル'.repeat(20)}`;

/** The reply to any other query than that for the dump: `tables()` lists these objects. */
const listFor = (query: string, names: string[], type: string) => ({
  dataset: query.includes('FROM tables()') ? names.map((name, id) => [name, type, id]) : [],
});

/** Longer than work that shows no progress. */
const LONG_MS = 350;

/** Dumps three statements, the second so late that progress is shown. */
const startSlowSource = (scope: Scope) =>
  startSlow(scope, async (query, response) => {
    if (!query.startsWith('SHOW CREATE DATABASE'))
      return response.end(JSON.stringify(listFor(query, ['a', `b\u001b[2J${LONG}`, 'c'], 'T')));
    response.write(`{"dataset":[["CREATE TABLE 'a' (x INT)"],`);
    await pause(LONG_MS);
    response.write(`["CREATE TABLE 'b\\u001b[2J${LONG}' (x INT)"],`);
    response.end(`["CREATE TABLE 'c' (x INT)"]]}`);
  });

test('a dump into a file shows progress and a summary', async t => {
  const on = await terminal(t);
  const { code, screen } = await on(`stty cols 60; sqldump --include TABLES,ACL -o x ${await startSlowSource(t)}`);
  t.is(code, 0);
  const [, drawn = ''] = /(sqldump: 1, [\d.]+\/s, table 'b[^\x1b\r]*)/.exec(screen) ?? [];
  t.regex(drawn, /'b\\x1b\[2J取引.*…$/);
  const width = [...drawn].length + (drawn.match(/[\u3000-\u9fff]/g) ?? []).length;
  t.true(width === 58 || width === 59, `${width} columns: ${drawn}`);
  const [, ending = ''] = screen.split(drawn);
  t.regex(
    ending,
    /\x1b\[2K\r\x1b\[K\x1b\[33msqldump:\x1b\[39m http:\/\/[\d.:]+: access control was requested/,
    'the progress line is cleared before a message',
  );
  t.regex(ending, /\r\x1b\[Ksqldump: 3 statements\r\n$/);
});

test('in a pipe only the last program shows progress', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `sqldump --include TABLES,ACL ${await startSlowSource(t)} | cat > x; echo "\${PIPESTATUS[@]}"; grep -zc . x`,
  );
  // Only the warning is shown: no progress and no summary.
  t.regex(
    screen,
    /^\r\x1b\[K\x1b\[33msqldump:\x1b\[39m http:[^ ]+ access control was requested[^\x1b\r\n]*\r\n0 0\r\n3\r\n$/,
  );
});

test('-q shows nothing, and TERM=dumb shows lines only', async t => {
  const on = await terminal(t);
  const source = await startSlowSource(t);
  t.is((await on(`sqldump -q --include TABLES,ACL -o x ${source}`)).screen, '');
  const { screen } = await on(`TERM=dumb sqldump --include TABLES,ACL -o x ${source}`);
  t.regex(screen, /^sqldump: http\S+: access control .*\r\nsqldump: 3 statements\r\n$/);
});

test('NO_COLOR removes only the colors', async t => {
  const on = await terminal(t, { NO_COLOR: '1' });
  const { screen } = await on(`sqldump --include TABLES,ACL -o x ${await startSlowSource(t)}`);
  t.regex(screen, /\r\x1b\[Ksqldump: http\S+: access control /);
  t.notRegex(screen, /\x1b\[\d*m/);
});

test('a replay shows a progress bar, and messages above it', async t => {
  const on = await terminal(t);
  const target = await startSlow(t, async (query, response) => {
    await (query.startsWith('CREATE TABLE a') ? pause(LONG_MS) : on.shows(/table 'b'/));
    if (query.startsWith('CREATE VIEW')) await on.shows(/view 'c'/);
    if (query.startsWith('CREATE TABLE b')) response.writeHead(400).end('{"error":"no","position":0}');
    else response.end('{"ddl":"OK"}');
  });
  const { code, screen } = await on(
    `printf 'CREATE TABLE a (x INT)\\0CREATE TABLE b (x INT)\\0CREATE VIEW c AS (SELECT 1)\\0' | sqlapply -k --no-verify ${target}`,
  );
  t.is(code, 1);
  t.regex(screen, /\x1b\[1Gsqlapply: \[=======-{13}\] 1\/3, [\d.]+\/s, ETA \d:\d\d, table 'b'/);
  t.regex(screen, /\r\x1b\[K\x1b\[31msqlapply:\x1b\[39m statement 2 [^]*\] 2\/3, [\d.]+\/s, ETA \d:\d\d, view 'c'/);
  t.regex(screen, /\x1b\[31msqlapply:\x1b\[39m http:\S+: 2 of 3 applied, 1 rejected\r\n +hint: .*\r\n$/);
});

/** A statement with control characters that set a title, clear the screen, move the cursor and reverse the text. */
const HOSTILE = "CREATE VIEW 'v' AS (SELECT '\x1b]0;pwned\x07\x1b[2J\r\x9b1m\u202e' a,\n\t1 b)";
const MOVES = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]/;
const SHOWN = /SELECT '\\x1b\]0;pwned\\x07\\x1b\[2J\\r\\x9b1m\\u202e' a,\r\n( {8}|\t)1 b\);\r\n/;

const startHostileSource = (scope: Scope, answer: object = { dataset: [[HOSTILE]] }) =>
  startSlow(scope, async (query, response) =>
    response.end(JSON.stringify(query.startsWith('SHOW CREATE DATABASE') ? answer : listFor(query, ['v'], 'V'))),
  );

for (const command of [
  'sqldump $URL',
  'sqldump --verbatim $URL',
  'sqljoin < x',
  'sqlsplit x.sql',
  'sqlgrep v < x',
  'sqlsort < x',
  'sqldiff --missing x none',
])
  test(`control characters are escaped on a terminal, and unchanged in pipes and files: ${command}`, async t => {
    const URL = await startHostileSource(t);
    const on = await terminal(t, { URL, HOSTILE });
    const prepare = `printf '%s;\n\\0' "$HOSTILE" > x; printf '%s;\n\n' "$HOSTILE" > x.sql; printf '\\0' > none;`;
    const { code, screen } = await on(`${prepare} ${command}`);
    t.is(code, 0, screen);
    t.notRegex(screen, MOVES);
    t.regex(screen, SHOWN);
    const run = await inProcess(t, { URL, HOSTILE });
    const bytes = await run(
      `${prepare} ${command} | tr '\\0' '\\n' | cmp - x.sql; ${command} > filed; tr '\\0' '\\n' < filed | cmp - x.sql`,
    );
    t.deepEqual([bytes.code, bytes.stdout, bytes.stderr], [0, '', '']);
  });

test('control characters are escaped in an output file that is a terminal', async t => {
  const on = await terminal(t, { URL: await startHostileSource(t) });
  for (const command of ['sqldump -q -o /dev/tty $URL', 'sqldump $URL | sqljoin -o /dev/stdout']) {
    const { code, screen } = await on(command);
    t.is(code, 0, screen);
    t.notRegex(screen, MOVES);
    t.regex(screen, SHOWN);
  }
});

test('a stream is shown as text on a terminal, even if truncated', async t => {
  const on = await terminal(t);
  const { screen } = await on(`${SCHEMA} | sqlgrep '*'`);
  t.is(screen, 'CREATE TABLE a (x INT);\r\n\r\nCREATE TABLE b (x INT);\r\n\r\n');
  t.is((await on(`${SCHEMA} | sqlgrep -q nothing`)).screen, '\r\n');
  const long = '取引'.repeat(3000);
  const cut = await on(`printf "CREATE TABLE '${long}' (x INT)\\0CREATE" | sqlgrep '*'`);
  t.is(cut.code, 65);
  t.true(cut.screen.startsWith(`CREATE TABLE '${long}' (x INT);\r\n`), cut.screen);
});

for (const [what, command] of Object.entries({
  'a difference': 'sed s/pwned/other/ x > y; sqldiff $URL y',
  'a difference of two': 'sed s/pwned/other/ x > y; sqldiff x y',
  'names that differ': 'sqldiff --names $URL none',
  'a difference as JSON': 'sqldiff --json $URL none',
  'a dry run': 'sqlapply --dry-run --stream --allow ALTER $URL < named',
  'a graph': 'sqlsort --graph dot < named',
  'a report': 'sqlapply -q --report r $BAD < named; cat r',
  'a reject': 'sqlapply $BAD < named',
}))
  test(`control characters from a server or a file are escaped: ${what}`, async t => {
    const error = { error: 'no\x1b]0;pwned\x07\x9b1m\u202e', position: 0 };
    const bad = await startSlow(t, async (_query, response) => response.writeHead(400).end(JSON.stringify(error)));
    const NAMED = "CREATE TABLE 'a\x1b]0;pwned\x07\x9b1m\u202e' (x INT)";
    const on = await terminal(t, { URL: await startHostileSource(t), BAD: bad, HOSTILE, NAMED, NO_COLOR: '1' });
    const { screen } = await on(
      `printf '%s;\n\\0' "$HOSTILE" > x; printf '%s;\n\\0' "$NAMED" > named; printf '\\0' > none; ${command}`,
    );
    // A slow run shows progress, whose sequences are our own.
    t.notRegex(screen.replace(/\r\x1b\[K|\x1b\[1G|\x1b\[[02]K/g, ''), MOVES);
    t.regex(screen, what === 'names that differ' ? /only in/ : /pwned|other/);
  });

test('JSON on a terminal escapes control characters and keeps the values', async t => {
  const on = await terminal(t, { HOSTILE });
  const { screen } = await on(`printf '%s;\n\\0' "$HOSTILE" > x; printf '\\0' > none; sqldiff --json x none`);
  t.is(JSON.parse(screen).a, `${HOSTILE};`);
});

const scope = fileScope();
let dst: Server;

test.before(async () => {
  dst = await startSqlserve(scope);
  await dst.execute('CREATE TABLE a (x INT)');
});

test('sqldiff ends with the number of objects that differ', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);' > s.sql; sqldiff s.sql ${dst.url} | cat; sqldiff s.sql s.sql`,
  );
  t.regex(screen, /only in s\.sql: table 'b'\r\n/);
  t.regex(screen, /sqldiff: 1 of 2 objects differs\r\n/);
  t.regex(screen, /sqldiff: 0 of 2 objects differ\r\n/);
});

test('sqldiff and sqlapply show properties in the same colors', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x LONG);' > s.sql; sqldiff s.sql ${dst.url}; sqlapply ${dst.url} s.sql`,
  );
  const lines = screen.match(/ {2}\S.*: \x1b\[31mLONG\x1b\[39m in .*, \x1b\[32mINT\x1b\[39m in .*/g) ?? [];
  t.is(lines.length, 2, screen);
});

test('sqlapply shows its summary if its standard output is a pipe without data', async t => {
  const on = await terminal(t);
  const { screen } = await on(
    `echo 'CREATE TABLE a (x INT);' > s.sql; sqlapply ${dst.url} s.sql | cat; sqlapply --report=- ${dst.url} s.sql | cat`,
  );
  t.is(screen.match(/sqlapply: .*: 1 statement: 1 skipped\r\n/g)?.length, 1, screen);
});
