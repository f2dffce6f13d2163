import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { answering, ENV, SECRET } from '../support/secrets.js';
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

test('a login quoted in a rejection is redacted', async t => {
  const run = await inProcess(t, ENV);
  for (const [status, program] of [
    [400, 'sqldump'],
    [403, "printf 'CREATE TABLE a (x INT)\\0' | sqlapply"],
  ] as const) {
    const { url } = await answering(
      t,
      status,
      {},
      JSON.stringify({ error: `Access denied for ${SECRET}`, position: 0 }),
    );
    const { stderr } = await run(`${program} -v ${url}`);
    t.regex(stderr, /Access denied for \*{15}/);
    t.false(stderr.includes(SECRET), stderr);
  }
});

test('proxy credentials quoted in a reply are redacted', async t => {
  const { url } = await startFaultyServer(t, (socket, { headers }) => {
    const sent = headers['proxy-authorization'] ?? '';
    const login = Buffer.from(sent.split(' ')[1] ?? '', 'base64');
    socket.write(reply(`who is ${sent}? Not ${login}.`, 502, 'Content-Type: text/plain'));
  });
  const run = await inProcess(t, { http_proxy: url.replace('//', `//joe:${SECRET}@`), no_proxy: '' });
  const { code, stderr } = await run('sqldump http://db.invalid');
  t.is(code, 69);
  t.regex(stderr, /"who is Basic \*{20}/);
  t.false(stderr.includes(SECRET), stderr);
});
