/*! The secrets of statements in files are not shown: not in differences, not in what a plan leaves out, not in a dry run. */
import { plan } from '@sqlpipe/api';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { serveHere } from '../support/sqlserve.js';
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

/** Mistakes for which the server quotes the secret, as a token that it does not expect. */
const MISTAKES = [
  `CREATE USER v WITH PASSWORD ('${SECRET}')`,
  `CREATE USER v WITH PASSWORD 'a' '${SECRET}'`,
  `CREATE USER v WITH NO PASSWORD '${SECRET}'`,
  `ALTER USER u WITH PASSWORD = '${SECRET}'`,
];

for (const statement of MISTAKES)
  test(`neither a dry run nor a plan shows the secret that the engine quotes: ${statement}`, async t => {
    const { url } = await serveHere(t, { edition: 'enterprise', schema: ['CREATE USER u;'] });
    const run = await inProcess(t, { DST: url, ...loginAs('admin', 'quest') }, { 'a.sql': `${statement};\n` });
    const isPlannable = statement.startsWith('CREATE');
    for (const command of [
      ...['', '--dry-run', '--dry-run --json', '--dry-run --annotations'].map(
        option => `sqlapply --allow all ${option}`,
      ),
      ...(isPlannable ? ['sqlapply --alter', 'sqlapply --alter --dry-run'] : []),
    ]) {
      const { stdout, stderr } = await run.exits(1, `${command} $DST a.sql`);
      t.regex(stderr, /\*{15}/, command);
      t.false(`${stdout}${stderr}`.includes(SECRET), stdout + stderr);
    }
  });

test('a password that is a word of a message changes no result of a dry run', async t => {
  const { url } = await serveHere(t, { edition: 'enterprise', schema: ['CREATE GROUP u;'] });
  const run = await inProcess(t, { DST: url, ...loginAs('admin', 'quest') });
  for (const password of ['other', 'exists', 'already']) {
    const { stderr } = await run(
      `echo "CREATE USER u WITH PASSWORD '${password}';" | sqlsplit | sqlapply --dry-run $DST`,
    );
    t.regex(stderr, /: group .* .* \[name=u\], and it cannot be compared; use --if-exists skip\n/);
  }
});
