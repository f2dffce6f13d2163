/*! Views over views that a plan makes read from other objects. */
import { dumpOrder, Schema } from '@sqlpipe/schema';
import type { Draft } from './draft.js';

/** States the queries of such views again, each after the views that it reads from; until then, a server rejects all queries of them. */
export function restateViews(draft: Draft): void {
  for (const { name } of dumpOrder(new Schema(draft.engine.statements()))) {
    const view = draft.engine.find(name);
    if (view?.kind === 'view' && view.isStale) draft.alter('view', name, { change: 'query', body: view.body }, []);
  }
}
