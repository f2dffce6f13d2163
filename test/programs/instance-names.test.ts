/*! instances.toml: messages about mistyped operands and wrong entries, and the values that `--show-config` shows without secrets. */
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const INSTANCES = '.config/sqlpipe/instances.toml';

const shellWithInstances = (t: ExecutionContext, toml: string) => inProcess(t, {}, { [INSTANCES]: toml });

test('an unknown instance name is tried as a host, and a similar name is suggested', async t => {
  const run = await shellWithInstances(t, '[prodx-sqlpipe]\nurl = "http://h"\n');
  t.regex(
    (await run.exits(69, 'sqldump prodx-sqlpiep')).stderr,
    /; "prodx-sqlpiep" is not in \S+\/sqlpipe\/instances\.toml, so it was treated as a host name; did you mean prodx-sqlpipe\?\n$/,
  );
});

test('an invalid url in instances.toml affects its own entry only', async t => {
  const { url } = await startSqlserve(t);
  const run = await shellWithInstances(t, `[bad]\nurl = ""\n[worse]\nurl = "h:99999"\n[good]\nurl = "${url}"\n`);
  const bad = await run.exits(78, 'sqldump bad');
  t.regex(bad.stderr, /^sqldump: \S+\/instances\.toml: \[bad\]: the url is empty/);
  t.regex((await run('sqldump worse')).stderr, /^sqldump: \S+\/instances\.toml: \[worse\]: port 99999 is not between/);
  t.like(await run('sqldump good > good.stream && sqldiff good.stream good'), { code: 0, stderr: '' });
  const { stdout } = await run('sqldump --list-instances');
  t.is(stdout, `bad\t(its url is not an address)\nworse\t(its url is not an address)\ngood\t${url}\n`);
});

test('a 401 names the user and the source of the credentials, but no secret', async t => {
  const { url } = await serveHere(t, { user: 'ann', password: 'op3n' });
  const run = await shellWithInstances(t, `[x]\nurl = "${url}"\nuser = "bob"\n`);
  const stderrOf = async (command: string) => (await run(command)).stderr;
  const all = [
    await stderrOf(`SQLDUMP_USER=ann SQLDUMP_PASSWORD=s3cr sqldump ${url}`),
    await stderrOf(`SQLDUMP_PASSWORD=s3cr sqldump --user ann ${url}`),
    await stderrOf('SQLDUMP_PASSWORD=s3cr sqldump x'),
    await stderrOf(`SQLDUMP_TOKEN=s3cr sqldump ${url}`),
    await stderrOf(`sqldump ${url.replace('://', '://t0ken:s3cr@')}`),
  ];
  t.deepEqual(
    all.map(text => /rejected (.*); are the credentials/.exec(text)?.[1]?.replace(/\(\/.*(?=\/\.config)/, '(~')),
    [
      "user 'ann' (SQLDUMP_USER)",
      "user 'ann' (--user)",
      "user 'bob' (~/.config/sqlpipe/instances.toml: [x])",
      'a token (SQLDUMP_TOKEN)',
      'the user in the address',
    ],
  );
  t.notRegex(all.join(''), /s3cr|t0ken/);
});

const TOML = `
[prod]
url = "http://127.0.0.1:1/q"
user = "ann"
password_file = "~/secret"
connect_timeout = 3
protected = true

[bot]
url = "https://127.0.0.1:2"
token_command = "cat ~/secret"
tls_verify = false
`;

/** A shell with these instances, a password file, and a netrc file. */
async function shellWithConfig(t: ExecutionContext) {
  const noProxies = { http_proxy: '', https_proxy: '', HTTPS_PROXY: '', HTTP_PROXY: '' };
  const run = await inProcess(t, noProxies, { [INSTANCES]: TOML });
  await run("umask 077; echo s3cret > secret; echo 'machine 127.0.0.1 login net password s3cret' > .netrc");
  return async (command: string) => {
    const stdout = await run.silent(command);
    t.notRegex(stdout, /s3cret/);
    return stdout.replaceAll(run.folder, '~');
  };
}

const FILE = `~/${INSTANCES}`;

test('a named instance: options, its entry, defaults', async t => {
  const run = await shellWithConfig(t);
  t.is(
    await run('sqldump --show-config --timeout 5 prod'),
    `url              http://127.0.0.1:1/q  ${FILE}: [prod]
user             ann                   ${FILE}: [prod]
password         ***                   password_file in ${FILE}: [prod]
tls_verify       true                  default
timeout          5                     --timeout
connect_timeout  3                     ${FILE}: [prod]
retries          0                     default
protected        true                  ${FILE}: [prod]
`,
  );
});

test('an address: environment, netrc, prompt, proxy', async t => {
  const run = await shellWithConfig(t);
  const lines = async (command: string) => (await run(command)).replaceAll(/ {2,}/g, '|').split('\n');
  const both = await lines(
    'SQLAPPLY_USER=eve SQLAPPLY_PASSWORD=s3cret http_proxy=http://u:s3cret@127.0.0.1:3 sqlapply --show-config 127.0.0.1:1',
  );
  for (const line of [
    'url|http://127.0.0.1:1|the command line',
    'user|eve|SQLAPPLY_USER',
    'password|***|SQLAPPLY_PASSWORD',
    'connect_timeout|10|default',
    'proxy|http://127.0.0.1:3|http_proxy',
  ])
    t.true(both.includes(line), `${line}\n${both.join('\n')}`);
  const netrc = await lines('sqlpipe check --show-config 127.0.0.1:1');
  const areFromNetrc = ['user|net|netrc ~/.netrc', 'password|***|netrc ~/.netrc'].every(line => netrc.includes(line));
  t.true(areFromNetrc, netrc.join('\n'));
  const prompted = await lines('sqldump --show-config --user eve 127.0.0.1:1');
  const arePrompted = ['user|eve|--user', 'password|***|the terminal'].every(line => prompted.includes(line));
  t.true(arePrompted, prompted.join('\n'));
});

test('both operands of sqldiff, and a token without a user', async t => {
  const run = await shellWithConfig(t);
  const [prod = '', bot = ''] = (await run('sqldiff --show-config prod bot')).split('\n\n');
  t.regex(prod, /^url +http:\/\/127\.0\.0\.1:1\/q /);
  t.regex(bot, /^url +https:\/\/127\.0\.0\.1:2 /);
  t.regex(bot, /^token +\*\*\* +token_command in \S+: \[bot\]$/m);
  t.regex(bot, /^tls_verify +false +\S+: \[bot\]$/m);
  t.is(await run("printf '\\0' > x.stream; sqldiff --show-config x.stream bot"), bot);
  t.regex(
    await run('sqlpipe check --show-config --insecure --token-file secret bot'),
    /^token +\*\*\* +--token-file\ntls_verify +false +--insecure$/m,
  );
});

test('the secret and the user in an address are redacted, since the user may be a token', async t => {
  const run = await inProcess(t);
  const { stdout } = await run.ok('sqldump --show-config http://t0ken:s3cret@127.0.0.1:1');
  t.regex(stdout, /^user +\*\*\* +the address\npassword +\*\*\* +the address$/m);
  t.notRegex(stdout, /t0ken|s3cret/);
});
