/*!
 * Every example of README, of GUIDE's recipes and of the man pages, run unchanged, and other claims of these texts. An example that
 * is more than pipelines of programs runs in a real bash, the others in the test's process.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Exit } from '@sqlpipe/cli';
import type { ExecutionContext } from 'ava';
import { freshFolder } from '../support/folder.js';
import { inProcess, needsNoShell, type Run } from '../support/in-process.js';
import { manExamples, manPages, manSection, testWithMandoc } from '../support/manual.js';
import type { Server } from '../support/server.js';
import { type Outcome, shellEnvironment, shellIn } from '../support/shell.js';
import { serveHere, startSqlserve } from '../support/sqlserve.js';
import { fileScope, macro, type Scope, test } from '../support/test.js';
import { tutorialOf } from '../support/tutorial.js';

const README = readFileSync('README.md', 'utf8');
const GUIDE = readFileSync('GUIDE.md', 'utf8');
const EXAMPLES = readFileSync('examples/README.md', 'utf8');
const file = fileScope();

const FIXTURE = readFileSync('test/cases/example-fixture.sh', 'utf8');

/** The example as a script with stand-ins for ssh and pass; exits with 124 if it does not end in time. */
const withTimeout = (example: string) => `cat > example <<'EXAMPLE'
ssh() { shift; bash -c "$*"; }
pass() { echo "it's"; }
${example}
EXAMPLE
timeout 100 bash example`;

let src: Server;
let dst: Server;
let dst2: Server;
let cluster: Server;
let fixture: string;

test.before(async () => {
  [src, dst, dst2, cluster] = await Promise.all([
    startSqlserve(file),
    startSqlserve(file),
    startSqlserve(file),
    serveHere(file, { edition: 'enterprise' }),
  ]);
  const urls = { src, prod: src, standby: src, dst, laptop: dst, dst2, cluster };
  const instances = Object.entries(urls).map(([name, { url }]) => `[${name}]\nurl = "${url}"\n`);
  instances.push('user = "admin"\n');
  fixture = await freshFolder(file);
  const { code, stderr } = await shellIn(
    fixture,
    shellEnvironment(fixture, ENVIRONMENT),
  )(
    `${FIXTURE}mkdir -p .config/sqlpipe && cat > .config/sqlpipe/instances.toml <<'TOML'\n${instances.join('')}TOML
sqlapply src schema.sql && echo "CREATE USER ann; CREATE SERVICE ACCOUNT feed;" | sqlsplit | sqlapply -q cluster`,
  );
  if (code !== 0) throw new Error(stderr);
});

test.beforeEach(() => Promise.all([dst.dropAll(), dst2.dropAll()]));

const ENVIRONMENT = { SQLPIPE_CLUSTER_PASSWORD: 'quest' };

/** A folder with the fixture. `src`, `prod` and `standby` hold the schema; `dst`, `dst2` and `laptop` are empty; `cluster` has users. */
async function folderOfExample(scope: Scope): Promise<Run> {
  const run = await inProcess(scope, ENVIRONMENT);
  await cp(fixture, run.folder, { recursive: true });
  return run;
}

async function exampleShell(scope: Scope): Promise<(script: string) => Promise<Outcome>> {
  const run = await folderOfExample(scope);
  return example => runExample(run, example);
}

/** `sqlpipe check` looks for its own file on the PATH. */
const runExample = (run: Run, example: string): Promise<Outcome> =>
  needsNoShell(example) && !example.includes('sqlpipe check') ? run(example) : run.bash(withTimeout(example));

/** The recipes that change `dst`, which has the schema of `prod` then. */
const changes = /^## Change a schema\n.*?(?=^## )/ms.exec(GUIDE)?.[0] ?? '';

const runsExample = macro(async (t: ExecutionContext, example: string) => {
  const run = await folderOfExample(t);
  if (changes.includes(example)) await run('sqlapply -q dst schema.sql');
  const { code, stderr } = await runExample(run, example);
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' }, example);
});

const blocks = (text: string) => Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = '']) => block);
/** The tutorial has a test of its own. */
const recipes = GUIDE.replace(tutorialOf(GUIDE), '');

/** The title of each example. One that stands in several texts is run once. */
const titles = new Map<string, string>();
const collect = (origin: string, examples: string[]): void => {
  for (const [i, example] of examples.entries())
    if (!titles.has(example)) titles.set(example, `${origin}, example ${i + 1}: ${example.split('\n', 1)}`);
};
collect('README', blocks(README));
collect('GUIDE', blocks(recipes));
for (const page of manPages) collect(basename(page), manExamples(page));

const lacksParallel = spawnSync('parallel', ['--version']).error !== undefined && !process.env.CI;
if (lacksParallel) console.error('Examples with GNU parallel are skipped: it is not on the PATH');

for (const [example, title] of titles)
  (lacksParallel && /^ *parallel /m.test(example) ? test.skip : test)(title, runsExample, example);

/** The first shell block of a recipe, or '', which makes the test of a missing recipe fail. */
function recipe(title: string): string {
  const [, below = ''] = `${GUIDE}${EXAMPLES}`.split(`# ${title}\n`);
  return blocks(below)[0] ?? '';
}

const ANOTHER = 'CREATE TABLE venues (mic SYMBOL)';

test('the plan that GUIDE shows is the plan of its recipe', async t => {
  const [, shown = ''] = /^The plan to read.*?```sql\n(.*?)^```$/ms.exec(GUIDE) ?? [];
  const run = await exampleShell(t);
  const { stdout } = await run(`sqlapply -q dst schema.sql
sed -i 's/price DOUBLE/&, venue SYMBOL/' schema/tables/fx_trades.sql
sqldiff --alter schema dst | tr '\\0' '\\n'`);
  t.is(stdout.trimEnd(), shown.trimEnd());
});

test('the recipe for several targets applies the others if one fails, and fails', async t => {
  await dst2.execute(ANOTHER);
  const run = await exampleShell(t);
  const { code, stderr } = await run(recipe('Copy to several instances at once'));
  t.not(code, 0);
  t.regex(stderr, /3 of 4 applied, 1 differs/);
  t.is((await run('sqldiff src dst')).code, 0, 'the other one');
});

test('the recipe to continue after a failure applies the rest and keeps the rejects as text', async t => {
  await dst.execute(ANOTHER);
  const run = await exampleShell(t);
  await run(`rm rest.stream\n${recipe('Continue after a failure')}`);
  await run('sqljoin -o rest.sql < rest.stream');
  t.regex((await run('cat rest.sql')).stdout, /^CREATE TABLE 'venues'[^;]*;\n\n$/);
  t.is((await run('sqldump src | sqlapply --dry-run dst | grep skipped')).stdout, 'skipped: 3 statements\n');
});

test('the recipe for a JSON report prints failed statements in every run', async t => {
  const run = await exampleShell(t);
  const what = async () => (await run(recipe('Report as JSON'))).stdout;
  t.is(await what(), '');
  await dst.execute('DROP VIEW fx_spreads');
  t.is(await what(), '', 'one is applied, the others are skipped');
  await dst.execute('DROP TABLE venues');
  await dst.execute(ANOTHER);
  t.regex(await what(), /^\d venues: differs: already exists with a different definition\n$/);
});

test('the man page of sqlapply lists every result of a statement', t => {
  const [, table = ''] =
    /^\.Sh RESULTS\n(.*?)^\.El$/ms.exec(readFileSync('packages/sqlapply/sqlapply.1', 'utf8')) ?? [];
  const [, type = ''] =
    /^export type Result =\n(.*?);$/ms.exec(readFileSync('packages/replay/src/outcome.ts', 'utf8')) ?? [];
  const words = (text: string, pattern: RegExp) => (text.match(pattern) ?? []).join('\n').match(/[a-z]+(?: [a-z]+)?/g);
  t.deepEqual(words(table, /(?<=^\.It Cm ).*$/gm)?.toSorted(), words(type, /'[^']*'/g)?.toSorted());
});

test('the recipe to compare instances prints the differences, and fails', async t => {
  await dst.execute(ANOTHER);
  const { code, stdout } = await (await exampleShell(t))(recipe('Compare two instances').replaceAll('standby', 'dst'));
  t.is(code, 1);
  t.regex(stdout, /^only in prod: view 'fx_spreads'$/m);
});

test('the crontab example is the recipe to compare instances', t => {
  const [, command] = /^```crontab\n.*?^(?:\S+ ){5} (.*?)\n```$/ms.exec(GUIDE) ?? [];
  t.is(`${command}\n`, recipe('Compare two instances'));
});

test('the recipe for passwords sets a password with special characters', async t => {
  const run = await exampleShell(t);
  const as = (password: string) => run(`SQLDUMP_USER=ann SQLDUMP_PASSWORD="${password}" sqldump ${cluster.url}`);
  await run(recipe('Set passwords after a copy'));
  t.regex((await as('its')).stderr, /answered 401/);
  t.notRegex((await as("it's")).stderr, /answered 401/);
});

test('the recipe for renaming renames in views too', async t => {
  const run = await exampleShell(t);
  await run(recipe('Rename tables and views'));
  t.regex((await run('sqldump dst')).stdout, /VIEW 'forex_spreads'[^;]* FROM forex_quotes/);
});

test('the recipe for tenants gives each tenant its own tables', async t => {
  const run = await exampleShell(t);
  await run(recipe('One schema for fifty tenants'));
  const names = (await run('sqldump dst | sqlgrep --list | cut -f 2')).stdout.trimEnd().split('\n');
  t.is(names.length, 8);
  t.true(names.includes('globex_fx_spreads') && names.includes('acme_venues'), names.join());
});

test('the recipe for Prometheus counts differences, and none if the comparison failed', async t => {
  const run = await exampleShell(t);
  const metrics = async (edit: string) => {
    await run(`${edit}\n${recipe('Export drift to Prometheus')}`);
    return (await run('grep -v "^# TYPE" sqlpipe.prom; ls *.tmp')).stdout;
  };
  const objects = (result: string, count: number) =>
    `sqlpipe_drift_objects{instance="prod",result="${result}"} ${count}\n`;
  const status = (code: number) => `sqlpipe_diff_status{instance="prod"} ${code}\n`;
  const counts = [objects('only-a', 1), objects('only-b', 3), objects('differs', 1)];
  const edit = "echo 'CREATE TABLE venues (mic SYMBOL); CREATE TABLE new (x INT);' > schema.sql";
  t.is(await metrics(edit), [status(1), ...counts].join(''));
  t.is(await metrics('rm schema.sql'), status(66));
});

test('the recipe for ssh copies nothing of a truncated dump', async t => {
  const { code } = await (await exampleShell(t))(
    recipe('Copy through ssh').replace('sqldump prod', '"sqldump prod | head -c 99"'),
  );
  t.is(code, 65);
  t.like(await dst.execute('SELECT table_name FROM tables()'), { dataset: [] });
});

test('README names each exit status', t => {
  for (const status of Object.values(Exit)) t.regex(README, new RegExp(`^\\| ${status} \\| \\w`, 'm'));
});

testWithMandoc('sqlpipe(7) names each exit status', t => {
  const section = manSection('packages/cli/sqlpipe.7', 'EXIT STATUS');
  for (const status of Object.values(Exit)) t.regex(section, new RegExp(`^ {5}${status} `, 'm'));
});

const anchors = (path: string): string[] =>
  Array.from(readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const documents = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
for (const path of documents) {
  const text = readFileSync(path, 'utf8');

  test(`${path} links to files and headings that exist`, t => {
    const links = Array.from(text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g), ([, file = '', anchor = '']) => ({
      target: file ? join(dirname(path), file) : path,
      anchor,
    }));
    t.deepEqual(
      links.filter(({ target, anchor }) => !existsSync(target) || (anchor && !anchors(target).includes(anchor))),
      [],
    );
  });

  test(`${path} names only make targets that exist`, t => {
    const makefile = readFileSync('Makefile', 'utf8');
    const targets = Array.from(text.matchAll(/(?:`|\$ )make (\w+)/g), ([, target = '']) => target);
    const wrong = targets.filter(target => !makefile.includes(`\n${target}:`));
    t.deepEqual(wrong, []);
  });
}
