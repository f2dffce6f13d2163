/*! Copies databases of scenarios with the built programs and compares each object with its copy. */
import { foldCase, identify } from '@sqlpipe/sql';
import { openScope } from '../../test/support/scope.js';
import { shell } from '../../test/support/shell.js';
import type { Scenario } from './corpus.js';
import { type Database, RejectedError } from './database.js';

/** The result of some scenarios. */
export interface Result {
  /** The number of objects of the source, and the number of objects with an equal copy. */
  objects: number;
  equal: number;
  /** The scenarios that the source rejected, with its message. */
  notTaken: string[];
  /** Differences and failures, one line each. */
  short: string[];
}

/** The maximum number of scenarios in one database; with more, the server's lists of objects get slow. */
const MAX_SCENARIOS = 500;

/** Servers are replaced after this number of objects, since dropping hundreds takes longer than a start. */
const MAX_OBJECTS = 100;

/** Provides a new source and an empty target during the work. */
export type WithServers = (work: (source: Database, target: Database) => Promise<void>) => Promise<void>;

/** Runs scenarios, as many at a time as have no common names, and copies each group to an empty target. */
export async function copyAll(scenarios: Scenario[], withServers: WithServers): Promise<Result> {
  const total: Result = { objects: 0, equal: 0, notTaken: [], short: [] };
  for (let left = scenarios; left.length; ) {
    const before = total.objects;
    await withServers(async (source, target) => {
      while (left.length && total.objects - before < MAX_OBJECTS) {
        await Promise.all([source, target].map(each => each.dropAll()));
        left = await fill(source, left, total);
        await source.settle();
        await copy(source, target, total);
      }
    });
  }
  return total;
}

/** Creates the scenarios that fit into one database; returns the others. */
export async function fill(source: Database, scenarios: Scenario[], total: Result): Promise<Scenario[]> {
  const made = new Map<string, string>();
  const left: Scenario[] = [];
  let count = 0;
  for (const scenario of scenarios) {
    const statements = scenario.statements.map(sql => [foldCase(identify(sql).name), sql] as const);
    if (count === MAX_SCENARIOS || statements.some(([name, sql]) => (made.get(name) ?? sql) !== sql)) {
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
      if (!(error instanceof RejectedError)) throw error;
      if (count && error.message.endsWith('already exists')) left.push(scenario);
      else total.notTaken.push(`${scenario.id}: ${error.message}`);
    }
  }
  return left;
}

/** Renames new tables to unique names; returns false if the server cannot. */
async function renameNew(source: Database, before: ReadonlySet<string>, id: string): Promise<boolean> {
  try {
    for (const name of await source.objects())
      if (!before.has(name)) await source.execute(`RENAME TABLE '${name}' TO '${name} ${id}'`);
    return true;
  } catch (error) {
    if (error instanceof RejectedError) return false;
    throw error;
  }
}

async function copy(source: Database, target: Database, total: Result): Promise<void> {
  const scope = openScope();
  try {
    const run = await shell(scope, { SRC: source.url, DST: target.url });
    for (const command of ['sqldump $SRC > dump', 'sqlapply --keep-going $DST < dump']) {
      const { code, stderr } = await run(command);
      if (code !== 0) total.short.push(`${command} ended with ${code}\n${indent(stderr)}`);
    }
    const isEqual = await compareAll(source, target, total);
    const { code } = await run('sqldump $DST | cmp --silent dump');
    if (isEqual && code !== 0) total.short.push('the copy dumps as another stream');
  } finally {
    await scope.end();
  }
}

/** Returns whether all objects of the source have an equal copy. */
async function compareAll(source: Database, target: Database, total: Result): Promise<boolean> {
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
  return equal === wanted.size;
}

const indent = (text: string): string => text.trimEnd().replace(/^/gm, '    ');
