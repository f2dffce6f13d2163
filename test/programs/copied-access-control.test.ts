/*! A complete enterprise database copied between two sqlserve, with the built programs in a real shell. */
import { cases } from '../cases/cases.js';
import { inProcess, type Run } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
let run: Run;

const names = (kind: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${kind}${n}`);
const users = names('user', 10);
const groups = names('group', 3);
const accounts = names('robot', 4);

const tables = ['trades', 'fx_quotes', 'odd name', 'select'];

/** Sixty grants on the database, on tables and on columns; half of them with the grant option. */
const grants = names('', 60).map(text => {
  const n = Number(text);
  const table = tables[Math.floor(n / 3) % tables.length];
  const what = [
    ['CREATE TABLE', 'CREATE VIEW', 'LIST USERS', 'USER DETAILS'][Math.floor(n / 3) % 4],
    `SELECT, INSERT ON '${table}'`,
    `SELECT, UPDATE ON '${table}'(ts, v)`,
  ][n % 3];
  const entity = [...users, ...groups, ...accounts][n % 17];
  return `GRANT ${what} TO ${entity}${n % 2 ? ' WITH GRANT OPTION' : ''};`;
});

const database = [
  ...users.map(name => `CREATE USER ${name} WITH PASSWORD 'secret of ${name}';`),
  ...groups.map(name => `CREATE GROUP ${name};`),
  ...accounts.map(name => `CREATE SERVICE ACCOUNT ${name};`),
  ...tables.map(
    name =>
      `CREATE TABLE '${name}' (ts TIMESTAMP, s SYMBOL, v DOUBLE) timestamp(ts) PARTITION BY DAY OWNED BY 'group0';`,
  ),
  "CREATE MATERIALIZED VIEW hourly AS (SELECT ts, max(v) AS v FROM trades SAMPLE BY 1h) PARTITION BY DAY OWNED BY 'user1';",
  "CREATE VIEW latest AS (SELECT * FROM hourly) OWNED BY 'user2';",
  ...users.map((name, n) => `ADD USER ${name} TO ${groups.slice(0, (n % 3) + 1).join(', ')};`),
  ...accounts.map(
    (name, n) => `GRANT ASSUME SERVICE ACCOUNT ${name} TO ${n % 2 ? `user${n} WITH GRANT OPTION` : groups[n % 3]};`,
  ),
  ...grants,
  'CREATE USER reader WITH PASSWORD s3cret;',
  'GRANT HTTP TO reader;',
  'GRANT SELECT ON ALL TABLES TO reader;',
  // After the narrower grant, the wider one would remove its option.
  'GRANT ADD COLUMN TO reader;',
  'GRANT ADD COLUMN ON trades TO reader WITH GRANT OPTION;',
];

test.before(async () => {
  const [from, to] = await Promise.all([0, 1].map(() => serveHere(scope, { edition: 'enterprise' })));
  const oss = await startSqlserve(scope);
  run = await inProcess(scope, { ENT: from?.url, ENT2: to?.url, OSS: oss.url, ...loginAs() });
  const made = await run(`sqlsplit <<'END' | sqlapply $ENT\n${database.join('\n')}\nEND`);
  if (made.code !== 0) throw new Error(made.stderr);
});

const asReader = 'SQLDUMP_USER=reader SQLDUMP_PASSWORD=s3cret sqldump';

test('the dump of a copy is byte-identical to the original', async t => {
  const copied = await run.ok('set -o pipefail; sqldump $ENT | sqlapply $ENT2');
  const same = await run.ok('sqldump $ENT > a && sqldump $ENT2 > b && cmp a b && tr "\\0" "\\n" < a');
  const text = same.stdout;
  t.is(text.match(/^CREATE USER/gm)?.length, 11);
  t.regex(text, /^ADD USER user2 TO group0, group1, group2;$/m);
  t.regex(text, /^GRANT ASSUME SERVICE ACCOUNT robot1 TO user1 WITH GRANT OPTION;$/m);
  t.regex(text, /^GRANT SELECT, UPDATE ON "select"\(ts, v\) TO \w+ WITH GRANT OPTION;$/m);
  t.notRegex(text, /secret|password|argon/i);

  const lacking = copied.stderr.split('\n').filter(line => line.includes('cannot log in yet'));
  t.is(lacking.length, 15);
  for (const name of [...users, 'reader']) {
    const isListed = lacking.some(line => line.includes(`ALTER USER '${name}' WITH PASSWORD`));
    t.true(isListed, name);
  }
  for (const name of accounts) {
    const hasToken = lacking.some(line => line.includes(`ALTER SERVICE ACCOUNT '${name}' CREATE TOKEN`));
    t.true(hasToken, name);
  }
});

test('replaying a dump again skips all users, groups and service accounts', async t => {
  const again = await run.ok('set -o pipefail; sqldump $ENT | sqlapply -v $ENT2');
  t.regex(again.stderr, /: (\d+) statements: \1 skipped\n$/);
  const dry = await run('sqldump $ENT | sqlgrep --kind user,grant user1 | sqlapply --dry-run $ENT2 | sort -u');
  t.is(dry.stdout, 'skipped: 2 statements\n');
});

test('an existing user is skipped; credentials that cannot be compared are reported', async t => {
  const create = `printf "create user 'USER1' %s\\0"`;
  t.regex(
    (await run.ok(`${create} "with password 'x'" | sqlapply -v $ENT2`)).stderr,
    /^sqlapply: not compared, because \S+ does not show it: user 'USER1': credentials\n.*: 1 skipped\n$/m,
  );
  await run.ok(`${create} '' | sqlapply $ENT2`);
  t.regex((await run(`${create} '' | sqlapply --if-exists fail $ENT2`)).stderr, /: user already exists/);
  t.regex(
    (await run('printf "create group user1\\0" | sqlapply $ENT2')).stderr,
    /group 'user1'\): user already exists/,
  );
  t.regex((await run('printf "create user x\\0" | sqlapply $OSS')).stderr, /user 'x'\): 'atomic' or 'table'/);
});

test('users of a copy cannot log in before their credentials are set', async t => {
  const before = await run.exits(77, `${asReader} --include SCHEMA $ENT2`);
  t.regex(before.stderr, /^sqldump: .*401/);
  await run.ok("printf \"ALTER USER 'reader' WITH PASSWORD 's3cret';\\0\" | sqlapply --allow ALTER --no-verify $ENT2");
  await run.ok(`${asReader} --include SCHEMA $ENT2 > b && sqldump --include SCHEMA $ENT | cmp - b`);
});

test('a user with only SELECT can dump the schema; a message names the missing permission', async t => {
  const schema = await run(`${asReader} --include SCHEMA $ENT | grep -zc '^CREATE'`);
  t.is(schema.stdout, '6\n', schema.stderr);
  const acl = await run.exits(77, `${asReader} --include ACL $ENT`);
  t.regex(acl.stderr, /Access denied for reader \[LIST USERS\]/);
  t.false(acl.stdout.includes('\0'), 'no record is complete');
});

test('the schema without owners replays on the open source edition', async t => {
  await run.ok('set -o pipefail; sqldump --include SCHEMA --no-owner $ENT | sqlapply $OSS');
  const { stdout } = await run('sqldump --include SCHEMA --no-owner $ENT > a; sqldump $OSS | cmp a - && echo same');
  t.is(stdout, 'same\n');
});

for (const { title, input, output } of cases('enterprise-clauses'))
  test(title, async t => {
    const [from, to] = await Promise.all([0, 1].map(() => serveHere(t, { edition: 'enterprise' })));
    const oss = await serveHere(t, { questdb: '9.4' });
    const bash = await inProcess(t, { ...loginAs(), ENT: from?.url, ENT2: to?.url, OSS: oss.url });
    const made = await bash(`sqlsplit <<'END' | sqlapply --no-verify --allow ALTER $ENT
${input}
END`);
    t.is(made.code, 0, made.stderr);
    const dump = await bash('sqldump --verbatim --include SCHEMA $ENT');
    t.is(dump.stdout.replaceAll('\0', '\n').trimEnd(), output);
    await bash.ok('set -o pipefail; sqldump $ENT | sqlapply $ENT2; sqldump $ENT > a; sqldump $ENT2 | cmp a');
    const live = await bash('sqldump --include LIVE_VIEWS $ENT | grep -zc .; sqldump --include LIVE_VIEWS $OSS');
    t.is(live.stdout.split('\n')[0], '1');
    t.regex(live.stderr, /unexpected category \[category=LIVE_VIEWS\]/);
    const refused = await bash.exits(1, 'sqldump --include SCHEMA --no-owner $ENT | sqlapply $OSS');
    t.regex(
      refused.stderr,
      /live view 'latest'\): the target is .* which does not support live views; nothing was sent/,
    );
    const rejected = await bash.exits(1, 'sqldump --include TABLES --no-owner $ENT | sqlapply $OSS');
    t.regex(rejected.stderr, /unexpected token \[STORAGE\]/);
  });
