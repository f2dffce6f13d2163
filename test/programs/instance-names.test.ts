/*! Messages about mistyped operands and wrong entries of instances.toml. */
import type { ExecutionContext } from 'ava';
import { inProcess } from '../support/in-process.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

/** A bash with the given text as instances.toml. */
async function shellWithInstances(t: ExecutionContext, toml: string) {
  const run = await inProcess(t, { TOML: toml });
  await run('mkdir -p .config/sqlpipe; printf %s "$TOML" > .config/sqlpipe/instances.toml');
  return run;
}

test('an unknown instance name is tried as a host, and a similar name is suggested', async t => {
  const run = await shellWithInstances(t, '[prodx-sqlpipe]\nurl = "http://h"\n');
  const { code, stderr } = await run('sqldump prodx-sqlpiep');
  t.is(code, 69);
  t.regex(
    stderr,
    /; "prodx-sqlpiep" is not in \S+\/sqlpipe\/instances\.toml, so it was treated as a host name; did you mean prodx-sqlpipe\?\n$/,
  );
});

test('an invalid url in instances.toml affects its own entry only', async t => {
  const { url } = await startSqlserve(t);
  const run = await shellWithInstances(t, `[bad]\nurl = ""\n[worse]\nurl = "h:99999"\n[good]\nurl = "${url}"\n`);
  const bad = await run('sqldump bad');
  t.is(bad.code, 78);
  t.regex(bad.stderr, /^sqldump: \S+\/instances\.toml: \[bad\]: the url is empty/);
  t.regex((await run('sqldump worse')).stderr, /^sqldump: \S+\/instances\.toml: \[worse\]: port 99999 is not between/);
  t.like(await run('sqldump good > good.stream && sqldiff good.stream good'), { code: 0, stderr: '' });
  const { stdout } = await run('sqldump --list-instances');
  t.is(stdout.toString(), `bad\t(its url is not an address)\nworse\t(its url is not an address)\ngood\t${url}\n`);
});

test('a 401 names the user and the source of the credentials, but no secret', async t => {
  const { url } = await startSqlserve(t, [], { QDB_HTTP_USER: 'ann', QDB_HTTP_PASSWORD: 'op3n' });
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
