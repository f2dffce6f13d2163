/*! ALTER VIEW, ALTER MATERIALIZED VIEW and ALTER LIVE VIEW. */

import { type Alter, applyAlteration } from '@sqlpipe/ddl';
import type { Body } from '@sqlpipe/ddl/grammar';
import { createView, defaultStart } from '../create.js';
import type { Session } from '../session.js';

/** Replaces the query of a view. */
export function alterView({ name }: Alter, body: Body, session: Session): void {
  const view = session.catalogue.find(name);
  if (view?.kind !== 'view') return;
  createView(session, { definition: view, position: body.start, ifNotExists: false, orReplace: true, body });
}

/** Changes how a materialized view is refreshed, how long its data or that of a live view is kept, or its indexes. */
export function alterStoredView({ name, alteration }: Alter, { catalogue }: Session): void {
  const view = catalogue.resolve(name);
  if (view?.kind === 'live view') return catalogue.put(applyAlteration(view, alteration));
  if (view?.kind !== 'materialized view') return;
  const changed = applyAlteration(view, alteration);
  if (alteration.change !== 'refresh') return catalogue.put(changed);
  const { start = defaultStart(alteration.refresh), ...refresh } = changed.refresh;
  catalogue.put({ ...changed, refresh: { ...refresh, start } });
}
