/*!
 * Marks of views that a plan has dropped and has not filled again. A server does not fill a view that is created as DEFERRED. If the
 * plan is interrupted before the refresh, nothing shows that the view had rows. So the plan creates an empty table before the view is
 * dropped, and drops it after the refresh. A plan that is made in between finds the table.
 */
import { createHash } from 'node:crypto';
import { foldCase } from '@sqlpipe/sql';
import type { PlanContext } from '../plan-context.js';
import { assertEmpty } from '../text/assertions.js';
import { printOnOneLine } from '../text/statement-text.js';
import { changeOf, type Draft } from './draft.js';

/** The name of the table that marks a view. The hash keeps it apart from the tables of users. */
export const markOf = (view: string): string =>
  `${view}_unfilled_${createHash('sha256').update(foldCase(view)).digest('hex').slice(0, 8)}`;

export function parseMark(table: string): string | undefined {
  const view = table.replace(/_unfilled_[0-9a-f]{8}$/, '');
  return markOf(view) === table ? view : undefined;
}

/** Whether an interrupted plan has marked a view of A. */
export const isMarked = (name: string, { a, engineOfB }: PlanContext): boolean =>
  a.findObject(name) !== undefined && engineOfB.find(markOf(name)) !== undefined;

/** Whether an interrupted plan has created a view of A and has not filled it, or not completely. */
export function isUnfilled(name: string, context: PlanContext): boolean {
  const view = context.engineOfB.find(name);
  return (
    view?.kind === 'materialized view' &&
    Boolean(view.neverRefreshed || view.partlyRefreshed) &&
    isMarked(name, context)
  );
}

/** Marks the deferred views that the plan creates and refreshes. Removes the marks of views that are filled, or that the plan drops. */
export function markUnfilled(draft: Draft): void {
  const { a, engineOfB, keepExtra } = draft.context;
  const { engine } = draft;
  for (const view of engine.catalogue.list()) {
    const isFilled = view.kind === 'materialized view' && view.refresh.deferred && !view.neverRefreshed;
    if (!isFilled || engineOfB.catalogue.findById(view.id)) continue;
    const mark = markOf(view.name);
    if (!engine.find(mark)) draft.addFirst(`CREATE TABLE '${mark}' (ts TIMESTAMP);`, { kind: 'table', name: mark });
  }
  for (const { name } of engine.catalogue.list()) {
    const view = parseMark(name);
    if (view === undefined || a.findObject(name)) continue;
    const isFilled = engine.find(view) !== undefined && !engine.wasNeverRefreshed(view);
    const drop = `DROP TABLE '${name}';`;
    const change = changeOf({ kind: 'table', name, verb: 'DROP' }, printOnOneLine(drop));
    if (a.findObject(view) ? isFilled : !keepExtra) draft.add(change, [assertEmpty(name), drop]);
  }
}
