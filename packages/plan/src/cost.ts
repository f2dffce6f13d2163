/*! What a plan costs: rows to rewrite, to read and to copy, and the statements that nothing undoes. */
import type { Effect } from '@sqlpipe/engine';
import { displayName, foldCase, identify, type Kind } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import type { Proof } from './prove.js';
import type { Task } from './task.js';
import { parseAssertion } from './text/assertions.js';
import { nameInB } from './values.js';

/** How much a server stores for a table or a materialized view. */
export interface StoredSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Asks a server for the sizes of its tables and materialized views, by name in lower case; undefined if it does not show them. */
export type AskSizes = () => Promise<ReadonlyMap<string, StoredSize> | undefined>;

/** What a plan does with all rows of a table. */
type Work = 'copies' | 'rewrites' | 'reads';

/**
 * The work that grows with the rows of a table, a line for each: `rewrites and reads table 't' (6,000,000 rows, 240 MB)`. Without
 * the size, the comments of the statements say enough.
 */
export async function describeWork(draft: Draft, proof: Proof, task: Task, askSizes?: AskSizes): Promise<string[]> {
  const work = findWork(draft, proof, task);
  // biome-ignore lint/nursery/useAwaitThenable: the function of an option returns a promise
  const sizes = work.size > 0 ? await askSizes?.() : undefined;
  return [...work].flatMap(([table, works]) => {
    const size = sizes?.get(foldCase(table));
    const isCopied = works.has('copies');
    if (!size && !isCopied) return [];
    const what = `${[...works].join(' and ')} ${task.before.title(table)}`;
    // No function of 9.3.4 shows the free space of a disk.
    return [`${what}${size ? ` (${formatSize(size)})` : ''}${isCopied ? ', which needs as much free disk' : ''}`];
  });
}

/** For each table or materialized view of B, what is done with all of its rows. */
function findWork({ steps, engine }: Draft, { effects }: Proof, task: Task): Map<string, Set<Work>> {
  const found = new Map<string, Set<Work>>();
  const note = (name: string, work: Work): void => {
    const table = task.before.find(nameInB(name, task));
    if (table) found.set(table.name, (found.get(table.name) ?? new Set<Work>()).add(work));
  };
  for (const [at, { statement }] of steps.entries()) {
    const assertion = parseAssertion(statement);
    if (assertion?.followsCopy) note(assertion.tables[0], 'copies');
    const { kind, name } = identify(statement);
    const rewritten = (effects[at] ?? []).filter(({ effect }) => effect === 'rewritten');
    const views = rewritten.filter(each => each.kind === 'materialized view').map(({ object }) => object);
    for (const each of kind === 'materialized view' ? [name] : views) {
      const view = engine.find(each);
      if (view?.kind === 'materialized view') note(view.base, 'reads');
    }
    for (const { kind, object } of rewritten) if (kind === 'table') note(object, 'rewrites');
  }
  return found;
}

const formatSize = ({ rows, bytes }: StoredSize): string =>
  `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}, ${formatBytes(bytes)}`;

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Three digits, in the units of 1000 that disks are sold in. */
function formatBytes(bytes: number): string {
  const power = Math.min(Math.max(Math.floor(Math.log10(bytes) / 3), 0), UNITS.length - 1);
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${UNITS[power]}`;
}

/**
 * Descriptions of the effects that nothing undoes. Deduplication can be switched on again, and a materialized view that is created
 * again computes its rows.
 */
export const describeLosses = (
  effects: readonly Effect[],
  findNow: (name: string) => { readonly kind: Kind } | undefined,
): string[] =>
  effects
    .filter(({ effect, loss, kind, object }) => {
      const isCreatedAgain = loss === 'drop' && kind === 'materialized view' && findNow(object)?.kind === kind;
      return effect === 'lost' && loss !== 'keys' && !isCreatedAgain;
    })
    .map(({ kind, object, text }) => `${displayName({ kind, name: object, verb: '' })}: ${text}`);
