import fc from 'fast-check';
import { parseAddress } from '../packages/instance/src/address.js';
import { InstanceError } from '../packages/instance/src/index.js';
import { findProxy } from '../packages/instance/src/proxy.js';
import { misconfigured } from './support/resolve.js';
import { macro, test } from './support/test.js';

const means = macro({
  exec: (t, operand: string, href: string) => t.is(parseAddress(operand).url.href, href),
  title: (_title, operand, href) => `${operand} means ${href}`,
});

test(means, 'http://host:9000', 'http://host:9000/');
test(means, 'https://host', 'https://host/');
test(means, 'http://host', 'http://host/');
test(means, 'host', 'http://host:9000/');
test(means, 'host:80', 'http://host/');
test(means, 'host:8812', 'http://host:8812/');
test(means, 'host/prefix/', 'http://host:9000/prefix');
test(means, 'http://host/a/b//', 'http://host/a/b');
test(means, '127.0.0.1', 'http://127.0.0.1:9000/');
test(means, '[::1]', 'http://[::1]:9000/');
test(means, '[::1]:9001/x', 'http://[::1]:9001/x');
test(means, 'user@host', 'http://host:9000/');
test(means, 'user:1234@host', 'http://host:9000/');
test(means, 'HTTP://HOST:1/', 'http://host:1/');
test(means, 'http::addr=host', 'http://host:9000/');
test(means, 'http::addr=host:9001', 'http://host:9001/');
test(means, 'https::addr=host:9000;', 'https://host:9000/');
test(means, 'https::addr=host:443;', 'https://host/');
test(means, 'https::addr=host:80;', 'https://host:80/');
test(means, 'wss::addr=host:9000;', 'https://host:9000/');

const isNoAddress = macro({
  async exec(t, operand: string, message: RegExp) {
    await misconfigured(t, { operand }, message);
  },
  title: (_title, operand) => `${operand} is no address`,
});

test(isNoAddress, '', /"" is not an address/);
test(isNoAddress, 'http://', /is not an address/);
test(isNoAddress, 'a b', /is not an address/);
test(isNoAddress, 'host:99999', /^port 99999 is not between 1 and 65535$/);
test(isNoAddress, 'http://localhost:0/x', /^port 0 is not between 1 and 65535$/);
test(isNoAddress, './nofile', /^"\.\/nofile" is a path, not an instance; /);
test(isNoAddress, 'schema.sql', /^"schema\.sql" is a path, not an instance; /);
test(isNoAddress, '/u:s3cr@h', /^the operand is a path, /);
test(isNoAddress, 'u:123456/s3cr@h', /^the address /);
test(isNoAddress, 'postgres://host/db', /postgres:\/\/, which is not supported/);
test(isNoAddress, 'http://host/?token=t0ken', /has a query/);
test(isNoAddress, 'http://host/#t0ken', /^the address has a query/);
test(isNoAddress, 'http://u:s3cr@:9000', /^the address is not an address/);
test(isNoAddress, 'http://u:s3cr%@host', /"%"/);
for (const operand of [
  'http:/u:s3cr@h',
  'http//u:s3cr@h',
  'h/u:s3cr@h',
  'http:\\\\u:s3cr@h',
  'http://u:12/s3cr@h',
  'http:/addr=h;token=t0ken;',
  'addr=h;token=t0ken',
  'http::addr=h/u:s3cr@h;',
])
  test(isNoAddress, operand, /^the address has @, ; or = in its host or path/);
test(isNoAddress, 'http:addr=h;token=t0ken;', /^the address is not an address/);
test(isNoAddress, 'tcp::addr=host:9009;', /for tcp/);
test(isNoAddress, 'http::username=u;', /no addr/);
test(isNoAddress, 'http::addr=h;token=t0ken;token=x', /a duplicate key at character 26/);
test(isNoAddress, 'http::addr=h;s3cr', /not key=value; from character 14 on/);

test('any text is an address or a matter of configuration', t => {
  const near = fc.array(
    fc.constantFrom('http', 's', ':', '//', '::', '@', 'host', '9000', '/', '[', ']', '?', '%', ';', '=', 'addr'),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        near.map(parts => parts.join('')),
      ),
      text => {
        try {
          t.regex(parseAddress(text).url.href, /^https?:\/\/[^/@]+\/.*[^/]?$/);
        } catch (error) {
          t.true(error instanceof InstanceError && error.code === 'CONFIG', `${error}`);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

const proxied = macro((t, env: Record<string, string>, url: string, proxy: string | undefined) =>
  t.is(findProxy(new URL(url), env)?.value.origin, proxy),
);

const PROXY = { http_proxy: 'http://p:1', HTTPS_PROXY: 'q:2' };
test('a proxy by scheme, lower case', proxied, PROXY, 'http://host', 'http://p:1');
test('a proxy by scheme, upper case', proxied, PROXY, 'https://host', 'http://q:2');
test('a proxy for the other scheme', proxied, { https_proxy: 'q:2' }, 'http://host', undefined);
test('no proxy for a host', proxied, { ...PROXY, no_proxy: 'a, HOST' }, 'http://host', undefined);
test('no proxy for a domain', proxied, { ...PROXY, NO_PROXY: 'example.com' }, 'http://db.example.com', undefined);
test(
  'no proxy for a domain with a dot',
  proxied,
  { ...PROXY, NO_PROXY: '.example.com' },
  'http://db.example.com',
  undefined,
);
test(
  'no proxy for a domain with an asterisk',
  proxied,
  { ...PROXY, NO_PROXY: '*.example.com' },
  'http://db.example.com',
  undefined,
);
test(
  'a proxy for a host that only ends alike',
  proxied,
  { ...PROXY, NO_PROXY: 'ample.com' },
  'http://example.com',
  'http://p:1',
);
test('no proxy for a port', proxied, { ...PROXY, NO_PROXY: 'host:9000' }, 'http://host:9000', undefined);
test('a proxy for another port', proxied, { ...PROXY, NO_PROXY: 'host:9000' }, 'http://host:9001', 'http://p:1');
test('no proxy at all', proxied, { ...PROXY, NO_PROXY: '*' }, 'http://host', undefined);

test('a proxy that is no address', async t => {
  for (const value of ['http://u:s3cr@', 'http:/u:s3cr@h', 'http://u:12/s3cr@h'])
    await misconfigured(
      t,
      { env: { http_proxy: value } },
      'http_proxy is not the address of a proxy; write http://host:port',
    );
  for (const value of ['socks5://u:s3cr@h', 'ftp://u:s3cr@h', 's3cr://h'])
    await misconfigured(t, { env: { HTTP_PROXY: value } }, /^HTTP_PROXY names a proxy that is neither/);
  for (const value of ['http://u:s3cr%@h', 's3cr%zz@h', 'http://u:s3cr%ff@h'])
    await misconfigured(t, { env: { http_proxy: value } }, /^the user or password in http_proxy has a "%" that/);
});
