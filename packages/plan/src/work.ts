/*! The work that a plan makes for the server: the tables that it copies, rewrites or reads completely, with their sizes. */
import { isFullRefresh } from '@sqlpipe/engine';
import { identify } from '@sqlpipe/sql';
import type { StoredSize } from './context/server-answers.js';
import type { Draft } from './draft/draft.js';
import type { Proof } from './proof/prove.js';

type Work = 'copies' | 'rewrites' | 'reads';

/** Formats lines such as `rewrites table 't' (6,000 rows, 24 kB)`. Without sizes, only copies: other comments name the other work. */
export async function formatWork(draft: Draft, proof: Proof): Promise<string[]> {
  const work = findWork(draft, proof);
  const sizes = work.size > 0 ? await draft.context.answers.server.fetchSizes?.() : undefined;
  return [...work].flatMap(([table, kinds]) => {
    const size = sizes?.get(table);
    const isCopied = kinds.has('copies');
    if (!size && !isCopied) return [];
    const what = `${[...kinds].join(' and ')} ${draft.context.engineOfB.displayNameOf(table)}`;
    // 9.3.4 does not show the free space of a disk, so the plan cannot check it.
    return [`${what}${size ? ` (${formatSize(size)})` : ''}${isCopied ? ', which needs as much free disk' : ''}`];
  });
}

function findWork({ steps, engine, context }: Draft, { effects }: Proof): Map<string, Set<Work>> {
  const workByTable = new Map<string, Set<Work>>();
  const add = (name: string, work: Work): void => {
    const table = context.engineOfB.find(context.renames.nameBeforePlan(name));
    if (table) workByTable.set(table.name, (workByTable.get(table.name) ?? new Set<Work>()).add(work));
  };
  for (const [i, { statement, assertion }] of steps.entries()) {
    if (assertion?.followsCopy) add(assertion.tables[0], 'copies');
    const { kind, name } = identify(statement);
    const rewritten = (effects[i] ?? []).filter(({ type }) => type === 'rewritten');
    const refreshed = rewritten.filter(isFullRefresh).map(({ object }) => object);
    for (const viewName of kind === 'materialized view' ? [name] : refreshed) {
      const view = engine.find(viewName);
      if (view?.kind === 'materialized view') add(view.base, 'reads');
    }
    for (const { kind, object } of rewritten) if (kind === 'table') add(object, 'rewrites');
  }
  return workByTable;
}

const formatSize = ({ rows, bytes }: StoredSize): string =>
  `${rows.toLocaleString('en-US')} ${rows === 1 ? 'row' : 'rows'}, ${formatBytes(bytes)}`;

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Three digits, in units of 1000 as for disks. */
function formatBytes(bytes: number): string {
  const rounded = Number(bytes.toPrecision(3));
  const power = Math.min(Math.max(Math.floor(Math.log10(rounded) / 3), 0), UNITS.length - 1);
  return `${rounded / 1000 ** power} ${UNITS[power]}`;
}
