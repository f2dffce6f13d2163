/*!
 * What happens to views when the objects that they depend on change. QuestDB updates the views a moment later, in
 * background jobs (observed on 9.3.4); sqlserve updates them before it answers the statement.
 */
import { isDeepStrictEqual } from 'node:util';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { analyzeRelation } from './analysis/relation.js';
import { toColumns } from './create.js';
import type { View } from './objects.js';
import { parseQueryStatement } from './parser/queries.js';
import type { Change, ServerCatalog } from './server-catalog.js';

/** Compiles each view over a changed object again, and stores its new columns or the reason why it is invalid. */
export async function recompile(catalog: ServerCatalog, changes: readonly Change[]): Promise<void> {
  const changed = changes.flatMap(change => ('put' in change ? change.put.name : 'drop' in change ? change.drop : []));
  const dependents = findViewsOver(catalog, changed);
  if (dependents.size === 0) return;
  for (const view of catalog.inDependencyOrder(({ name }) => dependents.has(name))) {
    if (view.kind !== 'view') continue;
    const compiled = await compileView(view, catalog);
    if (!isDeepStrictEqual(compiled, view)) catalog.put(compiled);
  }
}

function findViewsOver(catalog: ServerCatalog, names: readonly string[]): Set<string> {
  const views = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const view of catalog.dependentsOf(name)) {
      if (view.kind !== 'view' || views.has(view.name)) continue;
      views.add(view.name);
      pending.push(view.name);
    }
  }
  return views;
}

async function compileView({ invalid: _, ...view }: View, catalog: ServerCatalog): Promise<View> {
  try {
    const relation = analyzeRelation(await parseQueryStatement(view.body), catalog);
    return { ...view, columns: toColumns(relation), timestamp: relation.timestamp };
  } catch (error) {
    if (!(error instanceof RejectionError)) throw error;
    return { ...view, invalid: { reason: error.message, position: error.position } };
  }
}

/**
 * Makes the materialized views over a table invalid, and the materialized views over those. A view that is invalid
 * already keeps its first reason; a deferred view was never refreshed, so it has no data that could be wrong.
 */
export function invalidate(catalog: ServerCatalog, base: string, reason: string): void {
  for (const view of catalog.dependentsOf(base)) {
    if (view.kind !== 'materialized view' || view.invalid !== undefined || view.refresh.deferred) continue;
    if (view.base.toLowerCase() !== base.toLowerCase()) continue;
    catalog.put({ ...view, invalid: reason });
    invalidate(catalog, view.name, 'base materialized view is invalidated');
  }
}

/** Why materialized views over a dropped or renamed table are invalid. */
export const GONE_TABLE = 'base table is dropped or renamed';
