/*! TLS end to end, with a certificate authority for tests: trusted and untrusted certificates, messages, and proxies. */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Authority, certificateAuthority, type Identity } from '../support/certificates.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { listen } from '../support/listen.js';
import type { Outcome } from '../support/shell.js';
import { fileScope, macro, type Scope, test } from '../support/test.js';

const file = fileScope();
let authority: Authority;
let good: Identity;
let otherRoot: string;

test.before(async () => {
  authority = certificateAuthority(await freshFolder(file));
  good = authority.issue('DNS:localhost,IP:127.0.0.1');
  otherRoot = certificateAuthority(await freshFolder(file)).root;
});

const answer: RequestListener = ({ url }, response) => {
  const row = url?.includes('+tables()') ? ['a', 'T', 1] : ['CREATE TABLE a (x INT)'];
  response.end(JSON.stringify({ dataset: [row] }));
};

const startSecure = async (scope: Scope, identity: Identity) =>
  `https://localhost:${await listen(scope, createHttpsServer(identity, answer))}`;

/** The settings of an instance called prod, with the address `$ADDRESS`; `ca.pem` is next to them. */
interface Settings {
  url?: string;
  lines: string;
}

/** Runs a script with `$URL`, its `$ADDRESS`, `$ROOT` and `$OTHER_ROOT`, without the proxy settings of this machine. */
async function runWithUrl(
  scope: Scope,
  url: string,
  script: string,
  env: NodeJS.ProcessEnv = {},
  prod?: Settings,
): Promise<Outcome> {
  const none = { http_proxy: '', https_proxy: '', HTTP_PROXY: '', HTTPS_PROXY: '', no_proxy: '', NO_PROXY: '' };
  const ADDRESS = url.replace(/^https:\/\//, '');
  const files = prod && {
    '.config/sqlpipe/ca.pem': readFileSync(authority.root, 'utf8'),
    '.config/sqlpipe/instances.toml': `[prod]\nurl = "${prod.url?.replace('$ADDRESS', ADDRESS) ?? url}"\n${prod.lines}\n`,
  };
  const run = await inProcess(
    scope,
    { ...none, URL: url, ADDRESS, ROOT: authority.root, OTHER_ROOT: otherRoot, ...env },
    files,
  );
  return script.includes('NODE_') ? run.bash(script) : run(script);
}

const trusts = macro<[script: string, settings?: string]>({
  async exec(t, script, lines) {
    const url = await startSecure(t, good);
    const { code, stdout, stderr } = await runWithUrl(t, url, script, {}, lines === undefined ? lines : { lines });
    t.deepEqual({ code, stderr, dump: stdout }, { code: 0, stderr: '', dump: 'CREATE TABLE a (x INT);\n\0' });
  },
  title: (_title, script, lines = '') => ['trusted:', script, lines && `with ${lines}`].join(' ').trimEnd(),
});

test(trusts, 'sqldump --cacert $ROOT $URL');
test(trusts, 'sqldump --insecure $URL');
test(trusts, 'NODE_EXTRA_CA_CERTS=$ROOT sqldump $URL');
test(trusts, 'sqldump "https::addr=$ADDRESS;tls_roots=$ROOT;"');
test(trusts, 'sqldump "https::addr=$ADDRESS;tls_verify=unsafe_off;"');
test(trusts, 'sqldump prod', 'cacert = "ca.pem"');
test(trusts, 'sqldump --cacert $ROOT prod', 'cacert = "nowhere.pem"');
test(trusts, 'sqldump prod', 'tls_verify = false');
test(trusts, 'sqldump --insecure prod', 'tls_verify = true');

for (const [what, issue, script, reason] of [
  ['an unknown authority', () => good, 'sqldump $URL', /unknown authority; .*--cacert/],
  [
    'a certificate for other names',
    () => authority.issue('DNS:elsewhere.example'),
    'sqldump --cacert $ROOT $URL',
    /for other names \(DNS:elsewhere\.example\)/,
  ],
  [
    'an expired certificate',
    () => authority.issue('DNS:localhost', { expired: true }),
    'sqldump --cacert $ROOT $URL',
    /certificate has expired/,
  ],
  ['another authority than --cacert', () => good, 'sqldump --cacert $OTHER_ROOT $URL', /unknown authority/],
  ['tls_verify=unsafe_off, with tls_verify = true', () => good, 'sqldump prod', /unknown authority/],
  ['http to a port with TLS', () => good, 'sqldump http://$ADDRESS', /does it use https:\/\/\?/],
] as const)
  test(`${what} is rejected`, async t => {
    const prod = { url: 'https::addr=$ADDRESS;tls_verify=unsafe_off;', lines: 'tls_verify = true' };
    const { code, stdout, stderr } = await runWithUrl(t, await startSecure(t, issue()), script, {}, prod);
    t.is(code, 69, stderr);
    t.regex(stdout, /^-- sqldump: incomplete: .*\n$/);
    t.regex(stderr, reason);
  });

test('sqldiff rejects --insecure for two instances at once', async t => {
  const [url, other] = [await startSecure(t, good), await startSecure(t, good)];
  const env = { OTHER: other, OTHER_ADDRESS: other.replace(/^https:\/\//, '') };
  const diff = (script: string) => runWithUrl(t, url, script, env, { lines: 'tls_verify = false' });
  for (const script of ['sqldiff --insecure $URL $OTHER', 'sqldiff --insecure prod $OTHER']) {
    const { code, stderr } = await diff(script);
    t.is(code, 64, stderr);
    t.regex(stderr, /--insecure would accept any certificate from both instances\n {2}hint: .* tls_verify = false/);
  }
  for (const script of [
    'sqldiff prod "https::addr=$OTHER_ADDRESS;tls_verify=unsafe_off;"',
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

const CLOSED =
  'the connection was closed before TLS started; is the port right? If the server does not use TLS, try http://';
const closing = (close: (socket: Socket) => void) =>
  createNetServer(socket => socket.once('data', () => close(socket)));

for (const [what, start, message] of [
  ['does not use TLS', () => createHttpServer(answer), 'the server does not use TLS; try http://'],
  ['closes the connection', () => closing(socket => socket.end()), CLOSED],
  ['resets the connection', () => closing(socket => socket.resetAndDestroy()), CLOSED],
  [
    'requires a client certificate',
    () => createHttpsServer({ ...good, requestCert: true, maxVersion: 'TLSv1.2' }, answer),
    'the server rejected the TLS connection (handshake failure); does it require a client certificate or an old TLS version?',
  ],
] as const)
  test(`https to a server that ${what}`, async t => {
    const url = `https://localhost:${await listen(t, start())}`;
    t.like(await runWithUrl(t, url, 'sqldump --insecure $URL'), { code: 69, stderr: `sqldump: ${url}: ${message}\n` });
  });

/** Starts a proxy, with or without TLS, that records the requests for tunnels and their credentials. */
async function startProxy(scope: Scope, identity?: Identity, status = 200) {
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

test('through a proxy: a tunnel, and TLS is verified for the instance', async t => {
  const { address, seen } = await startProxy(t);
  const url = await startSecure(t, good);
  const env = { https_proxy: `http://me:s3cret@${address}` };
  t.like(await runWithUrl(t, url, 'sqldump --cacert $ROOT $URL', env), { code: 0, stderr: '' });
  t.deepEqual([...new Set(seen)], [`${new URL(url).host} Basic ${Buffer.from('me:s3cret').toString('base64')}`]);
  const distrusted = await runWithUrl(t, url, 'sqldump $URL', env);
  t.is(distrusted.code, 69);
  t.regex(distrusted.stderr, /\(through the proxy http:\/\/localhost:\d+\): its TLS certificate comes from an unknown/);
  t.false(distrusted.stderr.includes('s3cret'));
});

test('no_proxy bypasses the proxy', async t => {
  const { address, seen } = await startProxy(t);
  const env = { https_proxy: `http://${address}`, no_proxy: 'localhost' };
  t.is((await runWithUrl(t, await startSecure(t, good), 'sqldump --cacert $ROOT $URL', env)).code, 0);
  t.deepEqual(seen, []);
});

for (const host of ['localhost', '127.0.0.1'])
  test(`through a proxy with TLS at ${host}, to the same`, async t => {
    const { address, seen } = await startProxy(t, good);
    const url = (await startSecure(t, good)).replace('localhost', host);
    const env = { https_proxy: `https://${address.replace('localhost', host)}` };
    t.like(await runWithUrl(t, url, 'sqldump --cacert $ROOT $URL', env), { code: 0, stderr: '' });
    t.is(new Set(seen).size, 1);
  });

test('a proxy that refuses connections', async t => {
  for (const [url, name] of [
    ['https://localhost:1', 'https_proxy'],
    ['http://localhost:1', 'http_proxy'],
  ] as const) {
    t.like(await runWithUrl(t, url, 'sqldump $URL', { [name]: 'me:s3cret@localhost:1' }), {
      code: 69,
      stderr: `sqldump: ${url} (through the proxy http://localhost:1): the proxy cannot be reached (connection refused); is ${name} right? no_proxy bypasses it\n`,
    });
  }
});

for (const [what, scheme, status, code, message] of [
  ['requires credentials', 'http', 407, 77, /the proxy requires credentials \(407\); .*https_proxy=/],
  ['does not reach the instance', 'http', 502, 69, /the proxy answered 502/],
  [
    'has a certificate of an unknown authority',
    'https',
    200,
    69,
    /through the proxy https:.* unknown authority; .*--cacert/,
  ],
] as const)
  test(`a proxy that ${what}`, async t => {
    const { address } = await startProxy(t, scheme === 'https' ? good : undefined, status);
    const env = { https_proxy: `${scheme}://${address}` };
    const script = scheme === 'https' ? 'sqldump $URL' : 'sqldump --cacert $ROOT $URL';
    const outcome = await runWithUrl(t, await startSecure(t, good), script, env);
    t.is(outcome.code, code, outcome.stderr);
    t.regex(outcome.stderr, message);
  });
