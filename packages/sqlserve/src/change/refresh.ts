/*! REFRESH MATERIALIZED VIEW: there are no rows to build it from, but a view that was invalidated is valid again if its query runs. */
import { type Cursor, is, Rejection, unquote } from '@sqlpipe/ddl/grammar';
import { relationOf } from '../analysis/relation.js';
import type { MaterializedView } from '../objects.js';
import { parseWholeQuery } from '../parser/queries.js';
import type { Session } from '../session.js';

/** Behind REFRESH. */
export async function refresh(cursor: Cursor, session: Session): Promise<void> {
  cursor.expect('materialized');
  cursor.expect('view');
  const name = unquote(cursor.need('view name'));
  const position = cursor.at;
  const how = cursor.need("'full' or 'incremental' or 'range'");
  const view = session.catalogue.find(name);
  if (!view) throw new Rejection(position, `materialized view does not exist [view=${name}]`);
  if (view.kind !== 'materialized view') throw new Rejection(position, 'materialized view name expected');
  if (!['full', 'incremental', 'range'].includes(how.toLowerCase()))
    throw new Rejection(cursor.at, "'full' or 'incremental' or 'range' expected");
  if (is(how, 'range')) while (cursor.next() !== undefined);
  else cursor.expectEnd();
  session.allow('REFRESH MATERIALIZED VIEW', view.name);
  if (is(how, 'full')) session.catalogue.put(await refreshed(view, session));
}

async function refreshed({ invalid: _, ...view }: MaterializedView, { catalogue }: Session): Promise<MaterializedView> {
  try {
    relationOf(await parseWholeQuery(view.body), catalogue);
    return view;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { ...view, invalid: `[${error.position}]: ${error.message}` };
  }
}
