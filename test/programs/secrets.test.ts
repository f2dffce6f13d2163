/*! Secrets are not leaked: not in messages or reports, however a reply quotes them, not to other processes and not to other origins. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { maskSecrets } from '@sqlpipe/text';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { listenHttp } from '../support/listen.js';
import { loginAs } from '../support/principals.js';
import { fc, forAll } from '../support/seed.js';
import { type Scope, test } from '../support/test.js';

/** A secret that only its instance may see, and credentials with it, for both ends of a pipe. */
const SECRET = 's3cr3t-Fr0mHere';
const ENV = { SQLDUMP_USER: 'admin', SQLDUMP_PASSWORD: SECRET, SQLAPPLY_TOKEN: SECRET };

/** Starts a server that gives the same answer to every request, and records the headers of each. */
async function answering(scope: Scope, status: number, headers: Record<string, string>, body: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.writeHead(status, headers).end(body);
  });
  return { url: await listenHttp(scope, server), seen };
}

test('credentials are sent to their instance, and not shown when it rejects them', async t => {
  const { url, seen } = await answering(t, 401, {}, 'Unauthorized\r\n');
  const run = await inProcess(t, ENV);
  for (const command of [
    `sqldump -v ${url}`,
    `printf 'CREATE TABLE a (x INT)\\0' | sqlapply -v --report r ${url}; s=$?; cat r; exit $s`,
  ]) {
    const { stdout, stderr } = await run.exits(77, command);
    t.false(`${stdout}${stderr}`.includes(SECRET));
  }
  t.true(seen[0]?.includes(Buffer.from(`admin:${SECRET}`).toString('base64')));
  t.true(seen.at(-1)?.includes(`Bearer ${SECRET}`));
});

test('a redirect is reported and not followed', async t => {
  const other = await answering(t, 200, {}, '{}');
  const { url } = await answering(t, 302, { Location: `${other.url}/x?token=${SECRET}` }, '');
  const run = await inProcess(t, ENV);
  const { stderr } = await run.exits(76, `sqldump -v ${url}`);
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

test('a secrets file that is not UTF-8 is rejected', async t => {
  const run = await inProcess(t);
  const { stderr } = await run.exits(
    78,
    `umask 077; printf '${SECRET}\\xe9' > p; sqldump --user admin --password-file p http://127.0.0.1:1`,
  );
  t.regex(stderr, /--password-file p is not UTF-8/);
  t.false(stderr.includes(SECRET));
});

for (const statement of [
  `CREATE USER u WITH PASSWORD '${SECRET}'`,
  `CREATE USER u WITH PASSWORD 'qu''${SECRET}'`,
  `ALTER USER u WITH PASSWORD = /* here */ "${SECRET}"`,
  `CREATE USER u WITH REST TOKEN '${SECRET}'`,
  `CREATE USER u WITH PASSWORD correct horse ${SECRET}`,
  `ALTER USER u SET PASSWORD TO '${SECRET}'`,
])
  test(`a secret in a statement is redacted in messages and reports: ${statement}`, async t => {
    const quoted = `unexpected token [${statement}], [${statement.split(' ').at(-1)}]`;
    const error = JSON.stringify({ query: statement, error: quoted, position: 29 });
    const { url } = await startFaultyServer(t, (socket, request) =>
      socket.write(reply(request.statement.startsWith('SHOW') ? '{"error":"no","position":0}' : error, 400)),
    );
    const run = await inProcess(t, { STATEMENT: statement });
    const { stdout, stderr } = await run.exits(
      1,
      `printf '%s\\0' "$STATEMENT" | sqlapply -v --allow ALTER --report r ${url}; s=$?; cat r; exit $s`,
    );
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
  t.is(stdout, '600\n600\n400\n');
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
  t.is((await run(`ps -A -o args= | grep -c "^${nap}"`)).stdout, '0\n', 'nothing that it started goes on');
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
    const { stderr } = await run.bash.exits(65, `echo "${text}" | ${command} | wc -c; exit $\{PIPESTATUS[@]:(-2):1}`);
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

/** Replies that quote the request, as servers and proxies do; messages may truncate the quotation. */
const QUOTING: Record<string, (statement: string, url: string) => [status: number, body: string]> = {
  'a failure': statement => [500, JSON.stringify({ error: `internal error in [${statement}]` })],
  'a web page': (_, url) => [502, `<p>${url.slice(url.indexOf('?')).replaceAll("'", '&#39;')}</p>`],
  'a page truncated within the secret': (_, url) => [504, url.slice(url.indexOf('WITH')).padStart(100, '.')],
  'the request decoded': statement => [503, statement],
  'other JSON': statement => [200, JSON.stringify({ args: { query: statement } })],
  'the header': () => [200, `{"headers":{"authorization":"Bearer ${SECRET}"}}`],
};

for (const [name, answer] of Object.entries(QUOTING))
  test(`no message shows a secret if the reply quotes the request: ${name}`, async t => {
    const { url } = await startFaultyServer(t, (socket, { line, statement }) => {
      const [status, body] = answer(statement, line.split(' ')[1] ?? '');
      socket.write(reply(body, status, 'Content-Type: text/html'));
    });
    const secret = 's3 cr"t/Fr0m+Here';
    const run = await inProcess(t, { ...ENV, STATEMENT: `CREATE USER u WITH PASSWORD '${secret}'` });
    const { stdout, stderr } = await run(
      `printf '%s\\0' "$STATEMENT" | sqlapply -v --report r ${url}; s=$?; cat r; exit $s`,
    );
    t.regex(stderr, /answered/);
    t.regex(stdout, /"error"/);
    t.regex(stderr, /\*\*/);
    t.notRegex(`${stdout}${stderr}`, /s3|cr.{0,6}t(\/|%2F)|Fr0m/i);
  });

test('a long token that a reply quotes is redacted', async t => {
  const { url } = await startFaultyServer(t, (socket, { headers }) => {
    socket.write(reply(`<p>who is ${headers.authorization}?</p>`, 502, 'Content-Type: text/html'));
  });
  const token = 'eyJ0b2s.'.repeat(1000);
  const run = await inProcess(t, { TOKEN: token });
  const { stderr } = await run.exits(69, `umask 077; printf %s "$TOKEN" > t; sqldump --token-file t ${url}`);
  t.regex(stderr, /"<p>who is Bearer \*{20}/);
});

test('a login quoted in the rows or keys of an invalid dump is redacted', async t => {
  const run = await inProcess(t, ENV);
  const long = 'x'.repeat(100_000);
  for (const reply of [
    { dataset: [[`who is admin:${SECRET}; x`]] },
    { columns: [{ name: `who is admin:${SECRET}?` }] },
    { dataset: [], count: `who is admin:${SECRET}?${long}` },
  ]) {
    const { url } = await answering(t, 200, {}, JSON.stringify(reply));
    const { stderr } = await run.exits(76, `sqldump ${url}`);
    t.regex(stderr, /who is \*{21}/);
    t.true(stderr.length < 600);
  }
});

test('a report shows no first part of a secret at which a long rejection is cut', async t => {
  const run = await inProcess(t, ENV);
  const error = `${'x'.repeat(64 * 1024 - 4)}${SECRET}`;
  const { url } = await answering(t, 400, {}, JSON.stringify({ error, position: 0 }));
  const { stdout } = await run(`printf 'CREATE TABLE a (x INT)\\0' | sqlapply --report r ${url}; cat r`);
  t.regex(stdout, /"error":"x+/);
  t.notRegex(stdout, new RegExp(`x${SECRET.slice(0, 2)}`));
});

/** Ways in which a reply may hold a secret. */
const ENCODINGS: Record<string, (secret: string) => string> = {
  'as it is': secret => secret,
  'in a URL': encodeURIComponent,
  'in JSON': secret => JSON.stringify(secret).slice(1, -1),
  'in JSON, with \\u': secret => secret.replace(/[^\w]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in HTML': secret => secret.replace(/[&"'<>]/g, character => `&#${character.charCodeAt(0)};`),
  'in base64': secret => Buffer.from(secret).toString('base64'),
  'in base64 for URLs': secret => Buffer.from(secret).toString('base64url'),
  'in base64 with its name': secret => Buffer.from(`password=${secret}`).toString('base64'),
  'in base64 in a sentence': secret => Buffer.from(`The password ${secret} is wrong.`).toString('base64'),
  'in base64 in a URL': secret => encodeURIComponent(Buffer.from(secret).toString('base64')),
  'read as Latin-1': secret => Buffer.from(secret).toString('latin1'),
};

const STRANGE_SECRET = 's3 cr"t/Fr0m+Hère?>?>?>';
/** Pieces of the secret in any of the encodings. */
const PIECES = /s3|cr.{0,6}t(\/|%2F)|Fr0m|re\?|czMg|MyBj|zIGNy|RnIw|ZyMG|GcjBt/i;

/** Where a secret comes from: variables of both ends, or a statement. */
const SECRETS: Record<string, { env: (url: string) => NodeJS.ProcessEnv; statement?: string }> = {
  'a password': { env: () => loginAs('admin', STRANGE_SECRET) },
  'a token': {
    env: () => Object.fromEntries(ENDS.map(end => [`${end}_TOKEN`, STRANGE_SECRET.replace(/[^\x21-\x7e]/g, '')])),
  },
  'the password of a proxy': {
    env: url => ({ http_proxy: url.replace('//', `//joe:${encodeURIComponent(STRANGE_SECRET)}@`), no_proxy: '' }),
  },
  'a password in a statement': { env: () => ({}), statement: `CREATE USER u WITH PASSWORD '${STRANGE_SECRET}'` },
};
const ENDS = ['SQLDUMP', 'SQLAPPLY', 'SQLDIFF', 'SQLPIPE'];

const APPLY = 'sqlapply -v < stream';
const REPORT = `${APPLY} --report -`;
const PROGRAMS = ['sqldump -v', 'sqldiff -v /dev/null', 'sqlpipe check', REPORT, `${APPLY} --dry-run --json`];

for (const [what, { env, statement = 'CREATE TABLE a (x INT)' }] of Object.entries(SECRETS))
  test(`no program shows ${what}, however a server quotes it`, async t => {
    let quoted = '';
    const isOfStatement = what.includes('statement');
    const { url } = await startFaultyServer(t, (socket, request) => {
      const isQuoted = !isOfStatement || request.statement === statement;
      const body = isQuoted ? { error: `no [${quoted}] here` } : { error: 'unknown' };
      socket.write(reply(JSON.stringify(body), 400));
    });
    const isProxied = what.includes('proxy');
    const run = await inProcess(t, env(url), { stream: `${statement}\0` });
    let shown = 0;
    for (const program of isOfStatement ? [REPORT] : PROGRAMS)
      for (const [how, encode] of Object.entries(ENCODINGS)) {
        quoted = encode(what === 'a token' ? STRANGE_SECRET.replace(/[^\x21-\x7e]/g, '') : STRANGE_SECRET);
        const { stdout, stderr } = await run(`${program} ${isProxied ? 'http://db.invalid' : url}`);
        t.notRegex(`${stdout}${stderr}`, PIECES, `${program}: ${how}`);
        if (/\*{8}/.test(`${stdout}${stderr}`)) shown++;
      }
    t.true(shown >= Object.keys(ENCODINGS).length, `${shown} replies are shown`);
  });

test('any secret of eight bytes is found in any text in base64', t => {
  const secret = fc.string({ minLength: 10, maxLength: 40, unit: 'grapheme' });
  forAll(100, secret, fc.string(), fc.string(), fc.constantFrom('base64', 'base64url'), (s, before, after, form) => {
    const encoded = Buffer.from(before + s + after).toString(form as 'base64');
    const masked = maskSecrets(encoded, [s]);
    const rest = Buffer.from(masked.replaceAll('*', ''), form as 'base64').toString();
    t.false(rest.includes(s), encoded);
    t.true(masked.includes('********'), `${encoded} becomes ${masked}`);
  });
});

test('a short secret is masked beside a letter, but a word of letters alone not inside of other words', t => {
  t.is(maskSecrets('no user_hunter2, xhunter2y or hunter2', ['hunter2']), 'no user_*******, x*******y or *******');
  t.is(maskSecrets('tables, a_table and table', ['table']), 'tables, a_***** and *****');
  t.is(maskSecrets('line 42 of 142', ['42']), 'line ** of 142');
});

test('a password that is a word of a message changes no result', async t => {
  const messages: [statement: RegExp, message: string][] = [
    [/^SHOW CREATE DATABASE/, "expected 'TABLE' or 'VIEW'"],
    [/^SHOW CREATE/, 'table does not exist [table=a]'],
    [/^CREATE/, 'table already exists'],
  ];
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    const [, error] = messages.find(([pattern]) => pattern.test(statement)) ?? [];
    const body = error === undefined ? { dataset: [], count: 0 } : { error, position: 0 };
    socket.write(reply(JSON.stringify(body), error === undefined ? 200 : 400));
  });
  const results = new Set<string>();
  for (const password of ['other-password', 'expected', 'TABLE', 'DATABASE', 'exist', 'exists', 'table', 'query']) {
    const run = await inProcess(t, loginAs('admin', password));
    const { code, stderr } = await run(
      `printf 'CREATE TABLE a (x INT)\\0' | sqlapply ${url}; a=$?; sqldump ${url}; exit $a$?`,
    );
    results.add(
      `${code} ${/use --via catalogue/.test(stderr)} ${/skip|does not exist|cannot be compared/.exec(stderr)}`,
    );
  }
  t.is(results.size, 1, [...results].join('; '));
});
