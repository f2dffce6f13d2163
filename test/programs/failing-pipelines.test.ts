/*! Passwords, full disks and closed readers in pipelines of a real bash without `pipefail`: the exit status that the user sees. */
import { questdb, sqlserve } from '../support/instances.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

for (const service of [sqlserve, questdb]) {
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
