/*!
 * A server does not fill a view that is created as DEFERRED. If a plan is interrupted before the refresh, nothing shows that the view had
 * rows. So the plan creates an empty table, the mark, before it drops the view, and drops the mark after the refresh.
 */
import { createHash } from 'node:crypto';
import type { Engine } from '@sqlpipe/engine';
import type { Schema } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';

/** The name of the table that marks a view. The hash keeps it apart from other tables. */
export const markOf = (view: string): string =>
  `${view}_unfilled_${createHash('sha256').update(foldCase(view)).digest('hex').slice(0, 8)}`;

export function parseMark(table: string): string | undefined {
  const view = table.replace(/_unfilled_[0-9a-f]{8}$/, '');
  return markOf(view) === table ? view : undefined;
}

interface MarkLookup {
  readonly a: Schema;
  readonly engineOfB: Engine;
}

export const isMarked = (name: string, { a, engineOfB }: MarkLookup): boolean =>
  a.findObject(name) !== undefined && engineOfB.find(markOf(name)) !== undefined;

/** Whether an interrupted plan has created a view of A and has not filled it, or not completely. */
export function isUnfilled(name: string, lookup: MarkLookup): boolean {
  const view = lookup.engineOfB.find(name);
  return (
    view?.kind === 'materialized view' && Boolean(view.neverRefreshed || view.partlyRefreshed) && isMarked(name, lookup)
  );
}
