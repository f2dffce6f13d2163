/*!
 * Side by side with what people use now, and how time grows with a schema: prints tables, and puts them into bench/README.md.
 * ROUNDS says how often each runs.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../test/support/scope.js';
import { type Server, startServer } from '../test/support/server.js';
import { FILTERS, growth } from './growth.js';
import { measure } from './measure.js';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const QUICK = process.argv.includes('--quick');

const left: (() => Promise<void>)[] = [];
const scope: Scope = { teardown: work => void left.push(work) };
const tsx = (...args: string[]): Promise<Server> => startServer(scope, process.execPath, ['--import=tsx', ...args]);

const jqVersion = execFileSync('jq', ['--version'], { encoding: 'utf8' }).trim();
/** The documented recipe; jq before 1.7 has no --raw-output0. */
const JQ = jqVersion < 'jq-1.7' ? `jq -j '.dataset[][0] + "\\u0000"'` : `jq --raw-output0 '.dataset[][0]'`;
const ASK = `curl -sG "$SRC/api/v1/sql/execute" --data-urlencode 'query=SHOW CREATE DATABASE'`;
const RECIPE = `${ASK} | ${JQ} | xargs -0 -n1 sh -c 'curl -sG "$DST/api/v1/sql/execute" --data-urlencode "query=$1"; echo' _`;

interface Row {
  what: string;
  against: string;
  ours: string;
  theirs: string;
  ratio: number;
}

const rows: Row[] = [];

/** Adds a row for the time, and one for the memory where that is asked for. */
async function compare(
  what: string,
  [against, theirs]: [name: string, script: string],
  ours: string,
  env: NodeJS.ProcessEnv = {},
  options: { memory?: boolean; reset?: () => Promise<void> } = {},
): Promise<void> {
  const [mine, other] = await measure([ours, theirs], ROUNDS, env, options.reset);
  if (!mine || !other) return;
  const add = (what: string, unit: string, a: number, b: number, digits: number) =>
    rows.push({
      what,
      against,
      ours: `${a.toFixed(digits)} ${unit}`,
      theirs: `${b.toFixed(digits)} ${unit}`,
      ratio: a / b,
    });
  add(what, 's', mine.seconds, other.seconds, 3);
  if (options.memory) add(`${what}: memory`, 'MiB', mine.mebibytes, other.mebibytes, 0);
  console.error(`${what}: ${(mine.seconds / other.seconds).toFixed(2)}`);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-bench-'));
  left.push(async () => rmSync(folder, { recursive: true }));

  await compare('start: sqldump --version', ['node -e 0', 'node -e 0'], 'sqldump --version');

  for (const count of [20, 200]) {
    const { url } = await tsx('bench/instant.ts', `${count}`);
    await compare(`${count} objects, copied at once`, ['curl, jq, xargs', RECIPE], 'sqldump $SRC | sqlapply $DST', {
      SRC: url,
      DST: url,
    });
  }

  const large = QUICK ? 30_000 : 300_000;
  const { url: SRC } = await tsx('bench/instant.ts', `${large}`, '14');
  await compare(
    `dump of ${large} statements`,
    ['curl, jq', `${ASK} | ${JQ} > /dev/null`],
    'sqldump $SRC | cat > /dev/null',
    { SRC },
    { memory: true },
  );

  const text = join(folder, 'large.sql');
  execFileSync('bash', ['-c', `sqldump ${SRC} | tr '\\0' '\\n' > ${text}`]);
  const megabytes = readFileSync(text).length / 1e6;
  await compare(
    `sqlsplit, ${megabytes.toFixed(0)} MB`,
    ['cat', `cat ${text} | cat > /dev/null`],
    `sqlsplit ${text} | cat > /dev/null`,
  );

  const [source, target] = [await tsx('scripts/questdb.ts'), await tsx('scripts/questdb.ts')];
  for (let i = 0; i < 20; i++)
    await source.execute(
      `CREATE TABLE t${i} (ts TIMESTAMP, a SYMBOL, b DOUBLE, c LONG, d VARCHAR) TIMESTAMP(ts) PARTITION BY DAY WAL`,
    );
  const env = { SRC: source.url, DST: target.url };
  // QuestDB 9.3.4 can not be asked for the whole database: the recipe gets its statements from a file.
  execFileSync('bash', ['-c', `sqldump ${source.url} > ${folder}/stream`]);
  await compare(
    '20 objects, real QuestDB to real QuestDB, read back',
    [
      'xargs, curl',
      `xargs -0 -n1 sh -c 'curl -sG "$DST/api/v1/sql/execute" --data-urlencode "query=$1"; echo' _ < ${folder}/stream`,
    ],
    'sqldump $SRC | sqlapply $DST',
    env,
    { reset: () => target.empty() },
  );
}

function table(): string {
  const head = '| what | against | ours | theirs | ratio |\n| --- | --- | --- | --- | --- |';
  return [
    head,
    ...rows.map(row => `| ${row.what} | ${row.against} | ${row.ours} | ${row.theirs} | ${row.ratio.toFixed(2)} |`),
  ].join('\n');
}

try {
  await main();
} finally {
  for (const work of left.reverse()) await work();
}

const note = `Medians of ${ROUNDS} rounds, the two sides by turns, in one run: Node ${process.version}, ${jqVersion}, ${cpus().length} × ${cpus()[0]?.model}.`;
publish('run', `${table()}\n\n${note}`);
publish('growth', await growth(FILTERS, QUICK ? [1000, 10_000] : [1000, 10_000, 100_000], ROUNDS));

/** Prints a text, and puts it between its marks. */
function publish(mark: string, text: string): void {
  console.log(`${text}\n`);
  const readme = readFileSync('bench/README.md', 'utf8');
  const between = new RegExp(`(?<=<!-- ${mark} -->\\n)[^]*(?=\\n<!-- /${mark} -->)`);
  writeFileSync(
    'bench/README.md',
    readme.replace(between, () => text),
  );
}
