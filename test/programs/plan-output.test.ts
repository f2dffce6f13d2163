/*! Plans as users handle them: in a file, on a terminal, and the permission to apply one. */
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { loginAs } from '../support/principals.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { terminal } from '../support/terminal.js';
import { test } from '../support/test.js';

const BEFORE = `CREATE TABLE trades (ts TIMESTAMP, fee INT) TIMESTAMP(ts) PARTITION BY DAY;
CREATE TABLE other (x INT);
`;
const AFTER = `CREATE TABLE trades (ts TIMESTAMP, qty INT) TIMESTAMP(ts) PARTITION BY DAY;
`;
const LOSSES = '--allow-loss drop:trades.fee --allow-loss drop:other';
const WRITE_FILES = `cat > before.sql <<'END'\n${BEFORE}END\ncat > after.sql <<'END'\n${AFTER}END\n`;

/** A shell with a server that has BEFORE at $DB, and `plan.sql`, which turns it into AFTER. */
async function shellWithPlan(t: ExecutionContext) {
  const { url } = await startSqlserve(t);
  const run = await inProcess(t, { DB: url });
  await run(`${WRITE_FILES} sqlapply $DB before.sql; sqldiff --alter ${LOSSES} after.sql $DB -o plan.sql`);
  return run;
}

test('-o NAME.sql is text, -o with another name the stream, and the text is that of the stream', async t => {
  const run = await shellWithPlan(t);
  const written = await run(
    `sqldiff --alter ${LOSSES} after.sql $DB -o plan && cat plan.sql && tr '\\0' '\\n' < plan | cmp plan.sql - && ls`,
  );
  t.regex(
    written.stdout,
    /^-- plan for state [0-9a-f]{16}; 3 statements; sqlapply needs --allow-plan for ALTER, DROP\n[^]*\nDROP TABLE 'other';\n\nafter\.sql\nbefore\.sql\nplan\nplan\.sql\n$/,
  );
  t.like(await run('sqldiff --missing before.sql after.sql -o missing.sql; cat missing.sql'), {
    stdout: 'CREATE TABLE other (x INT);\n\n',
  });
  t.like(await run('sqldiff --names before.sql after.sql -o names; echo $?; cat names'), {
    stdout: "1\nonly in before.sql: table 'other'\ndiffers: table 'trades'\n",
  });
});

test('a plan has no names of instances or files, but a message says which of the two would change', async t => {
  const run = await shellWithPlan(t);
  const { stdout, stderr } = await run('echo $DB; cat plan.sql; sqldiff -v --alter after.sql $DB -o /dev/null');
  const [url = '', ...plan] = stdout.split('\n');
  t.false(plan.join('\n').includes(url.replace('http://', '')));
  t.is(stderr.split('\n')[0], `sqldiff: plan to change ${url}, so that it matches after.sql`);
});

test('on a terminal a plan is text, with dim comments and red removals', async t => {
  const run = await terminal(t);
  const { screen } = await run(`${WRITE_FILES} sqldiff -q --alter ${LOSSES} after.sql before.sql`);
  t.regex(screen, /\x1b\[2m-- plan for state/);
  t.regex(screen, /\x1b\[31mDROP TABLE 'other';/);
  t.regex(screen, /\x1b\[31mALTER TABLE 'trades' DROP COLUMN fee;/);
  t.notRegex(screen, /\x1b\[31mALTER TABLE 'trades' ADD/);
  const name = await run(
    `printf "CREATE TABLE 'a drop column b' (x INT);" > b.sql; sed 's/INT/INT, y INT/' b.sql > a.sql; sqldiff -q --alter a.sql b.sql`,
  );
  t.regex(name.screen, /\bADD COLUMN y INT;/);
  t.notRegex(name.screen, /\x1b\[31m/);
});

test('--allow-plan allows the statements of the plan', async t => {
  const run = await shellWithPlan(t);
  const refused = await run('sqlapply $DB plan.sql');
  t.regex(refused.stderr, /nothing was sent\n[^]*hint: use --allow-plan to send them\n$/);
  t.like(await run('sqlapply --allow-plan $DB plan.sql; sqldiff after.sql $DB'), { code: 0, stderr: '' });
});

test('--allow-plan allows nothing beside the plan', async t => {
  const run = await shellWithPlan(t);
  await run("echo 'TRUNCATE TABLE trades;' > truncate.sql; echo 'ALTER TABLE trades ADD COLUMN x INT;' > more.sql");
  const untouched = 'sqldiff before.sql $DB || echo CHANGED';
  for (const [files, message] of [
    ['plan.sql truncate.sql', /statement.*TRUNCATE.*|truncate\.sql:1: TRUNCATE/],
    ['plan.sql more.sql', /more\.sql:1: .*\n {2}hint: use --allow ALTER to send it/],
    ['more.sql plan.sql', /plan\.sql:\d+: .*begins a plan, which must be applied alone; nothing was sent/],
    ['more.sql', /use --allow ALTER to send it/],
  ] as const) {
    const { stdout, stderr } = await run(`sqlapply --allow-plan $DB ${files}; echo $?; ${untouched}`);
    t.is(stdout, '1\n', files);
    t.regex(stderr, message, files);
  }
  // A text of the plan is not allowed again after it, for what was created in between.
  const drop = (await run('cat plan.sql')).stdout.split('\n\n').at(-2) ?? '';
  await run(`cat > twice.sql <<'END'\nCREATE TABLE other (y INT);\n${drop}\nEND\ncat plan.sql twice.sql > again.sql`);
  const again = await run.exits(1, 'sqlapply --allow-plan $DB again.sql');
  t.regex(again.stderr, /2 statements are rejected; nothing was sent\n[^]*hint: use --allow DROP to send them\n$/);
  t.is((await run(untouched)).stdout, '');
  await run(`cat > new.sql <<'END'\nCREATE TABLE another (y INT);\nEND\ncat plan.sql new.sql > appended.sql`);
  const appended = await run.exits(0, 'sqlapply --dry-run --allow-plan $DB appended.sql');
  t.regex(appended.stdout, /^would create table 'another'$/m);
  const [total] = (await run("cat plan.sql truncate.sql | grep -c ';$'")).stdout.split('\n');
  for (const verbs of ['ALL', 'TRUNCATE', 'ALTER, TRUNCATE', 'CTAS, REPLACE, ALL']) {
    const head = `sed '1s/; [0-9]* statement.*/; ${total} statements; sqlapply needs --allow-plan for ${verbs}/' plan.sql`;
    const forged = await run(
      `${head} > forged.sql; cat truncate.sql >> forged.sql; sqlapply --allow-plan $DB forged.sql`,
    );
    t.regex(forged.stderr, /use --allow [A-Z,]*TRUNCATE to send (?:it|them)/, verbs);
  }
});

test('with --keep-going, a statement after a plan does not end the run, because nothing relies on it', async t => {
  const run = await shellWithPlan(t);
  await run("printf 'CREATE TABLE trades (z INT); CREATE TABLE last (y INT);' > more.sql");
  const { stderr } = await run.exits(1, 'sqlapply --keep-going --allow-plan $DB plan.sql more.sql');
  t.regex(stderr, /table 'trades': already exists with a different definition/);
  t.regex((await run('sqldump $DB last')).stdout, /CREATE TABLE 'last'/);
});

test('a plan after other statements is rejected, because it is not compared with the state that it was made for', async t => {
  const run = await shellWithPlan(t);
  await run('sqlsplit plan.sql > plan; sqlsplit before.sql > schema');
  for (const options of ['--allow all', '--allow all --dry-run', '--stale-ok --keep-going --allow all', '--allow-plan'])
    t.regex(
      (await run.exits(1, `cat schema plan | sqlapply ${options} $DB`)).stderr,
      /^sqlapply: statement 3 \(ALTER of table 'trades'\): begins a plan, which must be applied alone; nothing was sent$/m,
    );
  await run.ok('sqldiff before.sql $DB');
  const streamed = await run.exits(1, 'cat schema plan | sqlapply --stream --allow all $DB');
  t.regex(streamed.stderr, /statement 3 \(.*\): begins a plan, which must be applied alone\n/);
  await run.ok('sqldiff before.sql $DB');
  t.regex((await run.exits(1, 'cat plan plan | sqlapply --allow all $DB')).stderr, /statement 4 .*: begins a plan/);
});

test('--allow-plan applies a plan only to the state that it was made for', async t => {
  const run = await shellWithPlan(t);
  t.is((await run('sqlapply --allow-plan --stale-ok $DB plan.sql')).code, 64);
  await run.bash('sqlapply --allow ALTER $DB <(echo "ALTER TABLE trades ADD COLUMN x INT;" | sqlsplit)');
  const { stderr } = await run.exits(1, 'sqlapply --allow-plan $DB plan.sql');
  t.regex(stderr, /the plan was made for a different state; make it again with sqldiff --alter; nothing was sent/);
  const unpermitted = await run.exits(1, 'sqlapply $DB plan.sql');
  t.regex(unpermitted.stderr, /: the plan was made for a different state; make it again/);
  t.notRegex(unpermitted.stderr, /--allow/);
  const allowed = await run('sqlapply --allow ALTER $DB plan.sql');
  t.regex(allowed.stderr, /make it again with sqldiff --alter, or apply it with --stale-ok; nothing was sent/);
  const streamed = await run('sqlsplit plan.sql | sqlapply --stream --allow all $DB');
  t.regex(streamed.stderr, /a plan must be read completely/);
  await run.ok('sqlapply --stale-ok --allow all $DB plan.sql');
});

test('a report and -v show each statement that was sent, with its object; the report has the time', async t => {
  const { url } = await serveHere(t, { questdb: '9.4' });
  const run = await inProcess(t, { DB: url });
  await run(`${WRITE_FILES} sqlapply $DB before.sql`);
  const began = Date.now();
  const applied = await run(
    'sqlapply -v --alter --allow-loss drop:trades.fee --report report $DB after.sql; cat report',
  );
  const lines = parseJsonLines(applied.stdout);
  const found = lines.map(({ verb, kind, name, result }) => [verb, kind, name, result]);
  t.deepEqual(found, [
    ['SELECT', 'other', '', 'applied'],
    ['ALTER', 'table', 'trades', 'applied'],
    ['ALTER', 'table', 'trades', 'applied'],
    ['CREATE', 'table', 'trades', 'skipped'],
  ]);
  t.regex(lines[2].statement, /ALTER TABLE 'trades' DROP COLUMN fee;$/);
  for (const { time } of lines) {
    t.regex(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.true(Date.parse(time) >= began - 1000 && Date.parse(time) <= Date.now() + 1000);
  }
  t.regex(
    applied.stderr,
    /^sqlapply: statement 3 \(ALTER of table 'trades'\): applied\n {2}-- loses column 'fee'\n {2}ALTER TABLE 'trades' DROP COLUMN fee;$/m,
  );
  t.notRegex(applied.stderr, /skipped\n {2}/);
  const dry = await run('sqlapply --dry-run --json $DB after.sql');
  t.notRegex(dry.stdout, /"time"/);
});

test('a report names what a statement without a definition changes', async t => {
  const { url } = await serveHere(t, { edition: 'enterprise' });
  const run = await inProcess(t, { DB: url, ...loginAs() });
  await run(`cat > changes.sql <<'END'
CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY;
CREATE USER ann WITH PASSWORD 'hunter2hunter2';
GRANT SELECT ON t TO ann;
REVOKE SELECT ON t FROM ann;
ALTER USER ann WITH PASSWORD 'hunter3hunter3';
RENAME TABLE t TO u;
DROP USER ann;
DROP TABLE u;
END`);
  await run('printf quest > password; chmod 600 password');
  const account = '--user admin --password-file password';
  const { stdout, stderr } = await run(
    `sqlapply -v ${account} --allow all --report report $DB changes.sql; cat report`,
  );
  const objects = parseJsonLines(stdout).map(({ verb, kind, name }) => `${verb} ${kind} ${name}`);
  t.deepEqual(objects, [
    'CREATE table t',
    'CREATE user ann',
    'GRANT grant ann',
    'REVOKE grant ann',
    'ALTER user ann',
    'RENAME table t',
    'DROP user ann',
    'DROP table u',
  ]);
  t.false(`${stdout}${stderr}`.includes('hunter'));
  t.regex(stderr, /ALTER USER ann WITH PASSWORD '\*\*\*'/);
});

test('the plan and the way back need two files, however these are spelt', async t => {
  const run = await inProcess(t);
  await run(`${WRITE_FILES} touch old; ln -s old link`);
  for (const options of ['-o f --undo f', '-o f --undo ./f', '-o old --undo link', '--undo -', '-o - --undo -']) {
    const { stdout, stderr } = await run.exits(64, `sqldiff --alter ${LOSSES} ${options} after.sql before.sql`);
    t.is(stdout, '');
    t.regex(stderr, /--undo and -o need different files/);
    t.is(`${(await run('ls f; cat old')).stdout}`, '', options);
  }
  await run.ok(`sqldiff --alter ${LOSSES} -o f --undo g after.sql before.sql`);
});

test('the way back of a new view can be applied, although its statement names no base', async t => {
  const run = await shellWithPlan(t);
  await run(`cat >> before.sql <<'END'
CREATE TABLE p (ts TIMESTAMP, price DOUBLE) TIMESTAMP(ts) PARTITION BY DAY;
CREATE MATERIALIZED VIEW m AS (SELECT ts, max(price) high FROM p SAMPLE BY 1h) PARTITION BY DAY;
END
sqldiff --alter --undo back.sql before.sql $DB | sqlapply --allow-plan $DB`);
  await run.ok('sqlapply --allow-plan $DB back.sql');
  t.is((await run('sqldump $DB')).stdout.includes("VIEW 'm'"), false);
});

test('if the plan or the way back cannot be written, neither file is replaced', async t => {
  const run = await inProcess(t);
  await run(`${WRITE_FILES} echo old > old.sql`);
  for (const options of ['-o nope/plan --undo old.sql', '-o old.sql --undo nope/undo']) {
    await run.exits(74, `sqldiff --alter ${LOSSES} ${options} after.sql before.sql`);
    t.is((await run('cat old.sql; ls -a')).stdout, 'old\n.\n..\nafter.sql\nbefore.sql\nold.sql\n', options);
  }
});

test('an allowed loss whose name matches nothing gets a note', async t => {
  const run = await shellWithPlan(t);
  for (const script of ['sqldiff -v --alter', 'sqlapply -v --dry-run --alter']) {
    const operands = script.startsWith('sqldiff') ? 'before.sql $DB' : '$DB before.sql';
    const { stderr } = await run.ok(`${script} --allow-loss drop:nowhere --allow-loss history:no.where ${operands}`);
    for (const name of ['drop:nowhere', 'history:no.where'])
      t.true(stderr.includes(`--allow-loss ${name}: nothing of this name is lost`), `${script}: ${stderr}`);
  }
});

test('a plan that lacks its last statement, or has only the comments at its head, is damaged', async t => {
  const run = await shellWithPlan(t);
  const bare = /the plan is incomplete: only the comments at its head are left/;
  await run("sed 's/fee INT/&, a INT, b INT/' before.sql > more.sql; sqldiff --alter -o plan more.sql $DB");
  await run("sed '$aCREATE TABLE m (x INT); CREATE TABLE n (x INT);' before.sql | sqldiff --alter - $DB -o creating");
  const cut = (options: string, plan = 'plan') =>
    [
      `sed -z '$d' ${plan} | sqlapply ${options} $DB`,
      /^sqlapply: the plan is incomplete: .* 2 statements, but it has 1; .*nothing was sent$/m,
    ] as const;
  for (const [script, message] of [
    cut('--allow-plan'),
    cut('--allow ALTER'),
    cut('--allow all --keep-going'),
    cut('--allow ALTER --dry-run'),
    cut('--allow ALTER --stale-ok'),
    cut('', 'creating'),
    cut('--stale-ok', 'creating'),
    ['sqldiff --alter -o plan after.sql $DB; sed -z "s/\\n[^-].*//" plan | sqlapply --allow-plan $DB', bare],
    ['sqldiff --alter -o p.sql after.sql $DB; grep "^--" p.sql > head.sql; sqlapply --allow-plan $DB head.sql', bare],
  ] as const)
    t.regex((await run.exits(65, script)).stderr, message);
  await run.ok('sqldiff before.sql $DB');
  for (const uncounted of ['', '; of a newer version'])
    await run.ok(`sed 's/; 2 statements/${uncounted}/' creating | sqlapply --dry-run $DB`);
  await run.ok('sqlapply $DB < creating');
});
