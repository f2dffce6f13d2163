/*! Replies that quote secrets, in every encoding, to every program: no message, report or JSON shows them. */
import { maskSecrets } from '@sqlpipe/text';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { answering, ENV, SECRET } from '../support/secrets.js';
import { fc } from '../support/seed.js';
import { test } from '../support/test.js';

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
    t.regex(`${stdout}`, /"error"/);
    t.regex(stderr, /\*\*/);
    t.notRegex(`${stdout}${stderr}`, /s3|cr.{0,6}t(\/|%2F)|Fr0m/i);
  });

test('a long token that a reply quotes is redacted', async t => {
  const { url } = await startFaultyServer(t, (socket, { headers }) => {
    socket.write(reply(`<p>who is ${headers.authorization}?</p>`, 502, 'Content-Type: text/html'));
  });
  const token = 'eyJ0b2s.'.repeat(1000);
  const run = await inProcess(t, { TOKEN: token });
  const { code, stderr } = await run(`umask 077; printf %s "$TOKEN" > t; sqldump --token-file t ${url}`);
  t.is(code, 69);
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
    const { code, stderr } = await run(`sqldump ${url}`);
    t.is(code, 76, stderr);
    t.regex(stderr, /who is \*{21}/);
    t.true(stderr.length < 600);
  }
});

test('a report shows no first part of a secret at which a long rejection is cut', async t => {
  const run = await inProcess(t, ENV);
  const error = `${'x'.repeat(64 * 1024 - 4)}${SECRET}`;
  const { url } = await answering(t, 400, {}, JSON.stringify({ error, position: 0 }));
  const { stdout } = await run(`printf 'CREATE TABLE a (x INT)\\0' | sqlapply --report r ${url}; cat r`);
  t.regex(`${stdout}`, /"error":"x+/);
  t.notRegex(`${stdout}`, new RegExp(`x${SECRET.slice(0, 2)}`));
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
  fc.assert(
    fc.property(secret, fc.string(), fc.string(), fc.constantFrom('base64', 'base64url'), (s, before, after, form) => {
      const encoded = Buffer.from(before + s + after).toString(form as 'base64');
      const masked = maskSecrets(encoded, [s]);
      const rest = Buffer.from(masked.replaceAll('*', ''), form as 'base64').toString();
      t.false(rest.includes(s), encoded);
      t.true(masked.includes('********'), `${encoded} becomes ${masked}`);
    }),
  );
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
