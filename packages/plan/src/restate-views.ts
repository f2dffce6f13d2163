/*! Views over views that a plan makes read from other objects. */
import { dumpOrder, Schema } from '@sqlpipe/schema';
import type { Draft } from './draft.js';
import type { Task } from './task.js';

/** States the queries of such views again, each after the views that it reads from; until then, a server rejects all queries of them. */
export function restateViews({ ignore }: Task, draft: Draft): void {
  for (const entry of dumpOrder(new Schema(draft.engine.statements()))) {
    const { name } = entry;
    const view = draft.engine.find(name);
    if (view?.kind === 'view' && view.isStale && !ignore.ignoresObject(entry))
      draft.alter('view', name, { change: 'query', body: view.body }, []);
  }
}
