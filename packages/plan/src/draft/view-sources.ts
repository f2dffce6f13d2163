/*! Finds what views read. */
import type { MaterializedView } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { isObject } from '@sqlpipe/sql';
import type { PlanContext } from '../context/plan-context.js';
import type { Draft } from './draft.js';

/** Finds the tables and materialized views that a view reads, directly or through plain views. */
export function findStoredSources(entry: Entry, { a, b }: PlanContext): string[] {
  const sourcesOf = (each: Entry) =>
    (a.findObject(each.name) ? a : b).prerequisites(each).filter(({ kind }) => isObject(kind));
  const sources = new Map(sourcesOf(entry).map(each => [each.name, each]));
  for (const source of sources.values())
    if (source.kind === 'view') for (const each of sourcesOf(source)) sources.set(each.name, each);
  return [...sources.values()].flatMap(({ kind, name }) => (kind === 'view' ? [] : name));
}

/** As `findStoredSources`, for a view of the draft. A source need not exist. */
export const findSources = ({ base, references }: MaterializedView, { engine }: Draft): string[] =>
  engine.catalogue.sources([base, ...references]);

/** Whether a query reads a table of B, directly or through views. Any other table is new and empty, so it has no rows for a view. */
export const readsTableOfB = (references: readonly string[], draft: Draft): boolean =>
  draft.engine.catalogue.sources(references).some(name => {
    const source = draft.engine.find(name);
    return source?.kind === 'materialized view'
      ? readsTableOfB([source.base, ...source.references], draft)
      : draft.context.engineOfB.find(draft.context.renames.nameBeforePlan(name)) !== undefined;
  });
