/*! The exit status of sqldiff: differences, for each of its options. */

import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const SHARED = "CREATE TABLE 'same' (x INT);";
const LACKED = "CREATE TABLE 'lacked' (x INT);";
const INT = "CREATE TABLE 'changed' (x INT);";
const LONG = INT.replace('x INT', 'x LONG');
const EXTRA = "CREATE TABLE 'extra' (x INT);";

/** Two schemas, the statuses of plain sqldiff and of --ignore-extra, and the status of --missing with the statement it writes. */
const CASES: Record<string, { a: string; b: string; plain: number; ignoreExtra: number; missing: [number, string] }> = {
  'B is the same': { a: SHARED, b: SHARED, plain: 0, ignoreExtra: 0, missing: [0, ''] },
  'both are empty': { a: '', b: '', plain: 0, ignoreExtra: 0, missing: [0, ''] },
  'B lacks something': { a: SHARED + LACKED, b: SHARED, plain: 1, ignoreExtra: 1, missing: [0, LACKED] },
  'B has something else': { a: SHARED + INT, b: SHARED + LONG, plain: 1, ignoreExtra: 1, missing: [1, ''] },
  'B has more': { a: SHARED, b: SHARED + EXTRA, plain: 1, ignoreExtra: 0, missing: [0, ''] },
  'B lacks something and has something else': {
    a: LACKED + INT,
    b: LONG,
    plain: 1,
    ignoreExtra: 1,
    missing: [1, LACKED],
  },
  'B lacks something and has more': { a: LACKED, b: EXTRA, plain: 1, ignoreExtra: 1, missing: [0, LACKED] },
  'B has something else and more': {
    a: INT,
    b: LONG + EXTRA,
    plain: 1,
    ignoreExtra: 1,
    missing: [1, ''],
  },
};

for (const [name, { a, b, plain, ignoreExtra, missing }] of Object.entries(CASES))
  test(`exit status if ${name}`, async t => {
    const run = await inProcess(t, { A: a, B: b });
    await run('echo "$A" > A.sql; echo "$B" > B.sql');
    for (const [options, status] of [
      ['', plain],
      ['--names', plain],
      ['--json', plain],
      ['--ignore-extra', ignoreExtra],
      ['--ignore-extra --names', ignoreExtra],
      ['--ignore-extra --json', ignoreExtra],
    ] as const) {
      const { code, stdout, stderr } = await run(`sqldiff ${options} A.sql B.sql`);
      t.is(code, status, `${options}: ${stderr}`);
      t.is(stdout.length > 0, status === 1, `${options}: ${stdout}`);
    }
    const { code, stdout, stderr } = await run('sqldiff --missing A.sql B.sql');
    t.deepEqual([code, stdout.toString()], [missing[0], missing[1] ? `${missing[1]}\n\0` : '\0'], stderr);
  });

/** Different principals with the same name. Passwords are left out, since no server shows them. */
const PRINCIPALS: Record<string, [a: string, b: string]> = {
  'a user and a service account': ['CREATE USER ann;', 'CREATE SERVICE ACCOUNT ann;'],
  'a user and a group': ['CREATE USER ann;', 'CREATE GROUP ann;'],
  'two service accounts with other owners': [
    'CREATE SERVICE ACCOUNT ann OWNED BY joe;',
    'CREATE SERVICE ACCOUNT ann OWNED BY sue;',
  ],
};

for (const [name, [a, b]] of Object.entries(PRINCIPALS))
  test(`${name} with the same name differ`, async t => {
    const run = await inProcess(t, { A: a, B: b });
    await run('echo "$A" > a.sql; echo "$B" > b.sql');
    const { stdout } = await run.exits(1, 'sqldiff --names a.sql b.sql');
    t.regex(stdout.toString(), /differs: .*'ann'/);
    await run.ok('sqldiff a.sql a.sql');
    const missing = await run('sqldiff --missing a.sql b.sql');
    t.deepEqual([missing.code, missing.stdout.toString()], [1, '\0']);
    // Both in one stream conflict.
    for (const program of ['sqlsort', 'sqljoin -d schema', 'sqldiff - a.sql'])
      t.is((await run(`sqlsplit a.sql b.sql | ${program}`)).code, 65, program);
  });

test('user names are compared without case, and users of other names are separate', async t => {
  const run = await inProcess(t);
  await run('echo "CREATE USER ann; CREATE USER bob;" > a.sql; echo "create user BOB; CREATE USER Ann;" > b.sql');
  t.regex((await run('sqldiff --names a.sql b.sql')).stdout.toString(), /^(?!only)/);
  await run('echo "CREATE USER ann;" > c.sql');
  const { code, stdout } = await run('sqldiff --names a.sql c.sql');
  t.deepEqual([code, stdout.toString()], [1, "only in a.sql: user 'bob'\n"]);
});

test('a principal of another kind on the instance differs, for sqldiff and sqlapply', async t => {
  const { url } = await serveHere(t, { edition: 'enterprise' });
  const run = await inProcess(t, { DST: url, ...loginAs() });
  await run('echo "CREATE USER ann WITH PASSWORD x;" | sqlsplit | sqlapply $DST; echo "CREATE GROUP ann;" > a.sql');
  const compared = await run.exits(1, 'sqldiff --include USERS,GROUPS --names a.sql $DST');
  t.regex(compared.stdout.toString(), /differs: .*'ann'/);
  t.is((await run('sqlsplit a.sql | sqlapply $DST')).code, 1);
  await run.ok('echo "CREATE USER ann;" | sqlsplit | sqlapply $DST');
});

test('a schema that is not valid in itself is an error, which names the file', async t => {
  const run = await inProcess(t, { A: `${SHARED} CREATE VIEW v AS (SELECT y FROM same);`, B: SHARED });
  const { code, stdout, stderr } = await run('echo "$A" > A.sql; echo "$B" > B.sql; sqldiff --alter A.sql B.sql');
  t.deepEqual(
    [code, stdout.toString(), stderr],
    [65, '', "sqldiff: A.sql: the wanted schema is not valid\n  view 'v': Invalid column: y\n"],
  );
});
