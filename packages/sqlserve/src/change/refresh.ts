/*! REFRESH MATERIALIZED VIEW: there are no rows to refresh, but an invalid view becomes valid if its query is valid. */
import { type Cursor, isWord, RejectionError, unquote } from '@sqlpipe/ddl/grammar';
import { analyzeRelation } from '../analysis/relation.js';
import type { MaterializedView } from '../objects.js';
import { parseQueryStatement } from '../parser/queries.js';
import type { Session } from '../session.js';

/** After REFRESH. */
export async function refresh(cursor: Cursor, session: Session): Promise<void> {
  cursor.expect('materialized');
  cursor.expect('view');
  const name = unquote(cursor.requireNoSemicolon('view name'));
  const position = cursor.at;
  const how = cursor.requireNoSemicolon("'full' or 'incremental' or 'range'");
  const view = session.catalog.find(name);
  if (!view) throw new RejectionError(position, `materialized view does not exist [view=${name}]`);
  if (view.kind !== 'materialized view') throw new RejectionError(position, 'materialized view name expected');
  if (!['full', 'incremental', 'range'].includes(how.toLowerCase()))
    throw new RejectionError(cursor.at, "'full' or 'incremental' or 'range' expected");
  if (isWord(how, 'range')) while (cursor.next() !== undefined);
  else cursor.expectEnd();
  session.authorize('REFRESH MATERIALIZED VIEW', view.name);
  if (isWord(how, 'full')) session.catalog.put(await revalidate(view, session));
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
