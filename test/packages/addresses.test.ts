import { detectSameAddress, parseAddress } from '../../packages/instance/src/configuration/address.js';
import { findProxy } from '../../packages/instance/src/configuration/resolve-instance.js';
import { InstanceError } from '../../packages/instance/src/index.js';
import { resolveOperands } from '../../packages/sqldiff/src/sides.js';
import { misconfigured, resolve } from '../support/resolve.js';
import { fc, forAll } from '../support/seed.js';
import { macro, test } from '../support/test.js';

const parsesTo = macro({
  exec: (t, operand: string, href: string) => t.is(parseAddress(operand).url.href, href),
  title: (_title, operand, href) => `${operand} is parsed as ${href}`,
});

test(parsesTo, 'http://host:9000', 'http://host:9000/');
test(parsesTo, 'https://host', 'https://host/');
test(parsesTo, 'http://host', 'http://host/');
test(parsesTo, 'host', 'http://host:9000/');
test(parsesTo, 'host:80', 'http://host/');
test(parsesTo, 'host:8812', 'http://host:8812/');
test(parsesTo, 'host/prefix/', 'http://host:9000/prefix');
test(parsesTo, 'http://host/a/b//', 'http://host/a/b');
test(parsesTo, '127.0.0.1', 'http://127.0.0.1:9000/');
test(parsesTo, '[::1]', 'http://[::1]:9000/');
test(parsesTo, '[::1]:9001/x', 'http://[::1]:9001/x');
test(parsesTo, 'user@host', 'http://host:9000/');
test(parsesTo, 'user:1234@host', 'http://host:9000/');
test(parsesTo, 'HTTP://HOST:1/', 'http://host:1/');
test(parsesTo, 'http::addr=host', 'http://host:9000/');
test(parsesTo, 'http::addr=host:9001', 'http://host:9001/');
test(parsesTo, 'https::addr=host:9000;', 'https://host:9000/');
test(parsesTo, 'https::addr=host:443;', 'https://host/');
test(parsesTo, 'https::addr=host:80;', 'https://host:80/');
test(parsesTo, 'wss::addr=host:9000;', 'https://host:9000/');

const rejectsAddress = macro({
  async exec(t, operand: string, message: RegExp) {
    await misconfigured(t, { operand }, message);
  },
  title: (_title, operand) => `"${operand}" is rejected as an address`,
});

test(rejectsAddress, '', /"" is not an address/);
test(rejectsAddress, 'http://', /is not an address/);
test(rejectsAddress, 'a b', /is not an address/);
test(rejectsAddress, 'host:99999', /^port 99999 is not between 1 and 65535$/);
test(rejectsAddress, 'http://localhost:0/x', /^port 0 is not between 1 and 65535$/);
test(rejectsAddress, './nofile', /^"\.\/nofile" is a path, not an instance; /);
test(rejectsAddress, 'schema.sql', /^"schema\.sql" is a path, not an instance; /);
test(rejectsAddress, '/u:s3cr@h', /^the operand is a path, /);
test(rejectsAddress, 'u:123456/s3cr@h', /^the address /);
test(rejectsAddress, 'postgres://host/db', /postgres:\/\/, which is not supported/);
test(rejectsAddress, 'http://host/?token=t0ken', /has a query/);
test(rejectsAddress, 'http://host/#t0ken', /^the address has a query/);
test(rejectsAddress, 'http://u:s3cr@:9000', /^the address is not an address/);
test(rejectsAddress, 'http://u:s3cr%@host', /"%"/);
for (const operand of [
  ...['http:/u:s3cr@h', 'http//u:s3cr@h', 'h/u:s3cr@h', 'http:\\\\u:s3cr@h', 'http://u:12/s3cr@h'],
  ...['http:/addr=h;token=t0ken;', 'addr=h;token=t0ken', 'http::addr=h/u:s3cr@h;'],
])
  test(rejectsAddress, operand, /^the address has @, ; or = in its host or path/);
test(rejectsAddress, 'http:addr=h;token=t0ken;', /^the address is not an address/);
test(rejectsAddress, 'tcp::addr=host:9009;', /for tcp/);
test(rejectsAddress, 'http::username=u;', /no addr/);
test(rejectsAddress, 'http::addr=h;token=t0ken;token=x', /a duplicate key at character 26/);
test(rejectsAddress, 'http::addr=h;s3cr', /not key=value; from character 14 on/);

/** Operands that are no existing file, and whether the programs read them as a path or as an address. */
const READINGS = {
  path: [
    'schema.sql',
    'dir/schema.sql',
    'h:9000/schema.sql',
    'a.stream',
    '/a',
    '/a/b.sql',
    './a',
    '../a',
    './a::b',
    '.',
    '~/a',
  ],
  address: [
    'host',
    'host:9000',
    'host/a',
    '[::1]',
    'http://host/schema.sql',
    'http://h/a.stream',
    'http::addr=h/a.sql',
  ],
} as const;

for (const [reading, operands] of Object.entries(READINGS))
  for (const operand of operands)
    test(`sqldump and sqldiff read ${operand} as ${reading === 'path' ? 'a path' : 'an address'}`, async t => {
      const read = async (resolved: Promise<unknown>) =>
        resolved.then(
          () => 'address',
          error => (/ is a path, /.test(error.message) ? 'path' : `${error}`),
        );
      const context = { env: {}, warn: () => {} };
      const [side] = await resolveOperands([operand, '-'], [], context);
      t.deepEqual([await read(resolve({ operand })), side.config ? 'address' : 'path'], [reading, reading]);
    });

test('any text is parsed as an address or rejected as a configuration error', t => {
  const near = fc.array(
    fc.constantFrom('http', 's', ':', '//', '::', '@', 'host', '9000', '/', '[', ']', '?', '%', ';', '=', 'addr'),
  );
  forAll(
    400,
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
  );
});

const PROXY = { http_proxy: 'http://p:1', HTTPS_PROXY: 'q:2' };
/** With both proxies, except for some hosts. */
const except = (NO_PROXY: string) => ({ ...PROXY, NO_PROXY });
for (const [what, env, url, proxy] of [
  ['http_proxy in lower case is used for http', PROXY, 'http://host', 'http://p:1'],
  ['HTTPS_PROXY in upper case is used for https', PROXY, 'https://host', 'http://q:2'],
  ['https_proxy is not used for http', { https_proxy: 'q:2' }, 'http://host', undefined],
  ['no_proxy matches a host in any case', { ...PROXY, no_proxy: 'a, HOST' }, 'http://host', undefined],
  ['NO_PROXY with a domain matches its subdomains', except('example.com'), 'http://db.example.com', undefined],
  ['NO_PROXY accepts a domain with a leading dot', except('.example.com'), 'http://db.example.com', undefined],
  ['NO_PROXY accepts a domain with an asterisk', except('*.example.com'), 'http://db.example.com', undefined],
  ['NO_PROXY does not match within a label of the host name', except('ample.com'), 'http://example.com', 'http://p:1'],
  ['NO_PROXY with a port matches that port', except('host:9000'), 'http://host:9000', undefined],
  ['NO_PROXY with a port does not match another port', except('host:9000'), 'http://host:9001', 'http://p:1'],
  ['NO_PROXY=* disables all proxies', except('*'), 'http://host', undefined],
  ['NO_PROXY=. matches nothing', except('.'), 'http://host', 'http://p:1'],
  ['NO_PROXY=localhost matches localhost.', except('localhost'), 'http://localhost.', undefined],
  ['NO_PROXY=localhost. matches localhost', except('localhost.'), 'http://localhost', undefined],
  ['NO_PROXY=example.com matches db.example.com.', except('example.com'), 'http://db.example.com.', undefined],
  ['NO_PROXY=.example.com. matches db.example.com', except('.example.com.'), 'http://db.example.com', undefined],
  ['NO_PROXY=host.:9000 matches host:9000', except('host.:9000'), 'http://host:9000', undefined],
  ['NO_PROXY=::1 matches [::1]', except('a,::1'), 'http://[::1]:9000', undefined],
  ['NO_PROXY=[::1]:9000 matches [::1]:9000', except('[::1]:9000'), 'http://[::1]:9000', undefined],
  ['NO_PROXY=[::1]:9000 does not match another port', except('[::1]:9000'), 'http://[::1]:9001', 'http://p:1'],
  ['NO_PROXY=::1 matches no other address', except('::1'), 'http://[fd00::1]', 'http://p:1'],
] as const)
  test(what, t => t.is(findProxy(new URL(url), env)?.proxy.origin, proxy));

test('an invalid proxy address is rejected without showing its secrets', async t => {
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

/** What the names of the tests resolve to; others cannot be looked up. */
const ADDRESSES: Record<string, string[]> = {
  prod: ['10.0.0.5', 'fd00::5'],
  staging: ['10.0.0.5'],
  'db.example.com': ['10.0.0.5', '10.0.0.6'],
  machine: ['127.0.1.1'],
  'prod.localhost': ['::1'],
  'staging.localhost': ['::1'],
};
const lookUp = async (name: string) => ADDRESSES[name] ?? Promise.reject(new Error(`${name}: ENOTFOUND`));

const comparesTo = macro({
  async exec(t, one: string, other: string, expected: boolean) {
    const [a, b] = [one, other].map(operand => parseAddress(operand).url) as [URL, URL];
    t.is(await detectSameAddress(a, b, lookUp), expected);
    t.is(await detectSameAddress(b, a, lookUp), expected, 'the other way round');
  },
  title: (_title, one, other, expected) => `${one} and ${other} are ${expected ? 'the same' : 'different'}`,
});

const SPELLINGS = {
  'localhost:9000': [
    ...['localhost', 'LOCALHOST', 'localhost.', '127.0.0.1', '127.1', '127.0.0.1.', '127.9.9.9', '2130706433'],
    ...['0x7f.1', '0177.0.0.1', '0.0.0.0', '0', '[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]'],
    ...['[::ffff:7f00:1]', '[::ffff:0.0.0.0]', 'http://localhost:9000/', 'https://localhost:9000'],
    ...['http::addr=localhost', 'wss::addr=127.0.0.1:9000;', 'u:p@localhost', 'machine', 'prod.localhost'],
  ],
  '10.0.0.5': ['10.0.5', '[::ffff:10.0.0.5]', '[::ffff:a00:5]', 'prod', 'PROD.', 'staging', 'db.example.com'],
  '[fd00::5]': ['[FD00:0::5]', 'prod'],
  prod: ['PROD', 'prod.', 'u:p@prod:9000', 'http::addr=prod:9000;'],
  unknown: ['unknown.', 'UNKNOWN'],
  'http://prod/a/b': ['prod:80/a/b/', 'HTTP://10.0.0.5:80/a/c/../b'],
  'https://prod': ['prod:443', 'http://10.0.0.5:443'],
  'http://bücher': ['xn--bcher-kva:80', 'http://B%C3%9Ccher.'],
};
for (const [address, spellings] of Object.entries(SPELLINGS))
  for (const spelling of spellings) test(comparesTo, address, spelling, true);

const OTHERS = {
  localhost: ['localhost:9001', 'localhost/a', 'http://localhost', '10.0.0.5', 'prod', 'unknown', '128.0.0.1', '[::2]'],
  prod: ['staging', 'db.example.com', 'prod:9001', 'prod/a', '10.0.0.6', 'unknown', 'machine', 'prod.example.com'],
  '10.0.0.5': ['10.0.0.6', '[::ffff:10.0.0.6]', '10.0.0.5/a', 'prod/a', 'prod:9001', 'unknown', '[fd00::5]'],
  'prod/a': ['prod/b', 'prod/A', 'prod', '10.0.0.5/b'],
  'prod.localhost': ['staging.localhost', 'unknown.localhost', 'machine'],
};
for (const [address, others] of Object.entries(OTHERS))
  for (const other of others) test(comparesTo, address, other, false);
