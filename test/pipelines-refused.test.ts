/*!
 * Pipelines that must not end well, in a real bash without `pipefail`: the exit status that the user sees, a message to
 * act on, and a target on which nothing was done that should not have been.
 */
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { questdb, sqlserve } from './support/instances.js';
import { freePort } from './support/ports.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { shell } from './support/shell.js';
import { test } from './support/test.js';

const TRADING = resolve('scripts/trading.sql');

/** What a script comes to: exit status, what stderr says, and the tables on the target afterwards. */
interface Expected {
  code: number;
  says: RegExp[];
  made?: string[];
}

const tablesOn = async (server: Server) =>
  ((await server.execute('SELECT table_name FROM tables() ORDER BY table_name')).dataset ?? []).flat();

for (const service of [sqlserve, questdb]) {
  const file = fileScope();
  let running: Promise<Server> | undefined;
  const target = () => (running ??= service.start(file));

  const endsAs = async (t: ExecutionContext, script: string, { code, says, made = [] }: Expected) => {
    const server = await target();
    await server.dropAll();
    const run = await shell(t, { DST: server.url, DEAD: `http://127.0.0.1:${await freePort()}`, TRADING });
    const outcome = await run(script);
    t.is(outcome.code, code, outcome.stderr);
    for (const pattern of says) t.regex(outcome.stderr, pattern);
    t.notRegex(outcome.stderr, /^\s+at |node:internal/m, 'a stack trace');
    t.deepEqual(await tablesOn(server), made);
  };

  service.test(
    `${service.name}: a refused second statement stops the rest`,
    endsAs,
    `printf '%s;\\0' 'CREATE TABLE one (x INT)' 'CREATE TABLE two (x NUMBER)' 'CREATE TABLE three (x INT)' | sqlapply $DST`,
    {
      code: 1,
      says: [
        /^sqlapply: statement 2 \(table 'two'\): unsupported column type: NUMBER\n {2}CREATE TABLE two \(x NUMBER\);\n {22}\^$/m,
        /1 not reached/,
      ],
      made: ['one'],
    },
  );

  service.test(
    `${service.name}: with --keep-going the others are made, and the status is still 1`,
    endsAs,
    `printf '%s;\\0' 'CREATE TABLE one (x INT)' 'CREATE TABLE two (x NUMBER)' 'CREATE TABLE three (x INT)' |
       sqlapply --keep-going --rejects rest $DST
     status=$?; [[ $(tr '\\0' ' ' < rest) == *'two (x NUMBER);'* ]] && exit $status`,
    { code: 1, says: [/statement 2 /], made: ['one', 'three'] },
  );

  service.test(`${service.name}: a .sql file is no stream`, endsAs, 'sqlapply $DST < $TRADING', {
    code: 65,
    says: [/sqlsplit/, /no NUL/i],
  });

  service.test(`${service.name}: an empty input is no stream`, endsAs, 'sqlapply $DST < /dev/null', {
    code: 65,
    says: [/^sqlapply: empty input: a statement stream has at least one NUL byte/],
  });

  service.test(
    `${service.name}: a cut stream is used in no part`,
    endsAs,
    'sqlsplit $TRADING | head -c 3000 | sqlapply $DST',
    { code: 65, says: [/^sqlapply: .*\b\d+ complete/m] },
  );

  service.test(`${service.name}: a dead source`, endsAs, 'sqldump $DEAD | sqlapply $DST', {
    code: 65,
    says: [/^sqldump: .*127\.0\.0\.1:\d+.*refused/m, /^sqlapply: .*incomplete/m],
  });

  service.test(`${service.name}: a wrong password`, async t => {
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

test('a full disk, and a reader that leaves, under a dump of half a megabyte', async t => {
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

const alone = async (t: ExecutionContext, script: string, { code, says }: Expected) => {
  const run = await shell(t, { DEAD: `http://127.0.0.1:${await freePort()}`, TRADING });
  const outcome = await run(script);
  t.is(outcome.code, code, outcome.stderr);
  for (const pattern of says) t.regex(outcome.stderr, pattern);
  t.notRegex(outcome.stderr, /^\s+at |node:internal/m, 'a stack trace');
};

test('a dead port, seen by sqldump', alone, 'sqldump $DEAD', {
  code: 69,
  says: [/^sqldump: .*127\.0\.0\.1:\d+.*refused/m],
});
test('a dead port, seen by sqlapply', alone, 'sqlsplit $TRADING | sqlapply $DEAD', {
  code: 69,
  says: [/^sqlapply: .*127\.0\.0\.1:\d+.*refused/m],
});
test('a full disk under sqlsplit', alone, 'sqlsplit $TRADING > /dev/full', {
  code: 74,
  says: [/^sqlsplit: .*no space/im],
});
test('a full disk under sqljoin', alone, 'sqlsplit $TRADING | sqljoin > /dev/full', {
  code: 74,
  says: [/^sqljoin: .*no space/im],
});
test('a file that is not there', alone, 'sqlsplit nowhere.sql', { code: 66, says: [/^sqlsplit: .*nowhere\.sql/m] });
test('a folder that cannot be written to', alone, 'sqlsplit $TRADING | sqljoin -o nowhere/a.sql', {
  code: 74,
  says: [/^sqljoin: .*nowhere/m],
});
test(
  'sqljoin leaves the file alone when the stream is cut',
  alone,
  'echo mine > a.sql; sqlsplit $TRADING | head -c 3000 | sqljoin -o a.sql; s=$?; [[ $(<a.sql) == mine && $(ls) == a.sql ]] && exit $s',
  {
    code: 65,
    says: [/^sqljoin: .*\b\d+ complete/m],
  },
);
test(
  'text that ends inside a string',
  alone,
  `printf "CREATE TABLE a (x INT);\\nCREATE VIEW b AS (SELECT 'oops FROM a);" > a.sql; sqlsplit a.sql > out`,
  {
    code: 65,
    says: [/^sqlsplit: a\.sql:2:26: /m],
  },
);

test('a reader of messages that has left changes nothing', async t => {
  const run = await shell(t);
  const { code } = await run('exec 3> >(:); wait $!; timeout 20 sqlsplit nowhere.sql 2>&3');
  t.is(code, 66);
});
