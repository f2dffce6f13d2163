/*! The package for npm and the executables: installed in a clean folder, used as people use it, and imported by other programs. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { waitUntilApplied } from '../support/background.js';
import { freshFolder } from '../support/folder.js';
import { compile, runCompiled } from '../support/library.js';
import { borrowQuestDB, startQuestDB, startQuestDBIn, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';
import { DATA } from '../support/server-pool.js';
import { shell, withoutStatements } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { fileScope, test, testWith } from '../support/test.js';

const PROGRAMS = readdirSync('packages').filter(name => /^sql.+/.test(name));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const file = fileScope();

const FIRST_WEEK = [
  'CREATE TABLE fx_trades (ts TIMESTAMP, symbol SYMBOL, price DOUBLE) timestamp(ts) PARTITION BY DAY',
  'CREATE TABLE fx_quotes (ts TIMESTAMP, symbol SYMBOL, bid DOUBLE) timestamp(ts) PARTITION BY DAY',
  'CREATE MATERIALIZED VIEW fx_spreads WITH BASE fx_trades AS (SELECT ts, max(price) - min(price) spread FROM fx_trades SAMPLE BY 1h) PARTITION BY MONTH',
];

const tarball = resolve(`dist/sqlpipe-${version}.tgz`);
let destination: string;
let prefix: string;

test.before(async () => {
  destination = await freshFolder(file);
  prefix = join(destination, 'opt/sqlpipe');
  const settings = [`DESTDIR=${destination}`, 'PREFIX=/opt/sqlpipe'];
  // The programs are built already.
  execFileSync('make', ['--old-file=build', 'install', ...settings], { stdio: 'ignore' });
});

/** Asserts that the programs of a folder copy a schema, with only the given folders on the rest of the PATH. */
async function assertCopies(t: ExecutionContext, programs: string, path: string) {
  const [src, dst] = await Promise.all([startSqlserve(t), startSqlserve(t)]);
  await src.execute('CREATE TABLE a (x INT)');
  const bash = await shell(t);
  const { code, stdout, stderr } = await bash(
    `PATH=${programs}:${path}; sqldump ${src.url} | sqlsort | sqlapply ${dst.url} && sqldiff ${src.url} ${dst.url}`,
  );
  t.deepEqual([code, stdout, stderr], [0, '', '']);
  t.like(await dst.execute('SELECT table_name FROM tables()'), { dataset: [['a']] });
}

test('the package has no dependencies, and runs no script when it is installed', t => {
  const manifest = JSON.parse(readFileSync(`${prefix}/lib/node_modules/sqlpipe/package.json`, 'utf8'));
  t.deepEqual([manifest.version, manifest.dependencies, manifest.scripts], [version, undefined, undefined]);
});

test('the package contains the documents for users, and the license of each bundled package', t => {
  for (const path of ['README.md', 'GUIDE.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/demo.svg', 'docs/ERRORS.md'])
    t.true(existsSync(`${prefix}/lib/node_modules/sqlpipe/${path}`), path);
  const notices = readFileSync('dist/package/NOTICES.md', 'utf8');
  for (const name of ['undici', 'yargs', 'split2', 'through2', 'cli-progress', 'smol-toml'])
    t.regex(notices, new RegExp(`^## ${name} \\d[^\\n]*\\n\\n {4}\\S`, 'm'));
});

test('the installed programs copy a schema', async t => {
  const node = resolve(process.execPath, '..');
  for (const name of PROGRAMS)
    t.true(execFileSync(`${prefix}/bin/${name}`, ['--version'], { encoding: 'utf8' }).endsWith(` ${version}\n`));
  t.is(execFileSync(`${prefix}/bin/sqlpipe`, ['dump', '-V'], { encoding: 'utf8' }), `sqldump (sqlpipe) ${version}\n`);
  await assertCopies(t, join(prefix, 'bin'), `${node}:/usr/bin:/bin`);
});

test('make install puts programs, manual pages and completion below DESTDIR and PREFIX', t => {
  const list = (folder: string) => readdirSync(join(prefix, folder));
  t.deepEqual(readdirSync(destination), ['opt']);
  t.deepEqual(list('bin'), PROGRAMS);
  const pages = PROGRAMS.map(name => `${name}.1`);
  t.deepEqual([list('share/man/man1'), list('share/man/man7')], [pages, ['sqlpipe.7']]);
  t.deepEqual(list('share/bash-completion/completions'), PROGRAMS);
  const inZsh = PROGRAMS.map(name => `_${name}`);
  t.deepEqual(list('share/zsh/site-functions'), inZsh);
  const inFish = PROGRAMS.map(name => `${name}.fish`);
  t.deepEqual(list('share/fish/vendor_completions.d'), inFish);
  t.regex(readFileSync(`${prefix}/share/bash-completion/completions/sqldump`, 'utf8'), /--list-instances/);
});

const MINE = `
import { type DumpOptions, dump, isSqlpipeError, type Outcome, replay, serve, type Server } from 'sqlpipe';

const options: DumpOptions = { include: ['SCHEMA'] };
const server: Server = await serve({ schema: ['CREATE TABLE a (x INT)'] });
const outcomes: AsyncIterable<Outcome> = replay(['CREATE VIEW v AS (SELECT x FROM a)'], server);
for await (const { name, result, proven } of outcomes) console.log(name, result, proven);
for await (const statement of dump(server, options)) console.log(statement.split(' (')[0]);
await server.close();
try {
  for await (const statement of dump(server)) console.log(statement);
} catch (error) {
  console.log(isSqlpipeError(error) ? error.code : error);
}
`;

test('a TypeScript program can import the package, with types, and start a server in its process', async t => {
  const folder = await freshFolder(t);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(`${prefix}/lib/node_modules/sqlpipe`, join(folder, 'node_modules/sqlpipe'));
  symlinkSync(resolve('node_modules/@types'), join(folder, 'node_modules/@types'));
  await compile(folder, { mine: MINE });
  t.is(await runCompiled(folder, 'mine'), "v applied true\nCREATE TABLE 'a'\nCREATE VIEW 'v' AS\nUNREACHABLE\n");
});

test('npx runs a program without installing it', async t => {
  const folder = await freshFolder(t);
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') };
  const npx = (...args: string[]) =>
    execFileSync('npx', ['--yes', '--offline', `file:${tarball}`, ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const { url, execute } = await startSqlserve(t);
  await execute('CREATE TABLE a (x INT)');
  t.regex(npx('dump', '--text', url), /^CREATE TABLE 'a' /);
});

test('the Dockerfile installs as make install does, and the programs run as an unprivileged user', async t => {
  const [, command = ''] = /^ +(npm install --global .*) \/dist\//m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  t.regex(readFileSync('Makefile', 'utf8'), new RegExp(`\t@${command} .*\\./dist/sqlpipe-`));

  // As its user, on a schema that is mounted.
  const folder = await freshFolder(t);
  for (const each of [folder, destination]) chmodSync(each, 0o755);
  cpSync('examples/schema', `${folder}/schema`, { recursive: true });
  const { url } = await startSqlserve(t);
  const nobody = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--bounding-set=-all', '--no-new-privs'];
  const become = process.getuid?.() === 0 ? nobody : ['env'];
  const sqlapply = ['sh', '-c', `sqlapply -v --wait 60 ${url} ${folder}/schema/*.sql`];
  const PATH = `${prefix}/bin:${dirname(process.execPath)}:/usr/bin:/bin`;
  const [program = '', ...args] = [...become, ...sqlapply];
  const { status, stderr } = spawnSync(program, args, { cwd: '/', env: { PATH }, encoding: 'utf8' });
  t.deepEqual([status, withoutStatements(stderr)], [0, `sqlapply: ${url}: 3 statements: 3 applied\n`]);
});

testWithQuestDB('the ten jobs of a first week, with the installed programs in an empty HOME', async t => {
  const data = await freshFolder(t, DATA);
  const [prod, dst, old] = await Promise.all([
    borrowQuestDB(t),
    startQuestDBIn(t, data),
    startQuestDB(t, { QUESTDB_VERSION: '9.0.3' }),
  ]);
  for (const server of [prod, old]) for (const statement of FIRST_WEEK) await execute(server, statement);
  await execute(
    prod,
    "INSERT INTO fx_trades SELECT timestamp_sequence('2026-01-01', 3600000000), 'EURUSD', x FROM long_sequence(72)",
  );
  await waitUntilApplied(prod);
  const PATH = `${join(prefix, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const env = { PROD: prod.url, OLD: old.url, DST: dst.url, IMPORT: join(data, 'import') };
  const bash = await shell(t, env);
  const script = resolve('test/cases/first-week.sh');
  const { code, stdout, stderr } = await bash(`mkdir -p $IMPORT; PATH=${PATH} bash ${script}`);
  t.deepEqual([code, stdout.match(/^\d+: /gm)?.length], [0, 10], `${stdout}${stderr}`);
});

test('the package is byte-identical when built in another folder, umask and time zone', async t => {
  const folder = await freshFolder(t);
  const bash = await shell(t, { TZ: 'Asia/Tokyo' });
  const { stdout } = await bash.ok(`
    shopt -s extglob
    umask 077; cp -r ${resolve()}/!(dist) ${folder}; cd ${folder}
    rm packages/sql*/dist/main.js
    tsx scripts/bundle.ts && tsx scripts/package.ts`);
  t.true(readFileSync(join(folder, stdout.trim())).equals(readFileSync(tarball)));
});

/** Files in an archive: mode, owner and group, and path, without what is different in each version. */
const LISTED = /^(\S+) (root\/root|0\/0) +\d+ 1985-10-26 08:15 (?:\.\/)?(\S+)/gm;

testWith('dpkg-deb', 'jq')('the executable runs without Node, under the name of each program', async t => {
  const platform = `${process.platform}-${process.arch}`;
  const { EXTRA_CA_CERTS: NODE_EXTRA_CA_CERTS } = process.env;
  execFileSync('scripts/executable', [platform], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS, COMPRESSION: '0' },
    stdio: 'ignore',
  });
  const folder = resolve(`dist/sqlpipe-${version}-${platform}`);
  const bare = await freshFolder(t);
  for (const tool of ['bash', 'cat']) symlinkSync(`/bin/${tool}`, join(bare, tool));
  const sqlpipe = (...args: string[]) =>
    execFileSync(join(folder, 'bin/sqlpipe'), args, { encoding: 'utf8', env: { PATH: bare } });
  t.is(sqlpipe('--version'), `sqlpipe ${version}\n`);
  t.regex(sqlpipe('help', 'dump'), /^Usage: sqldump \[options\] <instance>/);
  t.regex(sqlpipe('sqldump', '--help'), /^Usage: sqldump \[options\] <instance>/);
  const { url } = await startSqlserve(t);
  const PATH = `${join(folder, 'bin')}:${prefix}/bin:${bare}`;
  const checked = spawnSync(join(folder, 'bin/sqlpipe'), ['check', url], { encoding: 'utf8', env: { PATH } });
  t.deepEqual([checked.status, checked.stderr], [0, ''], 'its own sqldiff is another file, but not another program');
  for (const name of ['nonsense', 'constructor'])
    t.throws(() => sqlpipe(name), { message: /there are dump, split, join, apply/ });
  await assertCopies(t, join(folder, 'bin'), bare);

  // Owner, date, modes and order do not depend on the machine.
  const list = (program: string, ...args: string[]) => {
    const listed = execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
    const lines = Array.from(listed.matchAll(LISTED), ([, mode, , path]) => `${mode} ${path}`);
    t.is(lines.length, listed.split('\n').length - 1, listed);
    return lines;
  };
  const name = `sqlpipe-${version}-${platform}`;
  const archived = list('tar', '-tvf', `${folder}.tar.gz`).map(line => line.replace(`${name}/`, ''));
  const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
  const packed = list('dpkg-deb', '--contents', `dist/sqlpipe_${version}_${architecture}.deb`);
  t.true(archived.includes('-rwxr-xr-x bin/sqlpipe'));
  t.true(archived.includes('lrwxrwxrwx bin/sqldiff'));
  t.true(archived.includes('-rw-r--r-- share/man/man1/sqldump.1'));
  const paths = archived.map(line => line.split(' ')[1]);
  t.deepEqual(paths, paths.toSorted());
  // Debian's sqlite3 installs sqldiff too, and two packages cannot own the same file.
  t.deepEqual(
    packed.flatMap(line => line.match(/(?<=usr\/bin\/).+/)?.[0] ?? []).toSorted(),
    PROGRAMS.filter(name => name !== 'sqldiff'),
  );
  t.true(packed.includes('-rwxr-xr-x usr/bin/sqlpipe'));
  t.true(packed.includes('-rw-r--r-- usr/share/man/man1/sqlpipe-diff.1'));
});
