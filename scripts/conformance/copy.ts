/*! Copies databases full of scenarios with the built programs and looks what became of each object. */
import { execFile } from 'node:child_process';
import { foldCase, identify } from '@sqlpipe/sql';
import type { Scenario } from './corpus.js';
import { type Database, Refused } from './database.js';

/** What came of some scenarios. */
export interface Result {
  /** How many objects the source held, and how many of them the target held just so afterwards. */
  objects: number;
  equal: number;
  /** The scenarios that the source did not take now, with its reason. */
  notTaken: string[];
  /** What fell short, a line each. */
  short: string[];
}

/** So many scenarios go into one database at most; with more the server's lists of them get slow. */
const CAPACITY = 500;

/** Servers that have held so many objects are given up: to drop hundreds takes them longer than a start. */
const WORN = 100;

/** A new source and an empty target, for as long as the work takes. */
export type WithServers = (work: (source: Database, target: Database) => Promise<void>) => Promise<void>;

/** Runs scenarios, as many at a time as have no name in common, and copies each lot to an empty target. */
export async function copyAll(scenarios: Scenario[], withServers: WithServers): Promise<Result> {
  const total: Result = { objects: 0, equal: 0, notTaken: [], short: [] };
  for (let left = scenarios; left.length; ) {
    const before = total.objects;
    await withServers(async (source, target) => {
      while (left.length && total.objects - before < WORN) {
        await Promise.all([source, target].map(each => each.execute('DROP ALL')));
        left = await fill(source, left, total);
        await source.settle();
        await copy(source, target, total);
      }
    });
  }
  return total;
}

/** Makes what fits into one database; returns the scenarios that did not. */
export async function fill(source: Database, scenarios: Scenario[], total: Result): Promise<Scenario[]> {
  const made = new Map<string, string>();
  const left: Scenario[] = [];
  let count = 0;
  for (const scenario of scenarios) {
    const statements = scenario.statements.map(sql => [foldCase(identify(sql).name), sql] as const);
    if (count === CAPACITY || statements.some(([name, sql]) => (made.get(name) ?? sql) !== sql)) {
      left.push(scenario);
      continue;
    }
    try {
      const before = new Set(scenario.renames ? await source.objects() : []);
      for (const [name, sql] of statements) if (!made.has(name)) await source.execute(sql);
      if (statements.length > 1) await source.settle();
      const renamed = scenario.renames && (await renameNew(source, before, scenario.id));
      if (!renamed) for (const [name, sql] of statements) made.set(name, sql);
      count++;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (count && error.message.endsWith('already exists')) left.push(scenario);
      else total.notTaken.push(`${scenario.id}: ${error.message}`);
    }
  }
  return left;
}

/** Gives new tables names that no other scenario has; false where the server can't. */
async function renameNew(source: Database, before: ReadonlySet<string>, id: string): Promise<boolean> {
  try {
    for (const name of await source.objects())
      if (!before.has(name)) await source.execute(`RENAME TABLE '${name}' TO '${name} ${id}'`);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

async function copy(source: Database, target: Database, total: Result): Promise<void> {
  const dump = await run('sqldump', [source.url]);
  const replay = await run('sqlapply', ['--keep-going', target.url], dump.stdout);
  const again = await run('sqldump', [target.url]);
  const [wanted, found] = [await source.shown(), await target.shown()];

  total.objects += wanted.size;
  let equal = 0;
  for (const [name, { definition, columns }] of wanted) {
    const copied = found.get(name);
    if (copied?.definition === definition && copied.columns === columns) equal++;
    else
      total.short.push(`${name}: ${copied ? `${columns} became ${copied.columns}` : 'missing'}\n${indent(definition)}`);
  }
  total.equal += equal;
  if (dump.status !== 0) total.short.push(`sqldump ended with ${dump.status}\n${indent(dump.stderr)}`);
  if (replay.status !== 0) total.short.push(`sqlapply ended with ${replay.status}\n${indent(replay.stderr)}`);
  if (equal === wanted.size && !again.stdout.equals(dump.stdout)) total.short.push('the copy dumps as another stream');
}

const indent = (text: string): string => text.trimEnd().replace(/^/gm, '    ');

/** Runs a built program; what it says and its status. */
function run(
  program: string,
  args: string[],
  input?: Buffer,
): Promise<{ status: unknown; stdout: Buffer; stderr: string }> {
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [`packages/${program}/bin/${program}.js`, ...args],
      { encoding: 'buffer', maxBuffer: 1 << 30 },
      (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr: stderr.toString() }),
    );
    child.stdin?.on('error', () => {}); // the program may end before it has read all
    child.stdin?.end(input);
  });
}
