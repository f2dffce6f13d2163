/*!
 * What happens to views when the objects that they depend on change. The service finds out a moment later, in jobs of
 * its own; here it is known when the statement is answered (observed on 9.3.4).
 */
import { isDeepStrictEqual } from 'node:util';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { analyzeRelation } from './analysis/relation.js';
import { toColumns } from './create.js';
import type { View } from './objects.js';
import { parseQueryStatement } from './parser/queries.js';
import type { Change, ServerCatalog } from './server-catalog.js';

/** Compiles again each view over what was changed: what it gives now, or why it gives nothing, is put in its place. */
export async function recompile(catalog: ServerCatalog, changes: readonly Change[]): Promise<void> {
  const changed = changes.flatMap(change => ('put' in change ? change.put.name : 'drop' in change ? change.drop : []));
  const above = viewsOver(catalog, changed);
  if (above.size === 0) return;
  for (const view of catalog.inDependencyOrder(({ name }) => above.has(name))) {
    if (view.kind !== 'view') continue;
    const now = await compileView(view, catalog);
    if (!isDeepStrictEqual(now, view)) catalog.put(now);
  }
}

function viewsOver(catalog: ServerCatalog, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const view of catalog.dependentsOf(name)) {
      if (view.kind !== 'view' || found.has(view.name)) continue;
      found.add(view.name);
      pending.push(view.name);
    }
  }
  return found;
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
 * Ends the refreshing of materialized views over a table, and of those over them: for the first reason, and until they
 * are made again. One that was not refreshed yet has nothing that could be wrong.
 */
export function invalidate(catalog: ServerCatalog, base: string, reason: string): void {
  for (const view of catalog.dependentsOf(base)) {
    if (view.kind !== 'materialized view' || view.invalid !== undefined || view.refresh.deferred) continue;
    if (view.base.toLowerCase() !== base.toLowerCase()) continue;
    catalog.put({ ...view, invalid: reason });
    invalidate(catalog, view.name, 'base materialized view is invalidated');
  }
}

/** Why materialized views do without a table that is gone. */
export const GONE_TABLE = 'base table is dropped or renamed';
