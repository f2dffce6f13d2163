/*!
 * Compares the programs with other tools in one run: prints tables, draws plots, and writes both into bench/. It says which
 * ratios changed by more than 10 % since the latest release in bench/history.jsonl. A ratio that is more than 1.5 times that of
 * then, even in its best round, fails the run, and nothing is recorded.
 * ROUNDS sets how often each command line runs, JQ which jq, NODES the folders of further Nodes, separated by colons as in
 * PATH; `--quick` uses smaller sizes, and records nothing.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../scripts/bundler.js';
import { startLatencyProxy } from '../test/support/latency-proxy.js';
import { openScope } from '../test/support/scope.js';
import { type Server, startServer } from '../test/support/server.js';
import { DUMP, DUMP_TABLES, JQ_VERSION, loop, REPLAY, splitters } from './baselines.js';
import { Comparisons } from './comparisons.js';
import { growth, shuffledSchema, table } from './growth.js';
import { compareWithHistory, recordRelease } from './history.js';
import { draw } from './plot.js';
import { publish } from './record.js';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const QUICK = process.argv.includes('--quick');

const scope = openScope();
const startScript = (...args: string[]): Promise<Server> =>
  startServer(scope, process.execPath, ['--import=tsx', ...args]);
/** Starts an instance that replies at once, with the given numbers of tables and columns, printed in a form. */
const startStub = (tables: number, columns = 8, form = 'usual'): Promise<Server> =>
  startScript('bench/stub-server.ts', `${tables}`, `${columns}`, form);

const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-bench-'));
scope.teardown(async () => rmSync(folder, { recursive: true }));
const bash = (script: string): void => void execFileSync('bash', ['-o', 'pipefail', '-c', script]);

/** The rows that README contains too. */
const README_ROWS = ['copy of 20 objects', 'copy of 200 objects', 'dump of 300,000 statements: memory'];

/** The head of a table and the rows for README. */
const selectReadmeRows = (table: string): string =>
  table
    .split('\n')
    .filter((row, n) => n < 2 || README_ROWS.some(what => row.startsWith(`| ${what} |`)))
    .join('\n');

const comparisons = new Comparisons(ROUNDS);
const CURL = `curl, ${JQ_VERSION}, xargs`;

/** Further Nodes to start the programs with: how a row names each, and the command that puts it on the PATH. */
const NODES = (process.env.NODES ?? '')
  .split(':')
  .filter(Boolean)
  .map(folder => {
    const [major] = execFileSync(`${folder}/node`, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.');
    return { suffix: `, Node ${major}`, select: `PATH=${folder}:$PATH; ` };
  });
const ALL_NODES = [{ suffix: '', select: '' }, ...NODES];

/** For command lines that take less than a quarter of a second. */
const SHORT = { times: 10 };

async function measureStart(): Promise<void> {
  for (const { suffix, select } of ALL_NODES)
    await comparisons.compare(
      `sqldump --version${suffix}`,
      `${select}sqldump --version`,
      ['node -e 0', `${select}node -e 0`],
      SHORT,
    );
  const platform = `${process.platform}-${process.arch}`;
  const executable = `dist/sqlpipe-${version}-${platform}/bin/sqldump`;
  const [node] = new RegExp(`node-${platform}-.*(?=\\.)`).exec(readFileSync('scripts/node.sha256', 'utf8')) ?? [];
  if (existsSync(executable))
    await comparisons.compare(
      'sqldump --version, the executable',
      `${executable} --version`,
      ['node -e 0', `.cache/${node}/bin/node -e 0`],
      SHORT,
    );
}

async function measureCopies(): Promise<void> {
  for (const tables of [20, 200]) {
    const { url } = await startStub(tables);
    const env = { SRC: url, DST: url };
    for (const { suffix, select } of tables === 20 ? ALL_NODES : ALL_NODES.slice(0, 1))
      for (const [how, ours] of [
        ['', 'sqldump $SRC | sqlapply $DST'],
        [', sqlpipe copy', 'sqlpipe copy $SRC $DST'],
      ] as const)
        await comparisons.compare(
          `copy of ${tables} objects${how}${suffix}`,
          `${select}${ours}`,
          [CURL, `${DUMP} | ${REPLAY}`],
          tables === 20 ? { ...SHORT, env } : { env },
        );
  }
}

async function measureDumps(): Promise<void> {
  const few = await startStub(30_000, 14);
  const many = await startStub(QUICK ? 100_000 : 300_000, 14);
  await comparisons.compare(
    `dump of ${QUICK ? '100,000' : '300,000'} statements`,
    'sqldump $SRC | cat > /dev/null',
    [`curl, ${JQ_VERSION}`, `${DUMP} | cat > /dev/null`],
    { env: { SRC: many.url }, memory: true },
  );
  const most = QUICK ? many : await startStub(3_100_000, 14);
  await comparisons.compare(
    `dump of ${QUICK ? '34 MB' : '1 GiB'}`,
    `sqldump ${most.url} | cat > /dev/null`,
    ['dump of 10 MB', `sqldump ${few.url} | cat > /dev/null`],
    { time: false, memory: true },
  );
  for (const [name, { url }] of Object.entries({ large: many, small: await startStub(3000, 14) }))
    bash(`sqldump ${url} | tr '\\0' '\\n' > ${folder}/${name}.sql`);
}

/** Measures rows that are not printed as most are. */
async function measureForms(): Promise<void> {
  const size = QUICK ? 30_000 : 100_000;
  const { url } = await startStub(size, 14);
  for (const [form, what] of [
    ['unicode', 'names beyond ASCII'],
    ['older', 'printed by 9.0'],
    ['unquoted', 'each in need of a repair'],
  ] as const)
    await comparisons.compare(
      `dump of ${size.toLocaleString('en')} statements, ${what}`,
      `sqldump -q ${(await startStub(size, 14, form)).url} | cat > /dev/null`,
      ['as 9.3 prints most', `sqldump ${url} | cat > /dev/null`],
    );
}

async function measureSplits(): Promise<void> {
  const [large, small] = [join(folder, 'large.sql'), join(folder, 'small.sql')];
  const withSize = (file: string): string => `sqlsplit, ${(statSync(file).size / 1e6).toFixed(0)} MB`;
  await comparisons.compare(
    withSize(large),
    `sqlsplit ${large} | cat > /dev/null`,
    ['cat', `cat ${large} | cat > /dev/null`],
    {
      bytes: statSync(large).size,
    },
  );
  for (const [name, command] of splitters())
    await comparisons.compare(
      withSize(small),
      `sqlsplit ${small} | cat > /dev/null`,
      [name, `${command(small)} | cat > /dev/null`],
      { bytes: statSync(small).size },
    );
}

async function measureFilters(): Promise<void> {
  const size = QUICK ? 100_000 : 300_000;
  const stream = join(folder, 'mixed');
  writeFileSync(stream, shuffledSchema(size).join(''));
  for (const options of ["--rename 't_*=u_*'", '--to 9.3'])
    await comparisons.compare(
      `sqltr ${options}, ${size.toLocaleString('en')} statements`,
      `sqltr ${options} < ${stream} | cat > /dev/null`,
      ['sqlsort', `sqlsort < ${stream} | cat > /dev/null`],
      { memory: true },
    );
}

async function measureReplays(): Promise<void> {
  const { url } = await startStub(QUICK ? 10_000 : 100_000);
  const stream = join(folder, 'stream');
  bash(`sqldump ${url} > ${stream}`);
  await comparisons.compare(
    `apply ${QUICK ? '10,000' : '100,000'} statements`,
    `sqlapply --no-verify ${url} < ${stream}`,
    ['a bare undici loop', `${loop(url)} < ${stream}`],
  );
  const far = await startLatencyProxy(scope, url, () => 20);
  bash(`head -zn 1000 ${stream} > ${folder}/thousand`);
  await comparisons.compare(
    '1,000 statements to an instance 20 ms away: --jobs 8',
    `sqlapply --jobs 8 ${far.url} < ${folder}/thousand`,
    ['one at a time', `sqlapply ${far.url} < ${folder}/thousand`],
  );
}

/** Measures with QuestDB 9.3.4, which has no SHOW CREATE DATABASE. */
async function measureRealServers(): Promise<void> {
  const [source, target] = [await startScript('scripts/questdb.ts'), await startScript('scripts/questdb.ts')];
  const env = { SRC: source.url, DST: target.url };
  const reset = (): Promise<void> => target.dropAll();

  const twenty = await startStub(20);
  bash(`sqldump ${twenty.url} | sqlapply ${source.url}`);
  await comparisons.compare(
    '20 objects, QuestDB to QuestDB, read back',
    'sqldump $SRC | sqlapply $DST',
    [`${CURL}, table by table`, `${DUMP_TABLES} | ${REPLAY}`],
    { env, reset },
  );

  for (const [how, option] of [
    ['', '--no-verify'],
    [', compared and read back', ''],
  ])
    await comparisons.compare(
      `1,000 statements to QuestDB${how}`,
      `sqlapply ${option} $DST < ${folder}/thousand`,
      ['a bare undici loop', `${loop(target.url)} < ${folder}/thousand`],
      { env, reset },
    );

  const tables = QUICK ? 200 : 2000;
  bash(`sqlapply --no-verify --jobs 4 ${source.url} < <(sqldump ${(await startStub(tables)).url} | tail -zn +21)`);
  const asking = `seq -f "SHOW CREATE TABLE 'table_%g'" 0 ${tables - 1} | tr '\\n' '\\0'`;
  await comparisons.compare(
    `${tables.toLocaleString('en')} objects of QuestDB, through the catalogue`,
    'sqldump --via catalogue $SRC | cat > /dev/null',
    ['a bare undici loop', `${asking} | ${loop(source.url)} | cat > /dev/null`],
    { env },
  );
  bash(`sqldump ${source.url} > ${folder}/existing`);
  await comparisons.compare(
    `a rerun of ${tables.toLocaleString('en')} objects on QuestDB`,
    `sqlapply $SRC < ${folder}/existing`,
    ['sqldiff', `sqldiff ${folder}/existing $SRC`],
    { env },
  );
}

try {
  for (const part of [
    measureStart,
    measureCopies,
    measureDumps,
    measureForms,
    measureSplits,
    measureFilters,
    measureReplays,
    measureRealServers,
  ])
    await part();
} finally {
  await scope.end();
}

const charts = await growth(ROUNDS, QUICK);
const machine = `${cpus().length} × ${cpus()[0]?.model}`;
const note = `Medians of ${ROUNDS} rounds (${SHORT.times * ROUNDS} of \`--version\` and of 20 objects), both sides in turn, in one run: Node ${process.version}, ${JQ_VERSION}, ${machine}.`;
const curves = charts.map(table).join('\n\n');
console.log(`${comparisons.table()}\n\n${note}\n\n${curves}`);

const { ratios, bestRatios } = comparisons;
const { changed, worse } = compareWithHistory(ratios, bestRatios);
for (const change of changed) console.error(`changed by more than 10 %: ${change}`);
for (const change of worse) console.error(`much worse, so nothing is recorded: ${change}`);
if (worse.length) process.exitCode = 1;
else if (!QUICK) {
  const date = new Date().toISOString().slice(0, 10);
  recordRelease({ version, date, machine, node: process.version, rounds: ROUNDS, ratios });
  publish('run', `${comparisons.table()}\n\n${note}`);
  publish('run', selectReadmeRows(comparisons.table()), 'README.md');
  publish('growth', curves);
  for (const chart of charts) draw(chart);
}
