/*!
 * Schemas copied by pipelines, between sqlserve and a real QuestDB in every combination: with every pipeline, the dump of the
 * copy equals the dump of its source, byte for byte. What bash and its commands do between the programs runs in a real bash.
 * Of a pipeline that fails, every program names the one that failed and its reason; only that one says what to do.
 */
import { resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { inProcess, type Run } from '../support/in-process.js';
import { perKey, questdb, type Service, sqlserve } from '../support/instances.js';
import { startQuestDB, testWithQuestDB } from '../support/questdb.js';
import { shell } from '../support/shell.js';
import { fileScope, test } from '../support/test.js';

const TRADING = resolve('scripts/trading.sql');

const file = fileScope();

/** For each service, a server with the trading schema, started on demand. */
const seeded = perKey(async (service: Service) => {
  const server = await service.start(file);
  await (await inProcess(file, { SRC: server.url })).ok(`sqlsplit ${TRADING} | sqlapply $SRC`);
  return server;
});

/** And one that is emptied for each test. */
const targets = perKey((service: Service) => service.start(file));

/** A folder with the trading schema at $SRC and an empty instance at $DST. */
async function folderBetween(t: ExecutionContext, source: Service, target = source) {
  const [{ url: SRC }, server] = [await seeded(source), await targets(target)];
  await server.dropAll();
  return inProcess(t, { SRC, DST: server.url });
}

async function assertSame(t: ExecutionContext, run: Run): Promise<void> {
  t.is(await run.silent('sqldump $SRC > src.stream && sqldump $DST > dst.stream && cmp src.stream dst.stream'), '');
}

const ways: Record<string, string> = {
  'a stream as records arrive': 'sqldump $SRC | sqlapply --stream $DST',
  'a stream in a file': 'sqldump -o copy $SRC && sqlapply $DST < copy',
  tee: 'sqldump $SRC | tee copy | sqlapply $DST && cmp copy <(sqldump $SRC)',
  'tr and sqlsplit': "sqldump $SRC | tr '\\0' '\\n' > copy.sql && sqlsplit copy.sql | sqlapply $DST",
  'sqljoin and sqlsplit': 'sqldump $SRC | sqljoin -o copy.sql && sqlsplit copy.sql | sqlapply $DST',
  'CRLF and a BOM put in by an editor':
    "sqldump $SRC | sqljoin | sed '1s/^/\\xEF\\xBB\\xBF/; s/^);$/&\\r/' | sqlsplit | sqlapply $DST",
  'grep -z, one kind after the other': [
    "sqldump $SRC | grep -z '^CREATE TABLE' | sqlapply $DST",
    "sqldump $SRC | grep -zv '^CREATE TABLE' | sqlapply $DST",
  ].join(' && '),
  // head exits after ten records, which may end sqldump by SIGPIPE; pipefail would report that as a failure.
  'head -z, the first ten and then all':
    '(set +o pipefail; sqldump $SRC | head -zn 10 | sqlapply $DST) && sqldump $SRC | sqlapply $DST',
  'xargs -0': "sqldump $SRC | xargs -0n1 printf '%s\\0' | sqlapply $DST",
  'while read': [
    "sqldump $SRC | while IFS= read -r -d '' statement",
    'do printf \'%s\\0\' "$statement"',
    'done | sqlapply $DST',
  ].join('\n'),
  'split, sixteen statements at a time': "sqldump $SRC | split -t '\\0' -l 16 --filter='sqlapply $DST'",
};

for (const [title, script] of Object.entries(ways))
  test(`sqlserve to sqlserve by ${title}`, async t => {
    const run = await folderBetween(t, sqlserve);
    t.is(await run.bash.silent(`set -o pipefail; ${script}`), '');
    await assertSame(t, run);
  });

for (const service of [sqlserve, questdb]) {
  service.test(`${service.name}: tables replay in the order of sort -z`, async t => {
    const run = await folderBetween(t, service);
    t.is(await run.silent('set -o pipefail; sqldump --include TABLES $SRC | sort -zr | sqlapply $DST'), '');
    t.is(await run.silent('sqldump --include TABLES $SRC > a && sqldump $DST > b && cmp a b && [ -s a ]'), '');
  });

  service.test(`${service.name}: a second copy changes nothing`, async t => {
    const run = await folderBetween(t, service);
    const copy = 'set -o pipefail; sqldump $SRC | sqlapply $DST';
    t.is(await run.silent(copy), '');
    t.is(await run.silent(copy), '');
    await assertSame(t, run);
  });

  service.test(`${service.name}: a dump converted to text and back is unchanged`, async t => {
    const run = await folderBetween(t, service);
    const copy = "set -o pipefail; sqldump -o src $SRC && tr '\\0' '\\n' < src > a.sql && sqljoin -o b.sql < src";
    t.is(
      await run.silent(`${copy} && sqlsplit a.sql | cmp - src && sqlsplit b.sql | cmp - src && cmp a.sql b.sql`),
      '',
    );
    t.is((await run("grep -zc '^CREATE' src")).stdout, '31\n');
  });

  service.test(`${service.name}: the semicolon at the end of a record is not part of a view`, async t => {
    const run = await folderBetween(t, service);
    await run(`cat > views.sql <<'END'
CREATE TABLE t (x INT);
CREATE VIEW v AS SELECT x FROM t ;
CREATE VIEW w AS SELECT x FROM t -- the end;
;
CREATE VIEW x AS SELECT x, ';' y FROM t /* and ; */;
END`);
    t.is(
      await run.silent(
        'set -o pipefail; sqlsplit views.sql | sqlapply $DST && sqldump --verbatim --include VIEWS $DST > dump',
      ),
      '',
    );
    t.is(
      (await run("tr -d '\\0' < dump")).stdout.replaceAll(/\s*\n\s*/g, ' '),
      "CREATE VIEW 'v' AS ( SELECT x FROM t ); CREATE VIEW 'w' AS ( SELECT x FROM t -- the end; ); " +
        "CREATE VIEW 'x' AS ( SELECT x, ';' y FROM t /* and ; */ ); ",
    );
  });

  service.test(`${service.name}: an empty schema is dumped as a lone NUL, and copying it changes nothing`, async t => {
    const run = await folderBetween(t, service);
    t.is((await run('sqldump $DST')).stdout, '\0');
    t.is(
      await run.silent(
        'set -o pipefail; sqldump $DST | sqlapply $SRC; sqldump $DST | sqljoin | sqlsplit | sqlapply $SRC',
      ),
      '',
    );
  });
}

for (const [source, target] of [
  [sqlserve, questdb],
  [questdb, sqlserve],
] as const)
  testWithQuestDB(`${source.name} to ${target.name}: both dump the same`, async t => {
    const run = await folderBetween(t, source, target);
    t.is(await run.silent('set -o pipefail; sqldump $SRC | sqlapply $DST'), '');
    await assertSame(t, run);
  });

testWithQuestDB('sqlserve and QuestDB dump the same after replaying the same .sql file', async t => {
  const [{ url: SRC }, { url: DST }] = await Promise.all([seeded(sqlserve), seeded(questdb)]);
  await assertSame(t, await inProcess(t, { SRC, DST }));
});

testWithQuestDB('a wrong password exits with 77 and is not shown, and so does a server that is read-only', async t => {
  const login = { QDB_HTTP_USER: 'admin', QDB_HTTP_PASSWORD: 's3:cret ü' };
  const { url } = await startQuestDB(t, { ...login, QDB_HTTP_SECURITY_READONLY: 'true' });
  const run = await inProcess(t, { URL: url });
  const right = "SQLDUMP_USER=admin SQLDUMP_PASSWORD='s3:cret ü'";
  for (const [program, credentials] of [
    ['sqldump', ''],
    ['sqldump', 'SQLDUMP_USER=admin SQLDUMP_PASSWORD=hush'],
    ['sqldump', right.replaceAll('DUMP', 'APPLY')],
    ['sqlapply', 'SQLAPPLY_USER=admin SQLAPPLY_PASSWORD=hush'],
  ] as const) {
    const { code, stdout, stderr } = await run(`printf 'CREATE TABLE b (x INT);\\0' | ${credentials} ${program} $URL`);
    t.is(code, 77, `${credentials} ${program}: ${stderr}`);
    t.regex(stdout, program === 'sqldump' ? /^-- sqldump: incomplete: [^\0]*401[^\0]*\n$/ : /^$/);
    t.regex(stderr, new RegExp(`^${program}: .*${new URL(url).host}.*401`, 'm'));
    t.notRegex(`${stdout}${stderr}`, /hush|s3:cret/);
  }
  t.like(await run(`${right} sqldump $URL`), { code: 0, stdout: '\0', stderr: '' });
  const applied = await run.exits(
    77,
    `printf 'CREATE TABLE b (x INT);\\0' | ${right.replaceAll('DUMP', 'APPLY')} sqlapply $URL`,
  );
  t.regex(applied.stderr, /Write permission denied/);
});

const DEAD = 'http://127.0.0.1:1';

for (const readers of [
  'sqlapply http://127.0.0.1:9',
  'sqlgrep a | sqlapply http://127.0.0.1:9',
  'sqlsort | sqltr --rename a=b | sqljoin',
  'sqldiff - /dev/null',
])
  test(`sqldump | ${readers}: each names the reason, and the first says what to do`, async t => {
    const run = await inProcess(t);
    const { stderr } = await run.exits(65, `set -o pipefail; sqldump ${DEAD} | ${readers} > /dev/null`);
    const [first, ...others] = stderr.trimEnd().split('\n');
    t.regex(first ?? '', /^sqldump: .*connection refused; is the server running/);
    t.is(others.length, readers.split('|').length, stderr);
    for (const line of others)
      t.regex(line, /: sqldump failed: http:\/\/127\.0\.0\.1:1: connection refused(?:; nothing was sent)?$/);
  });

test('a backup of a source that is down says why, even if nobody reads what sqldump prints', async t => {
  const run = await shell(t);
  t.is(
    (await run.exits(65, `sqldump ${DEAD} 2> /dev/null | sqljoin -o f.sql; s=$?; ls; exit $s`)).stderr,
    'sqljoin: incomplete after 0 complete records: sqldump failed: http://127.0.0.1:1: connection refused\n',
  );
});

test('text says the same, made of the output or with --text', async t => {
  const run = await inProcess(t);
  for (const text of [`sqldump ${DEAD} | tr '\\0' '\\n'`, `sqldump --text ${DEAD}`]) {
    const { stderr } = await run(`${text} | sqlsplit`);
    t.is(stderr.match(/is the server running/g)?.length, 1, stderr);
    t.regex(stderr, /sqlsplit: standard input:\d+:1: sqldump left its output incomplete: .*connection refused\n/);
  }
});

test('a file keeps the reason, as an operand and as standard input', async t => {
  const run = await inProcess(t);
  await run(`sqldump ${DEAD} > dump.stream`);
  for (const script of ['sqldiff dump.stream /dev/null', 'sqlgrep a < dump.stream']) {
    const { stderr } = await run.exits(65, script);
    t.regex(stderr, /incomplete after 0 complete records: sqldump failed: .*connection refused/);
  }
});
