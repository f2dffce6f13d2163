/*!
 * `sqlapply --stream` with input that is damaged at its end: the statements before the damage are in the report, the
 * rejects and the summary, and the exit status reports the damage.
 */
import { inProcess } from '../support/in-process.js';
import { runSqlapply } from '../support/replay.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const table = (name: string, type = 'INT') => `CREATE TABLE '${name}' ( \n\tx ${type}\n);`;
const record = (statement: string) => `${statement}\n\0`;

const DAMAGE: Record<string, [bytes: string, message: RegExp]> = {
  'a truncated record': ["CREATE TABLE 'd' (x", /3 complete records/],
  'a failure marker': [
    '-- sqldump: incomplete: connection lost\\n',
    /incomplete after 3 complete records: sqldump failed/,
  ],
  'bytes that are not UTF-8': ["CREATE TABLE 'd' (\\xff INT)\\0", /UTF-8/],
  'two statements in one record': ["CREATE TABLE 'd' (x INT); CREATE TABLE 'e' (x INT);\\0", /second statement/],
};

/** Sends three statements, of which the second is invalid, and the damage when the third is applied. */
const sendDamageAfter = (damage: string) => {
  const records = [table('a'), table('b', 'NUMBER'), table('c')].map(record).join('');
  const text = records.replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\0', '\\0');
  return `printf "${text}"; until sqldump $DST | grep -qz "'c'"; do :; done; printf -- "${damage}"`;
};

for (const [name, [bytes, message], options] of [
  ...Object.entries(DAMAGE).map(each => [...each, ''] as const),
  [
    'a truncated record while statements are in flight',
    DAMAGE['a truncated record'] as (typeof DAMAGE)[string],
    '--jobs 4',
  ],
] as const)
  test(`${name}: earlier statements are applied and reported, and their rejects kept`, async t => {
    const { url, execute } = await startSqlserve(t);
    const { code, stderr, report, rejects } = await runSqlapply(t, url, {
      input: sendDamageAfter(bytes),
      options: `--stream --keep-going ${options}`,
    });
    t.is(code, 65, stderr);
    const found = report.map(({ n, name, result, proven }) => [n, name, result, proven]);
    t.deepEqual(found, [
      [1, 'a', 'applied', true],
      [2, 'b', 'rejected', undefined],
      [3, 'c', 'applied', true],
    ]);
    t.regex(stderr, /statement 2 \(table 'b'\)/);
    t.regex(stderr, /: 2 of 3 applied, 1 rejected/);
    t.regex(stderr, message);
    // The rejects are marked as incomplete, since they do not contain all remaining statements.
    t.true(rejects?.startsWith(`${table('b', 'NUMBER')}\n-- sqlapply: incomplete: `), rejects);
    t.false(rejects?.includes('\0'));
    const { dataset } = await execute('SELECT table_name FROM tables() ORDER BY table_name');
    t.deepEqual(dataset?.flat(), ['a', 'c']);
  });

test('without --stream nothing is applied from input that is damaged at its end', async t => {
  const { url, execute } = await startSqlserve(t);
  const { code, report } = await runSqlapply(t, url, {
    input: `printf "CREATE TABLE a (x INT)\\0CREATE TABLE b (x INT)\\0CREATE TAB"`,
  });
  t.is(code, 65);
  t.deepEqual(report, []);
  t.deepEqual((await execute('SELECT table_name FROM tables()')).dataset, []);
});

test('a plan is rejected at once, although its writer is not done', async t => {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t, { DST: url });
  const plan = '-- plan for state 0123456789abcdef\\nCREATE TABLE t (x INT);\\n\\0';
  const script = `mkfifo plan; exec 3<>plan; printf -- "${plan}" >&3; timeout 20 sqlapply --stream $DST < plan 3>&-`;
  const { code, stderr } = await run.bash(script);
  t.is(code, 1);
  t.regex(stderr, /a plan must be read completely before anything is sent; remove --stream/);
});

test('a rejection is printed at once, although the writer is not done', async t => {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t, { DST: url });
  const waitForMessage = "timeout 20 sh -c 'until grep NOPE messages; do sleep 0.1; done' >&2";
  const writer = `printf 'CREATE TABLE t (x NOPE)\\0'; ${waitForMessage}; printf 'CREATE TABLE u (x INT)\\0'`;
  const { stderr } = await run.bash(`touch messages; { ${writer}; } | sqlapply --stream $DST 2> messages`);
  t.regex(stderr, /unsupported column type: NOPE/);
});
