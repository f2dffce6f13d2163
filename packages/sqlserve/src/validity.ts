/*!
 * What becomes of views when that changes which they stand on. The service finds out a moment later, in jobs of its own;
 * here it is known when the statement is answered (observed on 9.3.4).
 */
import { isDeepStrictEqual } from 'node:util';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { relationOf } from './analysis/relation.js';
import type { Catalogue, Change } from './catalogue.js';
import { columnsOf } from './create.js';
import type { View } from './objects.js';
import { parseWholeQuery } from './parser/queries.js';

/** Compiles again each view over what was changed: what it gives now, or why it gives nothing, is put in its place. */
export async function recompile(catalogue: Catalogue, changes: readonly Change[]): Promise<void> {
  const changed = changes.flatMap(change => ('put' in change ? change.put.name : 'drop' in change ? change.drop : []));
  const above = viewsOver(catalogue, changed);
  if (above.size === 0) return;
  for (const view of catalogue.inDependencyOrder(({ name }) => above.has(name))) {
    if (view.kind !== 'view') continue;
    const now = await compiled(view, catalogue);
    if (!isDeepStrictEqual(now, view)) catalogue.put(now);
  }
}

function viewsOver(catalogue: Catalogue, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const view of catalogue.over(name)) {
      if (view.kind !== 'view' || found.has(view.name)) continue;
      found.add(view.name);
      pending.push(view.name);
    }
  }
  return found;
}

async function compiled({ invalid: _, ...view }: View, catalogue: Catalogue): Promise<View> {
  try {
    const relation = relationOf(await parseWholeQuery(view.body), catalogue);
    return { ...view, columns: columnsOf(relation), timestamp: relation.timestamp };
  } catch (error) {
    if (!(error instanceof RejectionError)) throw error;
    return { ...view, invalid: { reason: error.message, position: error.position } };
  }
}

/**
 * Ends the refreshing of materialized views over a table, and of those over them: for the first reason, and until they
 * are made again. One that was not refreshed yet has nothing that could be wrong.
 */
export function invalidate(catalogue: Catalogue, base: string, reason: string): void {
  for (const view of catalogue.over(base)) {
    if (view.kind !== 'materialized view' || view.invalid !== undefined || view.refresh.deferred) continue;
    if (view.base.toLowerCase() !== base.toLowerCase()) continue;
    catalogue.put({ ...view, invalid: reason });
    invalidate(catalogue, view.name, 'base materialized view is invalidated');
  }
}

/** Why materialized views do without a table that is gone. */
export const goneTable = 'base table is dropped or renamed';
