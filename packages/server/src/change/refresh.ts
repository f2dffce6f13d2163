/*! REFRESH MATERIALIZED VIEW: there are no rows to refresh, but an invalid view becomes valid if its query is valid. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { analyzeRelation } from '../analysis/relation.js';
import type { MaterializedView } from '../objects.js';
import { parseQueryStatement } from '../parser/queries.js';
import type { Session } from '../session.js';

/** Refreshes a materialized view in full. */
export async function refresh(name: string, session: Session): Promise<void> {
  const view = session.catalog.find(name);
  if (view?.kind === 'materialized view') session.catalog.put(await revalidate(view, session));
}

async function revalidate({ invalid: _, ...view }: MaterializedView, { catalog }: Session): Promise<MaterializedView> {
  try {
    analyzeRelation(await parseQueryStatement(view.body), catalog);
    return view;
  } catch (error) {
    if (!(error instanceof RejectionError)) throw error;
    return { ...view, invalid: `[${error.position}]: ${error.message}` };
  }
}
