/*! sqltr: other names, owners, editions and versions; the rest of the stream stays byte for byte. */

import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { test } from '../support/test.js';

for (const { title, input, output } of cases('sqltr'))
  test(title, async t => {
    const [options = '', ...lines] = input.split('\n');
    const run = await inProcess(t, { SQL: lines.join('\n') });
    const { code, stdout, stderr } = await run(
      `set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options} | tr -d '\\0'`,
    );
    t.deepEqual({ code, stderr, text: stdout.toString().trimEnd() }, { code: 0, stderr: '', text: output });
  });

for (const { title: options, input, output } of cases('sqltr-rejected'))
  test(`rejected: sqltr ${options}: ${input}`, async t => {
    const [, status = '1', message = ''] = /^(?:status (\d+): )?(.*)$/.exec(output) ?? [];
    const run = await inProcess(t, { SQL: input });
    const { code, stdout, stderr } = await run(`set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options}`);
    t.is(code, Number(status), stderr);
    t.regex(stderr, new RegExp(message));
    t.notRegex(stdout.toString(), /\0|CREATE/, 'nothing of the schema is written');
  });

test('rules with quoted names, and rules from a file', async t => {
  const run = await inProcess(t);
  const { stdout } = await run(`printf '# names\\r\\n\\na=c\\n"a=b"="b = c"\\n' > names
    printf 'CREATE TABLE a (x INT)\\0CREATE TABLE "a=b" (x INT)\\0' | sqltr --rename b=x --rename-file names`);
  t.is(stdout.toString(), 'CREATE TABLE c (x INT);\n\0CREATE TABLE "b = c" (x INT);\n\0');
});

test('with --lossy each loss is reported once, and the status is 0', async t => {
  const run = await inProcess(t, {
    SQL: `CREATE USER ann; CREATE TABLE t (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY STORAGE POLICY(TO PARQUET 1 DAY) OWNED BY ann;
      CREATE VIEW v AS (SELECT * FROM t); GRANT SELECT ON t TO ann;`,
  });
  const { code, stderr } = await run('sqlsplit <<< "$SQL" | sqltr --to open-source --to 9.2.3 --lossy');
  t.is(code, 0);
  t.deepEqual(stderr.split('\n'), [
    "sqltr: statement 1 (user 'ann'): removed, because the open source edition has no access control",
    "sqltr: statement 2 (table 't'): STORAGE POLICY(TO PARQUET 1 DAY) becomes nothing, because the open source edition has no such stages; OWNED BY ann is removed, because the open source edition has no owners",
    "sqltr: statement 3 (view 'v'): removed, because QuestDB 9.2.3 has no views",
    "sqltr: statement 4 (grant to 'ann'): removed, because the open source edition has no access control",
    '',
  ]);
});

test('nothing is written before the complete input is read', async t => {
  const run = await inProcess(t);
  const { code, stdout, stderr } = await run.bash(
    `{ yes "CREATE TABLE a (x INT /* $(printf '%09999d') */);" | head -n 1000 | tr '\\n' '\\0'; printf 'CREATE TABLE b'; } | sqltr --rename a=c`,
  );
  t.is(code, 65, stderr);
  t.notRegex(stdout.toString(), /CREATE/);
});
