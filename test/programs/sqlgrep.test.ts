/*! sqlgrep: selection by name and kind, dependencies and dependents, and output as a stream. */
import { matchesGlob } from '../../packages/schema/src/glob.js';
import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { fc, forAll } from '../support/seed.js';
import { terminal } from '../support/terminal.js';
import { type Scope, test } from '../support/test.js';

const STATEMENTS = [
  'CREATE USER bob',
  'CREATE USER fx_bot',
  'CREATE GROUP desk',
  'CREATE SERVICE ACCOUNT ingest',
  "CREATE TABLE 'FX_trades' (x INT) OWNED BY desk",
  'CREATE TABLE fx_quotes (x INT)',
  'CREATE TABLE venues (x INT)',
  'CREATE VIEW spreads AS (SELECT * FROM fx_quotes JOIN venues)',
  'CREATE VIEW top AS (SELECT * FROM SPREADS)',
  'CREATE MATERIALIZED VIEW fx_daily WITH BASE fx_trades REFRESH IMMEDIATE AS (SELECT 1)',
  'ADD USER bob TO desk',
  'GRANT ASSUME SERVICE ACCOUNT ingest TO bob',
  'GRANT SELECT ON venues TO bob',
  'GRANT SELECT ON fx_trades(x), venues TO bob',
  'GRANT SELECT ON ALL TABLES TO bob',
  'GRANT HTTP TO fx_bot',
];

async function grep(t: Scope, words: string) {
  const run = await inProcess(t, {}, { stream: STATEMENTS.map(statement => `${statement}\0`).join('') });
  return run(`sqlgrep ${words} < stream`);
}

// The statements that each selects are counted from 1.
for (const { title: words, input } of cases('sqlgrep'))
  test(`sqlgrep ${words}`, async t => {
    const { code, stdout, stderr } = await grep(t, words);
    const selected = input.match(/\d+/g)?.map(n => `${STATEMENTS[Number(n) - 1]};\n\0`) ?? [];
    t.deepEqual([stderr, stdout], ['', selected.length > 0 ? selected.join('') : '\0']);
    t.is(code, selected.length > 0 ? 0 : 1);
  });

test('a glob matches the same names as the equivalent regular expression', t => {
  const texts = (...more: string[]) => fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀', ...more), maxLength: 6 });
  forAll(2000, texts('*', '?'), texts(), (glob, name) => {
    const source = glob.replaceAll('.', '\\.').replaceAll('?', '.').replaceAll('*', '.*');
    t.is(matchesGlob(glob, name), new RegExp(`^${source}$`, 'u').test(name));
  });
});

test('a glob with many stars is fast on a long name', async t => {
  const run = await inProcess(t);
  const { code } = await run.bash(
    `echo "CREATE TABLE $(printf 'a%.0s' {1..9999}) (x INT);" | sqlsplit | timeout 30 sqlgrep "$(printf '*a%.0s' {1..50})b"`,
  );
  t.is(code, 1);
});

test('sqlgrep and sqlgrep -v together print every statement', async t => {
  const run = await inProcess(t, { STREAM: STATEMENTS.join('\x01') });
  await run(`printf '%s\\1' "$STREAM" | tr '\\1' '\\0' | sqlsort > all`);
  for (const words of ["'*'", 'bob', '--kind table', "-e fx '*s'", 'nope']) {
    const { code, stderr } = await run.bash(
      `{ sqlgrep ${words} < all; sqlgrep -v ${words} < all; } | sqlsort | cmp - all`,
    );
    t.deepEqual([code, stderr], [0, ''], words);
  }
});

for (const [script, code, message] of [
  ['sqlgrep --kind tablets < /dev/null', 64, /unknown kind: 'tablets'; there are table, view, materialized-view, /],
  [`sqlgrep -e '(' < /dev/null`, 64, /Invalid regular expression: .*Unterminated group/],
  ['sqlgrep x < /dev/null', 65, /empty input: /],
  [`printf 'CREATE TABLE x (y INT)' | sqlgrep x`, 65, /no NUL byte in the input/],
] as const)
  test(script, async t => t.regex((await (await inProcess(t)).exits(code, script)).stderr, message));

test('a truncated stream is truncated in the output too', async t => {
  const run = await inProcess(t);
  for (const options of ['', '--with-deps']) {
    const { stdout, stderr } = await run(
      `printf 'CREATE TABLE x (y INT);\\0CREATE TABLE y' | sqlgrep ${options} x; echo $?; true`,
    );
    t.regex(stdout, /-- sqlgrep: incomplete: truncated after 1 complete record[^\0]*\n65\n$/);
    t.regex(stderr, /truncated after 1 complete record/);
  }
});

test('statements are printed as they arrive', async t => {
  const run = await inProcess(t);
  const { stdout } = await run.bash(`mkfifo seen
{ printf 'CREATE TABLE a (x INT);\\0CREATE TABLE b (x INT);\\0'; read < seen; } |
  timeout 60 sqlgrep '?' | { head -c 15; echo > seen; cat; }`);
  t.regex(stdout, /^CREATE TABLE a [^]*\0CREATE TABLE b [^]*\0$/);
});

for (const [words, expected] of [
  ["-c --kind table 'fx_*'", '2\n'],
  ['-c nothing', '0\n'],
  ["-l --kind table,VIEWS 'FX_*' top", 'table\tFX_trades\ntable\tfx_quotes\nview\ttop\n'],
  ['-l --with-deps spreads', 'table\tfx_quotes\ntable\tvenues\nview\tspreads\n'],
  ['--json venues --kind schema', '{"kind":"table","name":"venues","statement":"CREATE TABLE venues (x INT);"}\n'],
  ['-c --kind ACL', '10\n'],
] as const)
  test(`sqlgrep ${words} prints`, async t => t.like(await grep(t, words), { stdout: expected, stderr: '' }));

test('on a terminal a message says that nothing matched', async t => {
  const on = await terminal(t);
  const { code, screen } = await on(`printf 'CREATE TABLE a (x INT);\\0' | sqlgrep nothing > /dev/null`);
  t.is(code, 1);
  t.regex(screen, /sqlgrep: nothing matched\r\n$/);
});
