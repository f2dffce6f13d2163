/*!
 * `sqlapply --stream` on input that turns out to be damaged at its end: what was done by then is in the report, the
 * rejects and the summary, and the status says that it is not all.
 */

import { replay } from './support/replay.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const table = (name: string, type = 'INT') => `CREATE TABLE '${name}' ( \n\tx ${type}\n);`;
const record = (statement: string) => `${statement}\n\0`;

/** What comes after the last complete record, and the essence of what is wrong with it. */
const DAMAGE: Record<string, [bytes: string, essence: RegExp]> = {
  'a record that is cut': ["CREATE TABLE 'd' (x", /3 complete records/],
  'a note of the writer': ['-- sqldump: incomplete: connection lost\\n', /sqldump: connection lost/],
  'bytes that are not UTF-8': ["CREATE TABLE 'd' (\\xff INT)\\0", /UTF-8/],
  'two statements in one record': ["CREATE TABLE 'd' (x INT); CREATE TABLE 'e' (x INT);\\0", /second statement/],
};

/** Has the damage sent when the last of three statements, the second one wrong, is in force. */
const sendDamageAfter = (damage: string) => {
  const records = [table('a'), table('b', 'NUMBER'), table('c')].map(record).join('');
  const text = records.replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\0', '\\0');
  return `printf "${text}"; until sqldump $DST | grep -qz "'c'"; do :; done; printf -- "${damage}"`;
};

for (const [name, [bytes, essence]] of Object.entries(DAMAGE))
  test(`${name}: what was done before is reported and kept`, async t => {
    const { url, execute } = await startSqlserve(t);
    const { code, stderr, report, rejects } = await replay(t, url, {
      input: sendDamageAfter(bytes),
      options: '--stream --keep-going',
    });
    t.is(code, 65, stderr);
    t.deepEqual(
      report.map(({ n, name, result, proven }) => [n, name, result, proven]),
      [
        [1, 'a', 'applied', true],
        [2, 'b', 'rejected', undefined],
        [3, 'c', 'applied', true],
      ],
    );
    t.regex(stderr, /statement 2 \(table 'b'\)/);
    t.regex(stderr, /: 2 of 3 applied, 1 rejected/);
    t.regex(stderr, essence);
    // A stream that lacks something, and says so: it must not pass for all that is left to do.
    t.true(rejects?.startsWith(`${table('b', 'NUMBER')}\n-- sqlapply: incomplete: `), rejects);
    t.false(rejects?.includes('\0'));
    const { dataset } = await execute('SELECT table_name FROM tables() ORDER BY table_name');
    t.deepEqual(dataset?.flat(), ['a', 'c']);
  });

test('without --stream nothing is done with input that is damaged at its end', async t => {
  const { url, execute } = await startSqlserve(t);
  const { code, report } = await replay(t, url, {
    input: `printf "CREATE TABLE a (x INT)\\0CREATE TABLE b (x INT)\\0CREATE TAB"`,
  });
  t.is(code, 65);
  t.deepEqual(report, []);
  t.deepEqual((await execute('SELECT table_name FROM tables()')).dataset, []);
});
