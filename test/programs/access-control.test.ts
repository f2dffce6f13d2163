/*! Access control of the enterprise edition: tokens, logins, rights compared and read back, and hints, with the built programs. */
import { parseRights } from '@sqlpipe/ddl';
import { compareSchemas } from '@sqlpipe/schema';
import type { ExecutionContext } from 'ava';
import { cases } from '../cases/cases.js';
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { executeAs, loginAs, permissionsOf, setUp } from '../support/principals.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import type { Outcome } from '../support/shell.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { terminal } from '../support/terminal.js';
import { test } from '../support/test.js';

const TABLE = 'CREATE TABLE trades (ts TIMESTAMP, price DOUBLE) timestamp(ts) PARTITION BY DAY';

/** An enterprise server with the table, a user, a group and a service account, and a shell that applies text to it. */
async function startSetting(t: ExecutionContext, instead?: (query: string) => Instead | undefined) {
  const server = await serveHere(t, { edition: 'enterprise' });
  await setUp(
    server,
    TABLE,
    "CREATE USER zoe WITH PASSWORD 'of zoe'",
    'CREATE GROUP g',
    'CREATE SERVICE ACCOUNT robot',
  );
  const proxy = await recordingProxy(t, server, instead);
  const run = await inProcess(t, { ...loginAs(), DST: proxy.url });
  const apply = (text: string, options = ''): Promise<Outcome> =>
    run(
      `cat > in.sql <<'END'\n${text}\nEND\nsqlsplit in.sql | sqlapply --report report --rejects rest ${options} $DST`,
    );
  const report = async () => parseJsonLines<{ result: string; proven?: boolean }>((await run('cat report')).stdout);
  const results = async () => (await report()).map(({ result }) => result);
  return { server, proxy, run, apply, report, results };
}

const CREATE_TOKEN = "ALTER SERVICE ACCOUNT robot CREATE TOKEN TYPE REST WITH TTL '1d';";

test('a right that a statement revokes is given again by a later one', async t => {
  const { server, apply, results } = await startSetting(t);
  await setUp(server, 'GRANT SELECT ON trades TO zoe');
  const grant = 'GRANT SELECT ON trades TO zoe;';
  const { code, stderr } = await apply(`${grant}\nREVOKE SELECT ON trades FROM zoe;\n${grant}`, '--allow REVOKE');
  t.is(code, 0, stderr);
  t.deepEqual(await results(), ['skipped', 'applied', 'applied']);
  t.true((await permissionsOf(server, 'zoe')).some(row => row.startsWith('SELECT trades')));
});

test('a created token goes to stdout only, not into messages, reports or rejects', async t => {
  const { run, apply, server } = await startSetting(t);
  const { code, stdout, stderr } = await apply(CREATE_TOKEN, '-v --allow ALTER');
  t.is(code, 0, stderr);
  const [, token = ''] = /^robot\t(qt1[\w-]+)\t[-\d]+T[\d:.]+Z\tfalse\n$/.exec(stdout) ?? [];
  t.not(token, '', stdout);
  t.not((await executeAs(server, `Bearer ${token}`, 'SHOW PERMISSIONS')).status, 401);
  const left = await run('cat report rest; ls');
  t.regex(left.stdout, /"result":"applied"/);
  t.false(`${left.stdout} ${stderr}`.includes(token));
});

test('a token as the only column is printed; on a terminal control characters are escaped', async t => {
  const server = await serveHere(t, { edition: 'enterprise' });
  const instead = (query: string): Instead | undefined =>
    query.includes('CREATE TOKEN')
      ? [200, { query, columns: [{ name: 'token', type: 'STRING' }], dataset: [['qt1\u001b[2J']], count: 1 }]
      : undefined;
  const { url } = await recordingProxy(t, server, instead);
  const env = { ...loginAs(), DST: url, TEXT: CREATE_TOKEN };
  const script = 'sqlsplit <<< "$TEXT" | sqlapply --allow ALTER $DST';
  const run = await inProcess(t, env);
  t.deepEqual(await run(script), { code: 0, stdout: 'qt1\u001b[2J\n', stderr: '' });
  const seen = await (await terminal(t, env))(script);
  t.true(seen.screen.includes('qt1\\x1b[2J') || seen.screen.includes('qt1\\u001b[2J'), JSON.stringify(seen.screen));
});

test('rows in reply to a statement that creates no token are a protocol error', async t => {
  const rows: Instead = [200, { columns: [], dataset: [['x']], count: 1 }];
  const { apply } = await startSetting(t, query => (query.startsWith('ALTER') ? rows : undefined));
  const { code, stderr } = await apply('ALTER USER zoe ENABLE;', '--allow ALTER');
  t.is(code, 76);
  t.regex(stderr, /answered with rows/);
});

test('principals without credentials are listed in every run, with a bounded number of requests', async t => {
  const { server, apply, proxy } = await startSetting(t);
  const text = 'CREATE USER zoe; CREATE USER joe; CREATE GROUP g; CREATE SERVICE ACCOUNT robot;';
  const lacking = (stderr: string) => stderr.match(/\w+(?=' cannot log in yet)/g);
  t.deepEqual(lacking((await apply(text)).stderr), ['joe', 'robot']);
  proxy.queries.length = 0;
  t.deepEqual(lacking((await apply(text)).stderr), ['joe', 'robot']);
  t.is(proxy.queries.filter(query => /^SHOW (USER|SERVICE ACCOUNT) /.test(query)).length, 3);
  await setUp(server, "ALTER USER joe WITH PASSWORD 'of joe'", CREATE_TOKEN.slice(0, -1));
  t.is((await apply(text)).stderr, '');
  proxy.queries.length = 0;
  const many = Array.from({ length: 250 }, (_, n) => `CREATE USER user${n};`);
  t.is(lacking((await apply(many.join('\n'))).stderr)?.length, 250);
  t.true(proxy.queries.filter(query => /^SHOW USER /.test(query)).length <= 200);
});

test('if the server does not show who can log in, only users created in this run are listed', async t => {
  const { apply } = await startSetting(t, query => (/^SHOW USER /.test(query) ? [400, { error: 'no' }] : undefined));
  t.regex((await apply('CREATE USER joe;')).stderr, /'joe' cannot log in yet/);
  t.is((await apply('CREATE USER joe;')).stderr, '');
  t.regex((await apply('CREATE USER joan /* WITH PASSWORD later */;')).stderr, /'joan' cannot log in yet/);
  t.is((await apply("CREATE USER jim WITH /* a new */ PASSWORD 'of jim';")).stderr, '');
});

test('a grant that would remove the grant option is reported as a difference and not sent', async t => {
  const { server, apply, proxy, results, run } = await startSetting(t);
  const option = 'GRANT SELECT, INSERT ON trades TO zoe WITH GRANT OPTION;';
  t.is((await apply(option)).code, 0);
  const before = await permissionsOf(server, 'zoe');
  for (const narrow of [
    'GRANT SELECT ON trades TO zoe;',
    'grant /* more */ insert, select on \'TRADES\' to "ZOE";',
    'GRANT UPDATE, SELECT ON trades TO zoe;',
    'GRANT SELECT ON ALL TABLES TO zoe;',
    'GRANT SELECT TO zoe;',
  ]) {
    proxy.queries.length = 0;
    const { code, stderr } = await apply(narrow);
    t.is(code, 1, narrow);
    t.regex(stderr, /already granted WITH GRANT OPTION, which this statement would remove; it was not sent/);
    t.regex(stderr, /^ {2}GRANT SELECT ON trades TO zoe: no grant option in the statement, WITH GRANT OPTION in http/m);
    const isSent = proxy.queries.some(query => /^grant/i.test(query));
    t.false(isSent, narrow);
    t.deepEqual(await results(), ['differs']);
    t.true((await run('cat rest')).stdout.length > 1);
  }
  t.deepEqual(await permissionsOf(server, 'zoe'), before);
  t.is((await apply('GRANT SELECT ON trades TO zoe;', '--if-exists skip')).code, 0);
  t.deepEqual(await permissionsOf(server, 'zoe'), before);
});

test("a grant that would remove a column's or an earlier statement's grant option is rejected", async t => {
  const { apply, results } = await startSetting(t);
  t.is((await apply('GRANT SELECT ON trades(price) TO zoe WITH GRANT OPTION;')).code, 0);
  t.is((await apply('GRANT SELECT ON trades TO zoe;')).code, 1);
  t.is((await apply('GRANT SELECT ON trades(*) TO zoe;')).code, 1);
  t.is((await apply('GRANT SELECT ON trades(ts) TO zoe;')).code, 0);
  const run = await apply('GRANT HTTP TO zoe WITH GRANT OPTION; GRANT HTTP TO zoe; GRANT PGWIRE TO zoe;', '-k');
  t.is(run.code, 1);
  t.deepEqual(await results(), ['applied', 'differs', 'applied']);
});

test('existing rights are skipped one permission at a time, and new ones are read back', async t => {
  const { server, apply, report, results, proxy } = await startSetting(t);
  const text = `ADD USER zoe TO g;
    GRANT ASSUME SERVICE ACCOUNT robot TO zoe WITH GRANT OPTION;
    GRANT SELECT, INSERT ON trades, trades(price) TO zoe;
    GRANT HTTP, CREATE TABLE TO g;
    CREATE USER joe WITH PASSWORD 'of joe';`;
  t.is((await apply(text)).code, 0);
  const found = (await report()).map(each => [each.result, each.proven]);
  t.deepEqual(found, [
    ...Array.from({ length: 4 }, () => ['applied', true]),
    ['applied', false], // as no server shows a password
  ]);
  proxy.queries.length = 0;
  const others =
    'GRANT INSERT ON trades TO zoe; GRANT SELECT ON trades(ts) TO zoe; GRANT HTTP TO g; ASSUME SERVICE ACCOUNT robot TO zoe WITH GRANT OPTION;';
  t.is((await apply(`${text}${others}`)).code, 0);
  t.deepEqual(new Set(await results()), new Set(['skipped']));
  t.is(proxy.queries.filter(query => query.startsWith('SHOW CREATE DATABASE INCLUDE (PERMISSIONS)')).length, 1);
  t.false(proxy.queries.some(query => /^(GRANT|ADD|ASSUME)/.test(query)));
  const dry = await apply('GRANT HTTP TO g; GRANT HTTP TO zoe;', '--dry-run');
  t.is(dry.stdout, "would send grant to 'zoe'\nskipped: 1 statement\n");
  t.is((await apply('GRANT INSERT, UPDATE ON trades TO zoe;')).code, 0);
  const isGranted = (await permissionsOf(server, 'zoe')).some(row => /UPDATE/.test(row));
  t.true(isGranted, 'one of the two rights is new');
});

test('if access control cannot be read back, objects that were read back keep their proof', async t => {
  let isGranted = false;
  const { apply, report } = await startSetting(t, query => {
    if (isGranted && query.startsWith('SHOW CREATE DATABASE')) return [503, {}];
    isGranted ||= query.startsWith('GRANT');
    return undefined;
  });
  const { code, stderr } = await apply('CREATE TABLE a (x INT); GRANT HTTP TO zoe;');
  t.is(code, 69, stderr);
  const found = (await report()).map(({ result, proven }) => [result, proven]);
  t.deepEqual(found, [
    ['applied', true],
    ['applied', false],
  ]);
  t.regex(stderr, /statement 2 \(grant to 'zoe'\): it was applied, but could not be read back/);
});

test('a statement that the server acknowledges but does not execute is detected on read-back', async t => {
  const { apply } = await startSetting(t, query =>
    /^(GRANT|CREATE USER)/.test(query) ? [200, { ddl: 'OK' }] : undefined,
  );
  const granted = await apply('GRANT HTTP TO zoe;');
  t.is(granted.code, 1);
  t.regex(granted.stderr, /the server reported success, but does not show what was granted/);
  const created = await apply('CREATE USER joe;');
  t.is(created.code, 1);
  t.regex(created.stderr, /the server reported success, but the object does not exist/);
});

test('without SHOW CREATE DATABASE, access control is queried one principal at a time', async t => {
  const instead = (query: string): Instead | undefined =>
    query.startsWith('SHOW CREATE DATABASE') ? [400, { error: "expected 'TABLE' or 'VIEW'", position: 12 }] : undefined;
  const { apply, results, server } = await startSetting(t, instead);
  const text = `CREATE USER zoe; CREATE GROUP g; ADD USER zoe TO g; GRANT ASSUME SERVICE ACCOUNT robot TO zoe;
    GRANT SELECT ON trades(price) TO zoe WITH GRANT OPTION; GRANT HTTP TO g WITH GRANT OPTION; GRANT HTTP TO zoe;`;
  t.is((await apply(text)).code, 0);
  t.is((await apply(text)).code, 0);
  t.deepEqual((await results()).slice(0, 6).join(), 'skipped,'.repeat(6).slice(0, -1));
  t.is((await apply('GRANT SELECT ON trades(price) TO zoe;')).code, 1);
  t.true((await permissionsOf(server, 'zoe')).includes('SELECT trades price true'));
});

test('if the server does not show access control, one warning is printed and statements are sent', async t => {
  const { server, run, apply } = await startSetting(t);
  await setUp(server, 'GRANT HTTP TO zoe', 'GRANT SELECT ON trades TO zoe WITH GRANT OPTION');
  const asZoe = "SQLAPPLY_USER=zoe SQLAPPLY_PASSWORD='of zoe'";
  const grants = 'GRANT SELECT ON trades TO g; GRANT SELECT ON trades TO robot; GRANT SELECT ON trades TO g;';
  const { stderr } = await run.ok(`echo "${grants}" | sqlsplit | ${asZoe} sqlapply -v $DST`);
  t.regex(stderr, /3 statements: 3 applied/);
  t.is(
    stderr.match(/access control cannot be compared, because the server does not show it: Access denied/g)?.length,
    1,
  );
  t.regex((await apply(grants, '-v')).stderr, /3 skipped/);
});

test('sqldiff compares rights as sets, and compares owners', async t => {
  const run = await inProcess(t, {});
  for (const { title: a, input: b, output } of cases('compared-rights')) {
    await run(`cat > a.sql <<'END'\n${a}\nEND\ncat > b.sql <<'END'\n${b}\nEND`);
    const { code, stdout } = await run('sqldiff a.sql b.sql');
    t.deepEqual([code, stdout.trimEnd()], [output === '' ? 0 : 1, output], a);
  }
  await run("echo 'GRANT SELECT, INSERT ON t TO a;' > a.sql; echo 'GRANT INSERT ON t TO a;' > b.sql");
  t.like(await run('sqldiff --missing a.sql b.sql'), { code: 0, stdout: 'GRANT SELECT ON t TO a;\n\0' });
});

test('a grant that cannot be parsed as rights is compared as text', t => {
  t.is(parseRights('GRANT SELECT ON t(* EXCLUDE (a)) TO zoe;'), undefined);
  t.is(parseRights('GRANT SELECT TO zoe BY MOON;'), undefined);
  t.is(compareSchemas(['GRANT SELECT TO zoe BY MOON;'], ['GRANT  SELECT TO zoe BY MOON;']).differences.length, 0);
  t.is(compareSchemas(['GRANT SELECT TO zoe BY MOON;'], []).differences.length, 1);
});

test('hints: access control and enterprise clauses sent to the open source edition', async t => {
  const oss = await startSqlserve(t);
  const run = await inProcess(t, { OSS: oss.url });
  const stderr = async (text: string) => (await run(`echo "${text}" | sqlsplit | sqlapply $OSS`)).stderr;
  for (const text of [
    'CREATE USER a;',
    'CREATE GROUP a;',
    'CREATE SERVICE ACCOUNT a;',
    'ADD USER a TO b;',
    'GRANT SELECT ON t TO a;',
    'GRANT HTTP TO a;',
    'GRANT PGWIRE, HTTP TO a;',
    'GRANT ASSUME SERVICE ACCOUNT s TO a;',
    'ASSUME SERVICE ACCOUNT s TO a;',
  ])
    t.regex(
      await stderr(text),
      /hint: the open source edition has no access control; sqltr --to open-source --lossy removes it/,
      text,
    );
  t.notRegex(await stderr('CREATE TABLE t;'), /hint: (?!fix the error)/);
  const table = 'CREATE TABLE t (ts TIMESTAMP) timestamp(ts) PARTITION BY DAY';
  t.regex(
    await stderr(`${table} STORAGE POLICY(DROP LOCAL 1d);`),
    /hint: STORAGE POLICY is a clause of the enterprise edition; sqltr --to open-source replaces it by TTL/,
  );
  t.regex(
    await stderr(`${table} OWNED BY a;`),
    /hint: OWNED BY is a clause of the enterprise edition; remove it with sqltr --to open-source --lossy/,
  );
  await run.ok(
    `echo "CREATE USER a; ${table} STORAGE POLICY(DROP LOCAL 1d) OWNED BY a; GRANT SELECT ON t TO a;" | sqlsplit | sqltr --to open-source --lossy | sqlapply $OSS`,
  );
});

test('hints: a user without permissions for access control', async t => {
  const { server, run } = await startSetting(t);
  await setUp(server, 'GRANT HTTP TO zoe', 'GRANT SELECT ON trades TO zoe');
  const asZoe = "SQLDUMP_USER=zoe SQLDUMP_PASSWORD='of zoe' SQLAPPLY_USER=zoe SQLAPPLY_PASSWORD='of zoe'";
  const dump = await run.exits(77, `${asZoe} sqldump $DST`);
  t.regex(dump.stderr, /\[LIST USERS\].*; hint: sqldump --include SCHEMA dumps without access control\n$/);
  await run.ok(`${asZoe} sqldump --include SCHEMA $DST`);
  const created = await run.exits(77, `echo "CREATE USER joe;" | sqlsplit | ${asZoe} sqlapply $DST`);
  t.regex(
    created.stderr,
    /hint: access control requires permissions of its own; sqldump --include SCHEMA leaves it out/,
  );
});

test('hints: a token sent to a server that accepts only passwords', async t => {
  const oss = await serveHere(t, { user: 'u', password: 'p4ss' });
  const run = await inProcess(t, { OSS: oss.url });
  const token = await run.exits(77, 'SQLDUMP_TOKEN=qt1secret sqldump $OSS');
  t.regex(
    token.stderr,
    /the server rejected a token \(SQLDUMP_TOKEN\); are the credentials for this instance\?; the open source edition accepts no tokens, only a user and a password\n$/,
  );
  t.notRegex((await run('SQLDUMP_USER=u SQLDUMP_PASSWORD=wrong sqldump $OSS')).stderr, /tokens/);
});

for (const isDumped of [true, false])
  test(`a plan with --include SCHEMA gives back grants on a recreated view${isDumped ? '' : ', without SHOW CREATE DATABASE'}`, async t => {
    const { server, run } = await startSetting(t, query =>
      !isDumped && query.startsWith('SHOW CREATE DATABASE')
        ? [400, { error: "expected 'TABLE' or 'VIEW'", position: 12 }]
        : undefined,
    );
    const view = (of: string) =>
      `CREATE MATERIALIZED VIEW m WITH BASE trades AS (SELECT ts, ${of}(price) p FROM trades SAMPLE BY 1h) PARTITION BY DAY`;
    await setUp(server, view('max'), 'GRANT SELECT ON m TO zoe WITH GRANT OPTION', 'GRANT SELECT ON trades TO zoe');
    await run(`cat > a.sql <<'END'\n${TABLE};\n${view('min')};\nEND`);
    const plan = await run.ok(
      'sqldiff --alter --include SCHEMA --undo undo.sql -o plan.sql a.sql $DST && cat plan.sql',
    );
    t.is(plan.stdout.match(/^GRANT/gm)?.length, 1, plan.stdout);
    t.regex((await run('cat undo.sql')).stdout, /max\(price\)[^]*^GRANT SELECT ON m TO zoe WITH GRANT OPTION;$/m);
    await run.ok('sqlapply -q --allow-plan $DST plan.sql');
    t.true(
      (await permissionsOf(server, 'zoe')).includes('SELECT m  true'),
      (await permissionsOf(server, 'zoe')).join(),
    );
    await run.ok('sqldiff --alter --include SCHEMA a.sql $DST');
  });

test('a plan leaves out a recreation if the account may not see the grants', async t => {
  const { server, run } = await startSetting(t);
  const view = (of: string) =>
    `CREATE MATERIALIZED VIEW m WITH BASE trades AS (SELECT ts, ${of}(price) p FROM trades SAMPLE BY 1h) PARTITION BY DAY`;
  await setUp(server, view('max'), 'GRANT HTTP TO zoe', 'GRANT SELECT ON ALL TABLES TO zoe');
  await run(`cat > a.sql <<'END'\n${TABLE};\n${view('min')};\nEND`);
  const asZoe = "SQLDIFF_USER=zoe SQLDIFF_PASSWORD='of zoe'";
  const { stdout, stderr } = await run.exits(1, `${asZoe} sqldiff --alter --include SCHEMA a.sql $DST`);
  t.is(stdout, '\0');
  t.regex(
    stderr,
    /'m': left out: DROP and CREATE\n +the grants on it could not be given back, because they are not known: Access denied/,
  );
});

test('a plan for rights only knows the users, groups and service accounts', async t => {
  const { server, run } = await startSetting(t);
  const principals = ['CREATE USER una', 'CREATE GROUP crew', 'CREATE SERVICE ACCOUNT bot'];
  await setUp(server, ...principals, 'GRANT ASSUME SERVICE ACCOUNT bot TO una', 'GRANT HTTP TO crew');
  await run(
    `cat > a.sql <<'END'\n${['CREATE USER joe', 'CREATE GROUP crew', 'ADD USER una TO crew'].join(';\n')};\nEND`,
  );
  for (const option of ['--include PERMISSIONS', '--exclude USERS,GROUPS,SERVICE_ACCOUNTS,SCHEMA']) {
    const plan = `sqldiff --alter ${option} -o plan.sql a.sql $DST`;
    const { stdout } = await run.ok(
      `${plan}; grep -E '^[A-Z]+ ' plan.sql; sqlapply -q --dry-run --allow-plan $DST plan.sql`,
    );
    t.regex(
      stdout,
      /^REVOKE ASSUME SERVICE ACCOUNT bot FROM una;\nREVOKE HTTP FROM crew;\nADD USER una TO crew;\n/,
      option,
    );
  }
});
