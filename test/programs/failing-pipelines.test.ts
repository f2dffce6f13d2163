/*!
 * Pipelines that have to fail, in a real bash without `pipefail`: the exit status that the user sees, a helpful message,
 * and no unwanted change of the target.
 */
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { questdb, sqlserve } from '../support/instances.js';
import { freePort } from '../support/ports.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const TRADING = resolve('scripts/trading.sql');

/** The expected outcome of a script: exit status, messages, and the tables on the target afterwards. */
interface Expected {
  code: number;
  messages: RegExp[];
  made?: string[];
}

const listTables = async (server: Server) =>
  ((await server.execute('SELECT table_name FROM tables() ORDER BY table_name')).dataset ?? []).flat();

for (const service of [sqlserve, questdb]) {
  const file = fileScope();
  let running: Promise<Server> | undefined;
  const target = () => (running ??= service.start(file));

  const assertFailureOnTarget = async (
    t: ExecutionContext,
    script: string,
    { code, messages, made = [] }: Expected,
  ) => {
    const server = await target();
    await server.dropAll();
    const run = await shell(t, { DST: server.url, DEAD: `http://127.0.0.1:${await freePort()}`, TRADING });
    const outcome = await run(script);
    t.is(outcome.code, code, outcome.stderr);
    for (const pattern of messages) t.regex(outcome.stderr, pattern);
    t.notRegex(outcome.stderr, /^\s+at |node:internal/m, 'a stack trace');
    t.deepEqual(await listTables(server), made);
  };

  service.test(
    `${service.name}: a rejected statement stops the run`,
    assertFailureOnTarget,
    `printf '%s;\\0' 'CREATE TABLE one (x INT)' 'CREATE TABLE two (x NUMBER)' 'CREATE TABLE three (x INT)' | sqlapply $DST`,
    {
      code: 1,
      messages: [
        /^sqlapply: statement 2 \(table 'two'\): unsupported column type: NUMBER\n {2}CREATE TABLE two \(x NUMBER\);\n {22}\^$/m,
        /1 not reached/,
      ],
      made: ['one'],
    },
  );

  service.test(
    `${service.name}: with --keep-going the other statements are applied, and the status is 1`,
    assertFailureOnTarget,
    `printf '%s;\\0' 'CREATE TABLE one (x INT)' 'CREATE TABLE two (x NUMBER)' 'CREATE TABLE three (x INT)' |
       sqlapply --keep-going --rejects rest $DST
     status=$?; [[ $(tr '\\0' ' ' < rest) == *'two (x NUMBER);'* ]] && exit $status`,
    { code: 1, messages: [/statement 2 /], made: ['one', 'three'] },
  );

  service.test(
    `${service.name}: a .sql file with one statement is rejected as a stream`,
    assertFailureOnTarget,
    `echo 'CREATE TABLE one (x INT);' | sqlapply $DST`,
    {
      code: 65,
      messages: [/sqlsplit/, /no NUL/i],
    },
  );

  service.test(
    `${service.name}: empty input is rejected as a stream`,
    assertFailureOnTarget,
    'sqlapply $DST < /dev/null',
    {
      code: 65,
      messages: [/^sqlapply: empty input: a statement stream has at least one NUL byte/],
    },
  );

  service.test(
    `${service.name}: nothing of a truncated stream is applied`,
    assertFailureOnTarget,
    'sqlsplit $TRADING | head -c 3000 | sqlapply $DST',
    { code: 65, messages: [/^sqlapply: .*\b\d+ complete/m] },
  );

  service.test(
    `${service.name}: nothing is applied if the source refuses the connection`,
    assertFailureOnTarget,
    'sqldump $DEAD | sqlapply $DST',
    {
      code: 65,
      messages: [/^sqldump: .*127\.0\.0\.1:\d+.*refused/m, /^sqlapply: .*incomplete/m],
    },
  );

  service.test(`${service.name}: a wrong password exits with 77 and is not shown`, async t => {
    const { url } = await service.start(t, { QDB_HTTP_USER: 'admin', QDB_HTTP_PASSWORD: 's3:cret ü' });
    const run = await shell(t, { URL: url });
    const right = "SQLDUMP_USER=admin SQLDUMP_PASSWORD='s3:cret ü'";
    const made = await run(`printf 'CREATE TABLE a (x INT);\\0' | ${right.replaceAll('DUMP', 'APPLY')} sqlapply $URL`);
    t.deepEqual({ code: made.code, stderr: made.stderr }, { code: 0, stderr: '' });
    t.regex((await run(`${right} sqldump $URL`)).stdout.toString(), /^CREATE TABLE 'a'[^\0]*\0$/);

    for (const [program, credentials] of [
      ['sqldump', ''],
      ['sqldump', 'SQLDUMP_USER=admin SQLDUMP_PASSWORD=hush'],
      ['sqldump', right.replaceAll('DUMP', 'APPLY')],
      ['sqlapply', 'SQLAPPLY_USER=admin SQLAPPLY_PASSWORD=hush'],
    ] as const) {
      const { code, stdout, stderr } = await run(
        `printf 'CREATE TABLE b (x INT);\\0' | ${credentials} ${program} $URL`,
      );
      t.is(code, 77, `${credentials} ${program}: ${stderr}`);
      t.regex(stdout.toString(), program === 'sqldump' ? /^-- sqldump: incomplete: [^\0]*401[^\0]*\n$/ : /^$/);
      t.regex(stderr, new RegExp(`^${program}: .*${new URL(url).host}.*401`, 'm'));
      t.notRegex(`${stdout}${stderr}`, /hush|s3:cret/);
    }
    t.is((await run(`${right} sqldump $URL | grep -zc .`)).stdout.toString(), '1\n');
  });
}

test('sqldump into a full disk exits with 74, into a closed reader quietly with 141', async t => {
  const { url } = await sqlserve.start(t);
  const run = await shell(t, { URL: url });
  const { code } = await run(`for t in {1..20}; do
    printf 'CREATE TABLE t%d (' $t; printf 'c%d DOUBLE, ' {1..1500}; echo 'z INT);'
  done | sqlsplit | sqlapply $URL`);
  t.is(code, 0);

  const full = await run('sqldump $URL > /dev/full');
  t.is(full.code, 74);
  t.regex(full.stderr, /^sqldump: .*no space/im);

  const left = await run('sqldump $URL | head -c 1 > first; echo "${PIPESTATUS[@]}"; cat first');
  t.deepEqual({ ...left, stdout: left.stdout.toString() }, { code: 0, stdout: '141 0\nC', stderr: '' });
});

const assertFailure = async (t: ExecutionContext, script: string, { code, messages }: Expected) => {
  const run = await shell(t, { DEAD: `http://127.0.0.1:${await freePort()}`, TRADING });
  const outcome = await run(script);
  t.is(outcome.code, code, outcome.stderr);
  for (const pattern of messages) t.regex(outcome.stderr, pattern);
  t.notRegex(outcome.stderr, /^\s+at |node:internal/m, 'a stack trace');
};

test('sqlapply reports a refused connection', assertFailure, 'sqlsplit $TRADING | sqlapply $DEAD', {
  code: 69,
  messages: [/^sqlapply: .*127\.0\.0\.1:\d+.*refused/m],
});
test('sqljoin -o reports a missing folder', assertFailure, 'sqlsplit $TRADING | sqljoin -o nowhere/a.sql', {
  code: 74,
  messages: [/^sqljoin: .*nowhere/m],
});
test(
  'sqljoin -o leaves an existing file if the stream is truncated',
  assertFailure,
  'echo mine > a.sql; sqlsplit $TRADING | head -c 3000 | sqljoin -o a.sql; s=$?; [[ $(<a.sql) == mine && $(ls) == a.sql ]] && exit $s',
  {
    code: 65,
    messages: [/^sqljoin: .*\b\d+ complete/m],
  },
);
test(
  'sqlsplit reports the position of an unterminated string',
  assertFailure,
  `printf "CREATE TABLE a (x INT);\\nCREATE VIEW b AS (SELECT 'oops FROM a);" > a.sql; sqlsplit a.sql > out`,
  {
    code: 65,
    messages: [/^sqlsplit: a\.sql:2:26: /m],
  },
);

test('a closed standard error does not change the exit status', async t => {
  const run = await shell(t);
  const { code } = await run('exec 3> >(:); wait $!; timeout 20 sqlsplit nowhere.sql 2>&3');
  t.is(code, 66);
});
