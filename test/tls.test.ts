/*! TLS end to end, with an authority of our own: who is trusted and why, and what is said where nobody is. Proxies too. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Authority, certificateAuthority, type Identity } from './support/certificates.js';
import { freshFolder } from './support/folder.js';
import { listen } from './support/listen.js';
import { fileScope, type Scope } from './support/scope.js';
import { type Outcome, shell } from './support/shell.js';
import { macro, test } from './support/test.js';

const file = fileScope();
let authority: Authority;
let good: Identity;

test.before(async () => {
  authority = certificateAuthority(await freshFolder(file));
  good = authority.issue('DNS:localhost,IP:127.0.0.1');
});

const answer: RequestListener = (_request, response) => void response.end('{"dataset":[["CREATE TABLE a (x INT)"]]}');

const secure = async (scope: Scope, identity: Identity) =>
  `https://localhost:${await listen(scope, createHttpsServer(identity, answer))}`;

/** Runs a script with `$URL` and `$ROOT`, and nothing of this machine's proxies. */
async function on(scope: Scope, url: string, script: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const none = { http_proxy: '', https_proxy: '', HTTP_PROXY: '', HTTPS_PROXY: '', no_proxy: '', NO_PROXY: '' };
  const run = await shell(scope, { ...none, URL: url, ROOT: authority.root, ...env });
  return run(script);
}

const trusts = macro<[string]>({
  async exec(t, script) {
    const { code, stdout, stderr } = await on(t, await secure(t, good), script);
    t.deepEqual(
      { code, stderr, dump: stdout.toString() },
      { code: 0, stderr: '', dump: 'CREATE TABLE a (x INT);\n\0' },
    );
  },
  title: (_title, script) => `trusted: ${script.trim().replace(/\s*\n\s*/g, '; ')}`,
});

const instances = (lines: string) => `mkdir -p .config/sqlpipe; cp $ROOT .config/sqlpipe/ca.pem
cat > .config/sqlpipe/instances.toml <<TOML
[prod]
url = "$URL"
${lines}
TOML`;

test(trusts, 'sqldump --cacert $ROOT $URL');
test(trusts, 'sqldump --insecure $URL');
test(trusts, 'NODE_EXTRA_CA_CERTS=$ROOT sqldump $URL');
test(trusts, 'sqldump "https::addr=$' + '{URL#https://};tls_roots=$ROOT;"');
test(trusts, 'sqldump "https::addr=$' + '{URL#https://};tls_verify=unsafe_off;"');
test(trusts, `${instances('cacert = "ca.pem"')}\nsqldump prod`);
test(trusts, `${instances('cacert = "nowhere.pem"')}\nsqldump --cacert $ROOT prod`);
test(trusts, `${instances('tls_verify = false')}\nsqldump prod`);
test(trusts, `${instances('tls_verify = true')}\nsqldump --insecure prod`);

const distrusts = macro(async (t, identity: () => Identity, script: string, reason: RegExp) => {
  const { code, stdout, stderr } = await on(t, await secure(t, identity()), script);
  t.is(code, 69, stderr);
  t.regex(stdout.toString(), /^-- sqldump: incomplete: .*\n$/);
  t.regex(stderr, reason);
});

test('an authority that nobody knows', distrusts, () => good, 'sqldump $URL', /unknown authority; .*--cacert/);
test(
  'a name that is not in the certificate',
  distrusts,
  () => authority.issue('DNS:elsewhere.example'),
  'sqldump --cacert $ROOT $URL',
  /for other names \(DNS:elsewhere\.example\)/,
);
test(
  'a certificate that has expired',
  distrusts,
  () => authority.issue('DNS:localhost', { expired: true }),
  'sqldump --cacert $ROOT $URL',
  /certificate has expired/,
);
test(
  'another authority than the one that is trusted',
  distrusts,
  () => good,
  'openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out other.pem -subj /CN=Other 2>/dev/null; sqldump --cacert other.pem $URL',
  /unknown authority/,
);
test(
  'an entry that wants certificates verified, whatever its configuration string says',
  distrusts,
  () => good,
  `${instances('tls_verify = true').replace('$URL', 'https::addr=$' + '{URL#https://};tls_verify=unsafe_off;')}\nsqldump prod`,
  /unknown authority/,
);
test(
  'http where TLS is spoken',
  distrusts,
  () => good,
  'sqldump http://$' + '{URL#https://}',
  /does it use https:\/\/\?/,
);

test('sqldiff --insecure is for one instance, not for two at once', async t => {
  const [url, other] = [await secure(t, good), await secure(t, good)];
  const diff = (script: string) => on(t, url, `OTHER=${other}; ${instances('tls_verify = false')}\n${script}`);
  const both = await diff('sqldiff --insecure $URL $OTHER; s=$?; sqldiff --insecure prod $OTHER; exit $((s + $?))');
  t.is(both.code, 128, both.stderr);
  t.regex(both.stderr, /--insecure would accept any certificate from both instances; .* tls_verify = false/);
  for (const script of [
    'sqldiff prod "https::addr=$' + '{OTHER#https://};tls_verify=unsafe_off;"',
    'sqldiff --cacert $ROOT prod $OTHER',
    'sqldump --insecure $URL | sqldiff --insecure - $OTHER',
  ]) {
    const { code, stderr } = await diff(script);
    t.is(code, 0, stderr);
  }
  const { code, stderr } = await diff('sqldiff prod $OTHER');
  t.is(code, 69);
  t.regex(stderr, /unknown authority/);
});

const speakNoTls = macro(async (t, server: () => NetServer, message: string) => {
  const url = `https://localhost:${await listen(t, server())}`;
  const { code, stderr } = await on(t, url, 'sqldump --insecure $URL');
  t.is(code, 69);
  t.is(stderr, `sqldump: ${url}: ${message}\n`);
});

test(
  'https where http is spoken',
  speakNoTls,
  () => createHttpServer(answer),
  'the server does not use TLS; try http://',
);
for (const [how, close] of [
  ['ends', (socket: Socket) => socket.end()],
  ['breaks', (socket: Socket) => socket.resetAndDestroy()],
] as const)
  test(
    `https where the connection ${how}`,
    speakNoTls,
    () => createNetServer(socket => socket.once('data', () => close(socket))),
    'the connection was closed before TLS started; is the port right? If the server does not use TLS, try http://',
  );
test(
  'https where a certificate is asked for',
  speakNoTls,
  () => createHttpsServer({ ...good, requestCert: true, maxVersion: 'TLSv1.2' }, answer),
  'the server rejected the TLS connection (handshake failure); does it require a client certificate or an old TLS version?',
);

/** A proxy, with TLS or without, that keeps the requests for tunnels and their credentials. */
async function proxy(scope: Scope, identity?: Identity, status = 200) {
  const seen: string[] = [];
  const server = identity ? createHttpsServer(identity) : createHttpServer();
  server.on('connect', (request, socket: Duplex) => {
    seen.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [host, port] = (request.url ?? '').split(':');
    const server = connect(Number(port), host === 'localhost' ? '127.0.0.1' : host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      server.pipe(socket).pipe(server);
    });
    server.on('error', () => socket.destroy());
    socket.on('error', () => server.destroy());
  });
  const port = await listen(scope, server);
  return { address: `localhost:${port}`, seen };
}

test('through a proxy: a tunnel, and TLS is with the instance', async t => {
  const { address, seen } = await proxy(t);
  const url = await secure(t, good);
  const env = { https_proxy: `http://me:s3cret@${address}` };
  const { code, stderr } = await on(t, url, 'sqldump --cacert $ROOT $URL', env);
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  t.deepEqual(seen, [`${new URL(url).host} Basic ${Buffer.from('me:s3cret').toString('base64')}`]);
  const distrusted = await on(t, url, 'sqldump $URL', env);
  t.is(distrusted.code, 69);
  t.regex(distrusted.stderr, /\(through the proxy http:\/\/localhost:\d+\): its TLS certificate comes from an unknown/);
  t.false(distrusted.stderr.includes('s3cret'));
});

test('past the proxy, where no_proxy says so', async t => {
  const { address, seen } = await proxy(t);
  const env = { https_proxy: `http://${address}`, no_proxy: 'localhost' };
  t.is((await on(t, await secure(t, good), 'sqldump --cacert $ROOT $URL', env)).code, 0);
  t.deepEqual(seen, []);
});

test('through a proxy that speaks TLS itself', async t => {
  const { address, seen } = await proxy(t, good);
  const env = { https_proxy: `https://${address}` };
  const { code, stderr } = await on(t, await secure(t, good), 'sqldump --cacert $ROOT $URL', env);
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  t.is(seen.length, 1);
});

test('through a proxy with TLS that is known by a number, and to one', async t => {
  const { address } = await proxy(t, good);
  const url = (await secure(t, good)).replace('localhost', '127.0.0.1');
  const env = { https_proxy: `https://${address.replace('localhost', '127.0.0.1')}` };
  const { code, stderr } = await on(t, url, 'sqldump --cacert $ROOT $URL', env);
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('a proxy that is not there', async t => {
  for (const [url, name] of [
    ['https://localhost:1', 'https_proxy'],
    ['http://localhost:1', 'http_proxy'],
  ] as const) {
    const { code, stderr } = await on(t, url, 'sqldump $URL', { [name]: 'me:s3cret@localhost:1' });
    t.is(code, 69);
    t.is(
      stderr,
      `sqldump: ${url} (through the proxy http://localhost:1): the proxy cannot be reached (connection refused); is ${name} right? no_proxy bypasses it\n`,
    );
  }
});

test('a proxy that nobody has certified', async t => {
  const { address } = await proxy(t, good);
  const env = { https_proxy: `https://${address}` };
  const { code, stderr } = await on(t, await secure(t, good), 'sqldump $URL', env);
  t.is(code, 69);
  t.regex(stderr, /through the proxy https:.* unknown authority; .*--cacert/);
});

test('a proxy that wants credentials, and one that does not reach the instance', async t => {
  for (const [status, expected] of [
    [407, /the proxy requires credentials \(407\); .*https_proxy=/],
    [502, /the proxy answered 502/],
  ] as const) {
    const { address } = await proxy(t, undefined, status);
    const { code, stderr } = await on(t, await secure(t, good), 'sqldump --cacert $ROOT $URL', {
      https_proxy: `http://${address}`,
    });
    t.is(code, status === 407 ? 77 : 69, stderr);
    t.regex(stderr, expected);
  }
});
