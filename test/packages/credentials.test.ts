/*! The credentials of an instance: every source of credentials, and the messages for each mistake. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { parseNetrc } from '../../packages/instance/src/configuration/credentials.js';
import { InstanceError, listInstances } from '../../packages/instance/src/index.js';
import { freshFolder } from '../support/folder.js';
import { basic } from '../support/principals.js';
import { misconfigured, resolve, SECRET } from '../support/resolve.js';
import { fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

test('no credentials: no authorization is sent, and no warning is given', async t => {
  const target = await resolve({ operand: 'https://host/db' });
  t.is(target.authorization, undefined);
  t.deepEqual(target.warnings, []);
  t.like(target, { label: 'https://host/db', insecure: false, timeout: 120_000, connectTimeout: 10_000 });
});

test('credentials from the environment, by the name of the program', async t => {
  const env = { SQLDUMP_USER: 'admin', SQLDUMP_PASSWORD: SECRET, SQLAPPLY_TOKEN: 'other' };
  t.is((await resolve({ env })).authorization, basic('admin', SECRET));
  t.is((await resolve({ env: { SQLDUMP_TOKEN: 'qt1abc' } })).authorization, 'Bearer qt1abc');
  t.is((await resolve({ env: { SQLDUMP_TOKEN: '' } })).authorization, undefined);
});

test('credentials in the address are used, with a warning', async t => {
  for (const operand of ['https://admin:p%40ss@host', 'https::addr=host;username=admin;password=p@ss;']) {
    const { authorization, warnings, label, url } = await resolve({ operand });
    t.is(authorization, basic('admin', 'p@ss'));
    t.is(warnings.length, 1);
    t.regex(warnings[0] ?? '', /contains a secret/);
    t.false(`${label}${url}`.includes('admin'));
  }
  const { authorization } = await resolve({ operand: 'https::addr=host;username=a;password=x;;y;;z;' });
  t.is(authorization, basic('a', 'x;y;z'));
});

test('credentials in the address come before those of variables, whose user may complete them', async t => {
  const login = { SQLDUMP_USER: 'ann', SQLDUMP_PASSWORD: SECRET };
  for (const env of [login, { SQLDUMP_TOKEN: 'other' }]) {
    const of = async (operand: string) => (await resolve({ operand, env })).authorization;
    t.is(await of('https://admin:p%40ss@host'), basic('admin', 'p@ss'));
    t.is(await of('https::addr=host;username=admin;password=p@ss;'), basic('admin', 'p@ss'));
    t.is(await of('https::addr=host;token=t0ken;'), 'Bearer t0ken');
  }
  t.is((await resolve({ operand: 'https://ann@host', env: login })).authorization, basic('ann', SECRET));
  await misconfigured(t, { operand: 'https://bob@host', env: login }, /a user is given, but no password/);
});

test('a configuration string sets TLS verification and TLS roots', async t => {
  t.true((await resolve({ operand: 'https::addr=host;tls_verify=unsafe_off;' })).insecure);
  t.false((await resolve({ operand: 'https::addr=host;tls_verify=on;' })).insecure);
  await misconfigured(
    t,
    { operand: 'https::addr=host;tls_roots=/nowhere.pem;' },
    /cannot read the certificates \/nowhere.pem/,
  );
});

test('credentials from files, which others must not be able to read', async t => {
  const folder = await freshFolder(t);
  const passwordFile = join(folder, 'password');
  const tokenFile = join(folder, 'token');
  await writeFile(passwordFile, `${SECRET}\n`, { mode: 0o600 });
  await writeFile(tokenFile, 't0ken', { mode: 0o600 });
  t.is((await resolve({ options: { user: 'admin', passwordFile } })).authorization, basic('admin', SECRET));
  t.is((await resolve({ options: { tokenFile } })).authorization, 'Bearer t0ken');
  await misconfigured(
    t,
    { options: { passwordFile } },
    /a password is given, but no user; give credentials in SQLDUMP_USER/,
  );
  await misconfigured(t, { options: { tokenFile, user: 'a' } }, /has both a token and a user or password; remove one/);
  for (const mode of [0o640, 0o604]) {
    await chmod(tokenFile, mode);
    await misconfigured(
      t,
      { options: { tokenFile } },
      `--token-file ${tokenFile} can be read by others; run chmod 600 on it`,
    );
  }
  await misconfigured(t, { options: { tokenFile: join(folder, 'x') } }, /cannot read --token-file .*\/x: no such file/);
  await misconfigured(t, { options: { tokenFile: folder } }, `cannot read --token-file ${folder}: is a directory`);
  for (const [text, message] of [
    ['', /is empty/],
    ['a\nt0ken\n', /more than one line/],
    ['t0 ken', /contains blanks/],
    ['t0kén', /non-ASCII/],
  ] as const) {
    await writeFile(tokenFile, text);
    await chmod(tokenFile, 0o600);
    await misconfigured(t, { options: { tokenFile } }, message);
  }
});

test('the user and the password may come from different sources', async t => {
  const env = { SQLDUMP_PASSWORD: SECRET };
  t.is((await resolve({ env, options: { user: 'bob' } })).authorization, basic('bob', SECRET));
  t.is((await resolve({ env, operand: 'bob@localhost' })).authorization, basic('bob', SECRET));
});

test("a user is never combined with another user's password", async t => {
  const env = { SQLDUMP_USER: 'alice', SQLDUMP_PASSWORD: SECRET };
  await misconfigured(
    t,
    { env, options: { user: 'bob' } },
    'a user is given, but no password; give credentials in SQLDUMP_USER and SQLDUMP_PASSWORD, or SQLDUMP_TOKEN',
  );
  await misconfigured(
    t,
    { env: { SQLDUMP_TOKEN: 't0ken' }, options: { user: 'bob' } },
    /a user is given, but no password;/,
  );
  await misconfigured(t, { env: { ...env, SQLDUMP_PASSWORD: '' } }, /a user is given, but no password;/);
  await misconfigured(t, { env: { ...env, SQLDUMP_TOKEN: 't0ken' } }, /SQLDUMP_TOKEN has both a token and a user/);
  await misconfigured(t, { env: { ...env, SQLDUMP_USER: 'a:b' } }, /cannot contain a ":"/);
  await misconfigured(t, { options: { user: 'a:s3cr' } }, /cannot contain a ":".*--password-file/);
});

test('credentials over plain http to another machine cause a warning', async t => {
  const env = { SQLDUMP_TOKEN: 'qt1abc' };
  for (const operand of ['localhost', 'db.localhost', '127.1.2.3', '[::1]', 'https://host'])
    t.deepEqual((await resolve({ operand, env })).warnings, [], operand);
  for (const operand of ['host', '10.0.0.1:9000', 'http://127.0.0.1.example.com'])
    t.regex((await resolve({ operand, env })).warnings.join(), /over plain http/, operand);
});

async function createHome(t: ExecutionContext, toml: string, files: Record<string, string> = {}) {
  const HOME = await freshFolder(t);
  const config = join(HOME, '.config', 'sqlpipe');
  await mkdir(config, { recursive: true });
  await writeFile(join(config, 'instances.toml'), toml);
  for (const [name, text] of Object.entries(files)) await writeFile(join(HOME, name), text, { mode: 0o600 });
  return { env: { HOME }, config };
}

test('a named instance is resolved from instances.toml', async t => {
  const toml = `
    [prod]
    url = "https://db.example.com/one"
    user = "admin"
    password_file = "~/password"
    timeout = 30
    connect_timeout = 3
    retries = 4
    tls_verify = false
    protected = true

    [dev]
    url = "http::addr=localhost:9001;"
    token_file = "token"

    [eu-west]
    url = "https://eu"
    token_command = "echo $TOKEN"
  `;
  const { env, config } = await createHome(t, toml, { password: SECRET });
  await writeFile(join(config, 'token'), 't0ken\n', { mode: 0o600 });
  t.like(await resolve({ operand: 'prod', env }), {
    label: 'https://db.example.com/one',
    name: 'prod',
    timeout: 30_000,
    connectTimeout: 3000,
    retries: 4,
    insecure: true,
    authorization: basic('admin', SECRET),
  });
  for (const [operand, names] of [
    ['prod', ['prod']],
    ['HTTPS://DB.example.com./one/', ['prod']],
    ['http://db.example.com:443/one', ['prod']],
    ['https://db.example.com/two', []],
    ['https://db.example.com:9000/one', []],
    ['dev', []],
  ] as const)
    t.deepEqual(await (await resolve({ operand, env })).protectedNames?.(), [...names], operand);
  t.like(await resolve({ operand: 'prod', env, options: { timeout: 5, retries: 0 } }), { timeout: 5000, retries: 0 });
  t.like(await resolve({ operand: 'dev', env }), { label: 'http://localhost:9001', authorization: 'Bearer t0ken' });
  t.like(await resolve({ operand: 'eu-west', env: { ...env, TOKEN: 'qt1' } }), { authorization: 'Bearer qt1' });
  t.like(await resolve({ operand: 'eu-west', env: { ...env, SQLPIPE_EU_WEST_TOKEN: 'x' } }), {
    authorization: 'Bearer x',
  });
  const both = { ...env, SQLPIPE_EU_WEST_TOKEN: 'x', SQLDUMP_TOKEN: 'y' };
  t.like(await resolve({ operand: 'eu-west', env: both }), { authorization: 'Bearer y' });
  t.like(await resolve({ operand: 'other', env }), { label: 'http://other:9000' });
  const elsewhere = { XDG_CONFIG_HOME: join(env.HOME, '.config') };
  t.like(await resolve({ operand: 'dev', env: elsewhere }), { label: 'http://localhost:9001' });
});

test('instances.toml is rejected if everybody can change it', async t => {
  const { env, config } = await createHome(t, '[prod]\nurl = "http://x"\n');
  await resolve({ operand: 'prod', env });
  await chmod(join(config, 'instances.toml'), 0o646);
  await misconfigured(t, { operand: 'prod', env }, /can be changed by everybody; run chmod o-w/);
});
const ENTRY = '[prod]\nurl = "x"\n';

for (const [what, toml, message] of [
  ['an unknown key', `${ENTRY}protect = true`, /\[prod\] has an unknown key "protect"/],
  ['a password', `${ENTRY}password = "s3cr"`, /has an unknown key "password"; the known keys are/],
  ['a part of a retry', `${ENTRY}retries = 0.5`, /^retries must be a whole number/],
  ['a value of the wrong type', `${ENTRY}protected = "yes"`, /protected must be a boolean/],
  ['a negative timeout', `${ENTRY}timeout = -1`, /^timeout of prod must be a number of seconds/],
  [
    'a failing token_command',
    `${ENTRY}token_command = "echo t0ken; echo locked >&2; false"`,
    /token_command of prod failed: locked$/,
  ],
  ['a token_command that a signal ends', `${ENTRY}token_command = "kill -9 $$"`, /prod failed: ended by SIGKILL$/],
  ['a token_command that prints nothing', `${ENTRY}token_command = "true"`, /printed nothing/],
  ['what is no TOML', '[prod]\nurl = http://x', /instances.toml, line 2: /],
  ['an entry without a url', '[prod]\nuser = "x"', /\[prod\] has no url/],
  ['an entry that is not a table', 'prod = "http://x"', /\[prod\] is not a table/],
] as const)
  test(`instances.toml is rejected with ${what}`, async t => {
    const { env } = await createHome(t, toml);
    await misconfigured(t, { operand: 'prod', env }, message);
  });

const NETRC = `
machine other.example login x password s3cr
machine db.example login alice password "quo\\"ted s3cr" # comment
macdef init
machine db.example login macro password s3cr

machine db.example
  login bob
  password s3cr2
machine bearer.example password qt1token
default login anybody password s3cr
`;

test('credentials from ~/.netrc or --netrc-file, by host', async t => {
  const { env } = await createHome(t, '', { '.netrc': NETRC });
  const ask = (operand: string, options = {}) => resolve({ operand, env, options });
  t.is((await ask('https://db.example')).authorization, basic('alice', 'quo"ted s3cr'));
  t.is((await ask('https://bob@DB.example')).authorization, basic('bob', 's3cr2'));
  t.is((await ask('https://bearer.example')).authorization, 'Bearer qt1token');
  t.is((await ask('https://nobody.example')).authorization, undefined);
  t.is((await ask('https://bob@bearer.example')).authorization, basic('bob', 'qt1token'));
  await misconfigured(t, { operand: 'https://x@db.example', env }, /a user is given, but no password;/);
  await chmod(join(env.HOME, '.netrc'), 0o644);
  await misconfigured(t, { operand: 'https://db.example', env }, /the netrc file .* can be read by others/);
  t.is((await ask('https://nobody.example')).authorization, undefined);
  await writeFile(join(env.HOME, 'mine'), 'machine db.example login carol password s3cr', { mode: 0o600 });
  t.is((await ask('https://db.example', { netrcFile: join(env.HOME, 'mine') })).authorization, basic('carol', 's3cr'));
  const netrcFile = join(env.HOME, 'nowhere');
  await misconfigured(t, { env, options: { netrcFile } }, /cannot read the netrc file .*nowhere: no such file/);
});

test('the password is prompted for if only the user is known', async t => {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return SECRET;
  };
  const operand = 'https://bob:@host/db';
  t.is((await resolve({ operand, ask })).authorization, basic('bob', SECRET));
  t.deepEqual(questions, ['password of bob at https://host/db']);
  await resolve({ operand: 'https://host', ask });
  await resolve({ operand, ask, env: { SQLDUMP_PASSWORD: SECRET } });
  t.is(questions.length, 1);
  for (const nothing of [undefined, ''])
    await misconfigured(t, { operand, ask: async () => nothing }, /a user is given, but no password;/);
});

test('listInstances returns names and addresses without secrets', async t => {
  const toml = '[prod]\nurl = "https://ann:s3cr@db.example.com/one"\n[dev]\nurl = "http::addr=localhost;token=s3cr;"';
  const { env } = await createHome(t, toml);
  t.deepEqual(await listInstances(env), [
    { name: 'prod', address: 'https://db.example.com/one' },
    { name: 'dev', address: 'http://localhost:9000' },
  ]);
  t.deepEqual(await listInstances({}), []);
});

test('any text is parsed as a netrc file or rejected as a configuration error', t => {
  const near = fc.array(
    fc.constantFrom('machine', 'login', 'password', 'default', 'macdef', 'x', '"', '\\', '#', '\n', ' '),
  );
  forAll(
    100,
    fc.oneof(
      fc.string(),
      near.map(parts => parts.join(' ')),
    ),
    text => {
      try {
        t.true(Array.isArray(parseNetrc(text, 'netrc')));
      } catch (error) {
        t.true(error instanceof InstanceError && error.code === 'CONFIG', `${error}`);
      }
    },
  );
});

test('invalid timeouts are rejected, and long ones are limited', async t => {
  await misconfigured(t, { options: { timeout: Number.NaN } }, /^timeout must be a number of seconds/);
  await misconfigured(t, { options: { connectTimeout: -1 } }, /^connect-timeout must be a number of seconds/);
  t.like(await resolve({ options: { timeout: 0, connectTimeout: 1e9 } }), { timeout: 0, connectTimeout: 2147483647 });
});

test('a --cacert file without valid certificates is rejected', async t => {
  const folder = await freshFolder(t);
  const cacert = join(folder, 'ca.pem');
  await writeFile(cacert, 'hello');
  await misconfigured(t, { options: { cacert } }, /contains no certificate in PEM form/);
  await writeFile(cacert, '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n');
  await misconfigured(t, { options: { cacert } }, `${cacert}: certificate 1 is damaged; get the file again`);
  await writeFile(cacert, '-----BEGIN CERTIFICATE-----\nabc\n');
  await misconfigured(t, { options: { cacert } }, /certificate 1 is damaged/);
  const { env, config } = await createHome(t, '[prod]\nurl = "https://db"\ncacert = "ca.pem"', {});
  await writeFile(join(config, 'ca.pem'), 'hello');
  await misconfigured(t, { operand: 'prod', env }, /\/sqlpipe\/ca\.pem contains no certificate/);
});
