/*! Secrets are not leaked: not in messages or reports, not to other processes and not to other origins. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { listenHttp } from '../support/listen.js';
import { answering, ENV, SECRET } from '../support/secrets.js';
import { test } from '../support/test.js';

test('credentials are sent to their instance, and not shown when it rejects them', async t => {
  const { url, seen } = await answering(t, 401, {}, 'Unauthorized\r\n');
  const run = await inProcess(t, ENV);
  for (const command of [
    `sqldump -v ${url}`,
    `printf 'CREATE TABLE a (x INT)\\0' | sqlapply -v --report r ${url}; s=$?; cat r; exit $s`,
  ]) {
    const { code, stdout, stderr } = await run(command);
    t.is(code, 77);
    t.false(`${stdout}${stderr}`.includes(SECRET));
  }
  t.true(seen[0]?.includes(Buffer.from(`admin:${SECRET}`).toString('base64')));
  t.true(seen.at(-1)?.includes(`Bearer ${SECRET}`));
});

test('a redirect is reported and not followed', async t => {
  const other = await answering(t, 200, {}, '{}');
  const { url } = await answering(t, 302, { Location: `${other.url}/x?token=${SECRET}` }, '');
  const run = await inProcess(t, ENV);
  const { code, stderr } = await run(`sqldump -v ${url}`);
  t.is(code, 76);
  t.true(stderr.includes(other.url));
  t.false(stderr.includes(SECRET));
  t.deepEqual(other.seen, []);
});

test('no process shows a secret in its arguments', async t => {
  const server = createServer(() => {}); // never replies
  const url = await listenHttp(t, server);
  const secret = `${SECRET}-${process.pid}`;
  const run = await inProcess(t, { SQLDUMP_USER: 'admin', SQLDUMP_PASSWORD: secret });
  const running = run.bash(`sqldump ${url}`);
  await once(server, 'request');
  const commands = readdirSync('/proc').flatMap(pid => (/^\d+$/.test(pid) ? commandLine(pid) : []));
  t.true(commands.some(command => command.includes('sqldump')));
  const wrong = commands.filter(command => command.includes(secret));
  t.deepEqual(wrong, []);
  server.closeAllConnections();
  t.is((await running).code, 69);
});

function commandLine(pid: string): string[] {
  try {
    return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
  } catch {
    return []; // it has just ended
  }
}

test('an invalid or surplus address is not shown if it may contain a secret', async t => {
  const run = await inProcess(t);
  for (const [command, status] of [
    [`sqldump http:/u:${SECRET}@h`, 78],
    [`sqldump h/u:${SECRET}@h`, 78],
    [`sqldump h https://u:${SECRET}@h`, 64],
    [`sqldump h 'https::addr=h;token=${SECRET};'`, 64],
    [`sqldiff http//u:${SECRET}@h x`, 78],
    [`sqldump --user u:${SECRET} h`, 78],
    [`sqldump https://u:${SECRET}`, 78],
    [`sqldump u:${SECRET}`, 78],
    [`sqldump ftp://u:${SECRET}`, 78],
    [`sqldump 'http::addr=h;password=x;a=1;a=2'`, 78],
    [`sqldump 'http::addr=h;password=x;${SECRET.replaceAll('-', '')}=1;${SECRET.replaceAll('-', '')}=2'`, 78],
    [`sqldump --password=${SECRET} h`, 64],
  ] as const) {
    const { code, stderr } = await run(command);
    t.is(code, status, stderr);
    t.false(stderr.includes(SECRET) || stderr.includes(SECRET.replaceAll('-', '')), stderr);
  }
});

test('a password after an unknown option is not shown', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run('sqldump -uadmin -pquest h');
  t.is(code, 64);
  t.regex(stderr, /^sqldump: unknown option: -u\n/);
});

test('a secrets file that is not UTF-8 is rejected', async t => {
  const run = await inProcess(t);
  const { code, stderr } = await run(
    `umask 077; printf '${SECRET}\\xe9' > p; sqldump --user admin --password-file p http://127.0.0.1:1`,
  );
  t.is(code, 78);
  t.regex(stderr, /--password-file p is not UTF-8/);
  t.false(stderr.includes(SECRET));
});

for (const statement of [
  `CREATE USER u WITH PASSWORD '${SECRET}'`,
  `CREATE USER u WITH PASSWORD 'qu''${SECRET}'`,
  `ALTER USER u WITH PASSWORD = /* here */ "${SECRET}"`,
  `CREATE USER u WITH REST TOKEN '${SECRET}'`,
])
  test(`a secret in a statement is redacted in messages and reports: ${statement}`, async t => {
    const error = JSON.stringify({ query: statement, error: `unexpected token [${statement}]`, position: 29 });
    const { url } = await startFaultyServer(t, (socket, request) =>
      socket.write(reply(request.statement.startsWith('SHOW') ? '{"error":"no","position":0}' : error, 400)),
    );
    const run = await inProcess(t, { STATEMENT: statement });
    const { code, stdout, stderr } = await run(
      `printf '%s\\0' "$STATEMENT" | sqlapply -v --allow ALTER --report r ${url}; s=$?; cat r; exit $s`,
    );
    t.is(code, 1);
    t.regex(stderr, /(?:PASSWORD|TOKEN) .*\*{15}/);
    t.false(`${stdout}${stderr}`.includes(SECRET), stderr);
  });

test('the rejects file is readable only by its owner, even if it existed before', async t => {
  const { url } = await answering(t, 400, {}, '{"error":"no","position":0}');
  const run = await inProcess(t);
  const { stdout } = await run.bash(
    `umask 022; apply() { printf 'CREATE USER u WITH PASSWORD x\\0' | sqlapply -q --rejects $1 ${url}; stat -c %a $1; }
    apply new; touch there; apply there; umask 277; touch less; apply less`,
  );
  t.is(stdout.toString(), '600\n600\n400\n');
});

test('passwords in statements are redacted in every form of a difference', async t => {
  const run = await inProcess(t);
  const { stdout, stderr } = await run.bash(
    `echo "CREATE USER u WITH PASSWORD '${SECRET}'; CREATE USER v WITH PASSWORD '${SECRET}x' SECRET_TOO;
      CREATE USER only WITH PASSWORD '${SECRET}'; ALTER USER w WITH PASSWORD '${SECRET}';" > a.sql
    echo "CREATE USER u WITH PASSWORD '${SECRET}-longer'; CREATE USER v WITH PASSWORD '${SECRET}y';" > b.sql
    for how in -q --text --names --json; do sqldiff $how a.sql b.sql; sqldiff $how b.sql a.sql; done`,
  );
  t.regex(`${stdout}`, /^differs: user 'u'\n {2}credentials: \*\*\* in a\.sql, \*\*\* in b\.sql\n/m);
  t.regex(`${stdout}`, /^-CREATE USER v WITH PASSWORD '\*\*\*' SECRET_TOO;$/m);
  t.regex(`${stdout}`, /^ {2}statement: CREATE USER v WITH PASSWORD '\*\*\*' SECRET_TOO; in a\.sql, /m);
  t.regex(`${stdout}`, /"a":"CREATE USER only WITH PASSWORD '\*\*\*';"/);
  t.regex(`${stdout}`, /^only in a\.sql: ALTER USER w WITH PASSWORD '\*\*\*'$/m);
  t.false(`${stdout}${stderr}`.includes(SECRET), `${stdout}${stderr}`);
});

test('a failed token_command does not show the token, and an endless one is ended', async t => {
  const run = await inProcess(t);
  const nap = `sleep 61.${process.pid}`; // which no other run of this test has
  const { stderr } = await run(
    `mkdir -p .config/sqlpipe; cat > .config/sqlpipe/instances.toml <<'TOML'
[a]
url = "http://127.0.0.1:1"
token_command = "echo ${SECRET}; echo no ${SECRET} >&2; exit 1"
[b]
url = "http://127.0.0.1:1"
token_command = "trap : TERM; (${nap}; echo x) & ${nap}; echo ${SECRET}"
timeout = 0.5
TOML
    sqldump a; echo $? >&2; timeout 20 sqldump b; echo $? >&2`,
  );
  t.regex(stderr, /^sqldump: token_command of a failed: no \*{15}\n78\n/);
  t.regex(stderr, /\nsqldump: token_command of b did not end within 0.5 s; .*\n78\n$/);
  t.is((await run(`ps -A -o args= | grep -c "^${nap}"`)).stdout.toString(), '0\n', 'nothing that it started goes on');
});

test('credentials over plain http through a remote proxy cause a warning', async t => {
  const { url } = await answering(t, 200, {}, '{"dataset":[],"count":0}');
  const run = await inProcess(t, { ...ENV, no_proxy: '' });
  const proxy = 'http://proxy.invalid:1'; // neither this host nor db.invalid exists
  const warningsOf = async (script: string) => (await run(script)).stderr;
  t.is(await warningsOf(`http_proxy=${url} sqldump http://127.0.0.1:1`), '');
  t.regex(
    await warningsOf(`http_proxy=${url} sqldump http://db.invalid`),
    /to db.invalid, by way of the proxy 127\S+, over plain http/,
  );
  t.regex(
    await warningsOf(`http_proxy=${proxy} sqldump http://127.0.0.1:1`),
    /to 127.0.0.1:1, by way of the proxy proxy.invalid:1, over plain/,
  );
  for (const script of [
    `http_proxy=${proxy} SQLDUMP_PASSWORD= SQLDUMP_USER= sqldump http://127.0.0.1:1`,
    `http_proxy=${url.replace('127.0.0.1', '[::ffff:127.0.0.1]')} sqldump http://127.0.0.1:1`,
  ])
    t.notRegex(await warningsOf(script), /over plain http/);
  const login = proxy.replace('//', `//joe:${SECRET}@`);
  const stderr = await warningsOf(
    `https_proxy=${login} SQLDUMP_PASSWORD= SQLDUMP_USER= sqldump --connect-timeout 0.5 https://db.invalid`,
  );
  t.regex(stderr, /the proxy's credentials go to proxy.invalid:1 over plain http/);
  t.false(stderr.includes(SECRET), stderr);
});

test('a secret in an invalid row or statement is redacted', async t => {
  const row = `CREATE USER u WITH PASSWORD '${SECRET}'`;
  const run = await inProcess(t);
  for (const [rows, command] of [
    [[`${row}; x`], 'sqldump $URL'],
    [[row.slice(0, -1)], 'sqldump $URL'],
    [[`ALTER USER u WITH PASSWORD '${SECRET}'`], 'sqldump $URL | sqljoin -d schema'],
    [[], `echo "ALTER USER u WITH PASSWORD '${SECRET}';" > x.sql; sqlserve --port 0 --load x.sql`],
  ] as const) {
    const { url } = await answering(t, 200, {}, JSON.stringify({ dataset: rows.map(text => [text]) }));
    const { code, stderr } = await run(`URL=${url}; ${command}`);
    t.not(code, 0);
    t.regex(stderr, /PASSWORD '\*{15}/);
    t.false(stderr.includes(SECRET.slice(0, -1)), stderr);
  }
});

test('a secret in malformed text is not shown', async t => {
  const run = await inProcess(t);
  const text = `CREATE USER u WITH PASSWORD '${SECRET}' (; CREATE USER v WITH PASSWORD '${SECRET}`;
  for (const command of ['sqlsplit', 'sqlapply http://127.0.0.1:1', "tr '\\n' '\\0' | sqlapply http://127.0.0.1:1"]) {
    const { code, stderr } = await run.bash(`echo "${text}" | ${command} | wc -c; exit $\{PIPESTATUS[@]:(-2):1}`);
    t.is(code, 65, stderr);
    t.false(stderr.includes(SECRET), stderr);
  }
});

test('control characters in messages of the server are escaped', async t => {
  const { url } = await answering(
    t,
    400,
    {},
    JSON.stringify({ query: '', error: 'no\u001b[2J\u009b1m\u202e', position: 0 }),
  );
  const run = await inProcess(t);
  const { stderr } = await run(`printf 'CREATE TABLE a (x INT)\\0' | sqlapply ${url}; sqldump ${url}`);
  t.notRegex(stderr, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  t.true(stderr.includes('no\\x1b[2J\\x9b1m\\u202e'));
});

test('a line end in a name is escaped in messages', async t => {
  const run = await inProcess(t);
  const twice = ['x', 'y'].map(column => `CREATE TABLE 'a\\nsqlsort: done' (${column} INT);`).join(' ');
  const { stderr } = await run(`printf "${twice}" | sqlsplit | sqlsort`);
  t.regex(stderr, /^sqlsort: .*'a\\nsqlsort: done'.* different definitions; remove one of them\n$/);
});
