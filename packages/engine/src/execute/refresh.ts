/*!
 * REFRESH MATERIALIZED VIEW: whatever the rows are, an invalid view becomes valid if its query is valid. A full refresh empties
 * the view first, so that the views over it become invalid (observed on 9.3.4; live views documented).
 */
import type { Change } from '@sqlpipe/ddl';
import type { MaterializedView } from '../catalogue-objects.js';
import { titleOf } from '../effects.js';
import type { Session } from '../session.js';
import { invalidate, invalidateLiveViews, whyNotRefreshable } from './validity.js';

/** Refreshes a materialized view. */
export function refresh(
  { name, isFull }: Extract<Change, { verb: 'refresh' }>,
  { catalogue, rowEffects }: Session,
): void {
  const view = catalogue.resolve(name);
  if (view?.kind !== 'materialized view') return;
  const { invalid, ...rest } = view;
  const reason = isFull ? whyNotRefreshable(view, catalogue) : invalid;
  const refreshed: MaterializedView = { ...rest, neverRefreshed: false };
  catalogue.put(reason === undefined ? refreshed : { ...refreshed, invalid: reason });
  if (!isFull) return;
  const text = `rebuilds ${titleOf(view)} from what '${view.base}' holds`;
  rowEffects?.push({ effect: 'rewritten', kind: view.kind, object: view.name, text });
  invalidate(catalogue, view.name, 'truncate operation');
  invalidateLiveViews(catalogue, view.name, () => 'base materialized view is refreshed in full');
}
