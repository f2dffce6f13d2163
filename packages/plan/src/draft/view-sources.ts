/*! Finds what views read. */
import type { Entry } from '@sqlpipe/schema';
import type { PlanContext } from '../context/plan-context.js';
import type { Draft } from './draft.js';

/** Finds the tables and materialized views that a view reads, directly or through plain views. */
export function findStoredSources(entry: Entry, { a, b }: PlanContext): string[] {
  const find = (name: string) => a.findObject(name) ?? b.findObject(name);
  const sourcesOf = ({ name }: Entry) => (a.findObject(name) ? a : b).dependencies().get(name) ?? [];
  const sources = new Set(sourcesOf(entry));
  for (const name of sources) {
    const source = find(name);
    if (source?.kind === 'view') for (const each of sourcesOf(source)) sources.add(each); // the set grows during the loop
  }
  return [...sources].filter(name => find(name)?.kind !== 'view');
}

/** Whether a query reads a table of B, directly or through views. Any other table is new and empty, so it has no rows for a view. */
export const readsTableOfB = (references: readonly string[], draft: Draft): boolean =>
  draft.engine.catalogue.sources(references).some(name => {
    const source = draft.engine.find(name);
    return source?.kind === 'materialized view'
      ? readsTableOfB([source.base, ...source.references], draft)
      : draft.context.engineOfB.find(draft.context.renames.nameBeforePlan(name)) !== undefined;
  });
