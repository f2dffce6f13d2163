/*! The secrets of statements in files are not shown: not in differences, not in what a plan leaves out, not in a dry run. */
import { plan } from '@sqlpipe/api';
import { inProcess } from '../support/in-process.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const SECRET = 's3cr3t-Fr0mHere';
const openSource = sharedSqlserve();

test('passwords in statements are redacted in every form of a difference', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run.bash(
    `echo "CREATE USER u WITH PASSWORD '${SECRET}'; CREATE USER v WITH PASSWORD '${SECRET}x' SECRET_TOO;
      CREATE USER only WITH PASSWORD '${SECRET}'; ALTER USER w WITH PASSWORD '${SECRET}';" > a.sql
    echo "CREATE USER u WITH PASSWORD '${SECRET}-longer'; CREATE USER v WITH PASSWORD '${SECRET}y';" > b.sql
    for how in -q --text --names --json; do sqldiff $how a.sql b.sql; sqldiff $how b.sql a.sql; done`,
  );
  t.regex(stdout, /^differs: user 'u'\n {2}credentials: \*\*\* in a\.sql, \*\*\* in b\.sql\n/m);
  t.regex(stdout, /^-CREATE USER v WITH PASSWORD '\*\*\*' \*\*\*;$/m);
  t.regex(stdout, /^ {2}statement: CREATE USER v WITH PASSWORD '\*\*\*' \*\*\*; in a\.sql, /m);
  t.regex(stdout, /"a":"CREATE USER only WITH PASSWORD '\*\*\*';"/);
  t.regex(stdout, /^only in a\.sql: ALTER USER w WITH PASSWORD '\*\*\*'$/m);
  t.notRegex(`${stdout}${stderr}`, new RegExp(`${SECRET}|SECRET_TOO`));
});

test('what a plan leaves out is shown without its secret, in every output', async t => {
  const statement = `CREATE USER u WITH PASSWORD '${SECRET}'`;
  const run = await inProcess(
    t,
    { DST: openSource.url },
    { 'a.sql': `CREATE TABLE t (x INT);\n${statement};\n`, 'b.sql': '' },
  );
  for (const target of ['$DST', 'b.sql'])
    for (const options of ['', '-v', '--annotations', '--undo undo.sql']) {
      const { stdout, stderr } = await run.exits(
        1,
        `sqldiff --alter ${options} -o plan.sql a.sql ${target}; s=$?; cat plan.sql; exit $s`,
      );
      t.regex(stderr, /user 'u': left out: CREATE USER u WITH PASSWORD '\*\*\*'/);
      t.false(`${stdout}${stderr}`.includes(SECRET), stdout + stderr);
    }
  for (const options of ['', '--dry-run', '--dry-run --json', '--annotations', '--keep-going -v --report -']) {
    const { stdout, stderr } = await run.exits(1, `sqlapply --alter ${options} $DST a.sql`);
    t.regex(stderr, /left out: CREATE USER u WITH PASSWORD '\*\*\*'/, options);
    t.false(`${stdout}${stderr}`.includes(SECRET), stdout + stderr);
  }
  const warnings: string[] = [];
  const { omissions } = await plan([statement], openSource.url, { onWarning: warning => warnings.push(warning) });
  t.is(omissions[0]?.what, "CREATE USER u WITH PASSWORD '***'");
  t.false(JSON.stringify([omissions, warnings]).includes(SECRET));
});
