/*! sqltr: other names, owners, editions and versions; the rest of the stream stays byte for byte. */

import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { macro, test } from '../support/test.js';

for (const { title, input, output } of cases('sqltr'))
  test(title, async t => {
    const [options = '', ...lines] = input.split('\n');
    const run = await inProcess(t, { SQL: lines.join('\n') });
    const { code, stdout, stderr } = await run(
      `set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options} | tr -d '\\0'`,
    );
    t.deepEqual({ code, stderr, text: stdout.toString().trimEnd() }, { code: 0, stderr: '', text: output });
  });

const isRejected = macro<[options: string, sql: string, message: RegExp, status?: number]>({
  title: (_, options, sql) => `rejected: sqltr ${options}: ${sql}`,
  async exec(t, options, sql, message, status = 1) {
    const run = await inProcess(t, { SQL: sql });
    const { code, stdout, stderr } = await run(`set -f -o pipefail; sqlsplit <<< "$SQL" | sqltr ${options}`);
    t.is(code, status, stderr);
    t.regex(stderr, message);
    t.notRegex(stdout.toString(), /\0|CREATE/, 'nothing of the schema is written');
  },
});

const TWO = 'CREATE TABLE a (x INT); CREATE TABLE b (x INT);';
test(isRejected, '--rename a=B', TWO, /^sqltr: '(?:a' and 'b|b' and 'a)' would have the same name, 'b'/i);
test(isRejected, '--rename b=A', TWO, /would have the same name, 'A'/i);
test(isRejected, '--rename a=c --rename b=c', TWO, /'a' and 'b' would have the same name, 'c'/);
test(isRejected, '--rename *=c', TWO, /'a' and 'b' would have the same name, 'c'/);
test(isRejected, '--rename a=b', 'CREATE TABLE a (x INT); CREATE TABLE B (x INT);', /would have the same name, 'b'/);
test(
  isRejected,
  '--rename x_*=y_*',
  'CREATE TABLE x_a (x INT); CREATE VIEW v AS (SELECT * FROM y_a);',
  /'y_a' and 'x_a'|'x_a' and 'y_a'/,
);
test(
  isRejected,
  '--rename a_*=c_* --rename b_*=c_*',
  'CREATE TABLE a_x (x INT); CREATE VIEW b_x AS (SELECT * FROM t);',
  /'a_x' and 'b_x' would have the same name, 'c_x'/,
);
test(isRejected, '--principal a=b', 'CREATE USER a; CREATE GROUP b;', /would have the same name, 'b'/);
test(isRejected, '--rename a=b/c', TWO, /'a' would become 'b\/c', which is not a valid name/);
test(isRejected, '--principal "a=b\'c"', 'CREATE USER a;', /'a' would become 'b'c', which is not a valid name/);
test(
  isRejected,
  '--rename t=q',
  'CREATE VIEW v AS (WITH q AS (SELECT 1) SELECT * FROM t JOIN q ON (x));',
  /^sqltr: view 'v': the new name 'q' is also that of an alias or a common table expression in it; choose another name/,
);
test(
  isRejected,
  '--rename t=q',
  'CREATE VIEW v AS (SELECT t.x, q.y FROM t JOIN u q ON (x));',
  /view 'v': the new name 'q' is also that of an alias/,
);
test(
  isRejected,
  '--rename t=Q',
  'CREATE VIEW v AS (SELECT t.x, q.y FROM t JOIN u q ON (x));',
  /view 'v': the new name 'Q' is also that of an alias/,
);
test(
  isRejected,
  '--rename a=q',
  'CREATE VIEW a AS (SELECT 1 x FROM t); CREATE VIEW v AS (WITH q AS (SELECT 2 x FROM t) SELECT * FROM q);',
  /view 'v': the new name 'q' is also that of an alias or a common table expression/,
);
test(
  isRejected,
  '--rename t=u',
  'ALTER TABLE t ADD COLUMN x INT;',
  /^sqltr: statement 1 \(ALTER\): unknown syntax, where 't' may be a name to change; remove the statement with sqlgrep -v/,
);
test(
  isRejected,
  '--rename t=u',
  'CREATE TABLE a (x INT); CREATE TABLE b (x INT) MODELLED AFTER "t";',
  /statement 2 \(table 'b'\): unknown syntax, where 't' may be/,
);
test(
  isRejected,
  '--owner bob=ann',
  'ALTER TABLE t ADD COLUMN x INT OWNED BY bob;',
  /where 'bob' may be a name to change/,
);
test(
  isRejected,
  '--owner ann=bob',
  "CREATE SERVICE ACCOUNT s OWNED BY ann WITH PASSWORD 'p';",
  /statement 1 \(service account 's'\): unknown syntax, where 'ann' may be a name to change/,
);
test(
  isRejected,
  '--rename t=u',
  "CREATE VIEW v AS (SELECT * FROM a /* ' */ JOIN t /* ' */ ON (x));",
  /view 'v': SQL and QuestDB read different names in it; remove quotes and dashes from its comments/,
);
test(
  isRejected,
  '--to open-source',
  'CREATE TABLE t (x INT); CREATE USER ann; ADD USER ann TO ops;',
  /^sqltr: statement 2 \(user 'ann'\): removed, because the open source edition has no access control, and so on for 1 more; --lossy accepts that/,
);
test(
  isRejected,
  '--to open-source',
  'CREATE TABLE t (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY STORAGE POLICY(TO PARQUET 1 DAY);',
  /statement 1 \(table 't'\): STORAGE POLICY\(TO PARQUET 1 DAY\) becomes nothing, because the open source edition has no such stages; --lossy/,
);
test(
  isRejected,
  '--to oss',
  'CREATE TABLE t (x INT) OWNED BY ann;',
  /OWNED BY ann is removed, because the open source edition has no owners/,
);
test(
  isRejected,
  '--to open-source',
  'CREATE TABLE t (x INT) OWNED BY ann;',
  /OWNED BY ann is removed, because the open source edition has no owners/,
);
test(
  isRejected,
  '--to open-source',
  'CREATE TABLE t (x INT) STORAGE SOMEHOW;',
  /not changed, because its syntax is unknown; --lossy/,
);
test(
  isRejected,
  '--to 9.2.3',
  'CREATE VIEW v AS (SELECT * FROM t);',
  /removed, because QuestDB 9\.2\.3 has no views; --lossy/,
);
test(
  isRejected,
  '--to osss',
  TWO,
  /--to osss: must be open-source \(or oss\), enterprise, or a version such as 9\.3\.4/,
  64,
);
test(isRejected, '--to 9.3 --to 9.2', TWO, /--to accepts at most one edition and one version/, 64);
for (const rule of ['a', '=b', 'a=', 'a=b=c', 'a=*', '*_*=x', '*=*_*', '"=b'])
  test(isRejected, `--rename '${rule}'`, TWO, /--rename: '.*' is not a rule; write OLD=NEW/, 64);
test(isRejected, '--rename-file nowhere', TWO, /--rename-file nowhere: cannot be read: no such file or directory/, 66);

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
